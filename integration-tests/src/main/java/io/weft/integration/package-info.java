// SPDX-License-Identifier: Apache-2.0
/** What no single module can show: rules over all modules, the image, and the artifacts as others get them. */
package io.weft.integration;
