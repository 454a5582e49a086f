use flakeid_core::{NamedClock, NamedOption, OptionKind, SetByName};

use super::builder::LeaseBuilder;

/// What identifies the node is resolved when the lease is opened, as
/// [`Identity::resolve`](crate::protocol::Identity::resolve) does.
impl SetByName for LeaseBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption {
            name: "namespace",
            kind: OptionKind::Text(|builder, name| {
                builder.options.namespace = name.into();
                Ok(())
            }),
        },
        NamedOption {
            name: "name",
            kind: OptionKind::Text(|builder, name| {
                builder.name = Some(name.into());
                Ok(())
            }),
        },
        NamedOption {
            name: "node",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.options.layout.max_node(),
                set: |builder, node| builder.node = Some(node),
            },
        },
        NamedOption {
            name: "datacenter",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| split_limits(builder).0,
                set: |builder, datacenter| builder.datacenter = Some(datacenter),
            },
        },
        NamedOption {
            name: "worker",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| split_limits(builder).1,
                set: |builder, worker| builder.worker = Some(worker),
            },
        },
        NamedOption {
            name: "nodes_from",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.options.layout.max_node(),
                set: |builder, from| builder.options.from = from,
            },
        },
        NamedOption {
            name: "nodes_to",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.options.layout.max_node(),
                set: |builder, to| builder.options.to = to,
            },
        },
        NamedOption {
            name: "node_count",
            kind: OptionKind::Number {
                min: 1,
                max: |builder| builder.options.layout.max_node().saturating_add(1),
                set: |builder, count| builder.options.node_count = count,
            },
        },
        NamedOption {
            name: "ttl_ms",
            kind: OptionKind::Duration(|builder, ttl| builder.options.set_ttl(ttl)),
        },
        NamedOption {
            name: "window_ms",
            kind: OptionKind::Duration(|builder, window| builder.options.set_window(window)),
        },
        NamedOption {
            name: "max_wait_ms",
            kind: OptionKind::Duration(|builder, wait| builder.options.max_wait = wait),
        },
        NamedOption {
            name: "overflow",
            kind: OptionKind::Text(|builder, text| {
                builder.options.policy.overflow = text.parse()?;
                Ok(())
            }),
        },
        NamedOption {
            name: "rollback",
            kind: OptionKind::Text(|builder, text| {
                builder.options.policy.rollback = text.parse()?;
                Ok(())
            }),
        },
        NamedOption {
            name: "sequence_mask",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.options.layout.max_sequence(),
                set: |builder, mask| builder.options.sequence_mask = Some(mask),
            },
        },
        NamedOption {
            name: "sequence_start",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.options.layout.max_sequence().count_ones().into(),
                set: |builder, bits| builder.options.sequence_start = bits,
            },
        },
        NamedOption {
            name: "reuse",
            kind: OptionKind::Flag(|builder, reuse| builder.options.reuse = reuse),
        },
        NamedOption {
            name: "clock",
            kind: OptionKind::Text(|builder, text| {
                builder.set_clock(text.parse::<NamedClock>()?);
                Ok(())
            }),
        },
    ];
}

fn split_limits(builder: &LeaseBuilder) -> (u64, u64) {
    builder.options.layout.max_datacenter_and_worker().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::store::MemoryStore;
    use flakeid_core::{Error, ErrorKind, Layout};

    fn set(options: &[(&str, &str)]) -> Result<LeaseBuilder, Error> {
        let store = MemoryStore::new();
        let open = move || Ok(Box::new(store.clone()) as _);
        let mut builder = LeaseBuilder::from_store(Layout::TWITTER, open);
        for (name, text) in options {
            builder = builder.set(name, text)?;
        }
        Ok(builder)
    }

    #[test]
    fn texts_do_what_the_methods_do() {
        let leased = set(&[
            ("namespace", "default"),
            ("nodes_from", "8"),
            ("nodes_to", "15"),
            ("node_count", "4"),
            ("ttl_ms", "30000"),
            ("window_ms", "8000"),
            ("max_wait_ms", "500"),
            ("overflow", "borrow"),
            ("rollback", "wait"),
            ("sequence_start", "3"),
            ("reuse", "false"),
            ("clock", "system"),
        ]);
        let leased = leased.unwrap().open().unwrap();
        assert_eq!(leased.nodes(), [8, 9, 10, 11]);
        leased.next_id().unwrap();
    }

    #[test]
    fn a_node_may_be_given_in_parts() {
        let leased = set(&[("datacenter", "3"), ("worker", "4")]).unwrap().open().unwrap();
        assert_eq!(leased.node(), 3 * 32 + 4);
        let refused = set(&[("datacenter", "3"), ("name", "a")]).unwrap().open().unwrap_err();
        assert!(refused.to_string().contains("give only one of these"), "{refused}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (option, kind, said) in [
            (("node", "1024"), ErrorKind::FieldOutOfRange, "node 1024"),
            (("nodes_to", "1024"), ErrorKind::FieldOutOfRange, "nodes_to 1024"),
            (("node_count", "-1"), ErrorKind::FieldOutOfRange, "must be from 1 to 1024"),
            (("reuse", "maybe"), ErrorKind::InvalidOption, "true or false"),
            (("clock", "sun"), ErrorKind::InvalidOption, "system, coarse or gated"),
            (
                ("url", "x"),
                ErrorKind::InvalidOption,
                "no option \"url\"; there are namespace: text, ",
            ),
        ] {
            let error = set(&[option]).and_then(LeaseBuilder::open).map(drop).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
