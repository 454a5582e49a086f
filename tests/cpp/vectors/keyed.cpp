#include "vectors.hpp"

namespace {

flakeid::public_ids make(const value &row, const flakeid::layout &layout,
                         std::optional<time_point> since = std::nullopt) {
    std::optional<std::string> prefix;
    if (row["prefix"].is_given()) {
        prefix = row["prefix"].text();
    }
    return {row["keyring"].text(), row["domain"].text(), layout, prefix, since};
}

}  // namespace

void test_keyed(const value &file) {
    const time_point late(milliseconds(INT64_MAX));
    for (const value &row : file["public_ids"].rows()) {
        const flakeid::public_ids ids = make(row, flakeid::layout(row["layout"].text()));
        check(ids.seal(row["id"].number()) == row["text"].text(), row);
        check(ids.seal_bits(row["id"].number()) == row["bits"].number(), row);
        check(ids.open_at(row["text"].text(), late) == row["id"].number(), row);
    }
    const value domain = file["one_domain"];
    const auto open = [&](const value &row) {
        std::optional<time_point> since;
        if (row["since_ms"].is_given()) {
            since = row["since_ms"].instant();
        }
        const flakeid::public_ids ids = make(domain, flakeid::layout(domain["layout"].text()), since);
        return ids.open_at(row["text"].text(), row["now_ms"].instant());
    };
    for (const value &row : file["opened"].rows()) {
        check(open(row) == row["id"].number(), row);
    }
    for (const value &row : file["rejected"].rows()) {
        refused([&] { open(row); }, row);
    }
    for (const value &row : file["invalid"].rows()) {
        refused([&] { make(row, flakeid::layout()); }, row);
    }
    flakeid::public_ids ids("a 000102030405060708090a0b0c0d0e0f", "user");
    flakeid::public_ids moved = std::move(ids);
    const std::uint64_t id = 910499571847892992;
    check(moved.open(moved.seal(id)) == id, "a public ID that was moved");
}
