//! The suite that every store must pass. For tests: failures are panics.
//!
//! Each test uses a namespace of its own, so all of them can run on one server, one after the
//! other; crashes and restorations concern all namespaces of a server. [`lessors`] is the part that
//! brokers pass, too.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "these are tests: every function panics when the store does wrong"
)]

pub mod clocks;
pub mod continuations;
pub mod crashes;
mod fixture;
pub mod grants;
pub mod identities;
pub mod lessors;
mod log;
pub mod namespaces;
pub mod operators;
pub mod races;
pub mod releases;
pub mod renewals;
pub mod restorations;
pub mod searches;
mod store_under_test;
pub mod sub_grants;
pub mod tampering;
pub mod whois;

pub use store_under_test::StoreUnderTest;

/// A test of the suite.
pub type Test = fn(&dyn StoreUnderTest);

/// Every test with its name, in the order of [`run`].
pub const TESTS: &[(&str, Test)] = &[
    ("grants::first_grant_begins_now", grants::first_grant_begins_now),
    ("grants::windows_have_bounds", grants::windows_have_bounds),
    ("grants::ticks_run_out", grants::ticks_run_out),
    ("grants::expiry_is_by_the_stores_clock", grants::expiry_is_by_the_stores_clock),
    ("grants::coldest_node_is_reused_first", grants::coldest_node_is_reused_first),
    ("grants::used_ticks_are_not_granted", grants::used_ticks_are_not_granted),
    ("searches::unused_nodes_are_found_in_order", searches::unused_nodes_are_found_in_order),
    ("identities::names_are_sticky", identities::names_are_sticky),
    ("identities::fixed_nodes_are_taken_over", identities::fixed_nodes_are_taken_over),
    ("identities::takeovers_end_at_max_ahead", identities::takeovers_end_at_max_ahead),
    ("identities::ranges_are_kept", identities::ranges_are_kept),
    ("identities::disposable_nodes_run_out", identities::disposable_nodes_run_out),
    ("renewals::stale_tokens_are_refused", renewals::stale_tokens_are_refused),
    ("renewals::repeated_renewals_are_one", renewals::repeated_renewals_are_one),
    ("renewals::late_renewals_change_nothing", renewals::late_renewals_change_nothing),
    ("renewals::fences_never_fall", renewals::fences_never_fall),
    ("releases::unused_ticks_go_back", releases::unused_ticks_go_back),
    ("releases::fences_fall_to_the_start_at_most", releases::fences_fall_to_the_start_at_most),
    ("releases::others_cannot_release", releases::others_cannot_release),
    ("clocks::clock_of_2080_poisons_nothing", clocks::clock_of_2080_poisons_nothing),
    ("clocks::clock_of_1980_is_refused", clocks::clock_of_1980_is_refused),
    ("clocks::skew_within_bounds_is_served", clocks::skew_within_bounds_is_served),
    ("namespaces::layouts_are_kept_apart", namespaces::layouts_are_kept_apart),
    ("namespaces::blocks_are_kept_apart", namespaces::blocks_are_kept_apart),
    ("namespaces::missing_ones_are_refused", namespaces::missing_ones_are_refused),
    ("namespaces::bad_names_are_refused", namespaces::bad_names_are_refused),
    ("namespaces::do_not_disturb_each_other", namespaces::do_not_disturb_each_other),
    ("namespaces::init_again_changes_nothing", namespaces::init_again_changes_nothing),
    ("operators::quarantine_and_lift", operators::quarantine_and_lift),
    ("operators::release_fences_off", operators::release_fences_off),
    ("operators::fast_forward_raises_the_floor", operators::fast_forward_raises_the_floor),
    ("operators::adoption_raises_the_floor", operators::adoption_raises_the_floor),
    ("operators::listing_tells_everything", operators::listing_tells_everything),
    ("whois::history_is_exact", whois::history_is_exact),
    ("whois::history_can_be_off", whois::history_can_be_off),
    ("sub_grants::clients_are_named", sub_grants::clients_are_named),
    ("sub_grants::only_the_holder_hands_over", sub_grants::only_the_holder_hands_over),
    ("sub_grants::handovers_may_be_repeated", sub_grants::handovers_may_be_repeated),
    ("sub_grants::gaps_are_noticed", sub_grants::gaps_are_noticed),
    ("sub_grants::histories_can_be_off", sub_grants::histories_can_be_off),
    (
        "continuations::holders_prove_what_was_forgotten",
        continuations::holders_prove_what_was_forgotten,
    ),
    ("continuations::lost_rows_prove_it_too", continuations::lost_rows_prove_it_too),
    (
        "continuations::operators_do_not_shorten_leases",
        continuations::operators_do_not_shorten_leases,
    ),
    ("continuations::live_nodes_are_not_claimed", continuations::live_nodes_are_not_claimed),
    ("tampering::rows_cannot_be_deleted", tampering::rows_cannot_be_deleted),
    ("tampering::fences_cannot_be_lowered", tampering::fences_cannot_be_lowered),
    ("tampering::nonsense_is_named", tampering::nonsense_is_named),
    ("tampering::failed_work_leaves_nothing", tampering::failed_work_leaves_nothing),
    ("races::acquires_get_distinct_nodes", races::acquires_get_distinct_nodes),
    ("races::windows_of_few_nodes_are_disjoint", races::windows_of_few_nodes_are_disjoint),
    ("races::takeovers_of_one_node_are_disjoint", races::takeovers_of_one_node_are_disjoint),
    ("crashes::confirmed_grants_survive", crashes::confirmed_grants_survive),
    // From here on the store is restored, and one that remembers it lets new namespaces wait, too.
    ("namespaces::lost_ones_keep_everybody_waiting", namespaces::lost_ones_keep_everybody_waiting),
    ("restorations::older_copies_grant_nothing_old", restorations::older_copies_grant_nothing_old),
    ("restorations::revived_tokens_do_nothing", restorations::revived_tokens_do_nothing),
    ("continuations::holders_go_on", continuations::holders_go_on),
    ("continuations::others_do_not_go_on", continuations::others_do_not_go_on),
    (
        "continuations::late_holders_have_a_last_window",
        continuations::late_holders_have_a_last_window,
    ),
    ("continuations::nodes_are_free_after_the_wait", continuations::nodes_are_free_after_the_wait),
];

/// Runs every test, printing its name.
pub fn run(under_test: &dyn StoreUnderTest) {
    for (name, test) in TESTS {
        println!("conformance {name} ...");
        test(under_test);
        println!("conformance {name} ... ok");
    }
}
