//! The driver of a block's keeper. The driver sends the keeper's requests to the store. Where other drivers create,
//! extend and end a generator, this driver adds, extends and removes the block.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::Error;

use super::{BlockHolder, BlockKeeper, RequestedRenewal};
use flakeid_protocol::keeper::{Begin, Demand, Driver, Input, Output, Reading, Reply, Report};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Handover, Refusal, Release, operations};

struct BlockDriver<'a> {
    thread: &'a mut BlockKeeper,
    /// The index of the block's holder.
    index: usize,
    /// The first failure of a request to the store.
    outcome: Result<(), Fault>,
}

impl BlockKeeper {
    pub(super) fn reading(&self, passed: Duration) -> Reading {
        Reading { unix_ms: Ok(self.shared.clock.unix_ms()), passed, next: None, jitter: 1.0 }
    }

    /// Passes an input to a block's keeper, and carries out the instructions that the keeper outputs. Returns the
    /// first failure.
    pub(super) fn follow(&mut self, index: usize, input: Input) -> Result<(), Fault> {
        let mut driver = BlockDriver { thread: self, index, outcome: Ok(()) };
        driver.follow(input);
        driver.outcome
    }

    pub(super) fn ask<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Store, &str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let began = Instant::now();
        let opened = self.store.take().map_or_else(|| (self.open)(), Ok);
        let (answer, store) = match opened {
            Ok(mut store) => (operation(&mut *store, &self.shared.namespace.name), Some(store)),
            Err(fault) => (Err(fault), None),
        };
        // After a fault other than a refusal, the connection may be broken or inside a transaction.
        let has_responded = matches!(answer, Ok(_) | Err(Fault::Refused(_)));
        self.store = store.filter(|_| has_responded);
        if let Some(observe) = self.shared.store_observer.get() {
            observe(began.elapsed(), has_responded);
        }
        answer
    }
}

impl Driver for BlockDriver<'_> {
    fn reading(&self) -> Reading {
        self.thread.reading(self.thread.begun.elapsed())
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        let BlockKeeper { holders, options, .. } = &mut *self.thread;
        holders[self.index].keeper.handle(options, reading, input)
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        let Some(held) = self.block().hold() else { return Ok(()) };
        let grant = Grant { start: begin.start, fence: begin.fence, ..held.grant };
        // If the broker pauses or the store is slow, an earlier grant of this block may have expired although that
        // grant's keeper has not detected the expiry yet. The old keeper must not release the nodes of the new grant.
        for earlier in self.thread.holders.iter_mut().filter(|of| of.block == Some(grant.node)) {
            earlier.block = None;
        }
        self.block().block = Some(grant.node);
        let now = self.thread.shared.clock.unix_ms();
        self.note(self.thread.shared.update(|state| state.blocks.add(&grant, now)));
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        if let Some(block) = self.block().block {
            self.note(self.thread.shared.update(|state| state.blocks.raise(block, fence)));
        }
        true
    }

    fn end(&mut self) -> (u64, bool) {
        let block = self.block().block.take();
        let most = self.thread.budget.left(Instant::now());
        let ended = self.thread.shared.update(|state| {
            let Some(block) = block else { return (Handover::default(), 0) };
            (state.blocks.hand_over_last(block, most), state.blocks.lose(block))
        });
        let (last, used_until) = ended.unwrap_or_else(|fault| {
            self.note(Err(fault));
            (Handover::default(), 0)
        });
        self.thread.budget.spend(last.sub_grants.len());
        self.block().last = last;
        (used_until, false)
    }

    fn report(&mut self, _: &Reading, report: Report) {
        match report {
            Report::NotRenewed { .. }
                if self.block().hold().is_some_and(|hold| hold.fenced_off) =>
            {
                // The loss of a block does not affect processes that request a node. The holders of the block's nodes
                // detect the loss when they renew their leases.
                if let Some(block) = self.block().block.take() {
                    self.note(
                        self.thread.shared.update(|state| state.blocks.lose(block)).map(drop),
                    );
                }
            }
            Report::NotGranted { fault, .. }
            | Report::NotRenewed { fault, .. }
            | Report::NotReleased { fault, .. } => self.note(Err(fault)),
            Report::NoClock(error) => {
                let (kind, text) = (error.kind(), error.to_string());
                let retry_after_ms = None;
                self.note(Err(Refusal::Relayed { kind, text, retry_after_ms }.into()));
            }
            Report::Released { .. } => {
                let released = self.thread.shared.update(|state| {
                    state.unreleased = state.unreleased.saturating_sub(1);
                });
                self.note(released);
            }
            Report::Granted(_)
            | Report::TooShort
            | Report::Begun { .. }
            | Report::Renewed { .. } => {}
        }
    }

    fn send(&mut self, demand: Demand, read: Duration) -> Option<Reply> {
        let read = self.thread.begun + read;
        Some(match demand {
            Demand::Acquire { request, .. } => {
                Reply::Acquire { token: request.token, result: self.acquire(&request, read) }
            }
            // The thread sends the renewals of all blocks together, and passes the replies to the keepers.
            Demand::Renew(request) => {
                let index = self.index;
                self.thread.requested.push(RequestedRenewal { index, request, read });
                return None;
            }
            Demand::Release(release) => {
                Reply::Release { node: release.node, result: self.release(&release) }
            }
        })
    }
}

impl BlockDriver<'_> {
    fn block(&mut self) -> &mut BlockHolder {
        &mut self.thread.holders[self.index]
    }

    fn note(&mut self, result: Result<(), Fault>) {
        if self.outcome.is_ok() {
            self.outcome = result;
        }
    }

    /// Acquires a block. If the files of an embedded store were removed, recreates the namespace. Other processes may
    /// still use windows of the lost namespace, so all new grants start after those windows.
    fn acquire(&mut self, request: &Acquire, read: Instant) -> Result<Grant, Fault> {
        let shared = Arc::clone(&self.thread.shared);
        self.thread.ask(|store, name| {
            let granted = operations::acquire_read_at(store, name, request, read);
            match granted {
                Err(Fault::Refused(Refusal::MissingNamespace)) if store.creates_namespaces() => {}
                granted => return granted,
            }
            let known = &shared.namespace;
            operations::create(store, known, Some(&known.bounds))?;
            operations::acquire_read_at(store, name, request, read)
        })
    }

    fn release(&mut self, release: &Release) -> Result<(), Fault> {
        let last = std::mem::take(&mut self.block().last);
        self.thread.ask(|store, name| operations::release_block(store, name, release, &last))
    }
}
