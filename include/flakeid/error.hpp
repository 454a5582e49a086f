// Errors, and the conversion of calls to flakeid.h into functions that return values. Included by
// flakeid.hpp.
#ifndef FLAKEID_ERROR_HPP
#define FLAKEID_ERROR_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "../flakeid.h"

namespace flakeid {

using milliseconds = std::chrono::milliseconds;
// An instant, in milliseconds since 1970. C++17 does not guarantee that system_clock counts from
// 1970, but all implementations do.
using time_point = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

// The error of a failed call. what() is a message for people, and code() is the same in every
// language.
class error : public std::runtime_error {
public:
    // Reads the calling thread's last error, right after a call failed with this status.
    explicit error(flakeid_status status)
        : std::runtime_error(flakeid_last_error_spelled(FLAKEID_SPELLING_CPP)), status_(status) {
        if (const char *field = flakeid_last_error_field_spelled(FLAKEID_SPELLING_CPP)) {
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
    // Returns the time after which the same call may succeed; empty if waiting does not help.
    std::optional<milliseconds> retry_after() const noexcept { return retry_after_; }
    // Returns the time by which the clock went backwards, for FLAKEID_CLOCK_ROLLBACK.
    std::optional<milliseconds> rollback() const noexcept { return rollback_; }
    // Returns the instant at which the layout's ticks end, for FLAKEID_HORIZON_REACHED.
    std::optional<time_point> horizon() const noexcept { return horizon_; }
    // Returns the name of the field that caused the error, for FLAKEID_FIELD_OUT_OF_RANGE,
    // otherwise an empty string.
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

// Prepares a string for functions that read up to the first NUL. Replaces each NUL inside the
// string by a character that no layout and no text form contains, so that these functions reject
// the whole string and do not accept its beginning.
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

// Calls a function whose last parameters are (buffer, size), with a buffer that is large enough,
// and returns the string.
template <std::size_t Size, typename Function, typename... Inputs>
std::string text(Function function, Inputs... inputs) {
    std::array<char, Size> buffer{};
    check(function(inputs..., buffer.data(), buffer.size()));
    return buffer.data();
}

// Calls a function whose last parameter is its output, and returns the output.
template <typename Output, typename Function, typename... Inputs>
Output value(Function function, Inputs... inputs) {
    Output output{};
    check(function(inputs..., &output));
    return output;
}

// Returns the milliseconds of a duration. Throws if the duration is negative, because the
// conversion to unsigned would make it a very long wait.
inline std::uint64_t count(milliseconds duration) {
    if (duration.count() < 0) {
        throw std::invalid_argument("flakeid: a duration must not be negative");
    }
    return static_cast<std::uint64_t>(duration.count());
}

// A deleter that calls the function Free.
template <auto Free>
struct freed_by {
    template <typename Handle>
    void operator()(Handle *handle) const noexcept {
        Free(handle);
    }
};

// A unique_ptr that owns a handle and frees it with Free.
template <typename Handle, auto Free>
using owned = std::unique_ptr<Handle, freed_by<Free>>;

}  // namespace detail

}  // namespace flakeid

#endif  // FLAKEID_ERROR_HPP
