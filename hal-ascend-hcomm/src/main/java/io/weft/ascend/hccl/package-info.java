// SPDX-License-Identifier: Apache-2.0
/**
 * What HCCL asks of a program and what it takes, on the neutral collectives: settings and their ranges, operators by generation, one stream order for each communicator, buffers, time limits, ports, and the
 * budget of streams and events. A model of an Ascend machine acts by these rules; the doctor uses the same classes to advise.
 */
package io.weft.ascend.hccl;
