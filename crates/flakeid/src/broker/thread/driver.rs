//! The driver of a block's keeper: sends the keeper's requests to the store, and adds, extends and
//! removes the block in place of a generator.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::BlockKeeper;
use flakeid_protocol::keeper::{Begin, Demand, Input, Output, Reading, Reply, Report};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Handover, Refusal, Release, Renew, Renewed, operations};

impl BlockKeeper {
    pub(super) fn reading(&self) -> Reading {
        let unix_ms = Ok(self.shared.clock.unix_ms());
        Reading { unix_ms, passed: Duration::ZERO, next: None, jitter: 1.0 }
    }

    /// Passes an input to a block's keeper and carries out the outputs. Returns the first failure.
    pub(super) fn follow(&mut self, index: usize, input: Input) -> Result<(), Fault> {
        let (read, reading) = (Instant::now(), self.reading());
        let outputs = self.holders[index].keeper.handle(&self.options, &reading, input);
        let mut outcome = Ok(());
        for output in outputs {
            outcome = outcome.and(self.carry_out(index, output, read));
        }
        outcome
    }

    fn carry_out(
        &mut self,
        index: usize,
        output: Output<Report>,
        read: Instant,
    ) -> Result<(), Fault> {
        match output {
            Output::Begin(begin) => {
                self.begin(index, &begin)?;
                self.follow(index, Input::Began { begin, result: Ok(()) })
            }
            Output::Extend { fence } => match self.holders[index].block {
                Some(block) => self.shared.update(|state| state.blocks.raise(block, fence)),
                None => Ok(()),
            },
            Output::End => {
                let used_until = self.end(index)?;
                self.follow(index, Input::Ended { used_until, keeps_fence: false })
            }
            Output::Event(report) => self.note(index, report),
            Output::Demand(Demand::Acquire { request, .. }) => {
                let (token, result) = (request.token, self.acquire(&request, read));
                self.follow(index, Input::Reply(Reply::Acquire { token, result }))
            }
            Output::Demand(Demand::Renew(renew)) => {
                let (next, result) = (renew.next, self.renew(index, &renew, read));
                self.follow(index, Input::Reply(Reply::Renew { next, result }))
            }
            Output::Demand(Demand::Release(release)) => {
                let (node, result) = (release.node, self.release(index, &release));
                self.follow(index, Input::Reply(Reply::Release { node, result }))
            }
        }
    }

    fn note(&mut self, index: usize, report: Report) -> Result<(), Fault> {
        match report {
            Report::NotRenewed { .. }
                if self.holders[index].hold().is_some_and(|hold| hold.fenced_off) =>
            {
                // A lost block does not concern the processes that request a node. The holders of its nodes
                // learn of the loss when they renew.
                let Some(block) = self.holders[index].block.take() else { return Ok(()) };
                self.shared.update(|state| state.blocks.lose(block)).map(drop)
            }
            Report::NotGranted { fault, .. }
            | Report::NotRenewed { fault, .. }
            | Report::NotReleased { fault } => Err(fault),
            Report::NoClock(error) => {
                let (kind, text) = (error.kind(), error.to_string());
                let retry_after_ms = None;
                Err(Fault::Refused(Refusal::Relayed { kind, text, retry_after_ms }))
            }
            Report::Granted(_)
            | Report::TooShort
            | Report::Begun { .. }
            | Report::Renewed { .. }
            | Report::Released { .. } => Ok(()),
        }
    }

    fn begin(&mut self, index: usize, begin: &Begin) -> Result<(), Fault> {
        let Some(held) = self.holders[index].hold() else { return Ok(()) };
        let grant = Grant { start: begin.start, fence: begin.fence, ..held.grant };
        // After a pause, or on a slow store, the broker can get a block again whose earlier grant has
        // expired. The earlier keeper has not detected that yet, and must not release the new grant's nodes.
        for earlier in self.holders.iter_mut().filter(|of| of.block == Some(grant.node)) {
            earlier.block = None;
        }
        self.holders[index].block = Some(grant.node);
        let now = self.shared.clock.unix_ms();
        self.shared.update(|state| state.blocks.add(&grant, now))
    }

    fn end(&mut self, index: usize) -> Result<u64, Fault> {
        let block = self.holders[index].block.take();
        let most = self.budget.left(Instant::now());
        let (last, used_until) = self.shared.update(|state| {
            let Some(block) = block else { return (Handover::default(), 0) };
            (state.blocks.hand_over_last(block, most), state.blocks.lose(block))
        })?;
        self.budget.spend(last.sub_grants.len());
        self.holders[index].last = last;
        Ok(used_until)
    }

    /// Acquires a block. Creates the namespace again if the files of an embedded store were removed: as one
    /// that was lost, because other processes may continue in windows that were granted there.
    fn acquire(&mut self, request: &Acquire, read: Instant) -> Result<Grant, Fault> {
        let shared = Arc::clone(&self.shared);
        self.ask(|store, name| {
            let granted = operations::acquire_read_at(store, name, request, read);
            match granted {
                Err(Fault::Refused(Refusal::MissingNamespace)) if store.creates_namespaces() => {}
                granted => return granted,
            }
            let known = &shared.namespace;
            operations::init_lost(store, known, &known.bounds)?;
            operations::acquire_read_at(store, name, request, read)
        })
    }

    fn release(&mut self, index: usize, release: &Release) -> Result<(), Fault> {
        let last = std::mem::take(&mut self.holders[index].last);
        self.ask(|store, name| operations::release_block(store, name, release, &last))
    }

    fn renew(&mut self, index: usize, renew: &Renew, read: Instant) -> Result<Renewed, Fault> {
        let (sent, block) = (self.shared.clock.unix_ms(), self.holders[index].block);
        let most = self.budget.left(Instant::now());
        let handover = {
            let mut state = self.shared.state()?;
            let handover = block.map(|block| state.blocks.hand_over(block, sent, most));
            handover.unwrap_or_default()
        };
        self.budget.spend(handover.sub_grants.len());
        let (answer, history_until) =
            self.ask(|store, name| operations::renew_block(store, name, renew, read, &handover))?;
        let heard = self.shared.clock.unix_ms();
        self.holders[index].confirmed = read;
        // Written some time between the two, by the store's clock.
        let skew_ms = match answer.renewed {
            renewed if renewed < sent => sent.saturating_sub(renewed),
            renewed => heard.saturating_sub(renewed).min(0),
        };
        self.shared.update(|state| {
            state.skew_ms = skew_ms;
            if let Some(block) = block {
                state.blocks.confirm_history(block, history_until);
            }
        })?;
        Ok(answer)
    }

    fn ask<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Store, &str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut store = match self.store.take() {
            Some(store) => store,
            None => (self.open)()?,
        };
        let answer = operation(&mut *store, &self.shared.namespace.name);
        // After anything but an answer the connection may be broken or inside a transaction.
        if matches!(answer, Ok(_) | Err(Fault::Refused(_))) {
            self.store = Some(store);
        }
        answer
    }
}
