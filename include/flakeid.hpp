// flakeid for C++17: handles that free themselves, exceptions, std::string and std::chrono on top
// of flakeid.h, whose comments describe the calls.
//
//     flakeid::generator generator(flakeid::options().node(7));
//     std::uint64_t id = generator.next_id();
#ifndef FLAKEID_HPP
#define FLAKEID_HPP

#include "flakeid/clock.hpp"
#include "flakeid/error.hpp"
#include "flakeid/generator.hpp"
#include "flakeid/layout.hpp"
#include "flakeid/namespace.hpp"
#include "flakeid/options.hpp"
#include "flakeid/public_ids.hpp"

#endif  // FLAKEID_HPP
