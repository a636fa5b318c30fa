// SPDX-License-Identifier: Apache-2.0
/** Builds the C libraries that play vendors' libraries in tests. */
module io.weft.standin {
    exports io.weft.standin;
}
