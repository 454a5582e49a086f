//! Writes mutants of the product's keeper: its source with one mistake in each.

// A panic ends the build.
#![allow(clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::{env, fs};

const KEEPER: &str = "../../crates/flakeid-protocol/src/keeper/state.rs";

/// The mutants: the module in `src/keepers.rs`, the text of the product, and the text in place of it.
const MUTANTS: &[(&str, &str, &str)] = &[
    // The limit rises before the answer to the renewal.
    (
        "use_before_persist",
        "Effect::Renew(renew) => step.demand(Demand::Renew(renew)),",
        "Effect::Renew(renew) => {
            step.outputs.push(Output::Extend { fence: renew.wanted });
            step.demand(Demand::Renew(renew));
        }",
    ),
    // A generator begins below the last tick that this process used.
    (
        "below_own_last",
        "GeneratorState::Ended { used_until } => start.max(used_until),",
        "GeneratorState::Ended { .. } => start,",
    ),
    // The node is released before the word is closed.
    (
        "release_without_closing",
        "Effect::End => step.end(),",
        "Effect::End => {
            let used_until = self.next_tick(step.reading);
            self.follow(step, member, &Event::Ended { used_until });
        }",
    ),
    (
        "ack_lost_is_success",
        "_ => Event::Unanswered { next },",
        "_ => {
            let hold = self.holders[member].hold.as_ref();
            let fence = hold.and_then(|hold| hold.renewal).map_or(0, |renewal| renewal.wanted);
            Event::Renewed { next, answer: Renewed { fence, expires: 0, renewed: 0 } }
        }",
    ),
    (
        "past_high_water",
        "Effect::Release(release) => step.demand(Demand::Release(release)),",
        "Effect::Release(release) => {
            let used_until = release.used_until.saturating_sub(1);
            step.demand(Demand::Release(flakeid_protocol::Release { used_until, ..release }));
        }",
    ),
    (
        "unused_unless_begun",
        "} else if self.holders.len() == 1 {
            step.report(Report::TooShort);
            self.follow(step, 0, &Event::Unusable { used_until });",
        "} else {
            let _ = used_until;
            self.follow(step, 0, &Event::Unusable { used_until: 0 });",
    ),
];

fn main() {
    println!("cargo::rerun-if-changed={KEEPER}");
    println!("cargo::rerun-if-changed=build.rs");
    let source = fs::read_to_string(KEEPER).expect("the keeper's source can be read");
    // The mutants are modules of another crate, and each is included into a module.
    let source =
        source.replace("//!", "//").replace("use super::", "use flakeid_protocol::keeper::");
    let source = source.replace("use crate::", "use flakeid_protocol::");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    for (module, from, to) in MUTANTS {
        let places = source.matches(from).count();
        assert_eq!(places, 1, "{module}: the keeper must have this once: {from}");
        let mutant = source.replace(from, to);
        let file = Path::new(&folder).join(module).with_extension("rs");
        fs::write(file, mutant).expect("the mutant can be written");
    }
}
