#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "vectors.hpp"

namespace {

using flakeid::generator;
using flakeid::manual_clock;
using flakeid::options;

const time_point NOW(milliseconds(1505914988849));

options on(const manual_clock &clock) { return options().node(1).clock(clock); }

void roll_back() {
    manual_clock clock(NOW);
    const generator generator(on(clock).rollback(flakeid::rollback::error));
    generator.next_id();
    clock.set(NOW - milliseconds(5));
    generator.next_id();
}

void use_up() {
    const manual_clock clock(NOW);
    const generator generator(on(clock).sequence_mask(0).overflow(flakeid::overflow::error));
    generator.next_id();
    generator.next_id();
}

void retire_twice() {
    const manual_clock clock(NOW);
    const generator generator(on(clock));
    generator.retire();
    generator.retire();
}

void move_from() {
    const manual_clock clock(NOW);
    generator first(on(clock));
    const generator second = std::move(first);
    first.next_id();
}

// Calls that cause each error that requires neither a lease nor a bug.
const std::map<std::string, std::function<void()>> ways = {
    {"FLAKEID_INVALID_LAYOUT", [] { flakeid::layout("n10.t41.s12@0/1ms"); }},
    {"FLAKEID_FIELD_OUT_OF_RANGE", [] { generator(options().node(1024)); }},
    {"FLAKEID_INVALID_ID", [] { flakeid::from_text(flakeid::text_form::base62, "?"); }},
    {"FLAKEID_INVALID_OPTION",
     [] { generator(options().node(1).overflow(flakeid::overflow::borrow)); }},
    {"FLAKEID_CLOCK_ROLLBACK", roll_back},
    {"FLAKEID_SEQUENCE_EXHAUSTED", use_up},
    {"FLAKEID_HORIZON_REACHED", [] { generator(options().node(1).layout("baidu")); }},
    {"FLAKEID_BEFORE_EPOCH", [] { generator(on(manual_clock(time_point()))).try_next_id(); }},
    {"FLAKEID_CLOSED", retire_twice},
    {"FLAKEID_LEASE_EXPIRED", [] { generator(on(manual_clock(NOW)).window(5, 7)).next_id(); }},
    {"FLAKEID_NULL_ARGUMENT", move_from},
};

// Errors of leases and rings, which other tests cause. The last two cannot occur here: the
// wrapper's buffers are always large enough, and a panic requires a bug.
const std::vector<std::string> elsewhere = {
    "FLAKEID_RING_EMPTY",        "FLAKEID_NO_FREE_NODE",      "FLAKEID_CLOCK_SKEW",
    "FLAKEID_FENCE_IN_FUTURE",   "FLAKEID_STORE_UNAVAILABLE", "FLAKEID_STORE_REJECTED",
    "FLAKEID_BUFFER_TOO_SMALL",  "FLAKEID_PANIC",
};

void check_way(const std::function<void()> &way, const value &row) {
    try {
        way();
    } catch (const flakeid::error &error) {
        check(error.status() == static_cast<flakeid_status>(row["c"].number()), row);
        check(error.code() == row["code"].text(), row);
        check(std::string(error.what()).size() > 10, row);
        check(error.retry_after().has_value() == row["retry"].is_true(), row);
        check(error.rollback().has_value() == (error.status() == FLAKEID_CLOCK_ROLLBACK), row);
        check(error.horizon().has_value() == (error.status() == FLAKEID_HORIZON_REACHED), row);
        check(error.field().empty() == (error.status() != FLAKEID_FIELD_OUT_OF_RANGE), row);
        return;
    }
    fail("no error: " + row.shown());
}

// FLAKEID_FORKED occurs in a child that uses its parent's generator.
void check_in_child(const value &row) {
    const manual_clock clock(NOW);
    const generator generator(on(clock));
    const pid_t child = fork();
    if (child == 0) {
        check_way([&] { generator.next_id(); }, row);
        _exit(0);
    }
    int status = 0;
    check(child > 0 && waitpid(child, &status, 0) == child, row);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, row);
    generator.next_id();
}

}  // namespace

void test_errors(const value &file) {
    std::size_t known = 0;
    for (const char *list : {"errors", "c_only"}) {
        for (const value &row : file[list].rows()) {
            const std::string code = row["code"].text();
            check(flakeid_status_code(static_cast<flakeid_status>(row["c"].number())) == code, row);
            const auto way = ways.find(code);
            if (way != ways.end()) {
                check_way(way->second, row);
            } else if (code == "FLAKEID_FORKED") {
                check_in_child(row);
            } else {
                check(std::find(elsewhere.begin(), elsewhere.end(), code) != elsewhere.end(), row);
            }
            ++known;
        }
    }
    check(known == ways.size() + 1 + elsewhere.size(), "the table lacks some codes");
}
