// Generators, local handles and rings. Included by flakeid.hpp.
#ifndef FLAKEID_GENERATOR_HPP
#define FLAKEID_GENERATOR_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "error.hpp"
#include "options.hpp"

namespace flakeid {

class local_generator;

// A generator of the IDs of one or several nodes. Move-only. Threads may call all functions at the
// same time.
class generator {
public:
    explicit generator(const options &options) {
        const flakeid_config config = options.config();
        handle_.reset(detail::value<flakeid_generator *>(flakeid_generator_new, &config));
    }
    generator(generator &&) noexcept = default;
    // The old handle is freed first, because the library may call the old observer until then.
    generator &operator=(generator &&other) noexcept {
        handle_ = std::move(other.handle_);
        on_event_ = std::move(other.on_event_);
        return *this;
    }

    // Creates a generator with a node that it leases from the store at this URL.
    static generator open(const std::string &url, const lease_options &options = {}) {
        return generator(detail::whole(url).c_str(), options);
    }
    // Creates a generator with a node that it leases from the store in FLAKEID_STORE, or from the
    // embedded store.
    static generator open_auto(const lease_options &options = {}) {
        return generator(static_cast<const char *>(nullptr), options);
    }

    std::uint64_t next_id() const {
        return detail::value<std::uint64_t>(flakeid_generator_next, get());
    }
    // Returns the next ID. Waits at most `max_wait`, which replaces the generator's own limit.
    std::uint64_t next_id_within(milliseconds max_wait) const {
        return detail::value<std::uint64_t>(flakeid_generator_next_within, get(),
                                            detail::count(max_wait));
    }
    std::uint64_t try_next_id() const {
        return detail::value<std::uint64_t>(flakeid_generator_try_next, get());
    }
    std::size_t fill(std::uint64_t *ids, std::size_t n) const {
        return detail::value<std::size_t>(flakeid_generator_fill, get(), ids, n);
    }
    std::size_t try_fill(std::uint64_t *ids, std::size_t n) const {
        return detail::value<std::size_t>(flakeid_generator_try_fill, get(), ids, n);
    }
    // Returns the next n IDs; fewer, but at least one, if an obstacle lasted longer than max_wait.
    std::vector<std::uint64_t> next_ids(std::size_t n) const {
        std::vector<std::uint64_t> ids(n);
        ids.resize(fill(ids.data(), n));
        return ids;
    }
    void extend(std::uint64_t fence) const { detail::check(flakeid_generator_extend(get(), fence)); }
    // Returns the last tick in which the generator issued an ID, or nothing if it issued no ID.
    std::optional<std::uint64_t> retire() const {
        const auto tick = detail::value<std::uint64_t>(flakeid_generator_retire, get());
        return tick == FLAKEID_NO_TICK ? std::nullopt : std::optional(tick);
    }
    flakeid_stats stats() const {
        flakeid_stats stats = FLAKEID_STATS_INIT;
        detail::check(flakeid_generator_stats(get(), &stats));
        return stats;
    }
    std::uint64_t node() const {
        return detail::value<std::uint64_t>(flakeid_generator_node, get());
    }
    // Returns all nodes, in increasing order.
    std::vector<std::uint64_t> nodes() const {
        std::vector<std::uint64_t> nodes(1);
        std::size_t count = 0;
        for (;;) {
            const auto status =
                flakeid_generator_nodes(get(), nodes.data(), nodes.size(), &count);
            if (status != FLAKEID_BUFFER_TOO_SMALL) {
                detail::check(status);
                nodes.resize(count);
                return nodes;
            }
            nodes.resize(nodes.size() * 2);
        }
    }
    // Returns a handle for one thread, which issues IDs several times faster.
    local_generator local() const;
    std::string layout() const {
        return detail::text<FLAKEID_DESCRIPTOR_SIZE>(flakeid_generator_layout, get());
    }
    // Returns the state of the lease. Fails with FLAKEID_INVALID_OPTION if the node is fixed.
    flakeid_lease_status lease() const {
        flakeid_lease_status status = FLAKEID_LEASE_STATUS_INIT;
        detail::check(flakeid_generator_lease(get(), &status));
        return status;
    }
    const flakeid_generator *get() const noexcept { return handle_.get(); }

private:
    generator(const char *url, const lease_options &options) {
        flakeid_lease_config config = options.config();
        if (options.on_event()) {
            on_event_ = std::make_shared<listener>();
            on_event_->observer = options.on_event();
            config.on_event = tell;
            config.user_data = on_event_.get();
        }
        handle_.reset(detail::value<flakeid_generator *>(flakeid_generator_open, url, &config));
    }
    struct listener : std::enable_shared_from_this<listener> {
        lease_options::observer observer;
    };
    static void tell(const flakeid_lease_event *event, void *user_data) noexcept {
        // The observer may destroy the generator, but not itself while it runs.
        const auto kept = static_cast<listener *>(user_data)->shared_from_this();
        kept->observer(*event);
    }

    // Declared before the handle, so that the observer outlives the handle, because the library may
    // call the observer until the handle is freed.
    std::shared_ptr<listener> on_event_;
    detail::owned<flakeid_generator, flakeid_generator_free> handle_;
};

// A handle with which one thread at a time takes IDs of a generator. Move-only. The generator may
// be destroyed first: then the handle continues, or fails with FLAKEID_CLOSED if the node is
// leased.
class local_generator {
public:
    explicit local_generator(const generator &generator)
        : handle_(detail::value<flakeid_local *>(flakeid_local_open, generator.get())) {}

    std::uint64_t next_id() {
        return detail::value<std::uint64_t>(flakeid_local_next, handle_.get());
    }
    flakeid_local *get() noexcept { return handle_.get(); }

private:
    detail::owned<flakeid_local, flakeid_local_free> handle_;
};

inline local_generator generator::local() const { return local_generator(*this); }

// A ring of IDs that are generated in advance. Move-only. Threads may call all functions at the
// same time. The generator may be destroyed first: then the ring continues, or fails with
// FLAKEID_CLOSED if the node is leased.
class cached_generator {
public:
    explicit cached_generator(const generator &generator, const ring_options &options = {}) {
        flakeid_ring_config config = options.config();
        if (options.on_rejected_put() || options.on_rejected_take()) {
            observers_ = std::make_unique<observers>(
                observers{options.on_rejected_put(), options.on_rejected_take()});
            config.on_rejected_put = observers_->put ? tell<&observers::put> : nullptr;
            config.on_rejected_take = observers_->take ? tell<&observers::take> : nullptr;
            config.user_data = observers_.get();
        }
        handle_.reset(
            detail::value<flakeid_cached *>(flakeid_cached_open, generator.get(), &config));
    }
    cached_generator(cached_generator &&) noexcept = default;
    // The old handle is freed first, because the library may call the old observers until then.
    cached_generator &operator=(cached_generator &&other) noexcept {
        handle_ = std::move(other.handle_);
        observers_ = std::move(other.observers_);
        return *this;
    }

    // Takes the next ID without waiting. Fails with FLAKEID_RING_EMPTY if the ring is empty.
    std::uint64_t take() const { return detail::value<std::uint64_t>(flakeid_cached_take, get()); }
    // Takes the next ID if one is available now. Never waits, counts no refusal, and throws
    // nothing.
    std::optional<std::uint64_t> poll() const noexcept {
        std::uint64_t id = 0;
        return flakeid_cached_poll(get(), &id) == FLAKEID_OK ? std::optional<std::uint64_t>(id)
                                                             : std::nullopt;
    }
    // Takes the next ID. Waits for a refill for at most the generator's max_wait.
    std::uint64_t next_id() const {
        return detail::value<std::uint64_t>(flakeid_cached_next, get());
    }
    flakeid_ring_stats stats() const {
        flakeid_ring_stats stats = FLAKEID_RING_STATS_INIT;
        detail::check(flakeid_cached_stats(get(), &stats));
        return stats;
    }
    // Closes the ring while other threads may be taking IDs from it. Their calls then fail with
    // FLAKEID_CLOSED.
    void close() const { detail::check(flakeid_cached_close(get())); }
    const flakeid_cached *get() const noexcept { return handle_.get(); }

private:
    struct observers {
        ring_options::observer put, take;
    };
    template <ring_options::observer observers::*Which>
    static void tell(flakeid_status status, void *user_data) noexcept {
        (static_cast<observers *>(user_data)->*Which)(error(status));
    }

    // Declared before the handle, so that the observers outlive the handle, because the library may
    // call the observers until the handle is freed.
    std::unique_ptr<observers> observers_;
    detail::owned<flakeid_cached, flakeid_cached_free> handle_;
};

}  // namespace flakeid

#endif  // FLAKEID_GENERATOR_HPP
