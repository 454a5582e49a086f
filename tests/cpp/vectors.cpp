// vectors FOLDER: the shared vectors of layouts and text through the C++ wrapper. (The schedules
// and the error table are run through the functions below it, in tests/c.)
#include <flakeid.hpp>
#include <jansson.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using flakeid::layout;
using flakeid::milliseconds;
using flakeid::time_point;

[[noreturn]] void fail(const std::string &what) {
    std::cerr << "vectors: " << what << '\n';
    std::exit(1);
}

// A value of a file, by reference.
class value {
public:
    explicit value(const json_t *json) : json_(json) {}

    value operator[](const char *key) const { return value(json_object_get(json_, key)); }
    bool is_given() const { return json_ != nullptr && !json_is_null(json_); }
    bool is_true() const { return json_is_true(json_); }
    std::string text() const {
        if (!json_is_string(json_)) {
            fail("not a string: " + shown());
        }
        return std::string(json_string_value(json_), json_string_length(json_));
    }
    std::uint64_t number() const {
        return json_is_integer(json_) ? static_cast<std::uint64_t>(json_integer_value(json_))
                                      : std::stoull(text());
    }
    time_point instant() const { return time_point(milliseconds(std::stoll(text()))); }
    // A list, which must not be empty: a loop over nothing proves nothing.
    std::vector<value> rows() const {
        std::vector<value> rows = list();
        if (rows.empty()) {
            fail("an empty list");
        }
        return rows;
    }
    std::vector<value> list() const {
        std::vector<value> rows;
        for (std::size_t index = 0; index < json_array_size(json_); ++index) {
            rows.emplace_back(json_array_get(json_, index));
        }
        return rows;
    }
    std::string shown() const {
        const std::unique_ptr<char, decltype(&std::free)> text(
            json_dumps(json_, JSON_ENCODE_ANY | JSON_COMPACT), &std::free);
        return text ? text.get() : "nothing";
    }

private:
    const json_t *json_;
};

void check(bool condition, const value &row) {
    if (!condition) {
        fail(row.shown());
    }
}

template <typename Call>
void refused(Call call, const value &row) {
    try {
        call();
    } catch (const flakeid::error &error) {
        const value code = row["code"], field = row["field"];
        check(error.code() == (code.is_given() ? code.text() : "FLAKEID_INVALID_LAYOUT"), row);
        check(error.field() == (field.is_given() ? field.text() : ""), row);
        return;
    }
    fail("accepted: " + row.shown());
}

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

void texts(const value &file) {
    using flakeid::text_form;
    const std::vector<std::pair<std::string, text_form>> forms = {
        {"decimal", text_form::decimal}, {"base32", text_form::base32},
        {"base36", text_form::base36},   {"base58", text_form::base58},
        {"base62", text_form::base62},   {"hex", text_form::hex},
    };
    const std::vector<value> groups = file["forms"].rows();
    check(groups.size() == forms.size(), file["forms"]);
    for (std::size_t index = 0; index < forms.size(); ++index) {
        const value &group = groups[index];
        const auto &[name, form] = forms[index];
        check(group["form"].text() == name, group["form"]);
        for (const value &row : group["valid"].rows()) {
            check(flakeid::to_text(form, row["id"].number()) == row["text"].text(), row);
            check(flakeid::from_text(form, row["text"].text()) == row["id"].number(), row);
        }
        for (const value &row : group["accepted"].list()) {
            check(flakeid::from_text(form, row["text"].text()) == row["id"].number(), row);
        }
        for (const value &row : group["rejected"].rows()) {
            refused([&, to = form] { flakeid::from_text(to, row["text"].text()); }, row);
        }
    }
}

}  // namespace

int main(int count, char **arguments) {
    if (count != 2) {
        fail("usage: vectors FOLDER");
    }
    const auto run = [&](const char *name, void (*test)(const value &)) {
        const std::string path = std::string(arguments[1]) + "/" + name + ".json";
        const std::unique_ptr<json_t, decltype(&json_decref)> file(
            json_load_file(path.c_str(), JSON_ALLOW_NUL, nullptr), &json_decref);
        if (!file) {
            fail("cannot read " + path);
        }
        test(value(file.get()));
    };
    try {
        run("layouts", layouts);
        run("layouts", ids);
        run("text", texts);
    } catch (const std::exception &error) {
        fail(error.what());
    }
    std::cout << "vectors: passed\n";
}
