// SPDX-License-Identifier: Apache-2.0
/** Settings, wiring and plugin layers. */
package io.weft.runtime;
