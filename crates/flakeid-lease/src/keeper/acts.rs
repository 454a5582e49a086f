use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use flakeid_core::{Error, ErrorKind, Window};

use super::life::{Life, Stage};
use super::pace::Pace;
use super::source::{is_skew, panic_text};
use super::{LeaseEvent, LeaseStatus, RETRY};
use crate::generator::Shared;
use crate::host;
use crate::protocol::{
    Acquire, Effect, Event, Grant, Holder, Identity, Owner, Plan, Refusal, Renew, Renewed, Token,
};
use crate::random;
use crate::store::{Fault, Store, operations};

/// One node of a lease.
#[derive(Default)]
struct Member {
    holder: Holder,
    /// What was granted last, with the fence that is confirmed.
    grant: Option<Grant>,
}

/// The keeper's thread: it alone talks to the store, and alone changes the generator.
pub(super) struct Acts {
    shared: Arc<Shared>,
    plan: Plan,
    /// One for each node of the lease, usually one.
    members: Vec<Member>,
    store: Option<Box<dyn Store>>,
    pace: Pace,
    /// The renewal whose fence is about to be in force.
    renewed: Option<(u64, Renewed)>,
    /// Whether a generator could not be made in the windows granted, because of the clock.
    is_waiting_for_clock: bool,
    is_lost: bool,
}

impl Acts {
    pub(super) fn start(shared: Arc<Shared>) -> Result<(), Error> {
        let terms = &shared.terms;
        let window = terms.window_ms.div_ceil(terms.layout.unit_ms());
        let fixed = matches!(terms.identity, Identity::Node(_));
        let plan = Plan { window, ttl_ms: terms.ttl_ms, fixed };
        let pace = Pace::new(terms.window_ms, terms.ttl_ms);
        let members = (0..terms.node_count).map(|_| Member::default()).collect();
        let acts = Self {
            shared,
            plan,
            members,
            store: None,
            pace,
            renewed: None,
            is_waiting_for_clock: false,
            is_lost: false,
        };
        let started = thread::Builder::new().name("flakeid-lease".into()).spawn(move || acts.run());
        started.map(drop).map_err(|error| {
            let text = format!("the thread that keeps the lease cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(self) {
        let shared = Arc::clone(&self.shared);
        let Some(life) = shared.lives.ours() else { return };
        // Panics of the user's code are caught where it is called; this one would be ours.
        match catch_unwind(AssertUnwindSafe(|| self.keep(life))) {
            Ok(()) => life.tell(|notes| notes.stage = Stage::Ended),
            Err(panic) => {
                let text = format!("the keeper of the lease panicked: {}", panic_text(&*panic));
                life.stop(Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY)));
            }
        }
    }

    fn keep(mut self, life: &Life) {
        let shared = Arc::clone(&self.shared);
        loop {
            let (asked, closing) = {
                let mut notes = life.notes();
                notes.heard = notes.asked;
                (notes.asked, notes.stage != Stage::Kept)
            };
            if self.is_waiting_for_clock
                && !closing
                && let Some(event) = self.begin(life)
            {
                self.follow(life, 0, event);
            }
            for member in 0..self.members.len() {
                let event = if closing { Event::Close } else { self.wake(life) };
                self.follow(life, member, event);
            }
            if closing {
                break;
            }
            let next = self.next_tick();
            let holders = self.members.iter().map(|member| &member.holder);
            let patience = self.pace.until_next(&shared, holders, next);
            drop(life.wait(patience, |notes| notes.stage != Stage::Kept || notes.asked != asked));
            // However many ask, the store is not asked without a pause after a failure.
            let pause = self.pace.pause();
            if !pause.is_zero() {
                drop(life.wait(pause, |notes| notes.stage != Stage::Kept));
            }
        }
    }

    fn wake(&mut self, life: &Life) -> Event {
        let now = match self.shared.watch.unix_ms() {
            Ok(now) => self.shared.terms.layout.tick_at(now).unwrap_or(0),
            Err(error) => {
                self.failed(life, &error, None);
                0
            }
        };
        let margin = self.pace.margin(self.plan.window);
        Event::Wake { now, next: self.next_tick(), margin, fresh: random::token() }
    }

    /// The tick of the next ID. Without a generator, where the next one begins: all windows have to
    /// reach beyond that.
    fn next_tick(&self) -> u64 {
        let generator = self.shared.generator();
        let next = generator.and_then(|generator| generator.next_tick());
        next.or_else(|| self.window_start()).unwrap_or(0)
    }

    /// The first tick that is in all windows granted, and was not used by this process.
    fn window_start(&self) -> Option<u64> {
        let starts = self.members.iter().filter_map(|member| Some(member.grant?.start));
        Some(starts.max()?.max(self.shared.used_until()))
    }

    /// The first tick that is beyond one of the windows granted.
    fn window_fence(&self) -> Option<u64> {
        self.members.iter().filter_map(|member| Some(member.grant?.fence)).min()
    }

    /// Feeds an event to the holder, does what it says, and feeds back what came of that.
    fn follow(&mut self, life: &Life, member: usize, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let (next, effects) = self.members[member].holder.step(&self.plan, &event);
            self.members[member].holder = next;
            if matches!(event, Event::Unusable { .. }) {
                // It is given back.
                self.members[member].grant = None;
            }
            for effect in effects {
                events.extend(self.act(life, member, &effect));
            }
        }
    }

    fn act(&mut self, life: &Life, member: usize, effect: &Effect) -> Option<Event> {
        match *effect {
            Effect::Acquire { token } => {
                let read = Instant::now();
                let request = match self.request(life, token) {
                    Ok(request) => request,
                    Err(error) => {
                        self.failed(life, &error, None);
                        return Some(Event::NotGranted { token });
                    }
                };
                let answer = self.ask(|store, namespace| {
                    operations::acquire_read_at(store, namespace, &request, read)
                });
                match answer {
                    Ok(grant) => Some(Event::Granted(grant)),
                    Err(fault) => {
                        self.fault(life, &fault);
                        Some(Event::NotGranted { token })
                    }
                }
            }
            Effect::Renew(ref renew) => Some(self.renew(life, renew)),
            Effect::Install(grant) => {
                self.end();
                self.members[member].grant = Some(grant);
                life.tell(|notes| notes.granted = true);
                self.pace.succeeded();
                self.begin(life)
            }
            Effect::Raise { fence } => self.raise(life, member, fence),
            Effect::End => Some(Event::Ended { used_until: self.end() }),
            Effect::Release(ref release) => {
                let done =
                    self.ask(|store, namespace| operations::release(store, namespace, release));
                match done {
                    Ok(()) => self.emit(&LeaseEvent::Released { node: release.node }),
                    // The row expires; nothing else depends on this.
                    Err(fault) => drop(self.fault(life, &fault)),
                }
                None
            }
        }
    }

    fn request(&self, life: &Life, token: Token) -> Result<Acquire, Error> {
        let terms = &self.shared.terms;
        let now = self.shared.watch.unix_ms()?;
        terms.layout.tick_at(now)?;
        let before = self.shared.generator();
        let (identity, name) = match &terms.identity {
            // The name is the parent's, which will want its node back.
            Identity::Name(_) if life.is_a_childs() => (Identity::Any, String::new()),
            Identity::Name(name) => (terms.identity.clone(), name.clone()),
            Identity::Any | Identity::Node(_) => (terms.identity.clone(), String::new()),
        };
        Ok(Acquire {
            layout: terms.layout,
            identity,
            from: terms.from,
            to: terms.to,
            rotation: terms.rotation,
            reuse: terms.reuse,
            token,
            window_ms: terms.window_ms,
            ttl_ms: terms.ttl_ms,
            now,
            waited_ms: 0,
            after: before.map_or(0, |generator| match generator.next_tick() {
                Some(tick) => tick + 1,
                None => self.shared.used_until(),
            }),
            owner: Owner { name, host: host::name(), pid: std::process::id() },
        })
    }

    fn renew(&mut self, life: &Life, renew: &Renew) -> Event {
        let next = renew.next;
        match self.ask(|store, namespace| operations::renew(store, namespace, renew)) {
            Ok(answer) => {
                self.renewed = Some((renew.node, answer));
                Event::Renewed { next, answer }
            }
            Err(Fault::Refused(refusal)) => {
                let error = self.fault(life, &Fault::Refused(refusal.clone()));
                if matches!(refusal, Refusal::FencedOff | Refusal::Restored { .. }) {
                    let ousted = self.plan.fixed && refusal == Refusal::FencedOff;
                    life.tell(|notes| {
                        notes.status.fenced_off = true;
                        notes.ousted = ousted;
                    });
                    self.emit(&LeaseEvent::FencedOff { node: renew.node, error });
                    // Another node is asked for at once.
                    self.pace.hurry();
                }
                Event::NotRenewed { next, refusal }
            }
            Err(fault) => {
                self.fault(life, &fault);
                Event::Unanswered { next }
            }
        }
    }

    /// Lets the generator issue up to the lowest of the fences, or begins one if that is what was
    /// missing.
    fn raise(&mut self, life: &Life, member: usize, fence: u64) -> Option<Event> {
        if let Some(grant) = &mut self.members[member].grant {
            grant.fence = fence;
        }
        let lowest = self.window_fence().unwrap_or(fence);
        let extended =
            self.shared.generator().is_some_and(|generator| generator.extend(lowest).is_ok());
        self.raised(life, lowest, extended);
        if extended { None } else { self.begin(life) }
    }

    /// Tells of a renewal, now that the limit is raised, if there is a generator to raise it of.
    fn raised(&mut self, life: &Life, lowest: u64, extended: bool) {
        let Some((node, answer)) = self.renewed.take() else { return };
        self.succeeded(life, extended, |status| {
            status.renewals += 1;
            status.fence = status.fence.max(lowest);
            status.expires_unix_ms = answer.expires;
        });
        self.emit(&LeaseEvent::Renewed { node, fence: answer.fence });
    }

    /// Begins a generator in what is common to the windows granted, above the last tick of the one
    /// before. Nothing as long as a node is missing, or a renewal that makes the windows meet.
    fn begin(&mut self, life: &Life) -> Option<Event> {
        self.is_waiting_for_clock = false;
        let grants: Option<Vec<Grant>> = self.members.iter().map(|member| member.grant).collect();
        let (grants, start, fence) = (grants?, self.window_start()?, self.window_fence()?);
        if fence.saturating_sub(start) < Window::SHORTEST {
            // Renewals make what several windows have in common longer.
            return (grants.len() == 1).then(|| {
                self.pace.hurry();
                Event::Unusable { used_until: self.shared.used_until() }
            });
        }
        let made = catch_unwind(AssertUnwindSafe(|| self.shared.begin(&grants, start, fence)));
        let made = made.unwrap_or_else(|panic| {
            Err(Error::invalid_option("clock", &format!("panicked: {}", panic_text(&*panic))))
        });
        let generator = match made {
            Ok(generator) => generator,
            Err(error) => {
                // Everything else was checked when the lease was opened, so it is the clock, which
                // may be set right: the nodes are kept.
                self.is_waiting_for_clock = true;
                self.failed(life, &error, None);
                return None;
            }
        };
        self.shared.publish(generator);
        let expires = grants.iter().map(|grant| grant.expires).min();
        self.succeeded(life, true, |status| {
            status.start = start;
            status.fence = fence;
            status.expires_unix_ms = expires.unwrap_or_default();
            status.grants += 1;
            status.fenced_off = false;
        });
        for grant in grants {
            self.emit(&LeaseEvent::Acquired { node: grant.node, start, fence });
        }
        None
    }

    /// Ends the present generator, if it is this process's, and returns the tick after its last.
    fn end(&self) -> u64 {
        if let Some(generator) = self.shared.generator() {
            let floor = generator.next_tick();
            match generator.retire() {
                Ok(Some(last)) => self.shared.note_used(last + 1),
                // The parent's: what it used before the fork stays below this process's IDs.
                Err(error) if error.kind() == ErrorKind::Forked => {
                    self.shared.note_used(floor.map_or(0, |tick| tick + 1));
                }
                // Nothing used; or ended before, and noted then.
                Ok(None) | Err(_) => {}
            }
        }
        self.shared.used_until()
    }

    fn ask<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Store, &str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let (shared, store) = (Arc::clone(&self.shared), self.store.take());
        // Both the store and the clock may be the user's own.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let mut store = match store {
                Some(store) => store,
                None => shared.source.connect(&shared.watch.clock)?,
            };
            let answer = operation(&mut *store, &shared.terms.namespace);
            // After anything but an answer the connection may be broken, or in mid-transaction.
            let keeps = matches!(answer, Ok(_) | Err(Fault::Refused(_)));
            Ok((answer, keeps.then_some(store)))
        }));
        let (answer, store) = answered.unwrap_or_else(|panic| {
            Err(Fault::Rejected(format!("the store panicked: {}", panic_text(&*panic))))
        })?;
        self.store = store;
        answer
    }

    /// Notes a success. Everyone who waits is told, and goes on if IDs can be issued again.
    fn succeeded(&mut self, life: &Life, gains: bool, change: impl FnOnce(&mut LeaseStatus)) {
        self.pace.succeeded();
        if self.is_lost {
            self.is_lost = false;
            self.emit(&LeaseEvent::StoreFound);
        }
        let layout = &self.shared.terms.layout;
        life.tell(|notes| {
            change(&mut notes.status);
            notes.status.fence_unix_ms = layout.unix_ms_at(notes.status.fence);
            notes.status.last_error = None;
            notes.hopeless = false;
            notes.attempts += 1;
            notes.gains += u64::from(gains);
        });
    }

    /// Notes a fault and returns it as the error that users see.
    fn fault(&mut self, life: &Life, fault: &Fault) -> Error {
        let terms = &self.shared.terms;
        let error = self.shared.source.error(fault, &terms.namespace, &terms.layout);
        self.failed(life, &error, Some(fault));
        error
    }

    fn failed(&mut self, life: &Life, error: &Error, fault: Option<&Fault>) {
        self.pace.failed(error.retry_after());
        let is_lost = matches!(fault, Some(Fault::Unavailable(_) | Fault::Conflict));
        let hopeless = !error.kind().is_retryable();
        life.tell(|notes| {
            notes.status.failures += 1;
            notes.status.last_error = Some(error.clone());
            notes.hopeless = hopeless;
            notes.attempts += 1;
        });
        let error = error.clone();
        match fault {
            Some(fault) if is_skew(fault) => self.emit(&LeaseEvent::ClockSkew { error }),
            _ if !is_lost => self.emit(&LeaseEvent::Refused { error }),
            _ if !self.is_lost => self.emit(&LeaseEvent::StoreLost { error }),
            _ => {}
        }
        self.is_lost = is_lost;
    }

    fn emit(&self, event: &LeaseEvent) {
        if let Some(observer) = &self.shared.observer {
            // Somebody else's panic must not end the lease; the panic hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
        }
    }
}
