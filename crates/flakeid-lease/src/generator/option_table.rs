//! The options of leases by name.

use flakeid_core::{NamedClock, NamedOption, OptionKind, SetByName};

use super::builder::LeaseBuilder;

/// What identifies the node is resolved when the lease is opened, as
/// [`Identity::resolve`](crate::protocol::Identity::resolve) does.
impl SetByName for LeaseBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::text("namespace", |builder, name| {
            builder.options.namespace = name.into();
            Ok(())
        }),
        NamedOption::text("name", |builder, name| {
            builder.name = Some(name.into());
            Ok(())
        }),
        NamedOption::number(
            "node",
            |builder| builder.options.layout.max_node(),
            |builder, node| builder.node = Some(node),
        ),
        NamedOption::number(
            "datacenter",
            |builder| split_limits(builder).0,
            |builder, datacenter| builder.datacenter = Some(datacenter),
        ),
        NamedOption::number(
            "worker",
            |builder| split_limits(builder).1,
            |builder, worker| builder.worker = Some(worker),
        ),
        NamedOption::number(
            "nodes_from",
            |builder| builder.options.layout.max_node(),
            |builder, from| builder.options.from = from,
        ),
        NamedOption::number(
            "nodes_to",
            |builder| builder.options.layout.max_node(),
            |builder, to| builder.options.to = to,
        ),
        NamedOption {
            name: "node_count",
            kind: OptionKind::Number {
                min: 1,
                max: |builder| builder.options.layout.max_node().saturating_add(1),
                set: |builder, count| builder.options.node_count = count,
            },
        },
        NamedOption::duration("ttl_ms", |builder, ttl| builder.options.set_ttl(ttl)),
        NamedOption::duration("window_ms", |builder, window| builder.options.set_window(window)),
        NamedOption::duration("max_wait_ms", |builder, wait| builder.options.max_wait = wait),
        NamedOption::text("overflow", |builder, text| {
            builder.options.policy.overflow = text.parse()?;
            Ok(())
        }),
        NamedOption::text("rollback", |builder, text| {
            builder.options.policy.rollback = text.parse()?;
            Ok(())
        }),
        NamedOption::number(
            "sequence_mask",
            |builder| builder.options.layout.max_sequence(),
            |builder, mask| builder.options.sequence_mask = Some(mask),
        ),
        NamedOption::number(
            "sequence_start",
            |builder| builder.options.layout.max_sequence().count_ones().into(),
            |builder, bits| builder.options.sequence_start = bits,
        ),
        NamedOption {
            name: "reuse",
            kind: OptionKind::Flag(|builder, reuse| builder.options.reuse = reuse),
        },
        NamedOption::text("clock", |builder, text| {
            builder.set_clock(text.parse::<NamedClock>()?);
            Ok(())
        }),
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
    use flakeid_core::{Error, ErrorKind, Layout, Overflow, Rollback};
    use std::time::Duration;

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
        let by_name = set(&[
            ("namespace", "orders"),
            ("nodes_from", "8"),
            ("nodes_to", "15"),
            ("node_count", "4"),
            ("ttl_ms", "30000"),
            ("window_ms", "8000"),
            ("max_wait_ms", "500"),
            ("overflow", "borrow"),
            ("rollback", "wait"),
            ("sequence_mask", "255"),
            ("sequence_start", "3"),
            ("reuse", "false"),
            ("clock", "coarse"),
        ]);
        let by_name = by_name.unwrap();
        let by_method = set(&[])
            .unwrap()
            .namespace("orders")
            .nodes(8, 15)
            .node_count(4)
            .ttl(Duration::from_secs(30))
            .window(Duration::from_secs(8))
            .max_wait(Duration::from_millis(500))
            .overflow(Overflow::Borrow)
            .rollback(Rollback::Wait)
            .sequence_mask(255)
            .sequence_start(3)
            .reuse(false)
            .clock(NamedClock::Coarse);
        assert_eq!(by_name.options, by_method.options);
        assert_eq!(by_name.clock.system, by_method.clock.system);
        assert_ne!(by_name.options, set(&[]).unwrap().options);
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
