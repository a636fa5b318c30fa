// SPDX-License-Identifier: Apache-2.0
/** JSON as documents need it: values that know their place, and text that is the same on every run. Not exported. */
package io.weft.runtime.json;
