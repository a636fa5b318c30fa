// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Objects;
import java.util.Optional;

/**
 * A failure with everything that a person needs: the neutral {@link ErrorCode}, the operation that failed, what happened, what to do
 * next, and the vendor's own words where there are any. Its message is one line.
 */
public final class AcceleratorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final String operation;
    private final String nextStep;
    private final transient VendorError vendorError;

    /**
     * @param operation what was attempted, such as {@code allocate}
     * @param message what happened and what would be accepted
     * @param nextStep what to do next, empty when the message says it all
     * @param vendorError the vendor's own code, or null
     * @param cause the cause, or null
     */
    public AcceleratorException(
            ErrorCode code,
            String operation,
            String message,
            String nextStep,
            VendorError vendorError,
            Throwable cause) {
        super(Objects.requireNonNull(message), cause);
        this.code = Objects.requireNonNull(code);
        this.operation = Objects.requireNonNull(operation);
        this.nextStep = Objects.requireNonNull(nextStep);
        this.vendorError = vendorError;
    }

    public AcceleratorException(ErrorCode code, String operation, String message) {
        this(code, operation, message, "", null, null);
    }

    public AcceleratorException(ErrorCode code, String operation, String message, Throwable cause) {
        this(code, operation, message, "", null, cause);
    }

    /** An {@link ErrorCode#INVALID_ARGUMENT}. */
    public static AcceleratorException invalid(String operation, String message) {
        return new AcceleratorException(ErrorCode.INVALID_ARGUMENT, operation, message);
    }

    /** An {@link ErrorCode#UNSUPPORTED} for a power that the backend does not declare. */
    public static AcceleratorException unsupported(String operation, Capability missing, String platform) {
        return new AcceleratorException(
                ErrorCode.UNSUPPORTED,
                operation,
                "platform " + platform + " does not have " + missing,
                "ask platform.capabilities() first",
                null,
                null);
    }

    /** The neutral kind of failure. */
    public ErrorCode code() {
        return code;
    }

    /** What was attempted. */
    public String operation() {
        return operation;
    }

    /** What to do next; empty when the message says it all. */
    public String nextStep() {
        return nextStep;
    }

    /** The vendor's own code and text. Not kept by serialization. */
    public Optional<VendorError> vendorError() {
        return Optional.ofNullable(vendorError);
    }

    /** The bare sentence without operation and advice, for a caller that adds its own context. */
    public String detail() {
        return super.getMessage();
    }

    @Override
    public String getMessage() {
        StringBuilder text = new StringBuilder(operation).append(": ").append(super.getMessage());
        if (vendorError != null) {
            text.append(" [").append(vendorError).append(']');
        }
        if (!nextStep.isEmpty()) {
            text.append("; ").append(nextStep);
        }
        return text.toString();
    }
}
