// SPDX-License-Identifier: Apache-2.0
/** A plugin that refuses everything; replace the refusals one by one. */
module com.example.skeleton {
    requires io.weft.api;

    provides io.weft.spi.AcceleratorProvider with
            com.example.skeleton.SkeletonProvider;
}
