// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Pages of another source, whose coming and going is recorded while there is a recording. */
final class RecordedPages implements PageSource {
    private final PageSource pages;
    private final Supplier<PoolRecording.Source> recording;
    private final LongSupplier clock;

    /**
     * @param recording gives null while nothing is recorded
     * @param clock ns
     */
    RecordedPages(PageSource pages, Supplier<PoolRecording.Source> recording, LongSupplier clock) {
        this.pages = pages;
        this.recording = recording;
        this.clock = clock;
    }

    @Override
    public long stepBytes() {
        return pages.stepBytes();
    }

    @Override
    public boolean contiguous() {
        return pages.contiguous();
    }

    @Override
    public long rangeBytes() {
        return pages.rangeBytes();
    }

    @Override
    public boolean obtain(long offset, long bytes) {
        boolean obtained = pages.obtain(offset, bytes);
        PoolRecording.Source to = recording.get();
        if (obtained && to != null) {
            to.obtained(bytes, clock.getAsLong());
        }
        return obtained;
    }

    @Override
    public void giveBack(long offset, long bytes) {
        pages.giveBack(offset, bytes);
        PoolRecording.Source to = recording.get();
        if (to != null) {
            to.givenBack(bytes, clock.getAsLong());
        }
    }
}
