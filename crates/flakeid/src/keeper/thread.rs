//! The keeper's thread: carries out what the holder decides, and reports how it went.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind, Window};

use super::lease::Lease;
use super::process;
use super::session::{LeaseSession, Phase};
use super::source::panic_text;
use flakeid_protocol::keeper::{LeaseEvent, LeaseStatus, RenewalSchedule};
use flakeid_protocol::store::{Fault, RETRY};
use flakeid_protocol::{
    Acquire, Effect, Event, Grant, Holder, HolderOptions, Identity, Lessor, Owner, Refusal, Renew,
    Token,
};
use flakeid_stores::{host_name, random};

/// One node of a lease.
#[derive(Default)]
struct Member {
    holder: Holder,
    /// The latest grant, with the fence that was confirmed last.
    grant: Option<Grant>,
}

/// Runs on a thread of its own. Nothing else talks to the store or replaces the generator.
struct Keeper {
    lease: Arc<Lease>,
    holder_options: HolderOptions,
    /// One for each node of the lease, usually one.
    members: Vec<Member>,
    lessor: Option<Box<dyn Lessor>>,
    schedule: RenewalSchedule,
    /// When the schedule began.
    begun: Instant,
    /// Whether the clock was the reason why no generator could be made in the granted windows.
    is_waiting_for_clock: bool,
    is_lost: bool,
}

impl Lease {
    /// This process's session. If there is none it begins now, and its keeper starts to acquire a
    /// node.
    pub(crate) fn begin_session(self: &Arc<Self>) -> Result<&LeaseSession, Error> {
        let is_fixed = matches!(self.options.identity, Identity::Node(_));
        let (session, needs_keeper) = self.sessions.begin(is_fixed)?;
        if needs_keeper {
            Keeper::start(Arc::clone(self)).inspect_err(|error| session.stop(error.clone()))?;
        }
        Ok(session)
    }
}

impl Keeper {
    fn start(lease: Arc<Lease>) -> Result<(), Error> {
        let options = &lease.options;
        let window = options.window_ms.div_ceil(options.layout.unit_ms());
        let fixed = matches!(options.identity, Identity::Node(_));
        let moves = options.moves && !fixed && lease.source.has_several_lessors();
        let holder_options = HolderOptions { window, ttl_ms: options.ttl_ms, fixed, moves };
        let schedule = RenewalSchedule::new(
            options.window_ms,
            options.ttl_ms,
            Duration::ZERO,
            random::jitter(),
        );
        let members = (0..options.node_count).map(|_| Member::default()).collect();
        let keeper = Self {
            lease,
            holder_options,
            members,
            lessor: None,
            schedule,
            begun: Instant::now(),
            is_waiting_for_clock: false,
            is_lost: false,
        };
        process::spawn_keeper(move || keeper.run()).map_err(|error| {
            let text = format!("the thread that keeps the lease cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(self) {
        let lease = Arc::clone(&self.lease);
        let Some(session) = lease.sessions.ours() else { return };
        // Panics in the user's code are caught where it is called, so this one would be ours.
        match catch_unwind(AssertUnwindSafe(|| self.keep(session))) {
            Ok(()) => session.update(|state| state.phase = Phase::Ended),
            Err(panic) => {
                let text = format!("the keeper of the lease panicked: {}", panic_text(&*panic));
                session.stop(Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY)));
            }
        }
        if process::has_ended() {
            process::exit();
        }
    }

    fn keep(mut self, session: &LeaseSession) {
        let lease = Arc::clone(&self.lease);
        loop {
            let has_ended = process::has_ended();
            let (asked, closing) = {
                let mut state = session.state();
                state.heard = state.asked;
                (state.asked, has_ended || state.phase != Phase::Kept)
            };
            if self.is_waiting_for_clock
                && !closing
                && let Some(event) = self.begin(session)
            {
                self.follow(session, 0, event);
            }
            for member in 0..self.members.len() {
                let event = if closing { Event::Close } else { self.wake(session) };
                self.follow(session, member, event);
            }
            if closing {
                break;
            }
            let reached = lease.tick_now().max(self.next_tick());
            let holders = self.members.iter().map(|member| &member.holder);
            let layout = &lease.options.layout;
            let now = self.begun.elapsed();
            let timeout =
                self.schedule.until_next(layout, &self.holder_options, holders, reached, now);
            drop(session.wait(timeout, |state| state.phase != Phase::Kept || state.asked != asked));
            // After a failure there is always a pause, however many callers ask.
            let pause = self.schedule.pause(self.begun.elapsed());
            if !pause.is_zero() {
                drop(session.wait(pause, |state| state.phase != Phase::Kept));
            }
        }
    }

    fn wake(&mut self, session: &LeaseSession) -> Event {
        let unix_ms = self.lease.clock.unix_ms().unwrap_or_else(|error| {
            self.failed(session, &error, None);
            i64::MIN
        });
        let now = self.lease.options.layout.tick_at(unix_ms).unwrap_or(0);
        let margin = self.schedule.margin(self.holder_options.window, self.begun.elapsed());
        let reserve = self.schedule.reserve(self.holder_options.window);
        let (next, fresh) = (self.next_tick(), random::token());
        Event::Wake { now, unix_ms, next, margin, reserve, fresh }
    }

    /// The tick of the next ID. If there is no generator, the tick in which the next one begins: every
    /// window has to reach beyond it.
    fn next_tick(&self) -> u64 {
        let generator = self.lease.generator();
        let next = generator.and_then(|generator| generator.next_tick());
        next.or_else(|| self.window_start()).unwrap_or(0)
    }

    /// The first tick that is in all granted windows and that this process has not used.
    fn window_start(&self) -> Option<u64> {
        let starts = self.members.iter().filter_map(|member| Some(member.grant?.start));
        Some(starts.max()?.max(self.lease.used_until()))
    }

    /// The first tick that lies beyond one of the granted windows.
    fn window_fence(&self) -> Option<u64> {
        self.members.iter().filter_map(|member| Some(member.grant?.fence)).min()
    }

    /// Passes an event to the holder, carries out the effects, and passes the resulting events back.
    fn follow(&mut self, session: &LeaseSession, member: usize, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let (next, effects) = self.members[member].holder.step(&self.holder_options, &event);
            self.members[member].holder = next;
            if matches!(event, Event::Unusable { .. }) {
                // It is given back.
                self.members[member].grant = None;
            }
            for effect in effects {
                events.extend(self.act(session, member, &effect));
            }
        }
    }

    fn act(&mut self, session: &LeaseSession, member: usize, effect: &Effect) -> Option<Event> {
        match *effect {
            Effect::Acquire { token, instead_of } => Some(self.acquire(session, token, instead_of)),
            Effect::Renew(ref renew) => Some(self.renew(session, renew)),
            Effect::Install(grant) => {
                self.end();
                self.limit_to(&grant);
                self.members[member].grant = Some(grant);
                session.update(|state| state.granted = true);
                self.schedule.succeeded(self.begun.elapsed(), random::jitter());
                self.begin(session)
            }
            Effect::Raise { node, fence, expires } => {
                self.raise(session, member, (node, fence, expires))
            }
            Effect::End => {
                self.end();
                Some(Event::Ended { used_until: self.lease.released_from() })
            }
            Effect::Release(ref release) => {
                let is_over = self.members[member].holder.closing;
                match self.ask(|lessor, namespace| lessor.release(namespace, release)) {
                    Ok(()) => self.emit(&LeaseEvent::Released { node: release.node }),
                    // The row expires; nothing else depends on this.
                    Err(fault) if is_over => drop(self.fault(session, &fault)),
                    // The lease goes on with another node.
                    Err(_) => {}
                }
                None
            }
        }
    }

    /// Wishes for more than a lessor grants would be in vain, and come again and again.
    fn limit_to(&mut self, grant: &Grant) {
        let options = &self.lease.options;
        let window_ms = options.window_ms.min(grant.max_window_ms);
        self.holder_options.window = window_ms.div_ceil(options.layout.unit_ms());
        let now = self.lease.clock.unix_ms().unwrap_or(i64::MIN);
        self.schedule.set(window_ms, grant.expires.saturating_sub(now), options.ttl_ms);
    }

    fn request(&self, session: &LeaseSession, token: Token) -> Result<Acquire, Error> {
        let options = &self.lease.options;
        let now = self.lease.clock.unix_ms()?;
        options.layout.tick_at(now)?;
        let before = self.lease.generator();
        let (identity, name) = match &options.identity {
            // The name belongs to the parent, which will want its node back.
            Identity::Name(_) if session.is_a_childs() => (Identity::Any, String::new()),
            Identity::Name(name) => (options.identity.clone(), name.clone()),
            Identity::Any | Identity::Node(_) => (options.identity.clone(), String::new()),
        };
        Ok(Acquire {
            layout: options.layout,
            identity,
            from: options.from,
            to: options.to,
            rotation: options.rotation,
            block_bits: 0,
            reuse: options.reuse,
            token,
            window_ms: options.window_ms,
            ttl_ms: options.ttl_ms,
            now,
            waited_ms: 0,
            after: before.map_or(0, |generator| match generator.next_tick() {
                Some(tick) => tick + 1,
                None => self.lease.used_until(),
            }),
            owner: Owner { name, host: host_name(), pid: std::process::id() },
        })
    }

    fn acquire(&mut self, session: &LeaseSession, token: Token, instead_of: Option<u64>) -> Event {
        let read = Instant::now();
        let request = match self.request(session, token) {
            Ok(request) => request,
            Err(error) => {
                self.failed(session, &error, None);
                return Event::NotGranted { token };
            }
        };
        let answer = self.ask(|lessor, namespace| match instead_of {
            None => lessor.acquire(namespace, &request, read),
            Some(held) => lessor.acquire_elsewhere(namespace, &request, held, read),
        });
        match answer {
            Ok(grant) => Event::Granted { grant, next: self.next_tick() },
            Err(fault) if instead_of.is_none() => {
                self.fault(session, &fault);
                Event::NotGranted { token }
            }
            // The lease is as it was: how its own node fares is what counts.
            Err(fault) => {
                self.schedule.failed(None, self.begun.elapsed());
                if let Fault::Refused(_) = fault {
                    let error = self.error(&fault);
                    self.emit(&LeaseEvent::Refused { error });
                }
                Event::NotGranted { token }
            }
        }
    }

    fn renew(&mut self, session: &LeaseSession, renew: &Renew) -> Event {
        let (next, read) = (renew.next, Instant::now());
        let answer = self.ask(|lessor, namespace| lessor.renew(namespace, renew, read));
        match answer {
            Ok(answer) => Event::Renewed { next, answer },
            Err(Fault::Refused(refusal)) => {
                let error = self.fault(session, &Fault::Refused(refusal.clone()));
                if matches!(refusal, Refusal::FencedOff | Refusal::Restored { .. }) {
                    let ousted = self.holder_options.fixed && refusal == Refusal::FencedOff;
                    session.update(|state| {
                        state.status.fenced_off = true;
                        state.ousted = ousted;
                    });
                    self.emit(&LeaseEvent::FencedOff { node: renew.node, error });
                    // Another node is asked for at once.
                    self.schedule.hurry();
                }
                Event::NotRenewed { next, refusal }
            }
            Err(fault) => {
                self.fault(session, &fault);
                Event::Unanswered { next }
            }
        }
    }

    /// Lets the generator issue up to the lowest of the fences. If there is none yet, begins one.
    fn raise(
        &mut self,
        session: &LeaseSession,
        member: usize,
        (node, fence, expires): (u64, u64, i64),
    ) -> Option<Event> {
        if let Some(grant) = &mut self.members[member].grant {
            grant.fence = fence;
        }
        let lowest = self.window_fence().unwrap_or(fence);
        let extended =
            self.lease.generator().is_some_and(|generator| generator.extend(lowest).is_ok());
        self.succeeded(session, extended, |status| {
            status.renewals += 1;
            status.fence = status.fence.max(lowest);
            status.expires_unix_ms = expires;
        });
        self.emit(&LeaseEvent::Renewed { node, fence });
        if extended { None } else { self.begin(session) }
    }

    /// Begins a generator in the ticks that all granted windows have in common, above the last tick of
    /// the previous generator. Does nothing while a node is missing, or while the windows do not
    /// overlap: the next renewals make them.
    fn begin(&mut self, session: &LeaseSession) -> Option<Event> {
        self.is_waiting_for_clock = false;
        let grants: Option<Vec<Grant>> = self.members.iter().map(|member| member.grant).collect();
        let (grants, start, fence) = (grants?, self.window_start()?, self.window_fence()?);
        if fence.saturating_sub(start) < Window::SHORTEST {
            // With several nodes, the next renewals lengthen the overlap.
            return (grants.len() == 1).then(|| {
                self.schedule.hurry();
                Event::Unusable { used_until: self.lease.used_until() }
            });
        }
        let made = catch_unwind(AssertUnwindSafe(|| self.lease.begin(&grants, start, fence)));
        let made = made.unwrap_or_else(|panic| {
            Err(Error::invalid_option("clock", &format!("panicked: {}", panic_text(&*panic))))
        });
        let generator = match made {
            Ok(generator) => generator,
            Err(error) => {
                // All options were checked when the lease was opened, so the clock is the reason. It
                // may be corrected, so the nodes are kept.
                self.is_waiting_for_clock = true;
                self.failed(session, &error, None);
                return None;
            }
        };
        self.lease.publish(generator);
        let expires = grants.iter().map(|grant| grant.expires).min();
        self.succeeded(session, true, |status| {
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

    /// Retires the present generator, if it belongs to this process, and notes its last tick.
    fn end(&self) {
        if let Some(generator) = self.lease.generator() {
            let floor = generator.next_tick();
            match generator.retire() {
                Ok(Some(last)) => self.lease.note_used(last + 1),
                // It is the parent's. This process's IDs must be above those from before the fork.
                Err(error) if error.kind() == ErrorKind::Forked => {
                    self.lease.note_used(floor.map_or(0, |tick| tick + 1));
                }
                // Nothing was used, or it was retired and recorded before.
                Ok(None) | Err(_) => {}
            }
        }
    }

    fn ask<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Lessor, &str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let (lease, lessor) = (Arc::clone(&self.lease), self.lessor.take());
        // The store and the clock may be the user's own code.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let mut lessor = match lessor {
                Some(lessor) => lessor,
                None => lease.source.connect(&lease.clock.exact)?,
            };
            let answer = operation(&mut *lessor, &lease.options.namespace);
            let keeps =
                matches!(answer, Ok(_) | Err(Fault::Refused(_))) || lessor.outlives_faults();
            Ok((answer, keeps.then_some(lessor)))
        }));
        let (answer, lessor) = answered.unwrap_or_else(|panic| {
            Err(Fault::Rejected(format!("the store panicked: {}", panic_text(&*panic))))
        })?;
        self.lessor = lessor;
        answer
    }

    /// Records a success and wakes everybody who waits, so that they go on if IDs can be issued again.
    fn succeeded(
        &mut self,
        session: &LeaseSession,
        gains: bool,
        change: impl FnOnce(&mut LeaseStatus),
    ) {
        self.schedule.succeeded(self.begun.elapsed(), random::jitter());
        if self.is_lost {
            self.is_lost = false;
            self.emit(&LeaseEvent::StoreFound);
        }
        let layout = &self.lease.options.layout;
        session.update(|state| {
            change(&mut state.status);
            state.status.fence_unix_ms = layout.unix_ms_at(state.status.fence);
            state.status.last_error = None;
            state.cannot_be_fixed = false;
            state.attempts += 1;
            state.gains += u64::from(gains);
        });
    }

    /// Records a fault and returns it as the error that users see.
    fn fault(&mut self, session: &LeaseSession, fault: &Fault) -> Error {
        let error = self.error(fault);
        self.failed(session, &error, Some(fault));
        error
    }

    fn error(&self, fault: &Fault) -> Error {
        let options = &self.lease.options;
        self.lease.source.error(fault, &options.namespace, &options.layout)
    }

    fn failed(&mut self, session: &LeaseSession, error: &Error, fault: Option<&Fault>) {
        self.schedule.failed(error.retry_after(), self.begun.elapsed());
        let is_lost = matches!(fault, Some(Fault::Unavailable(_) | Fault::Conflict));
        let cannot_be_fixed = !error.kind().is_retryable();
        session.update(|state| {
            state.status.failures += 1;
            state.status.last_error = Some(error.clone());
            state.cannot_be_fixed = cannot_be_fixed;
            state.attempts += 1;
        });
        let error = error.clone();
        match fault {
            Some(fault) if fault.is_skew() => self.emit(&LeaseEvent::ClockSkew { error }),
            _ if !is_lost => self.emit(&LeaseEvent::Refused { error }),
            _ if !self.is_lost => self.emit(&LeaseEvent::StoreLost { error }),
            _ => {}
        }
        self.is_lost = is_lost;
    }

    fn emit(&self, event: &LeaseEvent) {
        if let Some(observer) = &self.lease.observer {
            // A panic in the observer must not end the lease; the panic hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
        }
    }
}
