//! How the effects of the protocol are carried out: what the thread asks of the store.

use std::sync::Arc;
use std::time::Instant;

use super::BlockKeeper;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    Acquire, Effect, Event, Grant, Handover, Identity, Owner, Refusal, Renew, Token, operations,
};
use flakeid_stores::host_name;

impl BlockKeeper {
    pub(super) fn act(
        &mut self,
        index: usize,
        effect: &Effect,
    ) -> (Option<Event>, Result<(), Fault>) {
        match *effect {
            Effect::Acquire { token, .. } => match self.acquire(&self.request(token)) {
                Ok(grant) => (Some(Event::Granted { grant, next: 0 }), Ok(())),
                Err(fault) => (Some(Event::NotGranted { token }), Err(fault)),
            },
            Effect::Renew(ref renew) => self.renew(index, renew),
            Effect::Install(grant) => (None, self.install(index, grant)),
            Effect::Raise { node, fence, .. } => {
                (None, self.shared.update(|state| state.blocks.raise(node, fence)))
            }
            Effect::End => {
                let block = self.holders[index].block.take();
                let most = self.budget.left(Instant::now());
                let ended = self.shared.update(|state| {
                    let Some(block) = block else { return (Handover::default(), 0) };
                    (state.blocks.hand_over_last(block, most), state.blocks.lose(block))
                });
                match ended {
                    Ok((last, used_until)) => {
                        self.budget.spend(last.sub_grants.len());
                        self.holders[index].last = last;
                        (Some(Event::Ended { used_until }), Ok(()))
                    }
                    Err(fault) => (None, Err(fault)),
                }
            }
            Effect::Release(ref release) => {
                let last = std::mem::take(&mut self.holders[index].last);
                let released =
                    self.ask(|store, name| operations::release_block(store, name, release, &last));
                (None, released)
            }
        }
    }

    /// If the files of an embedded store were removed, others may go on with what they were granted there. So the
    /// namespace is created as one that was lost, which grants nothing until all of that has ended.
    fn acquire(&mut self, request: &Acquire) -> Result<Grant, Fault> {
        let (read, shared) = (Instant::now(), Arc::clone(&self.shared));
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

    fn install(&mut self, index: usize, grant: Grant) -> Result<(), Fault> {
        // After a pause, or on a slow store, it may be a block that was held before and has expired. Who
        // holds the earlier grant is yet to find out, and must not give up this one's nodes then.
        for earlier in self.holders.iter_mut().filter(|of| of.block == Some(grant.node)) {
            earlier.block = None;
        }
        self.holders[index].block = Some(grant.node);
        let now = self.shared.clock.unix_ms();
        self.shared.update(|state| state.blocks.add(&grant, now))
    }

    fn renew(&mut self, index: usize, renew: &Renew) -> (Option<Event>, Result<(), Fault>) {
        let (next, read, sent) = (renew.next, Instant::now(), self.shared.clock.unix_ms());
        let block = self.holders[index].block;
        let most = self.budget.left(read);
        let handover = match (block, self.shared.state()) {
            (Some(block), Ok(mut state)) => state.blocks.hand_over(block, sent, most),
            (None, Ok(_)) => Handover::default(),
            (_, Err(fault)) => return (Some(Event::Unanswered { next }), Err(fault)),
        };
        self.budget.spend(handover.sub_grants.len());
        let renewed =
            self.ask(|store, name| operations::renew_block(store, name, renew, read, &handover));
        match renewed {
            Ok((answer, history_until)) => {
                let heard = self.shared.clock.unix_ms();
                self.holders[index].confirmed = read;
                // Written some time between the two, by the store's clock.
                let skew_ms = match answer.renewed {
                    renewed if renewed < sent => sent.saturating_sub(renewed),
                    renewed => heard.saturating_sub(renewed).min(0),
                };
                let noted = self.shared.update(|state| {
                    state.skew_ms = skew_ms;
                    if let Some(block) = block {
                        state.blocks.confirm_history(block, history_until);
                    }
                });
                (Some(Event::Renewed { next, answer }), noted)
            }
            Err(Fault::Refused(refusal)) => {
                let is_lost = matches!(
                    refusal,
                    Refusal::FencedOff | Refusal::Restored { .. } | Refusal::MissingNamespace
                );
                let told = if is_lost {
                    // The holders of its nodes hear it when they renew. Who asks for a node is not concerned.
                    let block = self.holders[index].block.take();
                    block.map_or(Ok(()), |block| {
                        self.shared.update(|state| state.blocks.lose(block)).map(drop)
                    })
                } else {
                    Err(Fault::Refused(refusal.clone()))
                };
                (Some(Event::NotRenewed { next, refusal }), told)
            }
            Err(fault) => (Some(Event::Unanswered { next }), Err(fault)),
        }
    }

    fn request(&self, token: Token) -> Acquire {
        let (namespace, options) = (&self.shared.namespace, &self.shared.options);
        Acquire {
            layout: namespace.layout,
            block_bits: namespace.block_bits,
            identity: Identity::Name(options.address.clone()),
            from: 0,
            to: namespace.max_row(),
            rotation: 0,
            reuse: true,
            token,
            window_ms: options.block_window_ms(namespace),
            ttl_ms: self.holder_options.ttl_ms,
            now: self.shared.clock.unix_ms(),
            waited_ms: 0,
            after: 0,
            owner: Owner {
                name: options.address.clone(),
                host: host_name(),
                pid: std::process::id(),
            },
        }
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
