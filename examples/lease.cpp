// Prints five IDs of a leased node, with the time that each contains. No two copies of this program print the same ID.
#include <flakeid.hpp>

#include <cstdlib>
#include <iostream>

int main() {
    const char *url = std::getenv("FLAKEID_STORE");
    const flakeid::layout layout;  // the default layout, which the namespace uses
    try {
        const auto generator = flakeid::generator::open(
            url ? url : "sqlite://flakeid.db", flakeid::lease_options().namespace_name("orders"));
        for (const auto id : generator.next_ids(5)) {
            const auto made = layout.instant_of(layout.decode(id).tick);
            std::cout << id << ' ' << layout.timestamp(made) << '\n';
        }
    } catch (const flakeid::error &error) {
        std::cerr << error.code() << ": " << error.what() << '\n';
        return 1;
    }
}  // the destructor releases the node
