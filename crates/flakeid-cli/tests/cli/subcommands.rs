//! The subcommands of `flakeid`, also for the package that compares the guide with their help.

pub(crate) const COMMANDS: [&[&str]; 26] = [
    &[],
    &["next"],
    &["inspect"],
    &["bounds"],
    &["sql"],
    &["layout"],
    &["layout", "plan"],
    &["serve"],
    &["exec"],
    &["keygen"],
    &["seal"],
    &["open"],
    // Some examples of `leases` delay new leases in the shared store, so the examples of `whois`
    // run first.
    &["whois"],
    &["leases"],
    &["leases", "init"],
    &["leases", "ls"],
    &["leases", "watch"],
    &["leases", "touch"],
    &["leases", "release"],
    &["leases", "quarantine"],
    &["leases", "prune"],
    &["leases", "fast-forward"],
    &["leases", "adopt"],
    &["migrate"],
    &["completions"],
    &["man"],
];
