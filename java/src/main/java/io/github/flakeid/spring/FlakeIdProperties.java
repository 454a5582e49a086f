package io.github.flakeid.spring;

import io.github.flakeid.Generator;
import io.github.flakeid.GeneratorBuilder;
import io.github.flakeid.LeaseBuilder;
import java.time.Duration;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The properties {@code flakeid.*} of the application.
 *
 * @param store the URL of the store; without it and without a node, the store in {@code FLAKEID_STORE}, or
 *     the embedded store of this user on this host
 * @param namespace the ID space in the store; the default is {@code default}
 * @param name the name of this process, by which it gets its last node again
 * @param node a fixed node, instead of a store
 * @param layout the name of a preset, or a descriptor; the default is {@code twitter}
 * @param clock the name of a clock; the default is {@code gated}
 * @param maxWait the longest wait for an ID; the default is 1 s
 */
@ConfigurationProperties("flakeid")
public record FlakeIdProperties(
        String store, String namespace, String name, Long node, String layout, String clock, Duration maxWait) {
    Generator open() {
        if (node != null) {
            refuseWithNode("store", store);
            refuseWithNode("namespace", namespace);
            refuseWithNode("name", name);
            GeneratorBuilder fixed = Generator.builder().node(node);
            with(fixed::layout, fixed::clock, fixed::maxWait);
            return fixed.build();
        }
        LeaseBuilder lease = store == null ? Generator.lease() : Generator.lease(store);
        set(namespace, lease::namespace);
        set(name, lease::name);
        with(lease::layout, lease::clock, lease::maxWait);
        return lease.open();
    }

    /** The options that generators and leases have in common. */
    private void with(Consumer<String> ofLayout, Consumer<String> ofClock, Consumer<Duration> ofMaxWait) {
        set(layout, ofLayout);
        set(clock, ofClock);
        set(maxWait, ofMaxWait);
    }

    private static <T> void set(T value, Consumer<T> option) {
        if (value != null) {
            option.accept(value);
        }
    }

    private void refuseWithNode(String property, String value) {
        if (value != null) {
            throw new IllegalArgumentException(
                    "flakeid.node is " + node + " and flakeid." + property + " is " + value
                            + ": a fixed node is not leased; set one of them");
        }
    }
}
