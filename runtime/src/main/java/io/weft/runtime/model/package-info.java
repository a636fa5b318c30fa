// SPDX-License-Identifier: Apache-2.0
/** Model files: from a {@code config.json} or a known name to what a transformer's layers multiply. */
package io.weft.runtime.model;
