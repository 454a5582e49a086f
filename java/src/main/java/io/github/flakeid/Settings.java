package io.github.flakeid;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/** Options as a list of names and string values, which is the form that the library accepts. */
final class Settings {
    private static final int NANOS_PER_MS = 1_000_000;

    private final List<byte[]> strings = new ArrayList<>();

    /** Returns the options as an array in which names and values alternate. */
    byte[][] toArray() {
        return strings.toArray(new byte[0][]);
    }

    void set(String name, String value) {
        strings.add(Native.utf8(name));
        strings.add(Native.utf8(value));
    }

    /**
     * Sets an option to a 64-bit number. Ticks and sequence masks are read as unsigned. Nodes are not, so that the
     * error for a negative node shows the number that the program gave.
     */
    void number(String name, long value) {
        boolean unsigned = name.startsWith("window_") || name.equals("sequence_mask");
        set(name, unsigned ? Long.toUnsignedString(value) : Long.toString(value));
    }

    void number(String name, int value) {
        set(name, Integer.toString(value));
    }

    /**
     * Sets an option to a number that must be at least {@code least}. The library checks the upper end of the range.
     */
    void number(String name, String method, long least, int value) {
        if (value < least) {
            throw FlakeidException.outOfRange(method, value, least, Integer.MAX_VALUE);
        }
        number(name, value);
    }

    void numbers(String name, long[] values) {
        set(name, Arrays.stream(values).mapToObj(Long::toString).collect(Collectors.joining(",")));
    }

    void flag(String name, boolean value) {
        set(name, Boolean.toString(value));
    }

    void choice(String name, Enum<?> value) {
        set(name, value.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }

    void text(String name, String parameter, String value) {
        set(name, Objects.requireNonNull(value, parameter));
    }

    /**
     * Sets an option to a duration in milliseconds. A duration that does not fit into a {@code long} is replaced by the
     * largest {@code long}.
     */
    void duration(String name, String method, Duration value) {
        if (value.isNegative() || value.getNano() % NANOS_PER_MS != 0) {
            String range = "must be a whole number of milliseconds from 0 to 2^63 - 1";
            throw FlakeidException.outOfRange(method, method + " " + value + " is out of range: " + range);
        }
        long ms;
        try {
            ms = value.toMillis();
        } catch (ArithmeticException tooLong) {
            ms = Long.MAX_VALUE;
        }
        number(name, ms);
    }
}
