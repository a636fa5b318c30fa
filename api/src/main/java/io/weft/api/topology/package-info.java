// SPDX-License-Identifier: Apache-2.0
/** How devices reach one another. */
package io.weft.api.topology;
