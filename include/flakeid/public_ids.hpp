// Public IDs: the encrypted form of IDs that outsiders see. Included by flakeid.hpp.
#ifndef FLAKEID_PUBLIC_IDS_HPP
#define FLAKEID_PUBLIC_IDS_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "error.hpp"
#include "layout.hpp"

namespace flakeid {

// A converter between the IDs of one domain and their public form. Move-only. Threads may call all
// functions at the same time.
class public_ids {
public:
    public_ids(const std::string &keyring, const std::string &domain, const layout &layout = {},
               const std::optional<std::string> &prefix = std::nullopt,
               std::optional<time_point> since = std::nullopt) {
        const std::int64_t since_ms = since ? since->time_since_epoch().count() : 0;
        const std::string checked = detail::whole(prefix.value_or(""));
        handle_.reset(detail::value<flakeid_public_ids *>(
            flakeid_public_ids_new, detail::whole(keyring).c_str(), detail::whole(domain).c_str(),
            layout.descriptor().c_str(), prefix ? checked.c_str() : nullptr,
            since ? &since_ms : nullptr));
    }

    std::string seal(std::uint64_t id) const {
        return detail::text<FLAKEID_PUBLIC_ID_SIZE>(flakeid_public_ids_seal, get(), id);
    }
    std::uint64_t seal_bits(std::uint64_t id) const {
        return detail::value<std::uint64_t>(flakeid_public_ids_seal_bits, get(), id);
    }
    std::uint64_t open(const std::string &text) const {
        return detail::value<std::uint64_t>(flakeid_public_ids_open, get(),
                                            detail::whole(text).c_str());
    }
    std::uint64_t open_at(const std::string &text, time_point now) const {
        return detail::value<std::uint64_t>(flakeid_public_ids_open_at, get(),
                                            detail::whole(text).c_str(),
                                            now.time_since_epoch().count());
    }
    const flakeid_public_ids *get() const noexcept { return handle_.get(); }

private:
    detail::owned<flakeid_public_ids, flakeid_public_ids_free> handle_;
};

}  // namespace flakeid

#endif  // FLAKEID_PUBLIC_IDS_HPP
