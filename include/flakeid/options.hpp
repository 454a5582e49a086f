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
    options &node(std::uint64_t node) { return set(FLAKEID_HAS_NODE, config_.node, node); }
    options &datacenter(std::uint64_t high) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, high);
    }
    options &worker(std::uint64_t low) { return set(FLAKEID_HAS_WORKER, config_.worker, low); }
    options &layout(std::string layout) {
        layout_ = detail::whole(std::move(layout));
        return *this;
    }
    options &epoch(time_point epoch) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, epoch.time_since_epoch().count());
    }
    options &sequence_mask(std::uint64_t mask) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, mask);
    }
    options &sequence_start(std::uint32_t bits) { return set(0, config_.sequence_start, bits); }
    options &overflow(flakeid::overflow what) {
        return set(0, config_.overflow, static_cast<std::int32_t>(what));
    }
    options &rollback(flakeid::rollback what) {
        return set(0, config_.rollback, static_cast<std::int32_t>(what));
    }
    options &max_ahead(milliseconds duration) {
        return set(FLAKEID_HAS_MAX_AHEAD, config_.max_ahead_ms, detail::count(duration));
    }
    options &max_wait(milliseconds duration) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(duration));
    }
    // The clock has to live until the generator is made, not longer. One that was moved from is
    // refused: to take the system's clock instead would be a surprise.
    options &clock(const manual_clock &clock) {
        if (clock.get() == nullptr) {
            throw std::invalid_argument("flakeid: the clock was moved from");
        }
        return set(0, config_.clock, clock.get());
    }
    // The system's clock by name: "gated" (default), "system" or "coarse".
    options &clock(std::string name) {
        clock_name_ = detail::whole(std::move(name));
        return *this;
    }
    options &window(std::uint64_t start, std::uint64_t fence) {
        config_.window_fence = fence;
        return set(FLAKEID_HAS_WINDOW, config_.window_start, start);
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
        config.layout = layout_ ? layout_->c_str() : nullptr;
        config.clock_name = clock_name_ ? clock_name_->c_str() : nullptr;
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
    std::optional<std::string> layout_, clock_name_;
    std::optional<std::vector<std::uint64_t>> nodes_;
};

// The options of a lease: any node of the namespace "default", unless told otherwise.
class lease_options {
public:
    using observer = std::function<void(const flakeid_lease_event &)>;

    lease_options &namespace_name(std::string name) {
        return keep(namespace_, std::move(name));
    }
    // Prefer the node that this name had last.
    lease_options &name(std::string name) { return keep(name_, std::move(name)); }
    lease_options &node(std::uint64_t node) { return set(FLAKEID_HAS_NODE, config_.node, node); }
    lease_options &datacenter(std::uint64_t high) {
        return set(FLAKEID_HAS_DATACENTER, config_.datacenter, high);
    }
    lease_options &worker(std::uint64_t low) { return set(FLAKEID_HAS_WORKER, config_.worker, low); }
    // Both inclusive.
    lease_options &nodes(std::uint64_t first, std::uint64_t last) {
        config_.last_node = last;
        return set(FLAKEID_HAS_NODES, config_.first_node, first);
    }
    lease_options &layout(std::string layout) { return keep(layout_, std::move(layout)); }
    lease_options &epoch(time_point epoch) {
        return set(FLAKEID_HAS_EPOCH, config_.epoch, epoch.time_since_epoch().count());
    }
    lease_options &sequence_mask(std::uint64_t mask) {
        return set(FLAKEID_HAS_SEQUENCE_MASK, config_.sequence_mask, mask);
    }
    lease_options &sequence_start(std::uint32_t bits) {
        return set(0, config_.sequence_start, bits);
    }
    lease_options &overflow(flakeid::overflow what) {
        return set(0, config_.overflow, static_cast<std::int32_t>(what));
    }
    lease_options &rollback(flakeid::rollback what) {
        return set(0, config_.rollback, static_cast<std::int32_t>(what));
    }
    // False takes only nodes that were never leased.
    lease_options &reuse(bool reuse) { return set(0, config_.never_reuse, reuse ? 0 : 1); }
    lease_options &window(milliseconds duration) {
        return set(FLAKEID_HAS_WINDOW_MS, config_.window_ms, detail::count(duration));
    }
    lease_options &ttl(milliseconds duration) {
        return set(FLAKEID_HAS_TTL, config_.ttl_ms, detail::count(duration));
    }
    lease_options &max_wait(milliseconds duration) {
        return set(FLAKEID_HAS_MAX_WAIT, config_.max_wait_ms, detail::count(duration));
    }
    // The system's clock by name: "gated" (default), "system" or "coarse".
    lease_options &clock(std::string name) { return keep(clock_name_, std::move(name)); }
    // So many nodes for the one generator: 1, 2, 4, 8 or another power of two.
    lease_options &node_count(std::uint32_t count) { return set(0, config_.node_count, count); }
    // Is called on a thread of the library's, and must not throw. The generator keeps a copy.
    lease_options &on_event(observer function) {
        on_event_ = std::move(function);
        return *this;
    }

    // For flakeid_generator_open(), while these options live and are not changed; on_event is
    // left out.
    flakeid_lease_config config() const noexcept {
        flakeid_lease_config config = config_;
        config.layout = layout_ ? layout_->c_str() : nullptr;
        config.namespace_name = namespace_ ? namespace_->c_str() : nullptr;
        config.name = name_ ? name_->c_str() : nullptr;
        config.clock_name = clock_name_ ? clock_name_->c_str() : nullptr;
        return config;
    }
    const observer &on_event() const noexcept { return on_event_; }

private:
    lease_options &keep(std::optional<std::string> &place, std::string text) {
        place = detail::whole(std::move(text));
        return *this;
    }
    template <typename Value>
    lease_options &set(std::uint32_t flag, Value &field, std::common_type_t<Value> value) {
        config_.has |= flag;
        field = value;
        return *this;
    }

    flakeid_lease_config config_ = FLAKEID_LEASE_CONFIG_INIT;
    std::optional<std::string> layout_, namespace_, name_, clock_name_;
    observer on_event_;
};

// The options of a ring: all have defaults.
class ring_options {
public:
    // What flakeid.h says of on_rejected_put and on_rejected_take; must not throw.
    using observer = std::function<void(const error &)>;

    ring_options &boost_power(std::uint32_t power) {
        return set(FLAKEID_HAS_BOOST_POWER, config_.boost_power, power);
    }
    ring_options &padding_factor(std::uint32_t percent) {
        return set(FLAKEID_HAS_PADDING_FACTOR, config_.padding_factor, percent);
    }
    ring_options &refill_interval(milliseconds interval) {
        return set(FLAKEID_HAS_REFILL_INTERVAL, config_.refill_interval_ms, detail::count(interval));
    }
    ring_options &max_age(milliseconds duration) {
        return set(FLAKEID_HAS_MAX_AGE, config_.max_age_ms, detail::count(duration));
    }
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
