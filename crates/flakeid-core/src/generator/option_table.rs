//! The options of generators by name.

use super::GeneratorBuilder;
use crate::options::{NamedOption, SetByName};

/// Each option is checked against the others when the generator is built. The clock can be named
/// where there is more than one.
impl SetByName for GeneratorBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::number(
            "node",
            |builder| builder.layout.max_node(),
            |builder, node| builder.node = Some(node),
        ),
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        NamedOption::numbers(
            "nodes",
            |builder| builder.layout.max_node(),
            |builder, nodes| builder.nodes = Some(nodes),
        ),
        NamedOption::number(
            "datacenter",
            |builder| builder.layout.max_datacenter_and_worker().unwrap_or_default().0,
            |builder, datacenter| builder.datacenter = Some(datacenter),
        ),
        NamedOption::number(
            "worker",
            |builder| builder.layout.max_datacenter_and_worker().unwrap_or_default().1,
            |builder, worker| builder.worker = Some(worker),
        ),
        NamedOption::number(
            "sequence_mask",
            |builder| builder.layout.max_sequence(),
            |builder, mask| builder.sequence_mask = Some(mask),
        ),
        NamedOption::number(
            "sequence_start",
            |builder| builder.layout.max_sequence().count_ones().into(),
            |builder, bits| builder.sequence_start = bits,
        ),
        NamedOption::text("overflow", |builder, text| {
            builder.policy.overflow = text.parse()?;
            Ok(())
        }),
        NamedOption::text("rollback", |builder, text| {
            builder.policy.rollback = text.parse()?;
            Ok(())
        }),
        #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
        NamedOption::text("clock", |builder, text| {
            let clock: crate::NamedClock = text.parse()?;
            builder.clock = Some(crate::clock::ClockSource::of(clock));
            Ok(())
        }),
        NamedOption::duration("max_ahead_ms", |builder, max_ahead| builder.max_ahead = max_ahead),
        NamedOption::duration("max_wait_ms", |builder, max_wait| builder.max_wait = Some(max_wait)),
        NamedOption::number(
            "window_start",
            |builder| builder.layout.max_tick(),
            |builder, tick| builder.window_start = Some(tick),
        ),
        NamedOption::number(
            "window_fence",
            |_| u64::MAX,
            |builder, tick| builder.window_fence = Some(tick),
        ),
    ];
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use alloc::string::ToString;
    use core::time::Duration;

    use super::*;
    use crate::{ErrorKind, Generator, Layout, ManualClock, Overflow, Policy, Rollback};

    fn set(options: &[(&str, &str)]) -> Result<GeneratorBuilder, crate::Error> {
        let mut builder = Generator::builder(Layout::TWITTER);
        for (name, text) in options {
            builder = builder.set(name, text)?;
        }
        Ok(builder)
    }

    #[test]
    fn texts_do_what_the_methods_do() {
        let builder = set(&[
            ("datacenter", "3"),
            ("worker", "4"),
            ("sequence_mask", "255"),
            ("sequence_start", "2"),
            ("overflow", "borrow"),
            ("rollback", "wait"),
            ("max_ahead_ms", "1000"),
            ("max_wait_ms", "0"),
            ("window_start", "10"),
            ("window_fence", "20"),
        ]);
        let clock = ManualClock::new(Layout::TWITTER.epoch());
        let generator = builder.unwrap().clock(clock).build().unwrap();
        assert_eq!(generator.node(), 3 * 32 + 4);
        assert_eq!((generator.sequence_mask, generator.start_mask), (255, 3));
        let policy = Policy { overflow: Overflow::Borrow, rollback: Rollback::Wait };
        assert_eq!(generator.policy, policy);
        assert_eq!((generator.max_ahead, generator.max_wait), (1_000, Duration::ZERO));
        let id = generator.next_id().unwrap();
        assert_eq!(Layout::TWITTER.unpack(id).unwrap().tick, 10);
        let limit = generator.shape.position(20);
        assert_eq!(generator.limit.get(), limit, "the end of the window");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (options, kind, said) in [
            (
                &[("nod", "7")][..],
                ErrorKind::InvalidOption,
                "no option \"nod\"; there are node: number, ",
            ),
            (
                &[("node", "-1")],
                ErrorKind::FieldOutOfRange,
                "node -1 is out of range: must be from 0 to 1023",
            ),
            (
                &[("node", "7"), ("sequence_start", "4294967296")],
                ErrorKind::FieldOutOfRange,
                "from 0 to 12",
            ),
            (&[("rollback", "never")], ErrorKind::InvalidOption, "not \"never\""),
            (&[("max_wait_ms", "1.5")], ErrorKind::FieldOutOfRange, "max_wait_ms 1.5"),
        ] {
            let error = set(options).and_then(GeneratorBuilder::build).map(drop).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn half_a_window_is_refused() {
        for given in ["window_start", "window_fence"] {
            let error = set(&[("node", "7"), (given, "10")]).unwrap().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOption);
            assert!(error.to_string().contains("give both"), "{error}");
        }
    }
}
