//! The holder's side of leases: whatever it hears, in whatever order, it never claims more than
//! what was confirmed to it.

// A test may panic; that is how it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use flakeid_lease::protocol::{
    Effect, Event, Grant, Holder, HolderOptions, Refusal, Renew, Renewed, Token,
};
use proptest::prelude::*;

/// What happens to a holder; answers are to a request of so many requests ago.
#[derive(Clone, Debug)]
enum Step {
    Wake { now: u64, next: u64, margin: u64 },
    Granted { age: usize, start: u64 },
    NotGranted { age: usize },
    Renewed { age: usize, fence: u64 },
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
        Just(Refusal::Foreign),
    ];
    let wake = (tick(), tick(), tick());
    prop_oneof![
        8 => wake.prop_map(|(now, next, margin)| Step::Wake { now, next, margin }),
        6 => (age(), 0u64..50).prop_map(|(age, start)| Step::Granted { age, start }),
        1 => age().prop_map(|age| Step::NotGranted { age }),
        4 => (age(), 0u64..60).prop_map(|(age, fence)| Step::Renewed { age, fence }),
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
        Step::Wake { now, next, margin } => {
            Event::Wake { now, unix_ms: 5, next, margin, fresh: Token::from_bits(count + 1) }
        }
        Step::Granted { age, start } => Event::Granted(Grant {
            node: 1,
            start,
            fence: start + 5,
            token: token(age),
            max_ahead_ms: 0,
            max_window_ms: 0,
            expires: 0,
        }),
        Step::NotGranted { age } => Event::NotGranted { token: token(age) },
        Step::Renewed { age, fence } => {
            Event::Renewed { next: token(age), answer: Renewed { fence, expires: 0, renewed: 0 } }
        }
        Step::NotRenewed { age, refusal } => Event::NotRenewed { next: token(age), refusal },
        Step::Unanswered { age } => Event::Unanswered { next: token(age) },
        Step::Unusable { used_until } => Event::Unusable { used_until },
        Step::Close => Event::Close,
        Step::Ended { used_until } => Event::Ended { used_until },
    }
}

/// What an observer of the messages knows: the grant in force, and what is unanswered.
#[derive(Default)]
struct Observer {
    confirmed: Option<Grant>,
    asked: Option<Token>,
    unsettled: Option<Renew>,
    waits: bool,
    fenced_off: bool,
    closing: bool,
}

impl Observer {
    fn hear(&mut self, event: &Event) {
        let pending = self.unsettled.map(|renew| renew.next);
        match event {
            Event::Granted(grant) if self.asked == Some(grant.token) => {
                *self = Self { confirmed: Some(*grant), closing: self.closing, ..Self::default() };
            }
            Event::NotGranted { token } if self.asked == Some(*token) => self.asked = None,
            Event::Renewed { next, answer } if pending == Some(*next) => {
                let grant = self.confirmed.as_mut().expect("a renewal has a grant");
                grant.token = *next;
                grant.fence = grant.fence.max(answer.fence);
                (self.unsettled, self.waits) = (None, false);
            }
            Event::NotRenewed { next, refusal } if pending == Some(*next) => {
                (self.unsettled, self.waits) = (None, false);
                self.fenced_off = matches!(
                    refusal,
                    Refusal::FencedOff | Refusal::Restored { .. } | Refusal::MissingNamespace
                );
            }
            Event::Unanswered { next } if pending == Some(*next) => self.waits = false,
            Event::Close => self.closing = true,
            _ => {}
        }
    }

    fn see(&mut self, event: &Event, effect: &Effect) {
        let grant = self.confirmed;
        match effect {
            Effect::Acquire { token } => {
                assert!(!self.closing && self.asked.is_none());
                assert!(grant.is_none() || self.fenced_off, "it has a node");
                assert!(matches!(event, Event::Wake { fresh, .. } if fresh == token));
                self.asked = Some(*token);
            }
            Effect::Renew(renew) => {
                let grant = grant.expect("there is a grant to renew");
                assert!(!self.closing && !self.waits && !self.fenced_off);
                let named = (renew.node, renew.start, renew.token);
                assert_eq!(named, (grant.node, grant.start, grant.token), "I7");
                assert!(self.unsettled.is_none_or(|unsettled| unsettled == *renew));
                (self.unsettled, self.waits) = (Some(*renew), true);
            }
            Effect::Install(installed) => assert_eq!(Some(*installed), grant),
            Effect::Raise { fence, .. } => {
                assert_eq!(Some(*fence), grant.map(|grant| grant.fence), "I5");
                assert!(!self.closing, "I6");
            }
            Effect::End => assert!(self.closing),
            Effect::Release(release) => {
                let grant = grant.expect("there is something to give back");
                assert!(!self.fenced_off, "it is another's");
                let token = self.unsettled.map_or(grant.token, |renew| renew.next);
                assert_eq!((release.node, release.token), (grant.node, token));
                match event {
                    Event::Ended { used_until } => {
                        assert!(self.closing, "released while it is used");
                        assert_eq!(release.used_until, *used_until);
                    }
                    Event::Unusable { used_until } => assert_eq!(release.used_until, *used_until),
                    _ => panic!("{event:?} gives nothing back"),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn it_claims_what_was_confirmed(
        steps in prop::collection::vec(step(), 1..150),
        window in prop_oneof![2u64..9, Just(u64::MAX)],
        fixed in any::<bool>(),
    ) {
        let options = HolderOptions { window, ttl_ms: 5, fixed };
        let (mut holder, mut observer, mut count) = (Holder::new(), Observer::default(), 0);
        let mut ousted = false;
        for step in &steps {
            let event = event(step, count);
            if let Event::NotRenewed { next, refusal: Refusal::FencedOff } = &event {
                ousted |= fixed && observer.unsettled.is_some_and(|renew| renew.next == *next);
            }
            let (next, effects) = holder.step(&options, &event);
            prop_assert_eq!(holder.step(&options, &event), (next.clone(), effects.clone()));
            observer.hear(&event);
            for effect in &effects {
                let acquires = matches!(effect, Effect::Acquire { .. });
                prop_assert!(!ousted || !acquires, "a fixed node is taken back");
                observer.see(&event, effect);
                if matches!(effect, Effect::Acquire { .. } | Effect::Renew(_)) {
                    count += 1;
                }
            }
            if matches!(event, Event::Unusable { .. })
                || (matches!(event, Event::Ended { .. }) && observer.closing)
            {
                let Observer { asked, closing, .. } = observer;
                observer = Observer { asked, closing, ..Observer::default() };
            }
            holder = next;
            let held = holder.hold.as_ref().map(|hold| (hold.grant.fence, hold.grant.token));
            prop_assert_eq!(held, observer.confirmed.map(|grant| (grant.fence, grant.token)));
        }
    }
}
