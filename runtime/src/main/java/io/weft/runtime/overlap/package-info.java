// SPDX-License-Identifier: Apache-2.0
/** Times overlap schedules side by side on a platform, checks what they compute, and holds predictions against what was measured. */
package io.weft.runtime.overlap;
