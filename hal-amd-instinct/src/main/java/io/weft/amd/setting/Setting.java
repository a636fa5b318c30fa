// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.setting;

import java.util.Arrays;
import java.util.Optional;

/** An environment variable of AMD's runtimes that changes what a modelled node does. Its name here is its name there. */
public enum Setting {
    HSA_ENABLE_SDMA(Form.SWITCH, "0: all copies by kernels, which take compute units"),
    HSA_ENABLE_PEER_SDMA(Form.SWITCH, "0: copies between GPUs by kernels, host copies still by engines"),
    HSA_ENABLE_SDMA_GANG(Form.SWITCH, "1: a copy over parallel links takes one engine for each link"),
    HSA_ENABLE_SDMA_RECOMMENDED_ENG(Form.SWITCH, "0: engines in order instead of the driver's recommended map"),
    ROC_P2P_SDMA_SIZE(Form.NUMBER, "KiB up to which a kernel copies between GPUs; 1024 when unset"),
    GPU_FORCE_BLIT_COPY_SIZE(Form.NUMBER, "KiB up to which a kernel copies to and from the host; 0 when unset"),
    GPU_MAX_HW_QUEUES(Form.COUNT, "hardware queues of a device; 4 when unset"),
    NCCL_ALGO(Form.NAMES, "algorithms that RCCL may take, such as Ring or ^Tree"),
    NCCL_PROTO(Form.NAMES, "protocols that RCCL may take, such as Simple or LL,LL128"),
    NCCL_MIN_NCHANNELS(Form.COUNT, "fewest channels, each of which takes a compute unit"),
    NCCL_MAX_NCHANNELS(Form.COUNT, "most channels"),
    NCCL_P2P_DISABLE(Form.SWITCH, "1: RCCL goes through host memory"),
    RCCL_LL128_FORCE_ENABLE(Form.SWITCH, "1: LL128 also where RCCL does not take it by itself");

    /** What a value looks like. */
    enum Form {
        SWITCH("0 or 1"),
        NUMBER("a whole number from 0 to 1048576"),
        COUNT("a whole number from 1 to 256"),
        NAMES("names with commas between them, or ^ and the names that are excluded");

        private final String accepted;

        Form(String accepted) {
            this.accepted = accepted;
        }

        /** In words. */
        String accepted() {
            return accepted;
        }

        boolean fits(String value) {
            return switch (this) {
                case SWITCH -> value.equals("0") || value.equals("1");
                case NUMBER -> value.matches("\\d{1,7}") && Integer.parseInt(value) <= 1 << 20;
                case COUNT ->
                    value.matches("\\d{1,3}") && Integer.parseInt(value) >= 1 && Integer.parseInt(value) <= 256;
                case NAMES -> value.matches("\\^?[A-Za-z0-9]+(,[A-Za-z0-9]+)*");
            };
        }
    }

    private final Form form;
    private final String effect;

    Setting(Form form, String effect) {
        this.form = form;
        this.effect = effect;
    }

    Form form() {
        return form;
    }

    /** What it does to a modelled node, for people. */
    public String effect() {
        return effect;
    }

    /** The setting of a name, in its exact spelling. */
    static Optional<Setting> of(String name) {
        return Arrays.stream(values())
                .filter(setting -> setting.name().equals(name))
                .findFirst();
    }
}
