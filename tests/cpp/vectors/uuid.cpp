#include "vectors.hpp"

// Returns the digits of 16 bytes.
static std::string hex(const std::array<std::uint8_t, 16> &bytes) {
    std::string digits;
    for (const std::uint8_t byte : bytes) {
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}

void test_uuid(const value &file) {
    using flakeid::text_form;
    std::array<std::uint8_t, 16> previous{};
    for (const value &row : file["valid"].rows()) {
        const std::uint64_t id = row["id"].number();
        const std::array<std::uint8_t, 16> bytes = flakeid::to_uuid_bytes(id);
        check(flakeid::to_text(text_form::uuid, id) == row["text"].text(), row);
        check(flakeid::from_text(text_form::uuid, row["text"].text()) == id, row);
        check(hex(bytes) == row["bytes"].text(), row);
        check(flakeid::from_uuid_bytes(bytes) == id, row);
        check(previous < bytes, row);
        previous = bytes;
    }
    for (const value &row : file["accepted"].rows()) {
        check(flakeid::from_text(text_form::uuid, row["text"].text()) == row["id"].number(), row);
    }
    for (const value &row : file["rejected"].rows()) {
        refused([&] { flakeid::from_text(text_form::uuid, row["text"].text()); }, row);
    }
    for (const value &row : file["rejected_bytes"].rows()) {
        const std::string digits = row["bytes"].text();
        std::array<std::uint8_t, 16> bytes{};
        if (digits.size() != 2 * bytes.size()) {
            continue;  // the type of the argument excludes all other lengths
        }
        for (std::size_t place = 0; place < bytes.size(); ++place) {
            bytes[place] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * place, 2), nullptr, 16));
        }
        refused([&] { flakeid::from_uuid_bytes(bytes); }, row);
    }
}
