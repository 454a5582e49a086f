//! The node that a process requests.

use flakeid_core::{Error, Layout};

/// The node that a process requests.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::Identity;
///
/// // Twitter's layout has 32 workers in each datacenter.
/// let identity = Identity::resolve(None, Some(3), Some(4), None, &Layout::TWITTER)?;
/// assert_eq!(identity, Identity::Node(3 * 32 + 4));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// Any free node. This is the default.
    #[default]
    Any,
    /// The node that was last granted to a process with this name, if that node is free; otherwise any free node.
    Name(String),
    /// Only this node. The process takes over the node even from a live holder that also requested only this node. The
    /// takeover is safe, because the old holder stays below its fence and the new holder starts at that fence.
    Node(u64),
}

impl Identity {
    /// Returns the identity that a program's options specify. A program may set a `node`, a `datacenter` together with
    /// a `worker`, or a `name`. Without any of these options, the identity is [`Any`](Self::Any).
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the options conflict, if only one of `datacenter`
    /// and `worker` is set, or if both are set for a layout that does not split its node;
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) if a number is outside the layout's range.
    pub fn resolve(
        node: Option<u64>,
        datacenter: Option<u64>,
        worker: Option<u64>,
        name: Option<&str>,
        layout: &Layout,
    ) -> Result<Self, Error> {
        match (node, datacenter, worker, name) {
            (None, None, None, None) => Ok(Self::Any),
            (None, None, None, Some(name)) => Ok(Self::Name(name.to_owned())),
            (Some(node), None, None, None) if node <= layout.max_node() => Ok(Self::Node(node)),
            (Some(node), None, None, None) => {
                Err(Error::option_out_of_range("node", &node, 0, layout.max_node()))
            }
            (None, Some(datacenter), Some(worker), None) => {
                layout.join_node(datacenter, worker).map(Self::Node).map_err(Error::of_option)
            }
            (None, Some(_), None, None) => Err(Error::invalid_option(
                "worker",
                "missing: `datacenter` and `worker` go together",
            )),
            (None, None, Some(_), None) => Err(Error::invalid_option(
                "datacenter",
                "missing: `datacenter` and `worker` go together",
            )),
            _ => Err(Error::invalid_option(
                "node",
                "give only one of these: `node`, `datacenter` with `worker`, or `name`",
            )),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use flakeid_core::ErrorKind;

    type Given<'a> = (Option<u64>, Option<u64>, Option<u64>, Option<&'a str>);

    fn resolve(
        (node, datacenter, worker, name): Given<'_>,
        layout: &Layout,
    ) -> Result<Identity, Error> {
        Identity::resolve(node, datacenter, worker, name, layout)
    }

    #[test]
    fn resolve_returns_the_identity_that_the_options_specify() {
        for (given, expected) in [
            ((None, None, None, None), Identity::Any),
            ((Some(1023), None, None, None), Identity::Node(1023)),
            ((None, Some(17), Some(25), None), Identity::Node(569)),
            ((None, None, None, Some("orders")), Identity::Name("orders".into())),
        ] {
            assert_eq!(resolve(given, &Layout::TWITTER).unwrap(), expected);
        }
    }

    #[test]
    fn resolve_rejects_incomplete_and_conflicting_options() {
        let one_of = "give only one of these";
        for (given, option, reason) in [
            ((None, Some(1), None, None), "worker", "go together"),
            ((None, None, Some(1), None), "datacenter", "go together"),
            ((Some(1), Some(1), Some(1), None), "node", one_of),
            ((Some(1), Some(1), None, None), "node", one_of),
            ((Some(1), None, None, Some("a")), "node", one_of),
            ((None, Some(1), Some(1), Some("a")), "node", one_of),
            ((None, None, Some(1), Some("a")), "node", one_of),
        ] {
            let error = resolve(given, &Layout::TWITTER).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOption);
            let text = error.to_string();
            assert!(text.contains(option) && text.contains(reason), "{text}");
        }
    }

    #[test]
    fn resolve_rejects_numbers_that_do_not_fit_the_layout() {
        for (given, field) in [
            ((Some(1024), None, None, None), "node"),
            ((None, Some(32), Some(0), None), "datacenter"),
            ((None, Some(0), Some(32), None), "worker"),
        ] {
            let error = resolve(given, &Layout::TWITTER).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FieldOutOfRange);
            assert_eq!(error.field(), Some(field));
        }
        let unsplit = resolve((None, Some(0), Some(0), None), &Layout::PLAIN).unwrap_err();
        assert!(unsplit.to_string().contains("does not split its node"), "{unsplit}");
    }
}
