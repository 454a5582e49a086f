package io.github.flakeid;

import java.time.Instant;
import java.util.List;
import java.util.Objects;

/** An immutable layout: the meaning of the 64 bits of an ID, the epoch, and the length of a tick. */
public final class Layout {
    /** Twitter's layout, which is the default. */
    public static final Layout TWITTER = of("twitter");

    private final byte[] given;
    private final String descriptor;
    private final long[] info;

    private Layout(String text) {
        given = Native.utf8(text);
        descriptor = Native.descriptor(given);
        info = Native.layoutInfo(given);
    }

    /**
     * Returns the layout for the name of a preset, such as {@code discord}, or for a descriptor, such as {@code
     * t41.n10.s12@1288834974657/1ms}.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_LAYOUT}
     */
    public static Layout of(String text) {
        return new Layout(Objects.requireNonNull(text, "text"));
    }

    /** The names of all presets. */
    public static List<String> presets() {
        return List.of(Native.presets());
    }

    byte[] utf8() {
        return given;
    }

    /** Decodes an ID, and returns its fields. */
    public Parts parts(long id) {
        return Parts.of(Native.decode(given, id));
    }

    /** Returns the beginning of the tick in which an ID was generated. */
    public Instant time(long id) {
        return parts(id).time();
    }

    /**
     * Returns the parts of the smallest ID in the tick that contains an instant, in the form that {@link #pack}
     * accepts.
     */
    public Parts partsAt(Instant time) {
        return Parts.of(Native.partsAt(given, Native.unixMs("time", time)));
    }

    /** Packs parts into an ID. If a datacenter and a worker are present, they must match the node. */
    public long pack(Parts parts) {
        return Native.pack(given, parts.numbers());
    }

    /** Returns the node that consists of the given datacenter and worker. */
    public long joinNode(long datacenter, long worker) {
        return Native.joinNode(given, datacenter, worker);
    }

    /** Returns the smallest ID in the tick that contains an instant, for queries with {@code id >= ?}. */
    public long lowerBound(Instant time) {
        return Native.bound(given, Native.unixMs("time", time), false);
    }

    /** Returns the largest ID in the tick that contains an instant, for queries with {@code id <= ?}. */
    public long upperBound(Instant time) {
        return Native.bound(given, Native.unixMs("time", time), true);
    }

    /** Returns the instant at which a tick begins. */
    public Instant timeAt(long tick) {
        return Instant.ofEpochMilli(Native.unixMsAt(given, tick));
    }

    /** Formats an instant as an RFC 3339 timestamp, with as many fractional digits as the layout's ticks require. */
    public String timestamp(Instant time) {
        return Native.timestamp(given, Native.unixMs("time", time));
    }

    /** The number of bits that the layout uses, at most 64. */
    public int width() {
        return (int) info[0];
    }

    /** The instant of tick 0. */
    public Instant epoch() {
        return Instant.ofEpochMilli(info[1]);
    }

    /** The length of a tick in milliseconds. */
    public long unitMs() {
        return info[2];
    }

    /** The largest tick. */
    public long maxTick() {
        return info[3];
    }

    /** The largest node. */
    public long maxNode() {
        return info[4];
    }

    /** The largest datacenter; 0 unless the layout splits its node. */
    public long maxDatacenter() {
        return info[5];
    }

    /** The largest worker; 0 unless the layout splits its node. */
    public long maxWorker() {
        return info[6];
    }

    /** The largest clock sequence. */
    public long maxClockSequence() {
        return info[7];
    }

    /** The largest sequence number. */
    public long maxSequence() {
        return info[8];
    }

    /** The number of IDs that a node can issue in a tick. */
    public long idsPerTick() {
        return info[9];
    }

    /** The instant at which the layout's ticks end. */
    public Instant horizon() {
        return Instant.ofEpochMilli(info[10]);
    }

    /** The instant until which IDs that are stored in a {@code long} are positive. */
    public Instant positiveUntil() {
        return Instant.ofEpochMilli(info[11]);
    }

    /** Whether the node consists of a datacenter and a worker. */
    public boolean isSplit() {
        return info[12] != 0;
    }

    /** Whether generators can use the layout. If not, the layout can only be used to decode IDs. */
    public boolean canGenerate() {
        return info[13] != 0;
    }

    /** Whether a {@code double} can represent every ID exactly. */
    public boolean fitsDouble() {
        return info[14] != 0;
    }

    /** Returns the descriptor of the layout. */
    @Override
    public String toString() {
        return descriptor;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Layout layout && layout.descriptor.equals(descriptor);
    }

    @Override
    public int hashCode() {
        return descriptor.hashCode();
    }
}
