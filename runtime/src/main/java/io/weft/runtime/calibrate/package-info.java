// SPDX-License-Identifier: Apache-2.0
/** Measures a platform with micro-benchmarks and has a model fitted to what was found. */
package io.weft.runtime.calibrate;
