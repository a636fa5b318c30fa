// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * HIPRTC: compiles kernels at run time. Its functions are in libamdhip64 up to HIP 6, and in libhiprtc alone from HIP 7 on.
 *
 * <p>Source of signatures: hiprtc.h of HIP 5.2 to 6.4.
 */
final class Hiprtc {
    /** File names, the newest first. */
    static final List<String> NAMES = List.of("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so");

    private static final int COMPILATION_FAILED = 6;

    private final NativeLibrary library;
    private final MemorySegment createProgram;
    private final MemorySegment compileProgram;
    private final MemorySegment getCodeSize;
    private final MemorySegment getCode;
    private final MemorySegment getLogSize;
    private final MemorySegment getLog;
    private final MemorySegment destroyProgram;

    /** Looks every function up. */
    Hiprtc(NativeLibrary library) {
        this.library = library;
        createProgram = library.find("hiprtcCreateProgram");
        compileProgram = library.find("hiprtcCompileProgram");
        getCodeSize = library.find("hiprtcGetCodeSize");
        getCode = library.find("hiprtcGetCode");
        getLogSize = library.find("hiprtcGetProgramLogSize");
        getLog = library.find("hiprtcGetProgramLog");
        destroyProgram = library.find("hiprtcDestroyProgram");
    }

    /** Whether it is all here. */
    boolean isComplete() {
        return createProgram != null
                && compileProgram != null
                && getCodeSize != null
                && getCode != null
                && destroyProgram != null;
    }

    /** The library behind it. */
    NativeLibrary library() {
        return library;
    }

    /**
     * Compiles for a chip. Needs no device. HIPRTC 5.2 ends the process over a chip that it does not know, so only chips are asked for that the runtime of the same version has listed.
     *
     * @throws io.weft.api.AcceleratorException VENDOR with the compiler's first error
     */
    byte[] compile(String source, String name, String architecture) {
        try (Arena arena = Arena.ofConfined()) {
            Scratch out = Scratch.mine();
            check(
                    "create program",
                    Native.call(
                            createProgram,
                            out.address(),
                            arena.allocateFrom(source).address(),
                            arena.allocateFrom(name).address(),
                            0,
                            0,
                            0));
            MemorySegment program = arena.allocate(8, 8);
            program.set(ValueLayout.JAVA_LONG, 0, out.word(0));
            try {
                return compile(arena, program.get(ValueLayout.JAVA_LONG, 0), architecture);
            } finally {
                Native.call(destroyProgram, program.address());
            }
        }
    }

    private byte[] compile(Arena arena, long program, String architecture) {
        List<String> options = List.of("--offload-arch=" + architecture, "-O3", "-ffp-contract=off");
        MemorySegment pointers = arena.allocate(8L * options.size(), 8);
        for (int i = 0; i < options.size(); i++) {
            pointers.set(
                    ValueLayout.JAVA_LONG,
                    8L * i,
                    arena.allocateFrom(options.get(i)).address());
        }
        int code = Native.call(compileProgram, program, options.size(), pointers.address());
        if (code == COMPILATION_FAILED) {
            throw HipFailure.hiprtc(library.name(), "compile kernels for " + architecture, code, log(arena, program));
        }
        check("compile kernels for " + architecture, code);
        Scratch out = Scratch.mine();
        check("compiled kernels", Native.call(getCodeSize, program, out.address()));
        long bytes = out.word(0);
        MemorySegment compiled = arena.allocate(bytes, 16);
        check("compiled kernels", Native.call(getCode, program, compiled.address()));
        return compiled.toArray(ValueLayout.JAVA_BYTE);
    }

    private String log(Arena arena, long program) {
        Scratch out = Scratch.mine();
        if (getLogSize == null || getLog == null || Native.call(getLogSize, program, out.address()) != 0) {
            return "";
        }
        long bytes = out.word(0);
        MemorySegment text = arena.allocate(bytes + 1);
        Native.call(getLog, program, text.address());
        int length = 0;
        while (length < bytes && text.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return new String(text.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw HipFailure.hiprtc(library.name(), operation, code, "");
        }
    }
}
