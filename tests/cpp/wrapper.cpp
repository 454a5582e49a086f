// wrapper IDS: tests the functions that the C++ wrapper adds to the C library, and takes IDS IDs
// with several threads.
#include <flakeid.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
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

// Returns the error that a call throws.
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

// Checks that the wrapper itself rejects a call.
template <typename Call>
void refused(Call call, const char *what) {
    try {
        call();
    } catch (const std::invalid_argument &) {
        return;
    }
    check(false, what);
}

static_assert(!std::is_copy_constructible_v<flakeid::generator>);
static_assert(!std::is_copy_assignable_v<flakeid::generator>);
static_assert(std::is_nothrow_move_constructible_v<flakeid::generator>);
static_assert(std::is_nothrow_move_assignable_v<flakeid::generator>);
static_assert(!std::is_copy_constructible_v<flakeid::local_generator>);
static_assert(std::is_nothrow_move_constructible_v<flakeid::local_generator>);
static_assert(std::is_nothrow_move_assignable_v<flakeid::local_generator>);
static_assert(!std::is_copy_constructible_v<flakeid::cached_generator>);
static_assert(std::is_nothrow_move_constructible_v<flakeid::cached_generator>);
static_assert(std::is_nothrow_move_assignable_v<flakeid::cached_generator>);
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
    refused([] { options().max_wait(milliseconds(-1)); }, "a negative duration");
}

// Tests that invalid input that the types allow is rejected, and that the generator is unchanged.
void bad_input() {
    using flakeid::generator;
    using flakeid::layout;
    using flakeid::options;
    flakeid::manual_clock clock(time_point(milliseconds(1505914988849)));
    const generator kept(options().node(1).clock(clock));
    const std::uint64_t first = kept.next_id();

    for (const auto &wrong : {options().datacenter(1), options().worker(1),
                              options().node(1).datacenter(1).worker(1),
                              options().datacenter(1).worker(1).layout("plain"),
                              options().node(1).sequence_mask(4),
                              options().node(1).window(5, 6),
                              options().node(1).clock("nonsense"),
                              options().node(1).clock(clock).clock("coarse"),
                              options().nodes({}), options().nodes({1, 2, 3}),
                              options().nodes({1, 1}), options().nodes({1, 2}).node(1),
                              options().node(1).overflow(static_cast<flakeid::overflow>(3)),
                              options().node(1).rollback(static_cast<flakeid::rollback>(-1))}) {
        thrown([&] { generator{wrong}; }, FLAKEID_INVALID_OPTION);
    }
    for (const auto &[wrong, field] : {std::pair(options().node(UINT64_MAX), "node"),
                                       std::pair(options().datacenter(32).worker(0), "datacenter"),
                                       std::pair(options().datacenter(0).worker(32), "worker"),
                                       std::pair(options().node(1).sequence_start(13),
                                                 "sequence_start")}) {
        const auto &unusable = wrong;
        check(thrown([&] { generator{unusable}; }, FLAKEID_FIELD_OUT_OF_RANGE).field() == field,
              field);
    }
    for (const char *text : {"", "TWITTER", "twitter ", "t41.n10.s12@0/1m", "\xff"}) {
        thrown([=] { layout{std::string(text)}; }, FLAKEID_INVALID_LAYOUT);
        thrown([=] { generator(options().node(1).layout(text)); }, FLAKEID_INVALID_LAYOUT);
    }
    thrown([] { layout{std::string(100000, 'x')}; }, FLAKEID_INVALID_LAYOUT);
    thrown([] { layout("plain").join_node(0, 1); }, FLAKEID_INVALID_OPTION);
    thrown([] { layout().tick_at(time_point()); }, FLAKEID_BEFORE_EPOCH);
    const auto base62 = flakeid::text_form::base62;
    for (const char *text : {"", "0", "0000000000", "000000000000", "zzzzzzzzzzz", "0000000000-",
                             "0000000000\xc3\xa9"}) {
        thrown([=] { flakeid::from_text(base62, text); }, FLAKEID_INVALID_ID);
    }
    thrown([=] { flakeid::from_text(base62, std::string(100000, '0')); }, FLAKEID_INVALID_ID);

    thrown([&] { kept.fill(nullptr, 3); }, FLAKEID_NULL_ARGUMENT);
    thrown([&] { kept.try_fill(nullptr, 3); }, FLAKEID_NULL_ARGUMENT);
    thrown([&] { kept.extend(1); }, FLAKEID_INVALID_OPTION);
    check(kept.fill(nullptr, 0) == 0 && kept.next_ids(0).empty(), "a request for no IDs");
    refused([] { options().max_ahead(milliseconds(-1)); }, "a negative duration");
    refused([&] { clock.advance(milliseconds(-1)); }, "a negative step");
    check(kept.stats().waits == 0 && kept.next_id() == first + 1, "a rejected call changed the generator");

    const flakeid::manual_clock other = std::move(clock);
    refused([&] { options().clock(clock); }, "a clock that was moved from");
    thrown([&] { clock.now(); }, FLAKEID_NULL_ARGUMENT);
    check(kept.next_id() == first + 2, "a moved clock changed something");
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
    thrown([&] { first.next_id_within(milliseconds(1)); }, FLAKEID_CLOCK_ROLLBACK);
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

// A temporary folder of the test, which is removed at its end.
struct folder {
    std::filesystem::path path;
    folder() : path(std::filesystem::temp_directory_path() / "flakeid-cpp-XXXXXX") {
        std::string name = path.string();
        check(mkdtemp(name.data()) != nullptr, "a folder");
        path = name;
    }
    folder(const folder &) = delete;
    folder &operator=(const folder &) = delete;
    // A lease that was closed within its own event function ends in the background, and may still write to the folder.
    ~folder() {
        std::error_code failed;
        for (int attempt = 0; attempt < 200; ++attempt) {
            std::filesystem::remove_all(path, failed);
            if (!failed && !std::filesystem::exists(path)) return;
            std::this_thread::sleep_for(milliseconds(50));
        }
        check(false, "the folder was removed");
    }
};

void leases() {
    using flakeid::generator;
    using flakeid::lease_options;
    const folder folder;
    const std::string url = "sqlite://" + (folder.path / "flakeid.db").string();
    std::mutex mutex;
    std::vector<std::int32_t> kinds;
    {
        generator first = generator::open(
            url, lease_options().nodes(3, 3).namespace_name("orders").ttl(milliseconds(5000)).on_event(
                     [&](const flakeid_lease_event &event) {
                         const std::lock_guard<std::mutex> lock(mutex);
                         kinds.push_back(event.kind);
                     }));
        generator moved = std::move(first);
        const std::uint64_t id = moved.next_id();
        check(flakeid::layout().decode(id).node == 3 && moved.node() == 3, "the node");
        const flakeid_lease_status lease = moved.lease();
        check(lease.grants == 1 && lease.expires_in_ms > 0 && lease.expires_in_ms <= 5000, "ttl");
        moved = generator::open(url, lease_options().name("a").window(milliseconds(2000)));
        check(moved.next_ids(100).size() == 100, "another lease");
    }
    const std::vector<std::int32_t> both = {FLAKEID_LEASE_ACQUIRED, FLAKEID_LEASE_RELEASED};
    check(kinds == both, "the events");
    check(generator::open(url, lease_options().namespace_name("orders").nodes(3, 3)).node() == 3,
          "the node was released");
    check(setenv("FLAKEID_STORE", url.c_str(), 1) == 0, "the environment");
    check(generator::open_auto().next_id() > 0, "auto");
    std::optional<generator> held;
    std::promise<void> destroyed;
    auto ended = generator::open(
        url, lease_options().window(milliseconds(1000)).on_event(
                 [&, word = std::string("a string that is longer than the object itself")](
                     const flakeid_lease_event &) {
                     const std::lock_guard<std::mutex> lock(mutex);
                     if (held) {
                         held.reset();
                         check(word.back() == 'f', "the observer was destroyed while it ran");
                         destroyed.set_value();
                     }
                 }));
    {
        const std::lock_guard<std::mutex> lock(mutex);
        held.emplace(std::move(ended));
    }
    destroyed.get_future().wait();
    thrown([&] { generator::open(std::string("sqlite\0", 7)); }, FLAKEID_INVALID_OPTION);
    thrown([&] { generator::open(url + std::string("\0.db", 4)); }, FLAKEID_INVALID_OPTION);
    thrown([&] { generator::open(url, lease_options().worker(1)); }, FLAKEID_INVALID_OPTION);
    const auto open = [&] { generator::open(url, lease_options().window(milliseconds(1))); };
    check(thrown(open, FLAKEID_FIELD_OUT_OF_RANGE).what()
              == std::string("window 1 ms is out of range: must be from 2 to 2592000000 ms"),
          "the name in C++");
    thrown([&] { generator::open(url, lease_options().layout("plain")); }, FLAKEID_STORE_REJECTED);
    thrown([] { generator(flakeid::options().node(1)).lease(); }, FLAKEID_INVALID_OPTION);
    const auto pair = generator::open(url, lease_options().node_count(2).clock("coarse")).nodes();
    check(pair.size() == 2 && pair[0] < pair[1], "two nodes");
    thrown([&] { generator::open(url, lease_options().node_count(3)); }, FLAKEID_INVALID_OPTION);
    thrown([&] { generator::open(url, lease_options().clock("")); }, FLAKEID_INVALID_OPTION);
    std::optional<generator> brief = generator::open(url);
    flakeid::local_generator local = brief->local();
    const flakeid::cached_generator ring(*brief);
    check(local.next_id() != ring.next_id(), "an ID was issued twice");
    brief.reset();
    thrown([&] { local.next_id(); }, FLAKEID_CLOSED);
    thrown([&] { ring.take(); }, FLAKEID_CLOSED);
    refused([] { lease_options().ttl(milliseconds(-1)); }, "a negative duration");
    using flakeid::namespace_options;
    const auto create = [&](const namespace_options &options) {
        return flakeid::create_namespace(url, "created", options);
    };
    check(create(namespace_options().layout("plain").history(false)).count() == 0, "the wait");
    check(create(namespace_options().layout("plain")).count() == 0, "the same namespace");
    const auto other = [&] { create(namespace_options().layout("plain").max_skew(milliseconds(2))); };
    check(std::string(thrown(other, FLAKEID_INVALID_OPTION).what()).find("max_skew: is 2 ms") == 0,
          "the name in C++");
    thrown([&] { create({}); }, FLAKEID_STORE_REJECTED);
}

void several_nodes() {
    const flakeid::generator generator(flakeid::options().nodes({30, 9}).clock("coarse"));
    check(generator.nodes() == std::vector<std::uint64_t>{9, 30}, "nodes");
    const auto ids = generator.next_ids(20000);
    check(ids.size() == 20000 && std::is_sorted(ids.begin(), ids.end()), "the order");
    for (const std::uint64_t id : ids) {
        const std::uint64_t node = flakeid::layout().decode(id).node;
        check(node == 9 || node == 30, "the node");
    }
}

void local_handles() {
    std::optional<flakeid::generator> generator(flakeid::options().node(4));
    flakeid::local_generator first = generator->local();
    flakeid::local_generator second(*generator);
    const std::uint64_t before = first.next_id();
    check(before != second.next_id(), "an ID was issued twice");
    generator.reset();
    second = std::move(first);
    check(before < second.next_id(), "the order");
    thrown([&] { first.next_id(); }, FLAKEID_NULL_ARGUMENT);
}

void rings() {
    using flakeid::cached_generator;
    using flakeid::ring_options;
    const time_point start(milliseconds(1505914988849));
    flakeid::manual_clock clock(start);
    const auto tick = flakeid::layout().tick_at(start);
    const flakeid::generator generator(
        flakeid::options().node(5).clock(clock).window(tick, tick + 2).max_wait(milliseconds(1)));
    std::vector<flakeid_status> takes;
    std::mutex mutex;
    std::condition_variable told;
    std::optional<flakeid::error> put;
    cached_generator made(generator, ring_options()
                                         .boost_power(1)
                                         .padding_factor(99)
                                         .refill_interval(milliseconds(5))
                                         .max_age(milliseconds(100))
                                         .on_rejected_put([&](const flakeid::error &error) {
                                             const std::lock_guard<std::mutex> lock(mutex);
                                             put = error;
                                             told.notify_all();
                                         })
                                         .on_rejected_take([&](const flakeid::error &error) {
                                             takes.push_back(error.status());
                                         }));
    cached_generator ring = std::move(made);
    check(ring.stats().capacity == 8192 && ring.stats().size == 4096, "one tick");
    std::uint64_t last = 0;
    for (int turn = 0; turn < 4096; ++turn) {
        const std::uint64_t id = ring.take();
        check(last < id, "the order");
        last = id;
    }
    check(!ring.poll().has_value(), "a poll of an empty ring");
    thrown([&] { ring.take(); }, FLAKEID_RING_EMPTY);
    check(takes == std::vector<flakeid_status>{FLAKEID_RING_EMPTY}, "a take that was rejected");
    clock.advance(milliseconds(10));
    {
        std::unique_lock<std::mutex> lock(mutex);
        told.wait(lock, [&] { return put.has_value(); });
        check(put->status() == FLAKEID_LEASE_EXPIRED && put->what()[0] != '\0', "a refill");
    }
    thrown([&] { ring.next_id(); }, FLAKEID_LEASE_EXPIRED);
    ring = cached_generator(flakeid::generator(flakeid::options().node(6)));
    check(ring.next_id() < ring.next_id() && ring.stats().taken == 2, "another ring");
    ring.close();
    thrown([&] { ring.next_id(); }, FLAKEID_CLOSED);
    thrown([&] { cached_generator(generator, ring_options().boost_power(21)); },
           FLAKEID_FIELD_OUT_OF_RANGE);
    thrown([&] { cached_generator(generator, ring_options().max_age(milliseconds(1))); },
           FLAKEID_INVALID_OPTION);
    refused([] { ring_options().refill_interval(milliseconds(-1)); }, "a negative duration");
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
    check(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), "an ID was issued twice");
    std::cout << "wrapper: " << ids.size() << " IDs, none twice\n";
}

}  // namespace

int main(int count, char **arguments) {
    check(count == 2, "usage: wrapper IDS");
    errors();
    bad_input();
    a_manual_clock();
    leases();
    several_nodes();
    local_handles();
    rings();
    many_ids(std::strtoull(arguments[1], nullptr, 10));
}
