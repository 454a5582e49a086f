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
 * @param store the URL of the store. If neither a store nor a node is set, the URL comes from the environment variable
 *     {@code FLAKEID_STORE}. If this variable is not set either, the node comes from the embedded store of this user
 *     on this host
 * @param node a fixed node, which cannot be combined with {@code store}, {@code namespace} or {@code name}
 * <!-- [options: lease params only namespace name layout max_wait_ms clock] -->
 * @param namespace the namespace from which to lease a node: 1 to 64 characters from the set {@code A-Z
 *     a-z 0-9 . _ -}; the default is {@code default}. Each namespace has one layout and its own nodes
 * @param name the name of this process, 1 to 128 bytes long; the default is none. If possible, the
 *     process gets the last node that was leased under its name
 * @param layout the layout of the IDs: a preset's name or a descriptor; the default is {@code twitter}.
 *     A lease must use the layout of its namespace
 * @param maxWait the longest time that a call waits without issuing an ID; the default is 1 s or two
 *     ticks, whichever is longer. Opening a lease may take up to 2 s longer because of the connection to
 *     the store
 * @param clock the clock: {@code gated}, {@code system} or {@code coarse}; the default is {@code gated}.
 *     With {@code gated}, the time is exact, and on suitable processors the system clock is read only a
 *     few times per millisecond. With {@code system}, the system clock is read for every ID. With {@code
 *     coarse}, the time lags behind the system clock by a few milliseconds, and is never ahead of the
 *     system clock
 * <!-- [/options] -->
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

    /** Sets the options that fixed and leased generators have in common. */
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
