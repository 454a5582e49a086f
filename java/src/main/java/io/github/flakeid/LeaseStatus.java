package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;

/**
 * The state of a lease.
 *
 * @param fencedOff whether the node is lost, usually to another process, and can be used only until its fence
 * @param start the first tick of the current grant
 * @param fence the first tick that must not be used; every renewal raises the fence
 * @param fenceTime the instant at which the fence's tick begins; while the store is unavailable, the generator issues
 *     IDs until this instant
 * @param expires the instant until which no other process can lease the node, by the store's clock
 * @param expiresIn the time until {@code expires} by this host's clock
 * @param renewals the number of renewals that the store confirmed
 * @param grants the number of times that a store or broker granted this generator its nodes
 * @param failures the number of failed attempts to acquire a node or to renew its lease
 * @param lastError the error code of the latest attempt; {@code FLAKEID_OK} if the attempt succeeded
 */
public record LeaseStatus(
        boolean fencedOff,
        long start,
        long fence,
        Instant fenceTime,
        Instant expires,
        Duration expiresIn,
        long renewals,
        long grants,
        long failures,
        String lastError) {

    /**
     * Returns the time for which the generator can issue IDs without the store, which is zero after the fence.
     *
     * @param now the current time
     */
    public Duration windowLeft(Instant now) {
        return now.isBefore(fenceTime) ? Duration.between(now, fenceTime) : Duration.ZERO;
    }

    static LeaseStatus of(long[] n) {
        return new LeaseStatus(
                n[0] != 0,
                n[1],
                n[2],
                Instant.ofEpochMilli(n[3]),
                Instant.ofEpochMilli(n[4]),
                Duration.ofMillis(n[5]),
                n[6],
                n[7],
                n[8],
                Native.codeOf((int) n[9]));
    }
}
