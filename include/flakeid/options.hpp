// The options of generators, leases, rings and namespaces. Included by flakeid.hpp.
#ifndef FLAKEID_OPTIONS_HPP
#define FLAKEID_OPTIONS_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "error.hpp"

namespace flakeid {

enum class overflow : std::int32_t {
    wait = FLAKEID_OVERFLOW_WAIT,
    error = FLAKEID_OVERFLOW_ERROR,
    borrow = FLAKEID_OVERFLOW_BORROW,
};

enum class rollback : std::int32_t {
    carry_on = FLAKEID_ROLLBACK_CONTINUE,  // "continue" is a keyword
    error = FLAKEID_ROLLBACK_ERROR,
    wait = FLAKEID_ROLLBACK_WAIT,
    clock_sequence = FLAKEID_ROLLBACK_CLOCK_SEQUENCE,
};

// The options of a generator, which must include a node, a datacenter and a worker, or several
// nodes.
class options {
public:
    // [options: generator setters]
    // The node, from 0 to the layout's largest node; there is no default, because no other
    // generator may use the same node at the same time.
    options &node(std::uint64_t value) {
        return set(FLAKEID_HAS_NODE, config_.node, value);
    }
    // The high part of the node, in layouts that split the node; must be set together with worker.
    options &datacenter(std::uint64_t value) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, value);
    }
    // The low part of the node, in layouts that split the node; must be set together with
    // datacenter.
    options &worker(std::uint64_t value) {
        return set(FLAKEID_HAS_WORKER, config_.worker, value);
    }
    // Several different nodes instead of one (default: one node). The number of nodes must be a
    // power of two. In every tick, the generator can then issue the IDs of all these nodes. Several
    // nodes cannot be combined with sequence_mask or with layouts that have clock sequences. Within
    // a process, a node must be used either alone or always together with the same other nodes.
    options &nodes(std::vector<std::uint64_t> value) {
        nodes_ = std::move(value);
        return *this;
    }
    // The layout of the IDs: a preset's name or a descriptor (default: "twitter").
    options &layout(std::string value) {
        layout_ = detail::whole(std::move(value));
        return *this;
    }
    // The instant of tick 0 (default: the layout's epoch).
    options &epoch(time_point value) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, value.time_since_epoch().count());
    }
    // The range of ticks that a lease allows the generator to use, including the start and
    // excluding the fence (default: all ticks).
    options &window(std::uint64_t start, std::uint64_t fence) {
        config_.window_fence = fence;
        return set(FLAKEID_HAS_WINDOW, config_.window_start, start);
    }
    // The behaviour when a tick has no IDs left (default: overflow::wait). overflow::borrow
    // requires a window.
    options &overflow(flakeid::overflow value) {
        return set(0, config_.overflow, static_cast<std::int32_t>(value));
    }
    // The behaviour when the clock goes backwards (default: rollback::carry_on).
    options &rollback(flakeid::rollback value) {
        return set(0, config_.rollback, static_cast<std::int32_t>(value));
    }
    // The largest sequence number to use, which must have the form 2^k - 1 (default: the layout's
    // largest sequence number).
    options &sequence_mask(std::uint64_t value) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, value);
    }
    // The number of random bits in the first sequence number of each tick (default: 0).
    options &sequence_start(std::uint32_t value) {
        return set(0, config_.sequence_start, value);
    }
    // The longest time by which IDs in a window may be ahead of the clock (default: 20 s).
    options &max_ahead(milliseconds value) {
        return set(FLAKEID_HAS_MAX_AHEAD, config_.max_ahead_ms, detail::count(value));
    }
    // The longest time that a call waits without issuing an ID (default: 1 s or two ticks,
    // whichever is longer).
    options &max_wait(milliseconds value) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(value));
    }
    // The clock: "gated", "system" or "coarse" (default: "gated"). With "gated", the time is exact,
    // and on suitable processors the system clock is read only a few times per millisecond. With
    // "system", the system clock is read for every ID. With "coarse", the time lags behind the
    // system clock by a few milliseconds, and is never ahead of the system clock.
    options &clock(std::string value) {
        clock_name_ = detail::whole(std::move(value));
        return *this;
    }
    // [/options]
    // Sets the clock, which must live until the generator is created, but not longer. Rejects a
    // clock that was moved from, because the program would not expect the system's clock instead.
    options &clock(const manual_clock &clock) {
        if (clock.get() == nullptr) {
            throw std::invalid_argument("flakeid: the clock was moved from");
        }
        return set(0, config_.clock, clock.get());
    }

    // Returns the options for flakeid_generator_new(). The result is valid while these options live
    // and do not change.
    flakeid_config config() const noexcept {
        // The library must reject an empty vector like any other wrong number of nodes, and a null
        // pointer would mean the default.
        static constexpr std::uint64_t none = 0;
        flakeid_config config = config_;
        // [options: generator pointers]
        config.layout = layout_ ? layout_->c_str() : nullptr;
        config.clock_name = clock_name_ ? clock_name_->c_str() : nullptr;
        // [/options]
        if (nodes_) {
            config.nodes = nodes_->empty() ? &none : nodes_->data();
            config.node_count = nodes_->size();
        }
        return config;
    }

private:
    template <typename Value>
    options &set(std::uint32_t flag, Value &field, std::common_type_t<Value> value) {
        config_.has |= flag;
        field = value;
        return *this;
    }

    flakeid_config config_ = FLAKEID_CONFIG_INIT;
    // [options: generator members]
    std::optional<std::string> layout_, clock_name_;
    // [/options]
    std::optional<std::vector<std::uint64_t>> nodes_;
};

// The options of a lease, by default of any node of the namespace "default".
class lease_options {
public:
    using observer = std::function<void(const flakeid_lease_event &)>;

    // [options: lease setters]
    // The namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z 0-9 . _ -
    // (default: "default"). Each namespace has one layout and its own nodes.
    lease_options &namespace_name(std::string value) {
        namespace_name_ = detail::whole(std::move(value));
        return *this;
    }
    // The name of this process, 1 to 128 bytes long (default: none). If possible, the process gets
    // the last node that was leased under its name.
    lease_options &name(std::string value) {
        name_ = detail::whole(std::move(value));
        return *this;
    }
    // The node to lease (default: any node). Taking over the node is safe even while another
    // process holds it.
    lease_options &node(std::uint64_t value) {
        return set(FLAKEID_HAS_NODE, config_.node, value);
    }
    // The high part of the node, in layouts that split the node; must be set together with worker.
    lease_options &datacenter(std::uint64_t value) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, value);
    }
    // The low part of the node, in layouts that split the node; must be set together with
    // datacenter.
    lease_options &worker(std::uint64_t value) {
        return set(FLAKEID_HAS_WORKER, config_.worker, value);
    }
    // The range of nodes to choose from, both ends inclusive (default: all nodes of the layout).
    lease_options &nodes(std::uint64_t from, std::uint64_t to) {
        config_.last_node = to;
        return set(FLAKEID_HAS_NODES, config_.first_node, from);
    }
    // The number of nodes to lease for this generator, which must be a power of two (default: 1).
    // In every tick, the generator can issue the IDs of all these nodes. Several nodes cannot be
    // combined with name, node or sequence_mask.
    lease_options &node_count(std::uint32_t value) {
        return set(0, config_.node_count, value);
    }
    // The layout of the IDs: a preset's name or a descriptor (default: "twitter"). A lease must use
    // the layout of its namespace.
    lease_options &layout(std::string value) {
        layout_ = detail::whole(std::move(value));
        return *this;
    }
    // The instant of tick 0 (default: the layout's epoch).
    lease_options &epoch(time_point value) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, value.time_since_epoch().count());
    }
    // The time for which the node stays reserved after the last renewal: 1 ms to 30 days (default:
    // 60 s or 12 ticks, whichever is longer). Uniqueness does not depend on this time.
    lease_options &ttl(milliseconds value) {
        return set(FLAKEID_HAS_TTL, config_.ttl_ms, detail::count(value));
    }
    // The time for which the generator issues IDs while the store is unavailable: from two ticks to
    // the longest window that the namespace allows (default: 10 s or two ticks, whichever is
    // longer).
    lease_options &window(milliseconds value) {
        return set(FLAKEID_HAS_WINDOW_MS, config_.window_ms, detail::count(value));
    }
    // The behaviour when a tick has no IDs left (default: overflow::wait).
    lease_options &overflow(flakeid::overflow value) {
        return set(0, config_.overflow, static_cast<std::int32_t>(value));
    }
    // The behaviour when the clock goes backwards (default: rollback::carry_on).
    lease_options &rollback(flakeid::rollback value) {
        return set(0, config_.rollback, static_cast<std::int32_t>(value));
    }
    // The largest sequence number to use, which must have the form 2^k - 1 (default: the layout's
    // largest sequence number).
    lease_options &sequence_mask(std::uint64_t value) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, value);
    }
    // The number of random bits in the first sequence number of each tick (default: 0).
    lease_options &sequence_start(std::uint32_t value) {
        return set(0, config_.sequence_start, value);
    }
    // The longest time that a call waits without issuing an ID (default: 1 s or two ticks,
    // whichever is longer). Opening a lease may take up to 2 s longer because of the connection to
    // the store, or as long as open_wait if the store grants nothing after a restart.
    lease_options &max_wait(milliseconds value) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(value));
    }
    // The longest time that opening a lease waits while the store grants nothing, for example after
    // a restart (default: 30 s). If the store would grant a node only later, opening fails at once.
    lease_options &open_wait(milliseconds value) {
        return set(FLAKEID_HAS_OPEN_WAIT, config_.open_wait_ms, detail::count(value));
    }
    // The clock: "gated", "system" or "coarse" (default: "gated"). With "gated", the time is exact,
    // and on suitable processors the system clock is read only a few times per millisecond. With
    // "system", the system clock is read for every ID. With "coarse", the time lags behind the
    // system clock by a few milliseconds, and is never ahead of the system clock.
    lease_options &clock(std::string value) {
        clock_name_ = detail::whole(std::move(value));
        return *this;
    }
    // Whether a node that was leased before may be leased again (default: true). Without reuse,
    // each start of the program uses up a node, until no node is left.
    lease_options &reuse(bool value) {
        return set(0, config_.never_reuse, value ? 0 : 1);
    }
    // A function that is called for each lease event, on a library thread, one call at a time. The
    // generator keeps a copy of the function, which must not throw. A lease with an event function
    // is not shared with other generators.
    lease_options &on_event(observer value) {
        on_event_ = std::move(value);
        return *this;
    }
    // [/options]

    // Returns the options for flakeid_generator_open(), without on_event. The result is valid while
    // these options live and do not change.
    flakeid_lease_config config() const noexcept {
        flakeid_lease_config config = config_;
        // [options: lease pointers]
        config.namespace_name = namespace_name_ ? namespace_name_->c_str() : nullptr;
        config.name = name_ ? name_->c_str() : nullptr;
        config.layout = layout_ ? layout_->c_str() : nullptr;
        config.clock_name = clock_name_ ? clock_name_->c_str() : nullptr;
        // [/options]
        return config;
    }
    const observer &on_event() const noexcept { return on_event_; }

private:
    template <typename Value>
    lease_options &set(std::uint32_t flag, Value &field, std::common_type_t<Value> value) {
        config_.has |= flag;
        field = value;
        return *this;
    }

    flakeid_lease_config config_ = FLAKEID_LEASE_CONFIG_INIT;
    // [options: lease members]
    std::optional<std::string> namespace_name_, name_, layout_, clock_name_;
    // [/options]
    observer on_event_;
};

// The options of a new namespace, which all have defaults.
class namespace_options {
public:
    // [options: namespace setters]
    // The layout of the IDs: a preset's name or a descriptor (default: "twitter").
    namespace_options &layout(std::string value) {
        layout_ = detail::whole(std::move(value));
        return *this;
    }
    // The instant of tick 0 (default: the layout's epoch).
    namespace_options &epoch(time_point value) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, value.time_since_epoch().count());
    }
    // The longest time by which a window may start ahead of the clock: at most a day (default: 20 s
    // or four ticks, whichever is longer).
    namespace_options &max_ahead(milliseconds value) {
        return set(FLAKEID_HAS_MAX_AHEAD, config_.max_ahead_ms, detail::count(value));
    }
    // The longest window of a lease, for which processes can issue IDs while the store is
    // unavailable: from two ticks to a day (default: 10 s or four ticks, whichever is longer).
    namespace_options &max_window(milliseconds value) {
        return set(FLAKEID_HAS_MAX_WINDOW, config_.max_window_ms, detail::count(value));
    }
    // The largest allowed difference between a host's clock and the store's clock: 1 ms to a day
    // (default: 1 s).
    namespace_options &max_skew(milliseconds value) {
        return set(FLAKEID_HAS_MAX_SKEW, config_.max_skew_ms, detail::count(value));
    }
    // The time for which the store grants no nodes after a restart, a failover or a restore: at
    // most a week (default: the longest window, four times the allowed difference between clocks
    // and a tick, but at least 15 s).
    namespace_options &quiet(milliseconds value) {
        return set(FLAKEID_HAS_QUIET, config_.quiet_ms, detail::count(value));
    }
    // The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from the brokers
    // (default: 0). With 0, processes lease single nodes from the store.
    namespace_options &block_bits(std::uint32_t value) {
        return set(0, config_.block_bits, value);
    }
    // Whether the store records which process held which node (default: true).
    namespace_options &history(bool value) {
        return set(0, config_.no_history, value ? 0 : 1);
    }
    // Whether the store has never had a namespace with this name, so that it grants nodes at once
    // (default: false). If this is untrue, IDs may be issued twice. Never set this option when a
    // program starts: it is untrue after the store has lost its data.
    namespace_options &fresh(bool value) {
        return set(0, config_.fresh, value ? 1 : 0);
    }
    // [/options]

    // Returns the options for flakeid_create_namespace(). The result is valid while these options live
    // and do not change.
    flakeid_namespace_config config() const noexcept {
        flakeid_namespace_config config = config_;
        // [options: namespace pointers]
        config.layout = layout_ ? layout_->c_str() : nullptr;
        // [/options]
        return config;
    }

private:
    template <typename Value>
    namespace_options &set(std::uint32_t flag, Value &field, std::common_type_t<Value> value) {
        config_.has |= flag;
        field = value;
        return *this;
    }

    flakeid_namespace_config config_ = FLAKEID_NAMESPACE_CONFIG_INIT;
    // [options: namespace members]
    std::optional<std::string> layout_;
    // [/options]
};

// The options of a ring, which all have defaults.
class ring_options {
public:
    // A function for on_rejected_put or on_rejected_take, under the conditions in flakeid.h. It
    // must not throw.
    using observer = std::function<void(const error &)>;

    // [options: ring setters]
    // The exponent k, from 0 to 20, that determines the ring's capacity (default: 3). The capacity
    // is the number of IDs in 2^k full ticks, limited to the range from 2 to 2^20.
    ring_options &boost_power(std::uint32_t value) {
        return set(FLAKEID_HAS_BOOST_POWER, config_.boost_power, value);
    }
    // The percentage of the ring's capacity below which the ring is refilled: 1 to 99 (default:
    // 50).
    ring_options &padding_factor(std::uint32_t value) {
        return set(FLAKEID_HAS_PADDING_FACTOR, config_.padding_factor, value);
    }
    // The interval at which the ring is refilled even if enough IDs are left: at least 1 ms
    // (default: a refill only when too few IDs are left). Regular refills keep the IDs of a rarely
    // used ring fresh.
    ring_options &refill_interval(milliseconds value) {
        return set(FLAKEID_HAS_REFILL_INTERVAL, config_.refill_interval_ms, detail::count(value));
    }
    // The maximum age of an ID that the ring returns: at least two ticks (default: 1 s or two
    // ticks, whichever is longer). The age is measured from the beginning of the ID's tick. Older
    // IDs are dropped and counted.
    ring_options &max_age(milliseconds value) {
        return set(FLAKEID_HAS_MAX_AGE, config_.max_age_ms, detail::count(value));
    }
    // A function that is called with the error, on the ring's thread, each time the generator
    // refuses to fill the ring, except when all IDs of the tick have been used. The ring keeps a
    // copy of the function, which must not throw.
    ring_options &on_rejected_put(observer value) {
        on_rejected_put_ = std::move(value);
        return *this;
    }
    // A function that is called with the error, on the caller's thread, each time a call gets no ID
    // for a reason other than a closed generator. The ring keeps a copy of the function, which must
    // not throw.
    ring_options &on_rejected_take(observer value) {
        on_rejected_take_ = std::move(value);
        return *this;
    }
    // [/options]

    // Returns the options for flakeid_cached_open(), without the functions.
    flakeid_ring_config config() const noexcept { return config_; }
    const observer &on_rejected_put() const noexcept { return on_rejected_put_; }
    const observer &on_rejected_take() const noexcept { return on_rejected_take_; }

private:
    template <typename Value>
    ring_options &set(std::uint32_t flag, Value &field, std::common_type_t<Value> value) {
        config_.has |= flag;
        field = value;
        return *this;
    }

    flakeid_ring_config config_ = FLAKEID_RING_CONFIG_INIT;
    observer on_rejected_put_, on_rejected_take_;
};

}  // namespace flakeid

#endif  // FLAKEID_OPTIONS_HPP
