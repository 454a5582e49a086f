// flakeid for C++17: handles that free themselves, exceptions, std::string and std::chrono over
// flakeid.h, and nothing else. What each call does is said there.
//
//     flakeid::generator generator(flakeid::options().node(7));
//     std::uint64_t id = generator.next_id();
#ifndef FLAKEID_HPP
#define FLAKEID_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "flakeid.h"

namespace flakeid {

using milliseconds = std::chrono::milliseconds;
// Instants are counted in milliseconds since 1970, which C++17's system_clock does not promise to
// begin at, but does everywhere.
using time_point = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

// A call that failed. what() is a sentence for people; code() is the same in every language.
class error : public std::runtime_error {
public:
    // From the calling thread's last error, right after a call failed with this status.
    explicit error(flakeid_status status)
        : std::runtime_error(flakeid_last_error()), status_(status) {
        if (const char *field = flakeid_last_error_field()) {
            field_ = field;
        }
        retry_after_ = duration(flakeid_retry_after_ms());
        rollback_ = duration(flakeid_rollback_ms());
        if (const std::int64_t horizon = flakeid_horizon_ms(); horizon >= 0) {
            horizon_ = time_point(milliseconds(horizon));
        }
    }

    flakeid_status status() const noexcept { return status_; }
    const char *code() const noexcept { return flakeid_status_code(status_); }
    // After how long the same call may succeed; none where waiting does not help.
    std::optional<milliseconds> retry_after() const noexcept { return retry_after_; }
    // By how much the clock went back, for FLAKEID_CLOCK_ROLLBACK.
    std::optional<milliseconds> rollback() const noexcept { return rollback_; }
    // When the layout ran out, for FLAKEID_HORIZON_REACHED.
    std::optional<time_point> horizon() const noexcept { return horizon_; }
    // The field at fault, for FLAKEID_FIELD_OUT_OF_RANGE, otherwise empty.
    const std::string &field() const noexcept { return field_; }

private:
    static std::optional<milliseconds> duration(std::int64_t ms) {
        return ms < 0 ? std::nullopt : std::optional(milliseconds(ms));
    }

    flakeid_status status_;
    std::string field_;
    std::optional<milliseconds> retry_after_, rollback_;
    std::optional<time_point> horizon_;
};

namespace detail {

// For functions that read to the first NUL: a NUL inside becomes a character that no layout and no
// text form has, so that the whole is refused instead of its beginning taken.
inline std::string whole(std::string text) {
    for (char &character : text) {
        if (character == '\0') {
            character = '\1';
        }
    }
    return text;
}

inline void check(flakeid_status status) {
    if (status != FLAKEID_OK) {
        throw error(status);
    }
}

// Calls a function that ends in (buffer, size) with one that is large enough.
template <std::size_t Size, typename Function, typename... Inputs>
std::string text(Function function, Inputs... inputs) {
    std::array<char, Size> buffer{};
    check(function(inputs..., buffer.data(), buffer.size()));
    return buffer.data();
}

// Calls a function that ends in one output.
template <typename Output, typename Function, typename... Inputs>
Output value(Function function, Inputs... inputs) {
    Output output{};
    check(function(inputs..., &output));
    return output;
}

// Negative durations are not what any option means: the caller's mistake, not a huge wait.
inline std::uint64_t count(milliseconds duration) {
    if (duration.count() < 0) {
        throw std::invalid_argument("flakeid: a duration must not be negative");
    }
    return static_cast<std::uint64_t>(duration.count());
}

struct free_clock {
    void operator()(flakeid_manual_clock *clock) const noexcept { flakeid_manual_clock_free(clock); }
};

struct free_generator {
    void operator()(flakeid_generator *generator) const noexcept {
        flakeid_generator_free(generator);
    }
};

}  // namespace detail

// A clock that stands still until it is told otherwise, for tests. Move-only; generators that use
// it may outlive it.
class manual_clock {
public:
    explicit manual_clock(time_point now)
        : handle_(detail::value<flakeid_manual_clock *>(flakeid_manual_clock_new,
                                                        now.time_since_epoch().count())) {}

    void set(time_point now) {
        detail::check(flakeid_manual_clock_set(handle_.get(), now.time_since_epoch().count()));
    }
    void advance(milliseconds duration) {
        detail::check(flakeid_manual_clock_advance(handle_.get(), detail::count(duration)));
    }
    time_point now() const {
        return time_point(milliseconds(
            detail::value<std::int64_t>(flakeid_manual_clock_get, handle_.get())));
    }
    const flakeid_manual_clock *get() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<flakeid_manual_clock, detail::free_clock> handle_;
};

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

// The options of a generator. A node, or a datacenter and a worker, has to be given.
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
    // The clock has to live until the generator is made, not longer. One that was moved from is none,
    // and the system's clock in its place would be a surprise.
    options &clock(const manual_clock &clock) {
        if (clock.get() == nullptr) {
            throw std::invalid_argument("flakeid: the clock was moved from");
        }
        return set(0, config_.clock, clock.get());
    }
    options &window(std::uint64_t start, std::uint64_t fence) {
        config_.window_fence = fence;
        return set(FLAKEID_HAS_WINDOW, config_.window_start, start);
    }

    // For flakeid_generator_new(), while these options live and are not changed.
    flakeid_config config() const noexcept {
        flakeid_config config = config_;
        config.layout = layout_ ? layout_->c_str() : nullptr;
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
    std::optional<std::string> layout_;
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
    std::optional<std::string> layout_, namespace_, name_;
    observer on_event_;
};

// Makes the IDs of one node. Move-only; every call may be made by many threads at the same time.
class generator {
public:
    explicit generator(const options &options) {
        const flakeid_config config = options.config();
        handle_.reset(detail::value<flakeid_generator *>(flakeid_generator_new, &config));
    }
    generator(generator &&) noexcept = default;
    // The old handle first: until it is freed, the old observer is called.
    generator &operator=(generator &&other) noexcept {
        handle_ = std::move(other.handle_);
        on_event_ = std::move(other.on_event_);
        return *this;
    }

    // With a node that is leased from the store at that URL.
    static generator open(const std::string &url, const lease_options &options = {}) {
        return generator(detail::whole(url).c_str(), options);
    }
    // With a node that is leased from what FLAKEID_STORE names, or the embedded store.
    static generator open_auto(const lease_options &options = {}) {
        return generator(static_cast<const char *>(nullptr), options);
    }

    std::uint64_t next_id() const {
        return detail::value<std::uint64_t>(flakeid_generator_next, get());
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
    // The next n IDs; fewer, but at least one, if an obstacle outlasted max_wait.
    std::vector<std::uint64_t> next_ids(std::size_t n) const {
        std::vector<std::uint64_t> ids(n);
        ids.resize(fill(ids.data(), n));
        return ids;
    }
    void extend(std::uint64_t fence) const { detail::check(flakeid_generator_extend(get(), fence)); }
    // The last tick in which an ID was issued, if any was.
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
    std::string layout() const {
        return detail::text<FLAKEID_DESCRIPTOR_SIZE>(flakeid_generator_layout, get());
    }
    // How the lease stands; FLAKEID_INVALID_OPTION unless the node is leased.
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
            on_event_ = std::make_unique<lease_options::observer>(options.on_event());
            config.on_event = tell;
            config.user_data = on_event_.get();
        }
        handle_.reset(detail::value<flakeid_generator *>(flakeid_generator_open, url, &config));
    }
    static void tell(const flakeid_lease_event *event, void *observer) noexcept {
        (*static_cast<lease_options::observer *>(observer))(*event);
    }

    // Outlives the handle, until which it is called.
    std::unique_ptr<lease_options::observer> on_event_;
    std::unique_ptr<flakeid_generator, detail::free_generator> handle_;
};

// A layout that was checked: a preset or a descriptor.
class layout {
public:
    layout() : layout(static_cast<const char *>(nullptr)) {}
    explicit layout(const std::string &text) : layout(detail::whole(text).c_str()) {}
    // NULL is the default.
    explicit layout(const char *text)
        : descriptor_(detail::text<FLAKEID_DESCRIPTOR_SIZE>(flakeid_layout_descriptor, text)) {}

    // The canonical form.
    const std::string &descriptor() const noexcept { return descriptor_; }
    flakeid_layout_info info() const {
        flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
        detail::check(flakeid_layout_get_info(text(), &info));
        return info;
    }
    flakeid_parts decode(std::uint64_t id) const {
        return detail::value<flakeid_parts>(flakeid_decode, text(), id);
    }
    std::uint64_t pack(const flakeid_parts &parts) const {
        return detail::value<std::uint64_t>(flakeid_pack, text(), &parts);
    }
    flakeid_parts parts_at(time_point instant) const {
        return detail::value<flakeid_parts>(flakeid_parts_at, text(), ms(instant));
    }
    std::uint64_t join_node(std::uint64_t datacenter, std::uint64_t worker) const {
        return detail::value<std::uint64_t>(flakeid_join_node, text(), datacenter, worker);
    }
    std::uint64_t tick_at(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_tick_at, text(), ms(instant));
    }
    time_point instant_of(std::uint64_t tick) const {
        return time_point(
            milliseconds(detail::value<std::int64_t>(flakeid_unix_ms_at, text(), tick)));
    }
    std::string timestamp(time_point instant) const {
        return detail::text<FLAKEID_TIMESTAMP_SIZE>(flakeid_timestamp, text(), ms(instant));
    }
    std::uint64_t lower_bound(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_lower_bound, text(), ms(instant));
    }
    std::uint64_t upper_bound(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_upper_bound, text(), ms(instant));
    }

    // The names of all presets.
    static std::vector<std::string> presets() {
        std::vector<std::string> names;
        for (std::size_t index = 0; index < flakeid_preset_count(); ++index) {
            names.emplace_back(flakeid_preset_name(index));
        }
        return names;
    }

private:
    static std::int64_t ms(time_point instant) { return instant.time_since_epoch().count(); }
    const char *text() const noexcept { return descriptor_.c_str(); }

    std::string descriptor_;
};

enum class text_form { decimal, base32, base36, base58, base62, hex };

inline std::string to_text(text_form form, std::uint64_t id) {
    constexpr decltype(&flakeid_to_decimal) functions[] = {
        flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
        flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex,
    };
    return detail::text<FLAKEID_TEXT_SIZE>(functions[static_cast<std::size_t>(form)], id);
}

inline std::uint64_t from_text(text_form form, const std::string &text) {
    constexpr decltype(&flakeid_from_decimal) functions[] = {
        flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
        flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex,
    };
    const auto function = functions[static_cast<std::size_t>(form)];
    return detail::value<std::uint64_t>(function, detail::whole(text).c_str());
}

// The most significant byte first.
inline std::array<std::uint8_t, 8> to_bytes(std::uint64_t id) {
    std::array<std::uint8_t, 8> bytes{};
    detail::check(flakeid_to_bytes(id, bytes.data(), bytes.size()));
    return bytes;
}

inline std::uint64_t from_bytes(const std::array<std::uint8_t, 8> &bytes) {
    return detail::value<std::uint64_t>(flakeid_from_bytes, bytes.data(), bytes.size());
}

}  // namespace flakeid

#endif  // FLAKEID_HPP
