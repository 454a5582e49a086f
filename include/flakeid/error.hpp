// Errors, and how calls of flakeid.h become values. Included by flakeid.hpp.
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
// Instants are counted in milliseconds since 1970, which C++17's system_clock does not promise to
// begin at, but does everywhere.
using time_point = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

// A call that failed. what() is a sentence for people; code() is the same in every language.
class error : public std::runtime_error {
public:
    // From the calling thread's last error, right after a call failed with this status.
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
    // After how long the same call may succeed; empty where waiting does not help.
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

// Calls a function whose last parameters are (buffer, size), with a buffer that is large enough.
template <std::size_t Size, typename Function, typename... Inputs>
std::string text(Function function, Inputs... inputs) {
    std::array<char, Size> buffer{};
    check(function(inputs..., buffer.data(), buffer.size()));
    return buffer.data();
}

// Calls a function whose last parameter is its output.
template <typename Output, typename Function, typename... Inputs>
Output value(Function function, Inputs... inputs) {
    Output output{};
    check(function(inputs..., &output));
    return output;
}

// No option may be negative: converted to unsigned, it would become a huge wait.
inline std::uint64_t count(milliseconds duration) {
    if (duration.count() < 0) {
        throw std::invalid_argument("flakeid: a duration must not be negative");
    }
    return static_cast<std::uint64_t>(duration.count());
}

// A deleter that calls this function.
template <auto Free>
struct freed_by {
    template <typename Handle>
    void operator()(Handle *handle) const noexcept {
        Free(handle);
    }
};

// An owner of a handle.
template <typename Handle, auto Free>
using owned = std::unique_ptr<Handle, freed_by<Free>>;

}  // namespace detail

}  // namespace flakeid

#endif  // FLAKEID_ERROR_HPP
