//! The conformance suite that every store must pass. [`test_store!`] defines a test function for each test of the suite.
//!
//! Each test uses its own namespace, so most tests can run on the same server at the same time. Brokers must pass the
//! tests of [`lessors`].

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "these are tests: every function panics when the store fails"
)]

pub mod batches;
pub mod campaigns;
pub mod clocks;
pub mod continuations;
pub mod crashes;
mod fixture;
pub mod grants;
mod hooked_store;
pub mod identities;
pub mod lessors;
mod log;
pub mod namespaces;
pub mod operators;
pub mod pruning;
pub mod races;
pub mod releases;
pub mod renewals;
pub mod restorations;
pub mod searches;
mod store_under_test;
pub mod sub_grants;
pub mod tampering;
pub mod whois;

#[doc(hidden)]
pub use hooked_store::HookedStore;
pub use store_under_test::StoreUnderTest;

/// A test in the suite. The test panics if the store fails it.
pub type Test = fn(&dyn StoreUnderTest);

/// Defines a test function for each test in the suite.
///
/// The function `shared` gets the tests that can run on one store at the same time. The function `own` gets the tests
/// that crash, restore or damage the store. These tests affect all namespaces, and a store that has recorded a loss of
/// data delays the grants of new namespaces. Each of them therefore needs a new store. Without `own`, these tests are
/// not defined. Attributes before `shared` apply to all test functions.
///
/// ```
/// use flakeid_conformance::{StoreUnderTest, Test, test_store};
/// # use std::any::Any;
/// # use flakeid_protocol::MemoryStore;
/// # use flakeid_protocol::store::Store;
/// # struct Memory(MemoryStore);
/// # impl StoreUnderTest for Memory {
/// #     fn connect(&self) -> Box<dyn Store> { Box::new(self.0.clone()) }
/// #     fn crash(&self) {}
/// #     fn backup(&self) -> Box<dyn Any> { Box::new(self.0.backup()) }
/// #     fn restore(&self, _copy: Box<dyn Any>) {}
/// #     fn delete_row(&self, _namespace: &str, _node: u64) -> Result<(), String> { Err(String::new()) }
/// #     fn lower_fence(&self, _namespace: &str, _node: u64) -> Result<(), String> { Err(String::new()) }
/// #     fn guards_rows(&self) -> bool { true }
/// #     fn damage(&self, _namespace: &str, _node: u64, _field: &str, _text: &str) {}
/// #     fn crash_voids_tokens(&self) -> bool { false }
/// # }
///
/// fn on_new_store(test: Test) {
///     test(&Memory(MemoryStore::new()));
/// }
///
/// test_store!(shared = on_new_store, own = on_new_store);
/// ```
#[macro_export]
macro_rules! test_store {
    ($(#[$attribute:meta])* shared = $shared:path $(,)?) => {
        $crate::test_store! { @shared [$(#[$attribute])*] $shared }
    };
    ($(#[$attribute:meta])* shared = $shared:path, own = $own:path $(,)?) => {
        $crate::test_store! { @shared [$(#[$attribute])*] $shared }
        $crate::test_store! { @own [$(#[$attribute])*] $own }
    };
    (@shared $attributes:tt $run:path) => {
        $crate::test_store! {
            @functions $attributes $run:
            grants::first_grant_starts_at_the_current_tick,
            grants::acquire_refuses_windows_out_of_bounds,
            grants::last_window_ends_at_the_horizon,
            grants::nodes_expire_by_the_stores_clock,
            grants::coldest_node_is_reused_first,
            grants::grant_starts_after_ticks_the_process_used,
            searches::search_returns_first_node_without_a_row,
            identities::named_holder_gets_its_last_node_again,
            identities::fixed_node_is_taken_over_from_its_holder,
            identities::takeovers_are_refused_beyond_max_ahead,
            identities::nodes_outside_the_range_are_not_granted,
            identities::disposable_nodes_are_granted_only_once,
            renewals::renewals_with_stale_tokens_are_refused,
            renewals::repeated_renewal_is_applied_once,
            renewals::late_renewal_does_not_affect_the_next_holder,
            renewals::renewals_never_lower_the_fence,
            batches::largest_batch_renews_every_row,
            batches::refused_renewal_does_not_affect_its_batch,
            batches::repeated_batch_is_applied_once,
            batches::batch_detects_a_loss_before_it_is_decided,
            batches::batch_records_the_sub_grants_of_each_block,
            releases::unused_ticks_are_granted_again_after_a_release,
            releases::release_never_lowers_the_fence_below_the_start,
            releases::release_requires_the_current_token,
            clocks::clock_in_2080_is_refused_without_changes,
            clocks::acquire_refuses_a_clock_in_1980,
            clocks::clients_within_max_skew_are_granted_leases,
            namespaces::namespace_refuses_another_layout,
            namespaces::namespace_refuses_other_block_bits,
            namespaces::missing_namespace_is_refused_or_created,
            namespaces::invalid_namespace_names_are_refused,
            namespaces::namespaces_do_not_affect_each_other,
            namespaces::init_leaves_an_existing_namespace_unchanged,
            operators::quarantined_node_is_not_granted_until_lifted,
            operators::operator_release_fences_the_holder_off,
            operators::fast_forward_raises_the_floor,
            operators::adopt_raises_the_floor_above_every_fence,
            operators::listing_returns_every_row_unchanged,
            whois::whois_returns_the_grant_of_every_tick,
            whois::whois_returns_nothing_without_a_history,
            sub_grants::whois_returns_the_client_of_a_broker,
            sub_grants::only_the_block_holder_hands_over_sub_grants,
            sub_grants::repeated_handovers_are_recorded_once,
            sub_grants::whois_reports_missing_sub_grants_as_unrecorded,
            sub_grants::sub_grants_are_discarded_without_a_history,
            pruning::prune_removes_only_ended_grants,
            pruning::prune_removes_ended_sub_grants,
            pruning::long_histories_are_pruned_in_several_transactions,
            pruning::whois_is_exact_while_grants_are_removed,
            continuations::renewal_above_the_stores_fence_proves_a_loss,
            continuations::renewal_without_a_row_proves_a_loss,
            continuations::operator_release_does_not_shorten_the_lease,
            continuations::fixed_claim_is_refused_while_a_node_is_leased,
            tampering::store_refuses_to_delete_a_row,
            tampering::store_refuses_to_lower_a_fence,
            tampering::failed_transaction_has_no_effect,
            races::simultaneous_acquires_get_distinct_nodes,
            races::windows_under_contention_are_disjoint,
            races::repeated_takeovers_get_disjoint_windows,
        }
    };
    (@own $attributes:tt $run:path) => {
        $crate::test_store! {
            @functions $attributes $run:
            tampering::damaged_row_is_reported_with_its_node,
            crashes::confirmed_grants_survive_a_crash,
            races::simultaneous_creations_agree,
            namespaces::lost_namespace_waits_for_its_old_bounds,
            restorations::restored_store_grants_no_old_ticks,
            restorations::copy_from_before_the_first_grant_counts_as_restored,
            restorations::tokens_of_a_restored_copy_are_void,
            continuations::holder_continues_its_lease_after_a_restore,
            continuations::batch_continues_leases_after_a_restore,
            continuations::ineligible_holders_do_not_continue_their_leases,
            continuations::late_holder_gets_a_last_window,
            continuations::nodes_are_granted_again_after_the_quiet_time,
        }
    };
    (@functions $attributes:tt $run:path: $($module:ident::$test:ident,)+) => {
        $($crate::test_store! { @function $attributes $run: $module::$test })+
    };
    (@function [$($attribute:tt)*] $run:path: $module:ident::$test:ident) => {
        #[test]
        $($attribute)*
        fn $test() {
            $run($crate::$module::$test);
        }
    };
}
