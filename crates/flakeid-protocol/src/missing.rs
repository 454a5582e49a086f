//! The error for a missing namespace, with the command that creates the namespace.

use flakeid_core::{Error, ErrorKind, Layout};

/// Returns the error for a namespace that does not exist. `problem` is the beginning of the message, and `place` is the
/// URL of the store without its password, or another name of the store.
pub(crate) fn missing_namespace(
    problem: &str,
    place: &str,
    namespace: &str,
    layout: &Layout,
    block_bits: u32,
) -> Error {
    let name = layout.preset_name().map_or_else(|| layout.to_string(), str::to_owned);
    let layout =
        if *layout == Layout::default() { String::new() } else { format!(" --layout {name}") };
    let blocks =
        if block_bits == 0 { String::new() } else { format!(" --block-bits {block_bits}") };
    let lost = if place.starts_with("sqlite:") {
        "`"
    } else {
        " --lost default`, or with --fresh instead of --lost default if the store never had this namespace"
    };
    let text = format!(
        "{problem}: create it with `flakeid leases init --store {} --namespace {namespace}{layout}{blocks}{lost}",
        url(place)
    );
    Error::new(ErrorKind::StoreRejected, &text, None).or_call("create_namespace")
}

/// Returns the argument of `--store` for a shell. Messages contain neither the user nor the password of a server.
fn url(place: &str) -> String {
    match place.split_once("://") {
        Some((_, rest)) if rest.contains(['…', '\'']) => "URL".to_owned(),
        Some(("sqlite", _)) => format!("'{place}'"),
        Some((scheme, rest)) => format!("'{scheme}://USER:PASSWORD@{rest}'"),
        None => "URL".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_contains_the_command_with_options_that_differ_from_the_defaults() {
        let layout = Layout::TWITTER;
        let place = "postgresql://db.example/app";
        let message = missing_namespace("no namespace", place, "orders", &layout, 0).to_string();
        assert_eq!(
            message,
            "no namespace: create it with `flakeid leases init --store 'postgresql://USER:PASSWORD@db.example/app' \
             --namespace orders --lost default`, or with --fresh instead of --lost default if the store never had \
             this namespace"
        );
        let layout = Layout::SONYFLAKE;
        let message = missing_namespace("no namespace", "sqlite:///ids.db", "a", &layout, 4);
        assert_eq!(
            message.to_string(),
            "no namespace: create it with `flakeid leases init --store 'sqlite:///ids.db' --namespace a --layout \
             sonyflake --block-bits 4`"
        );
    }

    #[test]
    fn command_contains_a_placeholder_for_a_hidden_or_unknown_url() {
        for place in ["the store", "postgresql://…", "redis://h/it's"] {
            let error = missing_namespace("no", place, "orders", &Layout::TWITTER, 0).to_string();
            assert!(error.contains(" --store URL --namespace orders "), "{error}");
        }
    }
}
