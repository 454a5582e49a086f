// Reads the shared vectors, tests/vectors, with jansson, for the C++ wrapper.
#ifndef VECTORS_HPP
#define VECTORS_HPP

#include <flakeid.hpp>
#include <jansson.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using flakeid::milliseconds;
using flakeid::time_point;

[[noreturn]] inline void fail(const std::string &what) {
    std::cerr << "vectors: " << what << '\n';
    std::exit(1);
}

// A reference to a value in a file of vectors.
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
    // Returns a list that must not be empty, because a loop over nothing proves nothing.
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

inline void check(bool condition, const std::string &where) {
    if (!condition) {
        fail(where);
    }
}

inline void check(bool condition, const value &row) {
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

// Each function runs the vectors in the file of its name.
void test_layouts(const value &file);
void test_keyed(const value &file);
void test_text(const value &file);
void test_uuid(const value &file);
void test_schedules(const value &file);
void test_errors(const value &file);

#endif
