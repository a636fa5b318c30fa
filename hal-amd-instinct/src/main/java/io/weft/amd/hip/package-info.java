// SPDX-License-Identifier: Apache-2.0
/** The platform {@code amd:native}: HIP, RCCL and hipBLASLt by {@code java.lang.foreign}, in an order in which no call can end the process where there is no device. */
package io.weft.amd.hip;
