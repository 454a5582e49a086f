//! Tests of a lease holder with random events in random order. The holder must never claim more ticks than a lessor
//! has confirmed.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use flakeid_protocol::{
    Effect, Event, Grant, Holder, HolderOptions, Refusal, Release, Renew, Renewed, Token,
};
use proptest::prelude::*;

/// An event for a holder. For a response, `age` is the number of requests that the holder sent after the request to
/// which this response belongs.
#[derive(Clone, Debug)]
enum Step {
    Wake { now: u64, next: u64, margin: u64, reserve: u64 },
    Granted { age: usize, node: u64, start: u64, next: u64 },
    NotGranted { age: usize },
    Renewed { age: usize, fence: u64, leaving: bool },
    NotRenewed { age: usize, refusal: Refusal },
    Unanswered { age: usize },
    Unusable { used_until: u64 },
    Close,
    Ended { used_until: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let tick = || prop_oneof![8 => 0u64..50, 1 => Just(u64::MAX), 1 => any::<u64>()];
    let age = || prop_oneof![4 => Just(0usize), 1 => 1usize..4];
    let refusal = prop_oneof![
        Just(Refusal::FencedOff),
        Just(Refusal::Restored { retry_after_ms: 3 }),
        Just(Refusal::MissingNamespace),
        Just(Refusal::TooFarAhead { by_ms: 1 }),
        Just(Refusal::Foreign("copied".into())),
    ];
    let wake = (tick(), tick(), tick(), tick());
    let granted = (age(), 1u64..4, 0u64..50, tick());
    prop_oneof![
        8 => wake.prop_map(|(now, next, margin, reserve)| {
            Step::Wake { now, next, margin, reserve }
        }),
        6 => granted.prop_map(|(age, node, start, next)| Step::Granted { age, node, start, next }),
        1 => age().prop_map(|age| Step::NotGranted { age }),
        4 => (age(), 0u64..60, any::<bool>()).prop_map(|(age, fence, leaving)| {
            Step::Renewed { age, fence, leaving }
        }),
        2 => (age(), refusal).prop_map(|(age, refusal)| Step::NotRenewed { age, refusal }),
        2 => age().prop_map(|age| Step::Unanswered { age }),
        1 => tick().prop_map(|used_until| Step::Unusable { used_until }),
        1 => Just(Step::Close),
        1 => tick().prop_map(|used_until| Step::Ended { used_until }),
    ]
}

fn event(step: &Step, count: u128) -> Event {
    let token = |age: usize| Token::from_bits(count.saturating_sub(age as u128));
    match step.clone() {
        Step::Wake { now, next, margin, reserve } => {
            let fresh = Token::from_bits(count + 1);
            Event::Wake { now, unix_ms: 5, next, margin, reserve, fresh }
        }
        Step::Granted { age, node, start, next } => {
            let (token, fence) = (token(age), start + 5);
            let (max_ahead_ms, max_window_ms, expires) = (0, 0, 0);
            let grant = Grant { node, start, fence, token, max_ahead_ms, max_window_ms, expires };
            Event::Granted { grant, next }
        }
        Step::NotGranted { age } => Event::NotGranted { token: token(age) },
        Step::Renewed { age, fence, leaving } => {
            let answer = Renewed { fence, expires: 0, renewed: 0, leaving };
            Event::Renewed { next: token(age), answer }
        }
        Step::NotRenewed { age, refusal } => Event::NotRenewed { next: token(age), refusal },
        Step::Unanswered { age } => Event::Unanswered { next: token(age) },
        Step::Unusable { used_until } => Event::Unusable { used_until },
        Step::Close => Event::Close,
        Step::Ended { used_until } => Event::Ended { used_until },
    }
}

/// An observer of all events and effects. The observer tracks the current grant and the unanswered requests.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact that messages show")]
struct Observer {
    confirmed: Option<Grant>,
    asked: Option<Token>,
    unconfirmed: Option<Renew>,
    waits: bool,
    fenced_off: bool,
    /// Whether the latest renewal failed, or was confirmed with a notice that the lessor is about to shut down.
    failing: bool,
    /// A grant that arrived while the holder held another node, or while the holder was closing.
    offered: Option<Grant>,
    /// The offered grant that will replace the confirmed grant.
    moving_to: Option<Grant>,
    closing: bool,
}

impl Observer {
    fn observe_event(&mut self, event: &Event) {
        let pending = self.unconfirmed.map(|renew| renew.next);
        match event {
            Event::Granted { grant, .. } if self.asked == Some(grant.token) => {
                self.asked = None;
                if self.closing || self.confirmed.is_some() && !self.fenced_off {
                    self.offered = Some(*grant);
                } else {
                    self.hold(*grant);
                }
            }
            Event::NotGranted { token } if self.asked == Some(*token) => self.asked = None,
            Event::Renewed { next, answer } if pending == Some(*next) => {
                let grant = self.confirmed.as_mut().expect("a renewal has a grant");
                grant.token = *next;
                grant.fence = grant.fence.max(answer.fence);
                (self.unconfirmed, self.waits, self.failing) = (None, false, answer.leaving);
            }
            Event::NotRenewed { next, refusal } if pending == Some(*next) => {
                (self.unconfirmed, self.waits, self.failing) = (None, false, true);
                self.fenced_off = matches!(
                    refusal,
                    Refusal::FencedOff | Refusal::Restored { .. } | Refusal::MissingNamespace
                );
            }
            Event::Unanswered { next } if pending == Some(*next) => {
                (self.waits, self.failing) = (false, true);
            }
            Event::Close => self.closing = true,
            _ => {}
        }
    }

    fn hold(&mut self, grant: Grant) {
        let Self { asked, moving_to, closing, .. } = *self;
        *self = Self { confirmed: Some(grant), asked, moving_to, closing, ..Self::default() };
    }

    fn observe_effect(&mut self, event: &Event, effect: &Effect) {
        let grant = self.confirmed;
        match effect {
            Effect::Acquire { token, instead_of } => {
                assert!(!self.closing && self.asked.is_none());
                assert!(matches!(event, Event::Wake { fresh, .. } if fresh == token));
                match instead_of {
                    None => assert!(grant.is_none() || self.fenced_off, "the holder has a node"),
                    Some(node) => {
                        assert_eq!(Some(*node), grant.map(|grant| grant.node));
                        assert!(self.failing && !self.waits && !self.fenced_off);
                    }
                }
                self.asked = Some(*token);
            }
            Effect::Renew(renew) => {
                let grant = grant.expect("a renewal requires a grant");
                assert!(!self.closing && !self.waits && !self.fenced_off);
                let named = (renew.node, renew.start, renew.token);
                assert_eq!(named, (grant.node, grant.start, grant.token), "I7");
                assert!(self.unconfirmed.is_none_or(|unconfirmed| unconfirmed == *renew));
                (self.unconfirmed, self.waits) = (Some(*renew), true);
            }
            Effect::Install(installed) => match event {
                // The holder installs the new grant before it releases the old node.
                Event::Ended { .. } => assert_eq!(Some(*installed), self.moving_to),
                _ => assert_eq!(Some(*installed), grant),
            },
            Effect::Raise { fence, .. } => {
                assert_eq!(Some(*fence), grant.map(|grant| grant.fence), "I5");
                assert!(!self.closing, "I6");
            }
            Effect::End => {
                if !self.closing {
                    let offered = self.offered.take().expect("a node to move to");
                    let held = grant.expect("a node to move from");
                    assert!(self.failing && offered.fence > held.fence, "the move is unnecessary");
                    self.moving_to = Some(offered);
                }
            }
            Effect::Release(release) => self.observe_release(event, release),
        }
    }

    fn observe_release(&mut self, event: &Event, release: &Release) {
        let unused = |grant: &Grant| Release {
            node: grant.node,
            token: grant.token,
            used_until: grant.start,
        };
        if let Some(offered) = self.offered.take() {
            assert_eq!(*release, unused(&offered), "the offered node was never used");
            return;
        }
        if self.closing && self.moving_to.is_some_and(|grant| *release == unused(&grant)) {
            self.moving_to = None;
            return;
        }
        let grant = self.confirmed.expect("a release requires a grant");
        assert!(!self.fenced_off, "the node belongs to another holder");
        let token = self.unconfirmed.map_or(grant.token, |renew| renew.next);
        assert_eq!((release.node, release.token), (grant.node, token));
        match event {
            Event::Ended { used_until } => {
                assert!(
                    self.closing || self.moving_to.is_some(),
                    "the node is released while in use"
                );
                assert_eq!(release.used_until, *used_until);
            }
            Event::Unusable { used_until } => assert_eq!(release.used_until, *used_until),
            _ => panic!("{event:?} must not release a node"),
        }
    }

    /// Updates the observer's state after all effects of an event have been observed.
    fn finish_event(&mut self, event: &Event) {
        assert!(self.offered.is_none(), "an offered grant must be used or released");
        match event {
            Event::Ended { .. } if self.closing => self.confirmed = None,
            Event::Ended { .. } => {
                if let Some(grant) = self.moving_to.take() {
                    self.hold(grant);
                }
                return;
            }
            Event::Unusable { .. } => self.confirmed = None,
            _ => return,
        }
        let Self { asked, moving_to, closing, .. } = *self;
        *self = Self { asked, moving_to, closing, ..Self::default() };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn holder_claims_only_ticks_that_were_confirmed(
        steps in prop::collection::vec(step(), 1..150),
        window in prop_oneof![2u64..9, Just(u64::MAX)],
        fixed in any::<bool>(),
        moves in any::<bool>(),
    ) {
        let options = HolderOptions { window, ttl_ms: 5, fixed, moves };
        let (mut holder, mut observer, mut count) = (Holder::new(), Observer::default(), 0);
        let mut displaced = false;
        for step in &steps {
            let event = event(step, count);
            if let Event::NotRenewed { next, refusal: Refusal::FencedOff } = &event {
                displaced |= fixed && observer.unconfirmed.is_some_and(|renew| renew.next == *next);
            }
            let (next, effects) = holder.step(&options, &event);
            prop_assert_eq!(holder.step(&options, &event), (next.clone(), effects.clone()));
            observer.observe_event(&event);
            for effect in &effects {
                let acquires = matches!(effect, Effect::Acquire { .. });
                prop_assert!(!displaced || !acquires, "a fixed node must not be acquired again");
                observer.observe_effect(&event, effect);
                if matches!(effect, Effect::Acquire { .. } | Effect::Renew(_)) {
                    count += 1;
                }
            }
            observer.finish_event(&event);
            holder = next;
            let held = holder.hold.as_ref().map(|hold| (hold.grant.fence, hold.grant.token));
            prop_assert_eq!(held, observer.confirmed.map(|grant| (grant.fence, grant.token)));
        }
    }
}
