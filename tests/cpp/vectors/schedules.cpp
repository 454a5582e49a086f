#include <algorithm>
#include <array>
#include <optional>

#include "vectors.hpp"

namespace {

using flakeid::generator;
using flakeid::manual_clock;
using flakeid::options;

// Returns the index of a name in the core's list, or for an unknown name a number that the library rejects.
template <typename Choice, std::size_t Size>
Choice choice(const std::array<const char *, Size> &names, const std::string &name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return static_cast<Choice>(found - names.begin());
}

options options_of(const value &row, const manual_clock &clock) {
    constexpr std::array overflows = {"wait", "error", "borrow"};
    constexpr std::array rollbacks = {"continue", "error", "wait", "clock-sequence"};
    const value given = row["options"], window = row["window"];
    options options;
    options.layout(row["layout"].text())
        .node(row["node"].number())
        .clock(clock)
        .overflow(choice<flakeid::overflow>(overflows, given["overflow"].text()))
        .rollback(choice<flakeid::rollback>(rollbacks, given["rollback"].text()));
    if (const value mask = given["sequence_mask"]; mask.is_given()) {
        options.sequence_mask(mask.number());
    }
    if (const value most = given["max_ahead_ms"]; most.is_given()) {
        options.max_ahead(milliseconds(most.number()));
    }
    if (const value most = given["max_wait_ms"]; most.is_given()) {
        options.max_wait(milliseconds(most.number()));
    }
    if (window.is_given()) {
        options.window(window["start"].number(), window["fence"].number());
    }
    return options;
}

std::optional<milliseconds> duration(const value &ms) {
    return ms.is_given() ? std::optional(milliseconds(ms.number())) : std::nullopt;
}

void check_error(const flakeid::error &error, const value &expect, const std::string &where) {
    const value horizon = expect["horizon"];
    check(expect["error"].is_given() && error.code() == expect["error"].text(), where);
    check(error.retry_after() == duration(expect["retry_after_ms"]), where);
    check(error.rollback() == duration(expect["by_ms"]), where);
    check(error.horizon() == (horizon.is_given() ? std::optional(horizon.instant()) : std::nullopt),
          where);
}

void check_ids(const std::vector<std::uint64_t> &ids, std::size_t count, const value &expect,
               const std::string &where) {
    check(expect["count"].is_given() && count == expect["count"].number(), where);
    check((count > 0) == expect["first"].is_given(), where);
    if (count > 0) {
        check(ids.front() == expect["first"].number(), where);
        check(ids[count - 1] == expect["last"].number(), where);
    }
    check(std::all_of(ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                      [](std::uint64_t id) { return id == 0; }),
          where);
}

void play(const generator &generator, const value &step, const std::string &where) {
    const value expect = step["expect"];
    const std::string call = step["call"].text();
    if (call == "next_id" || call == "try_next_id") {
        const std::uint64_t id = call == "next_id" ? generator.next_id() : generator.try_next_id();
        check(expect["id"].is_given() && id == expect["id"].number(), where);
    } else if (call == "fill" || call == "try_fill") {
        std::vector<std::uint64_t> ids(step["n"].number());
        const std::size_t count = call == "fill" ? generator.fill(ids.data(), ids.size())
                                                 : generator.try_fill(ids.data(), ids.size());
        check_ids(ids, count, expect, where);
    } else if (call == "extend") {
        generator.extend(step["fence"].number());
        check(!expect["error"].is_given(), where);
    } else {
        check(call == "retire", where);
        const std::optional<std::uint64_t> tick = generator.retire();
        const value last = expect["last_tick"];
        check(!expect["error"].is_given() && tick.has_value() == last.is_given(), where);
        check(!tick || *tick == last.number(), where);
    }
}

void play_all(const value &row) {
    const std::string name = row["name"].text();
    manual_clock clock(row["clock"].instant());
    const options options = options_of(row, clock);
    if (const value expected = row["build_error"]; expected.is_given()) {
        refused([&] { generator{options}; }, expected);
        return;
    }
    const generator generator(options);
    for (const value &step : row["steps"].rows()) {
        const std::string where = name + ": " + step.shown();
        if (step["clock"].is_given()) {
            clock.set(step["clock"].instant());
        }
        try {
            play(generator, step, where);
        } catch (const flakeid::error &error) {
            check_error(error, step["expect"], where);
        }
        check(clock.now() == step["clock_after"].instant(), where);
    }
    const flakeid_stats stats = generator.stats();
    check(stats.waits == row["stats"]["waits"].number(), name);
    check(stats.rollbacks == row["stats"]["rollbacks"].number(), name);
    check(stats.largest_ahead == row["stats"]["largest_ahead"].number(), name);
}

// Checks that next_ids returns the same IDs and errors as fill.
void play_with_vectors(const value &row) {
    manual_clock clock(row["clock"].instant());
    const generator generator(options_of(row, clock));
    for (const value &step : row["steps"].rows()) {
        const std::string where = row["name"].text() + ": " + step.shown();
        if (step["clock"].is_given()) {
            clock.set(step["clock"].instant());
        }
        try {
            if (step["call"].text() == "fill") {
                const auto ids = generator.next_ids(step["n"].number());
                check_ids(ids, ids.size(), step["expect"], where);
            } else {
                play(generator, step, where);
            }
        } catch (const flakeid::error &error) {
            check_error(error, step["expect"], where);
        }
    }
}

}  // namespace

void test_schedules(const value &file) {
    for (const value &row : file["schedules"].rows()) {
        play_all(row);
        if (!row["build_error"].is_given()) {
            play_with_vectors(row);
        }
    }
}
