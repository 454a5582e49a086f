package io.github.flakeid.spring;

import io.github.flakeid.Generator;
import io.github.flakeid.GeneratorBuilder;
import io.github.flakeid.LeaseBuilder;
import io.github.flakeid.Overflow;
import io.github.flakeid.Rollback;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The properties {@code flakeid.*} of the application.
 *
 * @param store the URL of the store. If neither a store nor a fixed node is set, the URL comes from the environment
 *     variable {@code FLAKEID_STORE}. If this variable is not set either, the node comes from the embedded store of
 *     this user on this host
 * @param node a fixed node, which is not leased, and which cannot be combined with the properties of a lease
 * @param jsonStrings whether Jackson writes numbers that JavaScript would round, such as IDs, as strings; see
 *     {@link io.github.flakeid.jackson.FlakeIdModule}
 * <!-- [options: lease params except on_event] -->
 * @param namespace the namespace from which to lease a node: 1 to 64 characters from the set {@code A-Z
 *     a-z 0-9 . _ -}; the default is {@code default}. Each namespace has one layout and its own nodes
 * @param name the name of this process, 1 to 128 bytes long; the default is none. If possible, the
 *     process gets the last node that was leased under its name
 * @param leaseNode the node to lease; the default is any node. Taking over the node is safe even while
 *     another process holds it
 * @param datacenter the high part of the node, in layouts that split the node; must be set together with
 *     {@code worker}
 * @param worker the low part of the node, in layouts that split the node; must be set together with
 *     {@code datacenter}
 * @param nodes the range of nodes to choose from, both ends inclusive; the default is all nodes of the
 *     layout
 * @param nodeCount the number of nodes to lease for this generator, which must be a power of two; the
 *     default is {@code 1}. In every tick, the generator can issue the IDs of all these nodes. Several
 *     nodes cannot be combined with {@code name}, {@code leaseNode} or {@code sequenceMask}
 * @param layout the layout of the IDs: a preset's name or a descriptor; the default is {@code twitter}.
 *     A lease must use the layout of its namespace
 * @param epoch the instant of tick 0; the default is the layout's epoch
 * @param ttl the time for which the node stays reserved after the last renewal: 1 ms to 30 days; the
 *     default is 60 s or 12 ticks, whichever is longer. Uniqueness does not depend on this time
 * @param window the time for which the generator issues IDs while the store is unavailable: from two
 *     ticks to the longest window that the namespace allows; the default is 10 s or two ticks, whichever
 *     is longer
 * @param overflow the behaviour when a tick has no IDs left; the default is {@code wait}
 * @param rollback the behaviour when the clock goes backwards; the default is {@code continue}
 * @param sequenceMask the largest sequence number to use, which must have the form 2^k - 1; the default
 *     is the layout's largest sequence number
 * @param sequenceStart the number of random bits in the first sequence number of each tick; the default
 *     is 0
 * @param maxWait the longest time that a call waits without issuing an ID; the default is 1 s or two
 *     ticks, whichever is longer. Opening a lease may take up to 2 s longer because of the connection to
 *     the store, or as long as {@code openWait} if the store grants nothing after a restart
 * @param openWait the longest time that opening a lease waits while the store grants nothing, for
 *     example after a restart; the default is 30 s. If the store would grant a node only later, opening
 *     fails at once
 * @param clock the clock: {@code gated}, {@code system} or {@code coarse}; the default is {@code gated}.
 *     With {@code gated}, the time is exact, and on suitable processors the system clock is read only a
 *     few times per millisecond. With {@code system}, the system clock is read for every ID. With {@code
 *     coarse}, the time lags behind the system clock by a few milliseconds, and is never ahead of the
 *     system clock
 * @param reuse whether a node that was leased before may be leased again; the default is {@code true}.
 *     Without reuse, each start of the program uses up a node, until no node is left
 * <!-- [/options] -->
 */
@ConfigurationProperties("flakeid")
public record FlakeIdProperties(
        String store,
        Long node,
        // [options: lease components except on_event]
        String namespace,
        String name,
        Long leaseNode,
        Long datacenter,
        Long worker,
        Range nodes,
        Integer nodeCount,
        String layout,
        Instant epoch,
        Duration ttl,
        Duration window,
        Overflow overflow,
        Rollback rollback,
        Long sequenceMask,
        Integer sequenceStart,
        Duration maxWait,
        Duration openWait,
        String clock,
        Boolean reuse,
        // [/options]
        boolean jsonStrings) {
    /**
     * A range of nodes.
     *
     * @param from the first node
     * @param to the last node
     */
    public record Range(Long from, Long to) {
        /** Checks that both ends are set. */
        public Range {
            if (from == null || to == null) {
                throw new IllegalArgumentException(
                        "flakeid.nodes.from is " + from + " and flakeid.nodes.to is " + to + ": set both");
            }
        }
    }

    Generator open() {
        if (node != null || datacenter != null || worker != null) {
            return openFixed();
        }
        LeaseBuilder lease = store == null ? Generator.lease() : Generator.lease(store);
        // [options: lease lease except datacenter worker on_event]
        set(namespace, lease::namespace);
        set(name, lease::name);
        set(leaseNode, lease::node);
        set(nodes, range -> lease.nodes(range.from(), range.to()));
        set(nodeCount, lease::nodeCount);
        set(layout, lease::layout);
        set(epoch, lease::epoch);
        set(ttl, lease::ttl);
        set(window, lease::window);
        set(overflow, lease::overflow);
        set(rollback, lease::rollback);
        set(sequenceMask, lease::sequenceMask);
        set(sequenceStart, lease::sequenceStart);
        set(maxWait, lease::maxWait);
        set(openWait, lease::openWait);
        set(clock, lease::clock);
        set(reuse, lease::reuse);
        // [/options]
        return lease.open();
    }

    private Generator openFixed() {
        refuse("store", store);
        refuse("lease-node", leaseNode);
        // [options: lease leased except on_event]
        refuse("namespace", namespace);
        refuse("name", name);
        refuse("nodes", nodes);
        refuse("node-count", nodeCount);
        refuse("ttl", ttl);
        refuse("window", window);
        refuse("open-wait", openWait);
        refuse("reuse", reuse);
        // [/options]
        GeneratorBuilder fixed = Generator.builder();
        set(node, fixed::node);
        // [options: lease fixed except node]
        set(datacenter, fixed::datacenter);
        set(worker, fixed::worker);
        set(layout, fixed::layout);
        set(epoch, fixed::epoch);
        set(overflow, fixed::overflow);
        set(rollback, fixed::rollback);
        set(sequenceMask, fixed::sequenceMask);
        set(sequenceStart, fixed::sequenceStart);
        set(maxWait, fixed::maxWait);
        set(clock, fixed::clock);
        // [/options]
        return fixed.build();
    }

    private static <T> void set(T value, Consumer<T> option) {
        if (value != null) {
            option.accept(value);
        }
    }

    /** Refuses a property of leases. The message omits the value, because a URL may contain a password. */
    private void refuse(String property, Object value) {
        if (value != null) {
            String fixed = node == null ? "datacenter and flakeid.worker are" : "node is";
            throw new IllegalArgumentException(
                    "flakeid." + fixed + " set and flakeid." + property + " is set, but a fixed node is not leased:"
                            + " remove one of them, or set flakeid.lease-node to lease that node");
        }
    }

    /** Returns the properties that identify the generator. Omits the URL of the store, which may contain a password. */
    @Override
    public String toString() {
        return "FlakeIdProperties[node=" + node + ", namespace=" + namespace + ", name=" + name + "]";
    }
}
