package io.github.flakeid;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * The fields of an ID.
 *
 * @param tick the number of whole ticks since the layout's epoch
 * @param unixMs the beginning of the ID's tick, in Unix milliseconds
 * @param node the node, including datacenter and worker; 0 if the layout has no node field
 * @param datacenter the high part of the node, if the layout splits the node
 * @param worker the low part of the node, if the layout splits the node
 * @param clockSequence the clock sequence; 0 if the layout has no clock sequence
 * @param sequence the sequence number within the tick
 */
public record Parts(
        long tick,
        long unixMs,
        long node,
        OptionalLong datacenter,
        OptionalLong worker,
        long clockSequence,
        long sequence) {

    static Parts of(long[] n) {
        OptionalLong datacenter = optional(n[7] & Native.HAS_DATACENTER, n[3]);
        OptionalLong worker = optional(n[7] & Native.HAS_WORKER, n[4]);
        return new Parts(n[0], n[1], n[2], datacenter, worker, n[5], n[6]);
    }

    private static OptionalLong optional(long has, long value) {
        return has == 0 ? OptionalLong.empty() : OptionalLong.of(value);
    }

    long[] numbers() {
        long has = datacenter.isPresent() ? Native.HAS_DATACENTER : 0;
        has |= worker.isPresent() ? Native.HAS_WORKER : 0;
        return new long[] {
            tick, unixMs, node, datacenter.orElse(0), worker.orElse(0), clockSequence, sequence, has
        };
    }

    /** The instant at which the ID's tick begins. */
    public Instant time() {
        return Instant.ofEpochMilli(unixMs);
    }
}
