package io.github.flakeid;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The exception that a failed call throws. The code identifies the kind of error, and the message contains the details
 * and the remedy.
 */
public final class FlakeidException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String code;
    private final String field;
    private final long retryAfterMs;
    private final long rollbackMs;
    private final long horizonMs;

    private FlakeidException(
            int status, String message, String field, long retryAfterMs, long rollbackMs, long horizonMs) {
        super(message);
        this.status = status;
        this.code = Native.codeOf(status);
        this.field = field;
        this.retryAfterMs = retryAfterMs;
        this.rollbackMs = rollbackMs;
        this.horizonMs = horizonMs;
    }

    /** Creates the exception for an error that the library returned. The C code calls this method. */
    static FlakeidException of(
            int status, byte[] message, byte[] field, long retryAfterMs, long rollbackMs, long horizonMs) {
        return new FlakeidException(status, text(message), text(field), retryAfterMs, rollbackMs, horizonMs);
    }

    /** Creates the exception for an out-of-range value that the Java code detected before calling the library. */
    static FlakeidException outOfRange(String field, Object value, Object least, Object most) {
        return outOfRange(field, field + " " + value + " is out of range: must be from " + least + " to " + most);
    }

    static FlakeidException outOfRange(String field, String message) {
        return new FlakeidException(2, message, field, -1, -1, -1);
    }

    static FlakeidException invalidOption(String message) {
        return new FlakeidException(4, message, null, -1, -1, -1);
    }

    private static String text(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    /**
     * The code of the error, such as {@code FLAKEID_CLOCK_ROLLBACK}; the code is the same in every programming
     * language.
     */
    public String code() {
        return code;
    }

    /** The number of the error code in the C library. */
    public int status() {
        return status;
    }

    /** The name of the field whose value was out of range; empty for other errors. */
    public Optional<String> field() {
        return Optional.ofNullable(field);
    }

    /** The time after which a repeated call may succeed; empty if waiting does not help. */
    public Optional<Duration> retryAfter() {
        return duration(retryAfterMs);
    }

    /** The duration by which the clock went backwards; empty for other errors. */
    public Optional<Duration> rollback() {
        return duration(rollbackMs);
    }

    /** The instant at which the layout's ticks end, for {@code FLAKEID_HORIZON_REACHED}; empty for other errors. */
    public Optional<Instant> horizon() {
        return horizonMs < 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(horizonMs));
    }

    private static Optional<Duration> duration(long ms) {
        return ms < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(ms));
    }
}
