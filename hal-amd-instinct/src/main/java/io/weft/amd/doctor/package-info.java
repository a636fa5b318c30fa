// SPDX-License-Identifier: Apache-2.0
/**
 * What makes a node with AMD Instinct GPUs fail or crawl. Each check looks at one matter, reads files only, and explains every finding with its source; settings that do not do what
 * is said of them are called folklore.
 */
package io.weft.amd.doctor;
