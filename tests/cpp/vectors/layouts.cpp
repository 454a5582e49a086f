#include "vectors.hpp"

namespace {

using flakeid::layout;

void layouts(const value &file) {
    const std::vector<std::string> names = layout::presets();
    const std::vector<value> presets = file["presets"].rows();
    check(names.size() == presets.size(), file["presets"]);
    for (std::size_t index = 0; index < names.size(); ++index) {
        const value &row = presets[index];
        const layout preset(names[index]);
        const flakeid_layout_info info = preset.info();
        check(names[index] == row["name"].text(), row);
        check(preset.descriptor() == row["descriptor"].text(), row);
        check(info.max_node == row["max_node"].number(), row);
        const time_point horizon(milliseconds(info.horizon));
        check(horizon == row["horizon_unix_ms"].instant(), row);
        check(preset.timestamp(horizon) == row["horizon"].text(), row);
    }
    for (const value &row : file["descriptors"]["valid"].rows()) {
        check(layout(row["text"].text()).descriptor() == row["canonical"].text(), row);
    }
    for (const value &row : file["descriptors"]["invalid"].rows()) {
        refused([&] { layout(row["text"].text()); }, row);
    }
    for (const value &row : file["bounds"].rows()) {
        const layout of(row["layout"].text());
        check(of.lower_bound(row["unix_ms"].instant()) == row["lower"].number(), row);
        check(of.upper_bound(row["unix_ms"].instant()) == row["upper"].number(), row);
    }
}

void ids(const value &file) {
    for (const value &row : file["ids"].rows()) {
        const layout of(row["layout"].text());
        const std::uint64_t id = row["id"].number();
        const flakeid_parts parts = of.decode(id);
        check(parts.tick == row["tick"].number(), row);
        check(time_point(milliseconds(parts.unix_ms)) == row["unix_ms"].instant(), row);
        check(of.instant_of(parts.tick) == row["unix_ms"].instant(), row);
        check(of.tick_at(row["unix_ms"].instant()) == parts.tick, row);
        check(parts.node == row["node"].number(), row);
        check(parts.clock_sequence == row["clock_sequence"].number(), row);
        check(parts.sequence == row["sequence"].number(), row);
        if (row["datacenter"].is_given()) {
            check(of.join_node(row["datacenter"].number(), row["worker"].number()) == parts.node,
                  row);
        }
        check(of.pack(parts) == id, row);
        check(flakeid::from_bytes(flakeid::to_bytes(id)) == id, row);
        if (row["timestamp"].is_given()) {
            check(of.timestamp(row["unix_ms"].instant()) == row["timestamp"].text(), row);
        }
    }
    for (const value &row : file["rejected_ids"].rows()) {
        refused([&] { layout(row["layout"].text()).decode(row["id"].number()); }, row);
    }
    for (const value &row : file["rejected_splits"].rows()) {
        const layout of(row["layout"].text());
        refused([&] { of.join_node(row["datacenter"].number(), row["worker"].number()); }, row);
    }
    for (const value &row : file["rejected_parts"].rows()) {
        const layout of(row["layout"].text());
        flakeid_parts parts{};
        parts.tick = row["tick"].number();
        parts.unix_ms = of.instant_of(parts.tick).time_since_epoch().count();
        parts.node = row["node"].number();
        parts.clock_sequence = row["clock_sequence"].number();
        parts.sequence = row["sequence"].number();
        refused([&] { of.pack(parts); }, row);
    }
}

}  // namespace

void test_layouts(const value &file) {
    layouts(file);
    ids(file);
}
