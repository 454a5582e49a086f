//! The campaigns of restores and pauses, on the stores that detect a restore by the place of the data. The campaigns
//! also run with earlier rules of these stores, which must fail.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, Step, files, machine, target_folder};

use crate::kubernetes;

/// The number of restores, and of pauses, on each store.
const ROUNDS: &str = "300";
/// The number of restores, or of pauses, within which an earlier rule must fail.
const ROUNDS_OF_MUTANTS: &str = "50";
/// The text of the failure of an earlier rule.
const REPEATED: &str = "I4: overlapping windows";

const STORES: [&str; 4] = ["dynamodb", "s3", "mysql", "kubernetes"];

/// A part of a source file, with the text that replaces it.
type Edit = (&'static str, &'static str, &'static str);

/// Earlier rules, and the stores on which the tests of a name must refute them.
struct Mutant {
    name: &'static str,
    stores: &'static [&'static str],
    test: &'static str,
    edits: &'static [Edit],
}

const TRANSACTION: &str = "crates/flakeid-stores/src/document/transaction.rs";
const EMPTY_EQUALS: Edit = (
    TRANSACTION,
    "identity.is_some_and(|identity| document.identity == identity)",
    r#"identity.is_some_and(|identity| ["", identity].contains(&&*document.identity))"#,
);
const FIRST_IS_EMPTY: Edit = (
    TRANSACTION,
    "let Some(identity) = self.identity.take() else {
            return self.create_without_namespace();
        };",
    "let identity = self.version.as_ref().and(self.identity.take()).unwrap_or_default();",
);
const NO_PLACE: Edit = ("crates/flakeid-stores/src/s3/mod.rs", "Some(&self.place)", "None");
const LATE_IS_USED: Edit = (TRANSACTION, "age > LONGEST_WRITE_MS as i64", "age == i64::MIN");
const NO_AGE: Edit = (
    TRANSACTION,
    "self.is_timed && self.read_at.elapsed() > OLDEST_READ",
    "self.size > D::LARGEST",
);
const NO_RESOURCE: Edit = (
    "crates/flakeid-stores/src/kubernetes/mod.rs",
    r#"{ "op": "test", "path": "/metadata/resourceVersion", "value": version.resource },"#,
    "",
);
const NO_SECOND: Edit = (
    "crates/flakeid-stores/src/mysql/store.rs",
    "(1..=1_000).contains(&until_distinct)",
    "until_distinct == i64::MAX",
);

const MUTANTS: [Mutant; 2] = [
    Mutant {
        name: "an empty identity counts as equal, no place is recorded, and tables are used within their first second",
        stores: &STORES,
        test: "random_restores",
        edits: &[EMPTY_EQUALS, FIRST_IS_EMPTY, NO_PLACE, NO_SECOND],
    },
    Mutant {
        name: "a late write is used, and may follow a copy that was put back",
        // A transaction of MySQL ends with its connection, so no earlier rule was wrong.
        stores: &["dynamodb", "s3", "kubernetes"],
        test: "random_pauses",
        edits: &[LATE_IS_USED, NO_AGE, NO_RESOURCE],
    },
];

/// Runs the campaigns, unless only the mutants are wanted, and then the mutants: the campaigns with earlier rules.
/// Without stores, runs them on all stores.
pub(crate) fn run(stores: &[String], only_mutants: bool) -> Outcome {
    let is_chosen = |store: &&str| stores.is_empty() || stores.iter().any(|name| name == store);
    for store in STORES.into_iter().filter(|store| !only_mutants && is_chosen(store)) {
        tests(store, "random_", ROUNDS)?.run()?;
    }
    // Cargo would confuse the crates of the copy with those of the checkout if they shared the folder of its output.
    let copy = target_folder().join("restores");
    machine::link(&copy.join("target/servers"), &target_folder().join("servers"))?;
    for Mutant { name, stores, test, edits } in MUTANTS {
        for store in stores.iter().copied().filter(is_chosen) {
            println!("\nearlier rules on {store}: {name}");
            write_copy(&copy.join("source"), edits)?;
            let log = copy.join("log");
            let step = tests(store, test, ROUNDS_OF_MUTANTS)?
                .within(copy.join("source"))
                .env("CARGO_TARGET_DIR", copy.join("target"));
            let passed = step.run_into(&log)?;
            let log = files::text(&log)?;
            match log.split_once(REPEATED) {
                Some((before, _)) if !passed => {
                    let is_round =
                        |line: &&str| line.starts_with("restore ") || line.starts_with("pause ");
                    println!("refuted: {REPEATED} after {:?}", before.lines().rfind(is_round));
                }
                _ => return Err(Failed(format!("{store}: {name}: not refuted:\n{log}"))),
            }
        }
    }
    Ok(())
}

/// Returns the step that runs the tests of a store whose names contain `test`.
fn tests(store: &str, test: &str, rounds: &str) -> Result<Step, Failed> {
    let cargo = ["cargo", "test", "--locked", "-p", "flakeid-stores", "--all-features"];
    let step = match store {
        "kubernetes" => kubernetes::on_server(&cargo)?,
        _ => Step::cargo(&cargo[1..]),
    };
    let step = step.args(&["--test", store, "--", test, "--include-ignored", "--nocapture"]);
    Ok(step.env("FLAKEID_TEST_RESTORES", rounds))
}

/// Writes a copy of the project's files with other text in some places. Unchanged files keep their times, so that cargo
/// does not compile them again.
fn write_copy(folder: &Path, edits: &[Edit]) -> Outcome {
    for path in files::of_project()? {
        let mut contents = files::bytes(&path)?;
        for (file, old, new) in edits.iter().filter(|(file, ..)| path.as_path() == Path::new(file))
        {
            let text = String::from_utf8_lossy(&contents);
            if text.matches(old).count() != 1 {
                return Err(Failed(format!("{file}: expected {old:?} once")));
            }
            contents = text.replace(old, new).into_bytes();
        }
        let to = folder.join(&path);
        if std::fs::read(&to).ok().as_ref() != Some(&contents) {
            files::write(to, contents)?;
        }
    }
    Ok(())
}
