// SPDX-License-Identifier: Apache-2.0
/** Stand-ins for vendors' libraries, built and switched by tests. */
package io.weft.standin;
