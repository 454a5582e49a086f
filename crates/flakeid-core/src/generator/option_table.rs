use super::GeneratorBuilder;
use crate::options::{NamedOption, OptionKind, SetByName};

/// Each option is checked against the others when the generator is built. The clock can be named
/// where there is more than one.
impl SetByName for GeneratorBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption {
            name: "node",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_node(),
                set: |builder, node| builder.node = Some(node),
            },
        },
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        NamedOption {
            name: "nodes",
            kind: OptionKind::Numbers {
                max: |builder| builder.layout.max_node(),
                set: |builder, nodes| builder.nodes = Some(nodes),
            },
        },
        NamedOption {
            name: "datacenter",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_datacenter_and_worker().unwrap_or_default().0,
                set: |builder, datacenter| builder.datacenter = Some(datacenter),
            },
        },
        NamedOption {
            name: "worker",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_datacenter_and_worker().unwrap_or_default().1,
                set: |builder, worker| builder.worker = Some(worker),
            },
        },
        NamedOption {
            name: "sequence_mask",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_sequence(),
                set: |builder, mask| builder.sequence_mask = Some(mask),
            },
        },
        NamedOption {
            name: "sequence_start",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_sequence().count_ones().into(),
                set: |builder, bits| builder.sequence_start = bits,
            },
        },
        NamedOption {
            name: "overflow",
            kind: OptionKind::Text(|builder, text| {
                builder.policy.overflow = text.parse()?;
                Ok(())
            }),
        },
        NamedOption {
            name: "rollback",
            kind: OptionKind::Text(|builder, text| {
                builder.policy.rollback = text.parse()?;
                Ok(())
            }),
        },
        #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
        NamedOption {
            name: "clock",
            kind: OptionKind::Text(|builder, text| {
                let clock: crate::NamedClock = text.parse()?;
                builder.clock = Some(crate::clock::ClockSource::of(clock));
                Ok(())
            }),
        },
        NamedOption {
            name: "max_ahead_ms",
            kind: OptionKind::Duration(|builder, max_ahead| builder.max_ahead = max_ahead),
        },
        NamedOption {
            name: "max_wait_ms",
            kind: OptionKind::Duration(|builder, max_wait| builder.max_wait = Some(max_wait)),
        },
        NamedOption {
            name: "window_start",
            kind: OptionKind::Number {
                min: 0,
                max: |builder| builder.layout.max_tick(),
                set: |builder, tick| builder.window_start = Some(tick),
            },
        },
        NamedOption {
            name: "window_fence",
            kind: OptionKind::Number {
                min: 0,
                max: |_| u64::MAX,
                set: |builder, tick| builder.window_fence = Some(tick),
            },
        },
    ];
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{ErrorKind, Generator, Layout, ManualClock};

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
        let id = generator.next_id().unwrap();
        assert_eq!(Layout::TWITTER.unpack(id).unwrap().tick, 10);
        // Ten ticks of 256 numbers are all that the mask and the window leave.
        assert!(generator.next_ids(5_000).unwrap().len() < 2_560);
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
