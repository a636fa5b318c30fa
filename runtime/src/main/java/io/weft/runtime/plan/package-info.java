// SPDX-License-Identifier: Apache-2.0
/** Plans and runs: from a model and a platform, or one problem, to figures that people and scripts read. */
package io.weft.runtime.plan;
