// SPDX-License-Identifier: Apache-2.0
/** RCCL: how it lays rings, which algorithm and protocol it takes, and the rules of its communicators. */
package io.weft.amd.rccl;
