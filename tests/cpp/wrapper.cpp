// wrapper IDS: what the C++ wrapper adds to the C library, and that many IDs from several threads.
#include <flakeid.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using flakeid::milliseconds;
using flakeid::time_point;

void check(bool condition, const std::string &what) {
    if (!condition) {
        std::cerr << "wrapper: " << what << '\n';
        std::exit(1);
    }
}

// The error that a call throws.
template <typename Call>
flakeid::error thrown(Call call, flakeid_status status) {
    try {
        call();
    } catch (const flakeid::error &error) {
        check(error.status() == status, std::string("status: ") + error.code());
        check(error.what()[0] != '\0', "what");
        return error;
    }
    check(false, "nothing was thrown");
    std::abort();
}

static_assert(!std::is_copy_constructible_v<flakeid::generator>);
static_assert(!std::is_copy_assignable_v<flakeid::generator>);
static_assert(std::is_nothrow_move_constructible_v<flakeid::generator>);
static_assert(std::is_nothrow_move_assignable_v<flakeid::generator>);
static_assert(!std::is_copy_constructible_v<flakeid::manual_clock>);
static_assert(std::is_nothrow_move_constructible_v<flakeid::manual_clock>);

void errors() {
    using flakeid::generator;
    using flakeid::options;
    auto error = thrown([] { generator(options{}); }, FLAKEID_INVALID_OPTION);
    check(std::string(error.code()) == "FLAKEID_INVALID_OPTION", "code");
    check(!error.retry_after() && error.field().empty(), "no details");
    thrown([] { generator(options().node(1).worker(1)); }, FLAKEID_INVALID_OPTION);
    thrown([] { generator(options().node(1).layout("nonsense")); }, FLAKEID_INVALID_LAYOUT);
    error = thrown([] { generator(options().node(1024)); }, FLAKEID_FIELD_OUT_OF_RANGE);
    check(error.field() == "node", "field");
    error = thrown([] { generator(options().node(1).layout("baidu")); }, FLAKEID_HORIZON_REACHED);
    check(error.horizon() == time_point(milliseconds(1732109056000)), "horizon");
    thrown([] { flakeid::layout("nonsense"); }, FLAKEID_INVALID_LAYOUT);
    thrown([] { flakeid::layout(std::string("twitter\0", 8)); }, FLAKEID_INVALID_LAYOUT);
    const auto decimal = flakeid::text_form::decimal;
    thrown([=] { flakeid::from_text(decimal, std::string("1\0", 2)); }, FLAKEID_INVALID_ID);
    thrown([] { flakeid::layout().decode(UINT64_MAX); }, FLAKEID_INVALID_ID);
    try {
        options().max_wait(milliseconds(-1));
        check(false, "a negative duration");
    } catch (const std::invalid_argument &) {
    }
}

void a_manual_clock() {
    const time_point start(milliseconds(1505914988849));
    auto clock = std::make_unique<flakeid::manual_clock>(start);
    flakeid::generator first(flakeid::options()
                                 .datacenter(17)
                                 .worker(25)
                                 .sequence_mask(0)
                                 .overflow(flakeid::overflow::error)
                                 .rollback(flakeid::rollback::error)
                                 .max_wait(milliseconds(5))
                                 .clock(*clock));
    check(first.next_id() == 910499571847892992, "an ID that is widely known");
    auto error = thrown([&] { first.next_id(); }, FLAKEID_SEQUENCE_EXHAUSTED);
    check(error.retry_after() == milliseconds(1), "retry_after");
    clock->set(start - milliseconds(3));
    error = thrown([&] { first.try_next_id(); }, FLAKEID_CLOCK_ROLLBACK);
    check(error.rollback() == milliseconds(3), "rollback");
    clock->set(start);
    clock->advance(milliseconds(2));
    check(clock->now() == start + milliseconds(2), "now");
    clock.reset();

    flakeid::generator second = std::move(first);
    thrown([&] { first.next_id(); }, FLAKEID_NULL_ARGUMENT);
    check(second.node() == 569, "node");
    check(second.layout() == flakeid::layout().descriptor(), "layout");
    const auto ids = second.next_ids(1);
    check(ids.size() == 1, "next_ids");
    const flakeid_parts parts = flakeid::layout().decode(ids[0]);
    check(parts.unix_ms == 1505914988851 && parts.worker == 25, "decode");
    check(second.stats().rollbacks == 1, "stats");
    check(second.retire() == parts.tick, "retire");
    thrown([&] { second.retire(); }, FLAKEID_CLOSED);
    thrown([&] { second.extend(1); }, FLAKEID_INVALID_OPTION);
}

void many_ids(std::size_t n) {
    constexpr std::size_t threads = 4;
    const flakeid::generator generator(
        flakeid::options().node(3).max_wait(std::chrono::minutes(1)));
    std::vector<std::uint64_t> ids(n / threads * threads);
    std::vector<std::thread> workers;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        workers.emplace_back([&generator, &ids, n, thread] {
            const std::size_t share = n / threads;
            std::uint64_t *const mine = ids.data() + thread * share;
            for (std::size_t done = 0; done < share;) {
                done += generator.fill(mine + done, std::min<std::size_t>(1000, share - done));
                for (int single = 0; single < 1000 && done < share; ++single) {
                    mine[done++] = generator.next_id();
                }
            }
            check(std::is_sorted(mine, mine + share), "the order within a thread");
        });
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    std::sort(ids.begin(), ids.end());
    check(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), "an ID twice");
    std::cout << "wrapper: " << ids.size() << " IDs, none twice\n";
}

}  // namespace

int main(int count, char **arguments) {
    check(count == 2, "usage: wrapper IDS");
    errors();
    a_manual_clock();
    many_ids(std::strtoull(arguments[1], nullptr, 10));
}
