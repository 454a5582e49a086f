// The options of generators, leases and rings. Included by flakeid.hpp.
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

// The options of a generator. A node, a datacenter and a worker, or several nodes have to be given.
class options {
public:
    // [options: generator setters except nodes epoch]
    // The node, from 0 to the layout's largest; there is no default, because no other generator may
    // have it at the same time.
    options &node(std::uint64_t value) { return set(FLAKEID_HAS_NODE, config_.node, value); }
    // The high part of the node, in layouts that split it; requires worker.
    options &datacenter(std::uint64_t value) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, value);
    }
    // The low part of the node, in layouts that split it; requires datacenter.
    options &worker(std::uint64_t value) { return set(FLAKEID_HAS_WORKER, config_.worker, value); }
    // The layout of the IDs: the name of a preset or a descriptor (default: "twitter").
    options &layout(std::string value) {
        layout_ = detail::whole(std::move(value));
        return *this;
    }
    // The ticks to which a lease limits the generator, the fence exclusive (default: all ticks).
    options &window(std::uint64_t start, std::uint64_t fence) {
        config_.window_fence = fence;
        return set(FLAKEID_HAS_WINDOW, config_.window_start, start);
    }
    // The behaviour when a tick is full (default: overflow::wait). overflow::borrow requires a
    // window.
    options &overflow(flakeid::overflow value) {
        return set(0, config_.overflow, static_cast<std::int32_t>(value));
    }
    // The behaviour when the clock goes backwards (default: rollback::carry_on).
    options &rollback(flakeid::rollback value) {
        return set(0, config_.rollback, static_cast<std::int32_t>(value));
    }
    // The largest sequence number to use: 2^k - 1 (default: the layout's).
    options &sequence_mask(std::uint64_t value) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, value);
    }
    // The number of bits of a random sequence number with which each tick begins (default: 0).
    options &sequence_start(std::uint32_t value) { return set(0, config_.sequence_start, value); }
    // The longest time by which IDs of a window may be ahead of the clock (default: 20 s).
    options &max_ahead(milliseconds value) {
        return set(FLAKEID_HAS_MAX_AHEAD, config_.max_ahead_ms, detail::count(value));
    }
    // The longest time that a call waits without issuing an ID (default: 1 s or two ticks,
    // whichever is longer).
    options &max_wait(milliseconds value) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(value));
    }
    // The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
    // processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late
    // (default: "gated").
    options &clock(std::string value) {
        clock_name_ = detail::whole(std::move(value));
        return *this;
    }
    // [/options]
    options &epoch(time_point epoch) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, epoch.time_since_epoch().count());
    }
    // The clock has to live until the generator is made, not longer. One that was moved from is
    // refused: to take the system's clock instead would be a surprise.
    options &clock(const manual_clock &clock) {
        if (clock.get() == nullptr) {
            throw std::invalid_argument("flakeid: the clock was moved from");
        }
        return set(0, config_.clock, clock.get());
    }
    // Several nodes instead of one; their number must be a power of two.
    options &nodes(std::vector<std::uint64_t> nodes) {
        nodes_ = std::move(nodes);
        return *this;
    }

    // For flakeid_generator_new(), while these options live and are not changed.
    flakeid_config config() const noexcept {
        // An empty vector must be refused like any wrong number of nodes, and a null pointer would
        // mean the default.
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

// The options of a lease: any node of the namespace "default", unless told otherwise.
class lease_options {
public:
    using observer = std::function<void(const flakeid_lease_event &)>;

    // [options: lease setters except epoch on_event]
    // The namespace to lease from: 1 to 64 of A-Z a-z 0-9 . _ - (default: "default"). Each
    // namespace has one layout, and nodes of its own.
    lease_options &namespace_name(std::string value) {
        namespace_name_ = detail::whole(std::move(value));
        return *this;
    }
    // The name of this process, by which it prefers the node that it had last: 1 to 128 bytes
    // (default: none).
    lease_options &name(std::string value) {
        name_ = detail::whole(std::move(value));
        return *this;
    }
    // The node to lease, which is taken over even from a live holder; that is safe (default: any
    // node).
    lease_options &node(std::uint64_t value) { return set(FLAKEID_HAS_NODE, config_.node, value); }
    // The high part of the node, in layouts that split it; requires worker.
    lease_options &datacenter(std::uint64_t value) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, value);
    }
    // The low part of the node, in layouts that split it; requires datacenter.
    lease_options &worker(std::uint64_t value) {
        return set(FLAKEID_HAS_WORKER, config_.worker, value);
    }
    // The range of nodes to choose from, both ends inclusive (default: all nodes of the layout).
    lease_options &nodes(std::uint64_t from, std::uint64_t to) {
        config_.last_node = to;
        return set(FLAKEID_HAS_NODES, config_.first_node, from);
    }
    // The number of nodes to lease for this one generator, a power of two, for as many times the
    // IDs in a tick (default: 1). Several nodes cannot be combined with name, node or
    // sequence_mask.
    lease_options &node_count(std::uint32_t value) { return set(0, config_.node_count, value); }
    // The layout of the IDs, which must be the namespace's: the name of a preset or a descriptor
    // (default: "twitter").
    lease_options &layout(std::string value) {
        layout_ = detail::whole(std::move(value));
        return *this;
    }
    // The time after the last renewal until other processes can have the node: 1 ms to 30 days
    // (default: 60 s or 12 ticks, whichever is longer). Uniqueness does not depend on it.
    lease_options &ttl(milliseconds value) {
        return set(FLAKEID_HAS_TTL, config_.ttl_ms, detail::count(value));
    }
    // The time for which the generator issues IDs while the store is away: from two ticks to what
    // the namespace allows (default: 10 s or two ticks, whichever is longer).
    lease_options &window(milliseconds value) {
        return set(FLAKEID_HAS_WINDOW_MS, config_.window_ms, detail::count(value));
    }
    // The behaviour when a tick is full (default: overflow::wait).
    lease_options &overflow(flakeid::overflow value) {
        return set(0, config_.overflow, static_cast<std::int32_t>(value));
    }
    // The behaviour when the clock goes backwards (default: rollback::carry_on).
    lease_options &rollback(flakeid::rollback value) {
        return set(0, config_.rollback, static_cast<std::int32_t>(value));
    }
    // The largest sequence number to use: 2^k - 1 (default: the layout's).
    lease_options &sequence_mask(std::uint64_t value) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, value);
    }
    // The number of bits of a random sequence number with which each tick begins (default: 0).
    lease_options &sequence_start(std::uint32_t value) {
        return set(0, config_.sequence_start, value);
    }
    // The longest time that a call waits without issuing an ID (default: 1 s or two ticks,
    // whichever is longer). Opening a lease takes at most 2 s more, to connect.
    lease_options &max_wait(milliseconds value) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(value));
    }
    // The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
    // processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late
    // (default: "gated").
    lease_options &clock(std::string value) {
        clock_name_ = detail::whole(std::move(value));
        return *this;
    }
    // Whether a node may be leased that was leased before (default: true). Otherwise each start
    // uses up a node, until none is left.
    lease_options &reuse(bool value) { return set(0, config_.never_reuse, value ? 0 : 1); }
    // [/options]
    lease_options &epoch(time_point epoch) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, epoch.time_since_epoch().count());
    }
    // Is called on a thread of the library's, and must not throw. The generator keeps a copy.
    lease_options &on_event(observer function) {
        on_event_ = std::move(function);
        return *this;
    }

    // For flakeid_generator_open(), while these options live and are not changed; on_event is
    // left out.
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

// The options of a ring: all have defaults.
class ring_options {
public:
    // What flakeid.h says of on_rejected_put and on_rejected_take; must not throw.
    using observer = std::function<void(const error &)>;

    // [options: ring setters except on_rejected_put on_rejected_take]
    // The power k of the ring's capacity, the IDs of 2^k full ticks: 0 to 20; at least 2 IDs and at
    // most 2^20 (default: 3).
    ring_options &boost_power(std::uint32_t value) {
        return set(FLAKEID_HAS_BOOST_POWER, config_.boost_power, value);
    }
    // The percentage of IDs below which the ring is refilled: 1 to 99 (default: 50).
    ring_options &padding_factor(std::uint32_t value) {
        return set(FLAKEID_HAS_PADDING_FACTOR, config_.padding_factor, value);
    }
    // The interval at which the ring is refilled even if enough IDs are left, which keeps a seldom
    // used ring fresh: at least 1 ms (default: only when too few IDs are left).
    ring_options &refill_interval(milliseconds value) {
        return set(FLAKEID_HAS_REFILL_INTERVAL, config_.refill_interval_ms, detail::count(value));
    }
    // The largest age of an ID that the ring hands out, from the beginning of the ID's tick: at
    // least two ticks (default: 1 s or two ticks, whichever is longer). Older IDs are dropped and
    // counted.
    ring_options &max_age(milliseconds value) {
        return set(FLAKEID_HAS_MAX_AGE, config_.max_age_ms, detail::count(value));
    }
    // [/options]
    // On a thread of the library's. The ring keeps a copy, of the next one too.
    ring_options &on_rejected_put(observer function) {
        on_rejected_put_ = std::move(function);
        return *this;
    }
    // On the thread of the call, so by several at the same time.
    ring_options &on_rejected_take(observer function) {
        on_rejected_take_ = std::move(function);
        return *this;
    }

    // For flakeid_cached_open(); the functions are left out.
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
