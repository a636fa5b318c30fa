// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

/**
 * Device memory for the products of one stream, which run one after the other. Taken when the first product asks for it and kept until the stream is closed; blocks go from stream to stream.
 * Not for several threads at once, like issuing to one stream: the device's lock is taken when a block is.
 */
final class Workspace implements AutoCloseable {
    private final NativeDevice device;
    private volatile long address;

    Workspace(NativeDevice device) {
        this.device = device;
    }

    /** The block, which holds as many bytes as the platform's option says; 0 when none are wanted. */
    long address(long bytes) {
        if (bytes == 0) {
            return 0;
        }
        long mine = address;
        if (mine == 0) {
            synchronized (this) {
                if (address == 0) {
                    address = device.takeWorkspace();
                }
                mine = address;
            }
        }
        return mine;
    }

    @Override
    public synchronized void close() {
        if (address != 0) {
            device.returnWorkspace(address);
            address = 0;
        }
    }
}
