// The creation of namespaces. Included by flakeid.hpp.
#ifndef FLAKEID_NAMESPACE_HPP
#define FLAKEID_NAMESPACE_HPP

#include <cstdint>
#include <string>

#include "error.hpp"
#include "options.hpp"

namespace flakeid {

// Creates the namespace `name` in the store at `url`, unless the namespace exists, and returns the
// time until the store can grant nodes: see flakeid_create_namespace().
inline milliseconds create_namespace(const std::string &url, const std::string &name,
                                     const namespace_options &options = {}) {
    const flakeid_namespace_config config = options.config();
    const std::uint64_t wait_ms = detail::value<std::uint64_t>(
        flakeid_create_namespace, detail::whole(url).c_str(), detail::whole(name).c_str(), &config);
    return milliseconds(static_cast<milliseconds::rep>(wait_ms));
}

}  // namespace flakeid

#endif  // FLAKEID_NAMESPACE_HPP
