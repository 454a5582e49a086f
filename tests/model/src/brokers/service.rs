//! The exchange between a broker and its members. The product's [`Blocks`] computes the responses.
//!
//! [`Blocks`]: flakeid_protocol::broker::Blocks

use flakeid_protocol::broker::Denial;
use flakeid_protocol::{Acquire, Refusal, Release, Renew, Token};

use super::actors::{Arrival, Broker, Cell, Request};
use super::world::{Action, TTL, WINDOW, World};
use crate::invariant::Invariant;
use crate::scenario::{Event, Mutant, Scenario};
use crate::store::LAYOUT;

impl World {
    pub fn serve(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Acquire { member, broker, clock, arrival, is_received } => {
                let requested = self.members[member].requested;
                let token = requested.map_or_else(|| self.fresh(), |(_, token)| token);
                let request = Acquire {
                    block_bits: 0,
                    to: LAYOUT.max_node(),
                    window_ms: WINDOW,
                    ttl_ms: TTL,
                    token,
                    now: self.time,
                    ..scenario.options(0).acquire
                };
                if self.arrival(&Request::Acquire(request.clone()), arrival) {
                    self.grant(scenario, broker, &request, clock, is_received.then_some(member));
                }
                if !is_received || arrival == Arrival::Late {
                    self.members[member].requested = Some((broker, token));
                }
            }
            Action::GiveUp { member } => self.members[member].requested = None,
            Action::Extend { member, broker, clock, arrival } => {
                self.extend(scenario, member, broker, clock, arrival);
            }
            Action::ReceiveExtension { member } => {
                let Some(cell) = &mut self.members[member].cell else { return };
                if let (Some(fence), Some(renewal)) = (cell.response.take(), cell.renewal.take()) {
                    cell.limit = cell.limit.max(fence);
                    cell.token = renewal.next;
                }
            }
            Action::LoseExtension { member } => {
                self.members[member].cell.iter_mut().for_each(|cell| cell.response = None);
            }
            Action::Release { member, used_until, clock, arrival } => {
                let Some(cell) = self.members[member].cell.take() else { return };
                let (node, token) = (cell.node, cell.latest_token());
                let release = Release { node, token, used_until };
                if self.arrival(&Request::Release(release), arrival) {
                    self.release(scenario, cell.broker, &release, clock);
                }
            }
            Action::Stray { broker, is_received } => {
                let Some(request) = self.stray.take() else { return };
                self.deliver_stray(scenario, broker, &request, is_received);
            }
            _ => unreachable!("{action:?}"),
        }
    }

    /// Whether a request arrives now. If the request arrives later, it is kept in `stray`.
    fn arrival(&mut self, request: &Request, arrival: Arrival) -> bool {
        if arrival != Arrival::Once {
            self.accidents -= 1;
            self.stray = Some(request.clone());
        }
        arrival != Arrival::Late
    }

    fn deliver_stray(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        request: &Request,
        is_received: bool,
    ) {
        match request {
            Request::Acquire(acquire) => {
                // A member that still waits for this response may get it from either broker.
                let waits = self.members.iter().position(|member| {
                    member.requested.is_some_and(|(_, token)| token == acquire.token)
                });
                let member = waits.filter(|_| is_received);
                self.grant(scenario, broker, acquire, self.time, member);
            }
            Request::Renew(renew) => drop(self.renew(scenario, broker, renew, self.time)),
            Request::Release(release) => self.release(scenario, broker, release, self.time),
        }
    }

    fn grant(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        request: &Acquire,
        clock: i64,
        member: Option<usize>,
    ) {
        let known = self.broker(broker);
        let responds = known.responds(scenario);
        if !responds {
            if known.blocks.clone().acquire(request, clock).is_ok() {
                scenario.note(Event::ForkRefuses);
            }
            return;
        }
        let holders = known.blocks.holders();
        let Ok(grant) = known.blocks.acquire(request, clock) else { return };
        if known.blocks.holders() == holders && member.is_some() && scenario.repeats {
            scenario.note(Event::SameResponse);
        }
        self.granted(scenario, broker, grant.node, grant.start, grant.fence);
        if let Some(member) = member {
            let member = &mut self.members[member];
            member.requested = None;
            member.cell = Some(Cell {
                broker,
                node: grant.node,
                start: grant.start,
                token: grant.token,
                word: grant.start,
                limit: grant.fence,
                is_fenced_off: false,
                renewal: None,
                response: None,
            });
        }
    }

    fn extend(
        &mut self,
        scenario: &Scenario,
        member: usize,
        broker: usize,
        clock: i64,
        arrival: Arrival,
    ) {
        let Some(cell) = self.members[member].cell else { return };
        let now = LAYOUT.tick_at(self.time).unwrap_or(0);
        let wanted = now.max(cell.word) + WINDOW;
        if cell.renewal.is_none() && wanted <= cell.limit {
            return;
        }
        let renew = cell.renewal.unwrap_or_else(|| Renew {
            node: cell.node,
            start: cell.start,
            token: cell.token,
            next: self.fresh().of_grant(cell.token),
            confirmed: cell.limit,
            wanted,
            ttl_ms: TTL,
            now: self.time,
            waited_ms: 0,
        });
        let arrives = self.arrival(&Request::Renew(renew), arrival);
        let response = arrives.then(|| self.renew(scenario, broker, &renew, clock));
        let Some(cell) = &mut self.members[member].cell else { return };
        match response {
            None => cell.renewal = Some(renew),
            Some(Ok(fence)) => (cell.renewal, cell.response) = (Some(renew), Some(fence)),
            Some(Err(Denial::Refused(Refusal::FencedOff))) => {
                scenario.note(Event::FencedOff);
                (cell.is_fenced_off, cell.renewal) = (true, None);
            }
            // The member's own broker no longer has the block. Another broker refers the member to the owner.
            Some(Err(Denial::NotHeld)) if broker == cell.broker => {
                (cell.is_fenced_off, cell.renewal) = (true, None);
            }
            // The member repeats the renewal later, because an earlier request may have arrived.
            Some(Err(_)) => {}
        }
    }

    fn renew(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        request: &Renew,
        clock: i64,
    ) -> Result<u64, Denial> {
        let known = self.broker(broker);
        let request = &match known.row(request.node) {
            Some((start, Some(token))) if scenario.mutant == Mutant::AnyToken => {
                Renew { start, token, ..*request }
            }
            _ => *request,
        };
        if !known.responds(scenario) {
            if known.blocks.clone().renew(request, clock).is_ok() {
                scenario.note(Event::ForkRefuses);
            }
            return Err(Denial::NoRoom);
        }
        let renewed = known.blocks.renew(request, clock)?;
        let block = request.node >> scenario.block_bits;
        let confirmed = known.confirmed.get(&block).map(|block| block.fence);
        if renewed.fence < request.wanted && Some(renewed.fence) == confirmed {
            scenario.note(Event::CutShort);
        }
        self.granted(scenario, broker, request.node, request.start, renewed.fence);
        Ok(renewed.fence)
    }

    fn release(&mut self, scenario: &Scenario, broker: usize, request: &Release, clock: i64) {
        let known = self.broker(broker);
        if known.responds(scenario) {
            known.blocks.release(request, clock);
        }
    }

    /// Records a granted window, and checks the invariants that concern windows.
    fn granted(&mut self, scenario: &Scenario, broker: usize, node: u64, start: u64, fence: u64) {
        let block = node >> scenario.block_bits;
        let highest = &mut self.highest[block as usize];
        *highest = fence.max(*highest);
        let known = self.broker(broker);
        let is_forked = known.is_forked;
        let (mut first, mut confirmed) = (u64::MAX, 0);
        if let Some(of_block) = known.confirmed.get_mut(&block) {
            of_block.used_until = of_block.used_until.max(fence);
            (first, confirmed) = (of_block.start, of_block.fence);
        }
        self.break_if(is_forked, Invariant::I15, scenario);
        self.break_if(fence > confirmed, Invariant::I11, scenario);
        self.break_if(start < first, Invariant::I12, scenario);
    }
}

impl Broker {
    /// Returns the start and the token of a node's row.
    fn row(&self, node: u64) -> Option<(u64, Option<Token>)> {
        let mut rows = self.blocks.rows(node);
        rows.next().filter(|row| row.node == node).map(|row| (row.start, row.token))
    }
}
