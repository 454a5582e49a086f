package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * The options of a new namespace, which all have defaults. {@link Generator#namespace} returns a builder.
 *
 * <p>A server cannot distinguish a namespace that never existed from a namespace that it has lost. Therefore, the store
 * grants nothing until all leases that it may have lost have ended: 15 s with the default bounds, and the first IDs are
 * then up to 18 s ahead of the clock. Each assumed bound is the larger of the default bound and the given bound.
 * If the lost namespace may have had larger bounds, create it with the command {@code flakeid leases init
 * --lost}. An embedded store ({@code sqlite}) detects its losses, so its nodes can usually be leased at once.
 */
public final class NamespaceBuilder {
    private final byte[] url;
    private final byte[] name;
    private final Settings settings = new Settings();

    NamespaceBuilder(String url, String name) {
        this.url = Native.url(Objects.requireNonNull(url, "url"));
        this.name = Native.utf8(Objects.requireNonNull(name, "name"));
    }

    /** Sets the layout of the IDs, in the same way as {@link #layout(String)}. */
    public NamespaceBuilder layout(Layout layout) {
        return layout(layout.toString());
    }

    // [options: namespace methods]
    /** Sets the layout of the IDs: a preset's name or a descriptor; the default is {@code twitter}. */
    public NamespaceBuilder layout(String layout) {
        settings.text("layout", "layout", layout);
        return this;
    }

    /** Sets the instant of tick 0; the default is the layout's epoch. */
    public NamespaceBuilder epoch(Instant epoch) {
        settings.set("epoch", Long.toString(Native.unixMs("epoch", epoch)));
        return this;
    }

    /**
     * Sets the longest time by which a window may start ahead of the clock: at most a day; the default is 20 s or
     * four ticks, whichever is longer.
     */
    public NamespaceBuilder maxAhead(Duration maxAhead) {
        settings.duration("max_ahead_ms", "maxAhead", maxAhead);
        return this;
    }

    /**
     * Sets the longest window of a lease, for which processes can issue IDs while the store is unavailable: from
     * two ticks to a day; the default is 10 s or four ticks, whichever is longer.
     */
    public NamespaceBuilder maxWindow(Duration maxWindow) {
        settings.duration("max_window_ms", "maxWindow", maxWindow);
        return this;
    }

    /**
     * Sets the largest allowed difference between a host's clock and the store's clock: 1 ms to a day; the default
     * is 1 s.
     */
    public NamespaceBuilder maxSkew(Duration maxSkew) {
        settings.duration("max_skew_ms", "maxSkew", maxSkew);
        return this;
    }

    /**
     * Sets the time for which the store grants no nodes after a restart, a failover or a restore: at most a week;
     * the default is the longest window, four times the allowed difference between clocks and a tick, but at least
     * 15 s.
     */
    public NamespaceBuilder quiet(Duration quiet) {
        settings.duration("quiet_ms", "quiet", quiet);
        return this;
    }

    /**
     * Sets the exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from the brokers; the
     * default is 0. With 0, processes lease single nodes from the store.
     */
    public NamespaceBuilder blockBits(int blockBits) {
        settings.number("block_bits", blockBits);
        return this;
    }

    /** Sets whether the store records which process held which node; the default is true. */
    public NamespaceBuilder history(boolean history) {
        settings.flag("history", history);
        return this;
    }

    /**
     * Sets whether the store has never had a namespace with this name, so that it grants nodes at once; the default
     * is false. If this is untrue, IDs may be issued twice. Never set this option when a program starts: it is
     * untrue after the store has lost its data.
     */
    public NamespaceBuilder fresh(boolean fresh) {
        settings.flag("fresh", fresh);
        return this;
    }
    // [/options]

    /**
     * Creates the namespace, with the tables or keys that the store needs for it, and returns the time until the store
     * can grant nodes. If the namespace already exists with the same layout, the same blocks and the given options,
     * nothing changes, so every process can call this method when it starts. On a database server, this method requires
     * a user who may create tables.
     *
     * @throws FlakeidException with the code {@code FLAKEID_INVALID_OPTION} if an option is invalid, or if the
     *     namespace exists with another value of a given option; with {@code FLAKEID_STORE_REJECTED} if the namespace
     *     exists with another layout or other blocks, for the URL of a broker, and for missing permissions; with
     *     {@code FLAKEID_STORE_UNAVAILABLE} if the store does not respond
     */
    public Duration create() {
        return Duration.ofMillis(Native.createNamespace(url, name, settings.toArray()));
    }
}
