// Manual clocks for tests. Included by flakeid.hpp.
#ifndef FLAKEID_CLOCK_HPP
#define FLAKEID_CLOCK_HPP

#include <cstdint>

#include "error.hpp"

namespace flakeid {

// A clock for tests that moves only when the program sets or advances it. Move-only. Generators
// that use the clock may outlive it.
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
    detail::owned<flakeid_manual_clock, flakeid_manual_clock_free> handle_;
};

}  // namespace flakeid

#endif  // FLAKEID_CLOCK_HPP
