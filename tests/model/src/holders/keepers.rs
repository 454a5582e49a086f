//! The product's keeper, and mutants of its source, which `build.rs` writes.

use std::mem;

use flakeid_protocol::keeper::{Input, Keeper, KeeperOptions, Output, Reading, Report};

use super::mutant::Mutant;

macro_rules! mutants {
    ($($mutant:ident in $module:ident),*) => {
        $(
            #[allow(dead_code, clippy::all, clippy::pedantic, reason = "a mutant of other code")]
            mod $module {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($module), ".rs"));
            }
        )*

        /// Passes an input to the product's keeper, or to a mutant of it.
        pub fn handle(
            mutant: Mutant,
            keeper: &mut Keeper,
            options: &KeeperOptions,
            reading: &Reading,
            input: Input,
        ) -> Vec<Output<Report>> {
            match mutant {
                $(Mutant::$mutant => {
                    let holders = mem::take(&mut keeper.holders);
                    let Keeper { generator, window, .. } = *keeper;
                    let mut twin = $module::Keeper { holders, generator, window };
                    let outputs = twin.handle(options, reading, input);
                    let $module::Keeper { holders, generator, window } = twin;
                    *keeper = Keeper { holders, generator, window };
                    outputs
                })*
                _ => keeper.handle(options, reading, input),
            }
        }
    };
}

mutants! {
    UseBeforePersist in use_before_persist,
    BelowOwnLast in below_own_last,
    ReleaseWithoutClosing in release_without_closing,
    AckLostIsSuccess in ack_lost_is_success,
    PastHighWater in past_high_water,
    UnusedUnlessBegun in unused_unless_begun
}
