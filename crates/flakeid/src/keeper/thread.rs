//! The keeper's thread: carries out the keeper's outputs and passes the results back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use flakeid_core::{Error, ErrorKind};

use super::lease::Lease;
use super::process;
use super::session::{LeaseSession, Phase};
use super::source::panic_text;
use flakeid_protocol::keeper::{
    Begin, Demand, GeneratorState, Input, LeaseEvent, LeaseKeeper, Notice, Output, Reading, Reply,
};
use flakeid_protocol::store::{Fault, RETRY};
use flakeid_protocol::{Identity, Lessor};
use flakeid_stores::{host_name, random};

/// The state of the keeper's thread. Only this thread sends requests to the store and replaces the generator.
struct KeeperThread {
    lease: Arc<Lease>,
    keeper: LeaseKeeper,
    lessor: Option<Box<dyn Lessor>>,
    begun: Instant,
}

impl Lease {
    /// Returns this process's session. Without one, begins a session, whose keeper then acquires a node.
    pub(crate) fn begin_session(self: &Arc<Self>) -> Result<&LeaseSession, Error> {
        let is_fixed = matches!(self.options.identity, Identity::Node(_));
        let (session, needs_keeper) = self.sessions.begin(is_fixed)?;
        if needs_keeper {
            KeeperThread::start(Arc::clone(self), session)
                .inspect_err(|error| session.stop(error.clone()))?;
        }
        Ok(session)
    }

    /// Takes the readings for a keeper that was started at `begun`.
    fn reading(&self, begun: Instant) -> Reading {
        Reading {
            passed: begun.elapsed(),
            unix_ms: self.clock.unix_ms(),
            next: self.generator().and_then(|generator| generator.next_tick()),
            jitter: random::jitter(),
        }
    }
}

impl KeeperThread {
    fn start(lease: Arc<Lease>, session: &LeaseSession) -> Result<(), Error> {
        let (begun, mut options) = (Instant::now(), lease.options.clone());
        options.moves &= lease.source.has_several_lessors();
        if session.is_a_childs() && matches!(options.identity, Identity::Name(_)) {
            // The parent process uses the name to get its node again.
            options.identity = Identity::Any;
        }
        let reading = lease.reading(begun);
        let generator = match reading.next {
            Some(_) => GeneratorState::Open,
            None => GeneratorState::Ended { used_until: lease.used_until() },
        };
        let place = lease.source.to_string();
        let of_keeper = options.of_keeper(host_name(), std::process::id());
        let keeper = LeaseKeeper::new(of_keeper, &place, &options.namespace, generator, &reading)
            .with_progress(session.state().progress.clone());
        let thread = Self { lease, keeper, lessor: None, begun };
        process::spawn_keeper(move || thread.run()).map_err(|error| {
            let text = format!("the thread that keeps the lease cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(self) {
        let lease = Arc::clone(&self.lease);
        let Some(session) = lease.sessions.ours() else { return };
        // Panics in the program's code are caught at its calls, so this one would be a defect of flakeid.
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
        loop {
            let has_ended = process::has_ended();
            let (asked, closing) = {
                let mut state = session.state();
                state.heard = state.asked;
                (state.asked, has_ended || state.phase != Phase::Kept)
            };
            if closing {
                self.follow(session, Input::Close);
                break;
            }
            for member in 0..self.keeper.nodes() {
                let reading = self.reading();
                let outputs = self.keeper.wake(&reading, member, random::token());
                self.carry_out(session, &reading, outputs);
            }
            let timeout = self.keeper.rest(&self.reading());
            drop(session.wait(timeout, |state| state.phase != Phase::Kept || state.asked != asked));
            // After a failure there is always a pause, however many callers ask.
            let pause = self.keeper.pause(self.begun.elapsed());
            if !pause.is_zero() {
                drop(session.wait(pause, |state| state.phase != Phase::Kept));
            }
        }
    }

    fn reading(&self) -> Reading {
        self.lease.reading(self.begun)
    }

    fn follow(&mut self, session: &LeaseSession, input: Input) {
        let reading = self.reading();
        let outputs = self.keeper.handle(&reading, input);
        self.carry_out(session, &reading, outputs);
    }

    fn carry_out(
        &mut self,
        session: &LeaseSession,
        reading: &Reading,
        outputs: Vec<Output<Notice>>,
    ) {
        for output in outputs {
            match output {
                Output::Begin(begin) => {
                    let result = self.begin(&begin);
                    self.follow(session, Input::Began { begin, result });
                }
                Output::Extend { fence } => self.extend(session, fence),
                Output::End => self.end(session),
                Output::Event(Notice::Progress) => session.update(|state| {
                    state.progress.clone_from(self.keeper.progress());
                }),
                Output::Event(Notice::Event(event)) => self.emit(&event),
                Output::Demand(demand) => {
                    let reply = self.send(demand, self.begun + reading.passed);
                    self.follow(session, Input::Reply(reply));
                }
            }
        }
    }

    fn begin(&self, begin: &Begin) -> Result<(), Error> {
        // The clock may be the user's own code.
        let made = catch_unwind(AssertUnwindSafe(|| self.lease.begin(begin)));
        let made = made.unwrap_or_else(|panic| {
            Err(Error::invalid_option("clock", &format!("panicked: {}", panic_text(&*panic))))
        });
        made.map(|generator| self.lease.publish(generator))
    }

    fn extend(&mut self, session: &LeaseSession, fence: u64) {
        let generator = self.lease.generator();
        if generator.is_none_or(|generator| generator.extend(fence).is_err()) {
            // The generator does not issue any more, so the keeper begins another generator.
            self.end(session);
        }
    }

    /// Retires the current generator, if it belongs to this process, and records its last tick.
    fn end(&mut self, session: &LeaseSession) {
        let lease = &self.lease;
        if let Some(generator) = lease.generator() {
            let floor = generator.next_tick();
            match generator.retire() {
                Ok(Some(last)) => lease.note_used(last + 1),
                // The generator belongs to the parent. This process's IDs must be above those from before the fork.
                Err(error) if error.kind() == ErrorKind::Forked => {
                    lease.note_used(floor.map_or(0, |tick| tick + 1));
                }
                // No tick was used, or the generator was retired and recorded before.
                Ok(None) | Err(_) => {}
            }
        }
        let (used_until, keeps_fence) = (lease.used_until(), lease.keeps_fence());
        self.follow(session, Input::Ended { used_until, keeps_fence });
    }

    fn send(&mut self, demand: Demand, read: Instant) -> Reply {
        match demand {
            Demand::Acquire { request, instead_of } => {
                let token = request.token;
                let result = self.ask(|lessor, namespace| match instead_of {
                    None => lessor.acquire(namespace, &request, read),
                    Some(held) => lessor.acquire_elsewhere(namespace, &request, held, read),
                });
                Reply::Acquire { token, result }
            }
            Demand::Renew(renew) => {
                let result = self.ask(|lessor, namespace| lessor.renew(namespace, &renew, read));
                Reply::Renew { next: renew.next, result }
            }
            Demand::Release(release) => {
                let result = self.ask(|lessor, namespace| lessor.release(namespace, &release));
                Reply::Release { node: release.node, result }
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

    fn emit(&self, event: &LeaseEvent) {
        if let Some(observer) = &self.lease.observer {
            // A panic in the observer must not end the lease; the panic hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
        }
    }
}
