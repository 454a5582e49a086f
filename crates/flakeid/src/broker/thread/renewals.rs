//! The renewals of a broker's blocks. The thread renews blocks together, so that the number of requests to the store
//! hardly depends on the number of blocks.

use std::time::{Duration, Instant};

use super::{BlockHolder, BlockKeeper, RequestedRenewal};
use flakeid_protocol::keeper::{Input, Reply, renewal_margin};
use flakeid_protocol::operations::{self, BlockRenewal, BlockRenewed, MOST_RENEWED};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Handover, Renewed};
use flakeid_stores::random;

/// The number of grants after which a transaction takes no further block. The limit keeps transactions short when a
/// whole fleet has just started and each block hands over hundreds of grants to the history.
const MOST_GRANTS: usize = 256;

/// A renewal to send, with the number of its block if the broker still grants nodes of the block.
struct OutgoingRenewal {
    index: usize,
    block: Option<u64>,
    renewal: BlockRenewal,
}

impl BlockKeeper {
    /// Renews the blocks whose renewals are due, together with blocks whose renewals are almost due. Blocks that the
    /// broker leased at different times are renewed together from their first or second renewal on, because renewals
    /// in one transaction set the same fence.
    pub(super) fn renew_due(&mut self) -> Result<(), Fault> {
        let reading = self.reading(Duration::ZERO);
        let (mut due, mut nearly_due) = (Vec::new(), Vec::new());
        for (index, of) in self.holders.iter().enumerate() {
            // A renewal is also due after half of the TTL. If a fence is far ahead of the clock, for example after a
            // restore, the row would otherwise expire in the store before a renewal is due.
            let is_late = of.confirmed.elapsed() >= self.half_ttl();
            let margin = if is_late { u64::MAX } else { self.margin(of) };
            let is_due = |margin| of.keeper.is_due(&self.options, &reading, margin, 0);
            let fence = of.hold().map_or(0, |hold| hold.grant.fence);
            // Generating a token costs a system call, so tokens are generated only for the blocks that are renewed. A
            // thousand blocks require hundreds of checks per second. A token for every block at each check would cost
            // hundreds of thousands of system calls per second.
            if is_due(margin) {
                due.push((fence, index));
            } else if is_due(margin.midpoint(of.keeper.window)) {
                nearly_due.push((fence, index));
            }
        }
        if due.is_empty() {
            return Ok(());
        }
        due.sort_unstable();
        nearly_due.sort_unstable();
        let room = due.len().next_multiple_of(MOST_RENEWED) - due.len();
        let mut outcome = Ok(());
        for (_, index) in due.into_iter().chain(nearly_due.into_iter().take(room)) {
            outcome = outcome.and(self.wake(index, u64::MAX));
        }
        outcome = outcome.and(self.send_renewals());
        if outcome.is_ok() {
            self.jitter = random::jitter();
        }
        self.holders.retain(|of| of.hold().is_some_and(|hold| !hold.fenced_off));
        outcome
    }

    /// Returns the number of remaining ticks below which the renewal of a block is due.
    pub(super) fn margin(&self, of: &BlockHolder) -> u64 {
        renewal_margin(of.keeper.window, self.jitter)
    }

    /// Sends the requested renewals, in as few transactions as the limits of the stores allow.
    fn send_renewals(&mut self) -> Result<(), Fault> {
        let mut outcome = Ok(());
        let mut requested = std::mem::take(&mut self.requested).into_iter();
        loop {
            let (sent, mut grants, mut batch) = (self.shared.clock.unix_ms(), 0, Vec::new());
            while batch.len() < MOST_RENEWED
                && grants < MOST_GRANTS
                && let Some(RequestedRenewal { index, request, read }) = requested.next()
            {
                let (block, most) = (self.holders[index].block, self.budget.left(Instant::now()));
                let handover = match block {
                    Some(block) => self.shared.state()?.blocks.hand_over(block, sent, most),
                    None => Handover::default(),
                };
                grants += handover.sub_grants.len();
                self.budget.spend(handover.sub_grants.len());
                let renewal = BlockRenewal { request, read, handover };
                batch.push(OutgoingRenewal { index, block, renewal });
            }
            if batch.is_empty() {
                return outcome;
            }
            outcome = outcome.and(self.renew_together(&batch, sent));
        }
    }

    /// Renews blocks in one transaction. `sent` is the time on this host's clock before the transaction, in Unix
    /// milliseconds.
    fn renew_together(&mut self, batch: &[OutgoingRenewal], sent: i64) -> Result<(), Fault> {
        let renewals: Vec<_> = batch.iter().map(|of| of.renewal.clone()).collect();
        let result = self.ask(|store, name| operations::renew_blocks(store, name, &renewals));
        let mut outcome = Ok(());
        if batch.len() > 1 && matches!(result, Err(Fault::Rejected(_))) {
            // The store rejects the whole transaction even if the reason concerns one block, such as a row that an
            // operator has edited. The other blocks must still be renewed.
            for of in batch {
                outcome = outcome.and(self.renew_together(std::slice::from_ref(of), sent));
            }
            return outcome;
        }
        for (place, of) in batch.iter().enumerate() {
            let response = response_at(&result, place);
            if let Ok((renewed, history_until)) = &response {
                self.confirm(of, renewed, *history_until, sent)?;
            }
            let next = of.renewal.request.next;
            let result = response.map(|(renewed, _)| renewed);
            let reply = Input::Reply(Reply::Renew { next, result });
            outcome = outcome.and(self.follow(of.index, reply));
        }
        outcome
    }

    /// Records that the store has confirmed a renewal.
    fn confirm(
        &mut self,
        of: &OutgoingRenewal,
        renewed: &Renewed,
        history_until: u64,
        sent: i64,
    ) -> Result<(), Fault> {
        let answered = self.shared.clock.unix_ms();
        self.holders[of.index].confirmed = of.renewal.read;
        // The row was written at some time between the two readings of this host's clock. `renewed` is the same time
        // according to the store's clock.
        let skew_ms = match renewed.renewed {
            renewed if renewed < sent => sent.saturating_sub(renewed),
            renewed => answered.saturating_sub(renewed).min(0),
        };
        self.shared.update(|state| {
            state.skew_ms = skew_ms;
            if let Some(block) = of.block {
                state.blocks.confirm_history(block, history_until);
            }
        })
    }
}

/// Returns the response to the renewal at a place in a batch. A fault of the transaction is the response to each of its
/// renewals.
fn response_at(
    result: &Result<Vec<BlockRenewed>, Fault>,
    place: usize,
) -> Result<(Renewed, u64), Fault> {
    let responses = result.as_ref().map_err(Clone::clone)?;
    Ok(responses.get(place).cloned().ok_or_else(Fault::not_run)??)
}
