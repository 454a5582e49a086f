// Layouts, and the text forms and byte form of IDs. Included by flakeid.hpp.
#ifndef FLAKEID_LAYOUT_HPP
#define FLAKEID_LAYOUT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "error.hpp"

namespace flakeid {

// A valid layout, created from a preset's name or a descriptor.
class layout {
public:
    layout() : layout(static_cast<const char *>(nullptr)) {}
    explicit layout(const std::string &text) : layout(detail::whole(text).c_str()) {}
    // Creates a layout from a string, or the default layout from NULL.
    explicit layout(const char *text)
        : descriptor_(detail::text<FLAKEID_DESCRIPTOR_SIZE>(flakeid_layout_descriptor, text)) {}

    // Returns the canonical descriptor.
    const std::string &descriptor() const noexcept { return descriptor_; }
    flakeid_layout_info info() const {
        flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
        detail::check(flakeid_layout_get_info(text(), &info));
        return info;
    }
    flakeid_parts decode(std::uint64_t id) const {
        return detail::value<flakeid_parts>(flakeid_decode, text(), id);
    }
    std::uint64_t pack(const flakeid_parts &parts) const {
        return detail::value<std::uint64_t>(flakeid_pack, text(), &parts);
    }
    flakeid_parts parts_at(time_point instant) const {
        return detail::value<flakeid_parts>(flakeid_parts_at, text(), ms(instant));
    }
    std::uint64_t join_node(std::uint64_t datacenter, std::uint64_t worker) const {
        return detail::value<std::uint64_t>(flakeid_join_node, text(), datacenter, worker);
    }
    std::uint64_t tick_at(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_tick_at, text(), ms(instant));
    }
    time_point instant_of(std::uint64_t tick) const {
        return time_point(
            milliseconds(detail::value<std::int64_t>(flakeid_unix_ms_at, text(), tick)));
    }
    std::string timestamp(time_point instant) const {
        return detail::text<FLAKEID_TIMESTAMP_SIZE>(flakeid_timestamp, text(), ms(instant));
    }
    std::uint64_t lower_bound(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_lower_bound, text(), ms(instant));
    }
    std::uint64_t upper_bound(time_point instant) const {
        return detail::value<std::uint64_t>(flakeid_upper_bound, text(), ms(instant));
    }

    // Returns the names of all presets.
    static std::vector<std::string> presets() {
        std::vector<std::string> names;
        for (std::size_t index = 0; index < flakeid_preset_count(); ++index) {
            names.emplace_back(flakeid_preset_name(index));
        }
        return names;
    }

private:
    static std::int64_t ms(time_point instant) { return instant.time_since_epoch().count(); }
    const char *text() const noexcept { return descriptor_.c_str(); }

    std::string descriptor_;
};

enum class text_form { decimal, base32, base36, base58, base62, hex, base58_flickr, zbase32, uuid };

inline std::string to_text(text_form form, std::uint64_t id) {
    constexpr decltype(&flakeid_to_decimal) functions[] = {
        flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
        flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex,
        flakeid_to_base58_flickr, flakeid_to_zbase32, flakeid_to_uuid,
    };
    return detail::text<FLAKEID_TEXT_SIZE>(functions[static_cast<std::size_t>(form)], id);
}

inline std::uint64_t from_text(text_form form, const std::string &text) {
    constexpr decltype(&flakeid_from_decimal) functions[] = {
        flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
        flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex,
        flakeid_from_base58_flickr, flakeid_from_zbase32, flakeid_from_uuid,
    };
    const auto function = functions[static_cast<std::size_t>(form)];
    return detail::value<std::uint64_t>(function, detail::whole(text).c_str());
}

// Returns the bytes of an ID, the most significant byte first.
inline std::array<std::uint8_t, 8> to_bytes(std::uint64_t id) {
    std::array<std::uint8_t, 8> bytes{};
    detail::check(flakeid_to_bytes(id, bytes.data(), bytes.size()));
    return bytes;
}

inline std::uint64_t from_bytes(const std::array<std::uint8_t, 8> &bytes) {
    return detail::value<std::uint64_t>(flakeid_from_bytes, bytes.data(), bytes.size());
}

// Returns the ID as the 16 bytes of a UUID of version 8, which sort in the order of the IDs.
inline std::array<std::uint8_t, 16> to_uuid_bytes(std::uint64_t id) {
    std::array<std::uint8_t, 16> bytes{};
    detail::check(flakeid_to_uuid_bytes(id, bytes.data(), bytes.size()));
    return bytes;
}

// Rejects UUIDs that flakeid did not create from IDs.
inline std::uint64_t from_uuid_bytes(const std::array<std::uint8_t, 16> &bytes) {
    return detail::value<std::uint64_t>(flakeid_from_uuid_bytes, bytes.data(), bytes.size());
}

}  // namespace flakeid

#endif  // FLAKEID_LAYOUT_HPP
