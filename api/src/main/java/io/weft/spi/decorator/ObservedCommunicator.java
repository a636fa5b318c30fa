// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A communicator whose calls an observer sees. */
final class ObservedCommunicator implements CommunicatorDriver {
    private final CommunicatorDriver backend;
    private final DriverObserver observer;

    ObservedCommunicator(CommunicatorDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    @Override
    public void enqueue(List<CollectiveDriver.Part> group) {
        List<CollectiveDriver.Part> own = group.stream()
                .map(part -> new CollectiveDriver.Part(part.command(), ObservedPlatform.unwrap(part.stream())))
                .toList();
        observer.beforeCollective(backend, own);
        backend.enqueue(own);
    }

    @Override
    public Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        return observed(backend.split(colors, keys));
    }

    @Override
    public Map<Integer, Membership> split(
            Map<Integer, Integer> colors, Map<Integer, Integer> keys, CommunicatorOptions options) {
        return observed(backend.split(colors, keys, options));
    }

    @Override
    public boolean isReady() {
        return backend.isReady();
    }

    @Override
    public void finish() {
        backend.finish();
    }

    private Map<Integer, Membership> observed(Map<Integer, Membership> memberships) {
        // Ranks of one colour share one communicator, so they must share one wrapper too.
        Map<CommunicatorDriver, ObservedCommunicator> wrappers = new LinkedHashMap<>();
        Map<Integer, Membership> result = new LinkedHashMap<>();
        memberships.forEach((oldRank, membership) -> {
            ObservedCommunicator wrapper = wrappers.computeIfAbsent(membership.communicator(), made -> {
                observer.communicatorCreated(made, membership.size());
                return new ObservedCommunicator(made, observer);
            });
            result.put(oldRank, new Membership(wrapper, membership.rank(), membership.size()));
        });
        return result;
    }

    @Override
    public String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
        return backend.describe(kind, op, type, bytes);
    }

    @Override
    public Optional<AcceleratorException> asyncError() {
        return backend.asyncError();
    }

    @Override
    public void abort() {
        backend.abort();
    }

    @Override
    public void close() {
        observer.beforeCommunicatorClose(backend);
        backend.close();
    }
}
