// SPDX-License-Identifier: Apache-2.0
/** The provider {@code ascend}: machines of Huawei Ascend accelerators as models, and a cluster's own rank table as a machine. */
package io.weft.ascend;
