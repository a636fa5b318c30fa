// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

/** Where a collective is expanded into tasks. A communicator's settings and the query of them number the same words differently. */
public enum OpExpansion {
    HOST(1, 2),
    AI_CPU(2, 0),
    AIV(3, 1),
    AIV_ONLY(4, 6),
    CCU_MS(5, 4),
    CCU_SCHED(6, 5);

    private final int setting;
    private final int query;

    OpExpansion(int setting, int query) {
        this.setting = setting;
        this.query = query;
    }

    /** The number in a communicator's settings; 0 there is the library's own choice. */
    public int setting() {
        return setting;
    }

    /** The number in answers to queries. */
    public int query() {
        return query;
    }
}
