//! The thread that runs the keeper of a lease.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind};

use super::lease::KeptLease;
use super::process;
use super::session::{LeaseSession, Phase};
use super::source::panic_text;
use crate::log::LeaseLog;
use flakeid_protocol::keeper::{
    Begin, Demand, Driver, GeneratorState, Input, LeaseEvent, LeaseKeeper, Output, Reading, Reply,
    Report,
};
use flakeid_protocol::store::{Fault, RETRY};
use flakeid_protocol::{Identity, Lessor};
use flakeid_stores::{host_name, random};

/// The state of the thread that runs a lease's keeper. Only this thread sends requests to the store and replaces the
/// tenure.
struct KeeperThread {
    lease: Arc<KeptLease>,
    keeper: LeaseKeeper,
    lessor: Option<Box<dyn Lessor>>,
    begun: Instant,
    log: LeaseLog,
}

impl KeptLease {
    /// Returns the session of this process. If necessary, begins a session and starts its keeper, which then acquires
    /// a node.
    pub(crate) fn begin_session(self: &Arc<Self>) -> Result<&LeaseSession, Error> {
        let is_fixed = matches!(self.options.identity, Identity::Node(_));
        let (session, needs_keeper) = self.sessions.begin(is_fixed)?;
        if needs_keeper {
            KeeperThread::start(Arc::clone(self), session)
                .inspect_err(|error| session.stop(error.clone()))?;
        }
        Ok(session)
    }

    /// Returns the inputs that the keeper needs: the time since `begun`, the clock's time, the generator's next tick,
    /// and a random jitter.
    fn reading(&self, begun: Instant) -> Reading {
        Reading {
            passed: begun.elapsed(),
            unix_ms: self.clock.unix_ms(),
            next: self.tenure().and_then(|tenure| tenure.next_tick()),
            jitter: random::jitter(),
        }
    }
}

impl KeeperThread {
    fn start(lease: Arc<KeptLease>, session: &LeaseSession) -> Result<(), Error> {
        let (begun, mut options) = (Instant::now(), lease.options.clone());
        options.moves &= lease.source.has_several_lessors();
        if session.belongs_to_child() && matches!(options.identity, Identity::Name(_)) {
            // Only the parent process uses the lease's name to reacquire its previous node, so a forked child requests
            // any node.
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
        let thread = Self { lease, keeper, lessor: None, begun, log: LeaseLog::default() };
        process::spawn_keeper(move || thread.run()).map_err(|error| {
            let text = format!("the thread that keeps the lease cannot be started: {error}");
            Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
        })
    }

    fn run(self) {
        let lease = Arc::clone(&self.lease);
        let Some(session) = lease.sessions.ours() else { return };
        session.update(|state| state.keeper = Some(thread::current().id()));
        // Panics in the program's own code are caught where that code is called. A panic that is caught here is
        // therefore a bug in flakeid.
        match catch_unwind(AssertUnwindSafe(|| self.keep(session))) {
            Ok(()) => session.update(|state| state.phase = Phase::Ended),
            Err(panic) => {
                let text = format!("the lease's keeper panicked: {}", panic_text(&*panic));
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
            let (renewals_requested, closing) = {
                let mut state = session.state();
                state.renewals_seen = state.renewals_requested;
                (state.renewals_requested, has_ended || state.phase != Phase::Kept)
            };
            if closing {
                self.follow(Input::Close);
                session.publish(self.keeper.progress());
                break;
            }
            for member in 0..self.keeper.nodes() {
                self.follow(self.keeper.wake(self.begun.elapsed(), member, random::token()));
            }
            let timeout = self.keeper.rest(&self.reading());
            drop(session.wait(timeout, |state| {
                state.phase != Phase::Kept || state.renewals_requested != renewals_requested
            }));
            // The keeper pauses after every failure, so that even many callers cannot make it retry immediately.
            let pause = self.keeper.pause(self.begun.elapsed());
            if !pause.is_zero() {
                drop(session.wait(pause, |state| state.phase != Phase::Kept));
            }
        }
    }

    fn ask<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Lessor, &str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let (lease, lessor) = (Arc::clone(&self.lease), self.lessor.take());
        // The program may provide its own store or clock, whose code can panic.
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
}

impl Driver for KeeperThread {
    fn reading(&self) -> Reading {
        self.lease.reading(self.begun)
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        self.keeper.handle(reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        // The program may provide its own clock, whose code can panic.
        let made = catch_unwind(AssertUnwindSafe(|| self.lease.begin(begin)));
        let made = made.unwrap_or_else(|panic| {
            Err(Error::invalid_option("clock", &format!("panicked: {}", panic_text(&*panic))))
        });
        made.map(|tenure| self.lease.publish(tenure))
    }

    fn extend(&mut self, fence: u64) -> bool {
        self.lease.tenure().is_some_and(|tenure| tenure.extend(fence).is_ok())
    }

    /// Retires the current tenure if it belongs to this process, and records the last tick that the tenure used.
    fn end(&mut self) -> (u64, bool) {
        let lease = &self.lease;
        if let Some(tenure) = lease.tenure() {
            let floor = tenure.next_tick();
            match tenure.retire() {
                Ok(Some(last)) => lease.note_used(last + 1),
                // The tenure belongs to the parent process. IDs of this process must be greater than all IDs from
                // before the fork.
                Err(error) if error.kind() == ErrorKind::Forked => {
                    lease.note_used(floor.map_or(0, |tick| tick + 1));
                }
                // Recording a tick is unnecessary, because the tenure never used one or was already retired.
                Ok(None) | Err(_) => {}
            }
        }
        (lease.used_until(), lease.keeps_fence())
    }

    fn report(&mut self, reading: &Reading, report: Report) {
        self.keeper.report(reading, report);
        let mut is_published = false;
        let lease = Arc::clone(&self.lease);
        let session = lease.sessions.ours();
        loop {
            let event = self.keeper.next_event();
            // The observer receives a `StoreFound` event before the progress is published. Callers that wait for the
            // store therefore continue only after the event.
            if !is_published && event != Some(LeaseEvent::StoreFound) {
                if let Some(session) = session {
                    session.publish(self.keeper.progress());
                }
                is_published = true;
            }
            let Some(event) = event else { return };
            let options = &lease.options;
            self.log.event(&options.namespace, &lease.source, &options.layout, &event);
            if let (Some(observer), Some(session)) = (&lease.observer, session) {
                // A panic in the observer is ignored, because it must not end the lease. The panic hook has already
                // reported it.
                session.observe(|| drop(catch_unwind(AssertUnwindSafe(|| observer(&event)))));
            }
        }
    }

    fn send(&mut self, demand: Demand, read: Duration) -> Option<Reply> {
        let read = self.begun + read;
        Some(match demand {
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
        })
    }
}
