// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/**
 * What a vendor's library said.
 *
 * @param library the library, such as a file name
 * @param code its own numeric code
 * @param text its own text for the code
 */
public record VendorError(String library, long code, String text) {
    @Override
    public String toString() {
        return library + " error " + code + " (" + text + ")";
    }
}
