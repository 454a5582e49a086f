//! Tests of the rules with extreme requests, clocks, namespaces and rows.

use flakeid_core::Layout;
use flakeid_protocol::{
    Acquire, Bounds, Identity, Namespace, Owner, Release, Renew, Row, State, Token, rules,
};
use proptest::prelude::*;

use crate::history::units;
use crate::{EPOCH, SPACE, check_error};

/// Generates boundary values and arbitrary numbers.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(2),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(i64::MAX.cast_unsigned()),
        Just(1 << 40),
        Just((1 << 40) - 1),
        Just((1 << 62) - 1),
        0u64..100,
        any::<u64>(),
    ]
}

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(-1),
        Just(0),
        Just(EPOCH),
        Just(EPOCH - 1),
        Just(EPOCH + (1 << 40)),
        Just(EPOCH + (1 << 40) - 1),
        EPOCH..EPOCH + 1000,
        any::<i64>(),
    ]
}

fn layout() -> impl Strategy<Value = Layout> {
    let unit = prop_oneof![units(), Just(86_400_000), 1u64..100_000];
    (1u8..=40, 1u8..=20, unit, any::<bool>()).prop_map(|(time, node, unit, epoch)| {
        let epoch = if epoch { EPOCH } else { 0 };
        let layout = Layout::builder().time(time).node(node).sequence(4);
        let layout = layout.epoch(epoch).unit_ms(unit).build();
        layout.unwrap_or_else(|_| Layout::builder().time(62).node(1).sequence(1).build_const())
    })
}

fn owner() -> impl Strategy<Value = Owner> {
    Just(Owner { name: "a name".into(), host: "a host".into(), pid: 7 })
}

fn row() -> impl Strategy<Value = Row> {
    let state = prop_oneof![Just(State::Free), Just(State::Held), Just(State::Quarantined)];
    let numbers = (number(), number(), number(), number());
    let token = prop::option::of((0u128..3).prop_map(Token::from_bits));
    let times = (instant(), instant(), instant());
    (numbers, token, state, times, owner(), 0u8..4).prop_map(
        |((node, fence, start, grant), token, state, (acquired, renewed, expires), owner, kind)| {
            let (incarnation, fixed) = ((kind / 2).to_string(), kind % 2 == 1);
            Row {
                node,
                fence,
                start,
                token,
                grant,
                state,
                owner,
                acquired,
                renewed,
                expires,
                incarnation,
                fixed,
                history_until: 0,
            }
        },
    )
}

fn namespace() -> impl Strategy<Value = Namespace> {
    let bounds = (number(), number(), number(), number()).prop_map(
        |(max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms)| Bounds {
            max_window_ms,
            max_ahead_ms,
            max_skew_ms,
            quiet_ms,
        },
    );
    let quiet_until = prop_oneof![Just(0), instant()];
    (layout(), number(), quiet_until, prop::option::of(bounds)).prop_map(
        |(layout, floor, quiet_until, bounds)| {
            let bounds = bounds.unwrap_or_else(|| Bounds::of(&layout));
            let incarnation = "0".into();
            Namespace { floor, quiet_until, incarnation, bounds, ..Namespace::new(SPACE, layout) }
        },
    )
}

fn request() -> impl Strategy<Value = Acquire> {
    let identity = prop_oneof![
        Just(Identity::Any),
        Just(Identity::Name("a name".into())),
        number().prop_map(Identity::Node),
    ];
    let nodes = (number(), number(), number());
    (layout(), identity, nodes, number(), number(), instant(), number(), any::<bool>()).prop_map(
        |(layout, identity, (from, to, rotation), window_ms, ttl_ms, now, after, reuse)| {
            let owner = Owner::default();
            let token = Token::from_bits(1);
            Acquire {
                layout,
                identity,
                from,
                to,
                rotation,
                block_bits: 0,
                reuse,
                token,
                window_ms,
                ttl_ms,
                now,
                waited_ms: 0,
                after,
                owner,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn lease_rules_handle_extreme_requests_without_overflow(
        namespace in namespace(),
        row in prop::option::of(row()),
        mut request in request(),
        same_layout in any::<bool>(),
        near in prop::option::of(-5000i64..5000),
        now in instant(),
        renewal in (number(), number(), 0u128..3, 0u128..3, number()),
    ) {
        if same_layout {
            request.layout = namespace.layout;
        }
        if let Some(near) = near {
            request.now = now.saturating_add(near);
        }
        let layout = &namespace.layout;
        let node = row.as_ref().map_or(0, |row| row.node);
        match rules::grant(&namespace, row.as_ref(), node, &request, now) {
            Err(refusal) => check_error(&refusal.to_error(SPACE, layout), &refusal),
            Ok(granted) => {
                let fence = row.as_ref().map_or(0, |row| row.fence);
                prop_assert!(granted.start >= fence.max(namespace.floor), "I4");
                prop_assert!(granted.fence >= granted.start + 2);
                prop_assert!(granted.fence <= layout.max_tick() + 1);
                prop_assert!(row.is_none_or(|row| row.state != State::Quarantined), "I10");
                let grant = rules::grant_of(&namespace, &granted, &request);
                prop_assert_eq!((grant.start, grant.fence), (granted.start, granted.fence));
                let renew = Renew {
                    node,
                    start: granted.start,
                    token: request.token,
                    next: Token::from_bits(2),
                    confirmed: granted.fence,
                    wanted: renewal.0,
                    ttl_ms: renewal.1,
                    now: request.now,
                    waited_ms: 0,
                };
                if let Ok(renewed) = rules::renew(&namespace, Some(&granted), &renew, now) {
                    prop_assert!(renewed.fence >= granted.fence);
                    let again = rules::renew(&namespace, Some(&renewed), &renew, now);
                    prop_assert_eq!(again, Ok(renewed));
                }
            }
        }
    }

    #[test]
    fn lease_rules_handle_extreme_rows_without_overflow(
        namespace in namespace(),
        row in row(),
        now in instant(),
        (wanted, start, token, next, ttl_ms) in (number(), number(), 0u128..3, 0u128..3, number()),
        (confirmed, client_now, waited_ms) in (number(), instant(), number()),
        used_until in number(),
    ) {
        let (token, next) = (Token::from_bits(token), Token::from_bits(next));
        for start in [start, row.start] {
            let node = row.node;
            let renew =
                Renew { node, start, token, next, confirmed, wanted, ttl_ms, now: client_now, waited_ms };
            let forgotten = rules::is_forgotten(&namespace, Some(&row), &renew);
            prop_assert!(!forgotten || confirmed > namespace.floor);
            match rules::renew(&namespace, Some(&row), &renew, now) {
                Err(refusal) => {
                    check_error(&refusal.to_error(SPACE, &namespace.layout), &refusal);
                }
                Ok(renewed) => {
                    prop_assert!(renewed.fence >= row.fence, "I3");
                    prop_assert_eq!(renewed.token, Some(next));
                    let continues = row.incarnation != namespace.incarnation;
                    let is_its_own = |kept: Token| {
                        kept == token || kept == next || continues && kept.is_same_grant(token)
                    };
                    prop_assert!(row.token.is_some_and(is_its_own), "I7");
                    prop_assert!(!(continues && row.fixed), "I14");
                    prop_assert!(renewed.expires >= row.expires);
                    if renewed.incarnation != namespace.incarnation {
                        // The holder gets only one last window. The row must keep its incarnation
                        // and its times, and its fence must not rise above the floor of a later
                        // run.
                        prop_assert_eq!(&renewed.incarnation, &row.incarnation);
                        let times = |row: &Row| (row.renewed, row.expires);
                        prop_assert_eq!(times(&renewed), times(&row));
                        let skews = namespace.bounds.max_skew_ms.saturating_mul(2);
                        let earliest = row.renewed.saturating_sub_unsigned(skews);
                        let floor = rules::restored(&namespace, "2".into(), earliest).floor;
                        prop_assert!(renewed.fence <= row.fence.max(floor), "I14");
                    }
                    prop_assert_eq!((row.state, row.start), (State::Held, start));
                }
            }
        }
        let release = Release { node: row.node, token, used_until };
        if let Some(released) = rules::release(Some(&row), &release) {
            prop_assert_eq!(row.token, Some(token), "I3");
            prop_assert!(released.fence <= row.fence);
            if row.start <= row.fence {
                prop_assert!(released.fence >= row.start.max(used_until.min(row.fence)));
            }
        }
        let restored = rules::restored(&namespace, "1".into(), now);
        prop_assert!(restored.floor >= namespace.floor);
        let floor_is_near = rules::hottest_start(&restored, now).is_ok_and(|tick| tick >= restored.floor);
        let is_quiet = restored.quiet_until > now;
        let waits = rules::wait_to_grant(&restored, now) > 0;
        prop_assert!(waits || !is_quiet);
        prop_assert!(is_quiet || !floor_is_near || !waits);
    }
}
