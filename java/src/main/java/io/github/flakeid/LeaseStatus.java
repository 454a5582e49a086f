package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;

/**
 * The state of a lease.
 *
 * @param fencedOff whether the node belongs to another process from the fence on
 * @param start the first tick of the present grant
 * @param fence the first tick that may not be used; every renewal moves it up
 * @param fenceTime when that tick begins: IDs go on until then while the store is away
 * @param expires until when no other process can have the node, by the store's clock
 * @param expiresIn how far in the future that is by this host's clock
 * @param renewals how many renewals the store confirmed
 * @param grants how many nodes were granted so far
 * @param failures how many attempts to acquire or renew failed
 * @param lastError why the latest attempt failed; {@code FLAKEID_OK} if it succeeded
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
