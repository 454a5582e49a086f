package io.github.flakeid.spring;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.LeaseStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of generators, as the health indicators of all Spring Boot versions show it.
 *
 * @param isUp whether the generators can issue IDs now
 * @param details the nodes, and the state of the lease if the nodes are leased
 */
record GeneratorHealth(boolean isUp, Map<String, Object> details) {
    /** Returns the health of all generators, with the details of each under its name. */
    static GeneratorHealth of(Map<String, Generator> generators) {
        Map<String, Object> details = new LinkedHashMap<>();
        boolean isUp = true;
        for (Map.Entry<String, Generator> named : generators.entrySet()) {
            GeneratorHealth health = of(named.getValue(), Instant.now());
            details.put(named.getKey(), health.details());
            isUp &= health.isUp();
        }
        return new GeneratorHealth(isUp, details);
    }

    private static GeneratorHealth of(Generator generator, Instant now) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("nodes", generator.nodes());
        boolean isUp = now.isBefore(generator.layout().horizon());
        try {
            LeaseStatus lease = generator.leaseStatus();
            isUp &= !lease.windowLeft(now).isZero();
            details.put("fenceTime", lease.fenceTime().toString());
            details.put("expires", lease.expires().toString());
            details.put("fencedOff", lease.fencedOff());
            details.put("grants", lease.grants());
            details.put("renewals", lease.renewals());
            details.put("failures", lease.failures());
            details.put("lastError", lease.lastError());
        } catch (FlakeidException refused) {
            // Only a lease has a state.
            if (!refused.code().equals("FLAKEID_INVALID_OPTION")) {
                throw refused;
            }
        }
        return new GeneratorHealth(isUp, details);
    }
}
