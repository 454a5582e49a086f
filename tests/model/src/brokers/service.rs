//! A broker and those who lease nodes from it: the product's [`Blocks`] answers.
//!
//! [`Blocks`]: flakeid_protocol::broker::Blocks

use flakeid_protocol::broker::Denial;
use flakeid_protocol::{Acquire, Identity, Owner, Refusal, Release, Renew, Token};

use super::actors::{Arrival, Broker, Cell, Request};
use super::scenario::{Event, Mutant, Scenario, TTL, WINDOW};
use super::world::{Action, World};
use crate::invariant::Invariant;
use crate::store::LAYOUT;

impl World {
    pub fn serve(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Ask { member, broker, clock, arrival, is_heard } => {
                let asked = self.members[member].asked;
                let token = asked.map_or_else(|| self.fresh(), |(_, token)| token);
                let request = node_request(token, self.time);
                if self.arrival(&Request::Acquire(request.clone()), arrival) {
                    self.grant(scenario, broker, &request, clock, is_heard.then_some(member));
                }
                if !is_heard || arrival == Arrival::Late {
                    self.members[member].asked = Some((broker, token));
                }
            }
            Action::GiveUp { member } => self.members[member].asked = None,
            Action::Extend { member, broker, clock, arrival } => {
                self.extend(scenario, member, broker, clock, arrival);
            }
            Action::HearExtended { member } => {
                let Some(cell) = &mut self.members[member].cell else { return };
                if let (Some(fence), Some(renewal)) = (cell.answer.take(), cell.renewal.take()) {
                    cell.limit = cell.limit.max(fence);
                    cell.token = renewal.next;
                }
            }
            Action::MissExtended { member } => {
                self.members[member].cell.iter_mut().for_each(|cell| cell.answer = None);
            }
            Action::Release { member, used_until, clock, arrival } => {
                let Some(cell) = self.members[member].cell.take() else { return };
                let (node, token) = (cell.node, cell.latest_token());
                let release = Release { node, token, used_until };
                if self.arrival(&Request::Release(release), arrival) {
                    self.take_back(scenario, cell.broker, &release, clock);
                }
            }
            Action::Stray { broker, is_heard } => {
                let Some(request) = self.stray.take() else { return };
                self.deliver_stray(scenario, broker, &request, is_heard);
            }
            _ => unreachable!("{action:?}"),
        }
    }

    /// Whether a request arrives now. If it does so later as well or instead, it is kept.
    fn arrival(&mut self, request: &Request, arrival: Arrival) -> bool {
        if arrival != Arrival::Once {
            self.mischief -= 1;
            self.stray = Some(request.clone());
        }
        arrival != Arrival::Late
    }

    fn deliver_stray(
        &mut self,
        scenario: &Scenario,
        broker: usize,
        request: &Request,
        is_heard: bool,
    ) {
        match request {
            Request::Acquire(acquire) => {
                // Whoever still waits for this answer may get it, from whichever broker it is.
                let waits = self.members.iter().position(|member| {
                    member.asked.is_some_and(|(_, token)| token == acquire.token)
                });
                let member = waits.filter(|_| is_heard);
                self.grant(scenario, broker, acquire, self.time, member);
            }
            Request::Renew(renew) => drop(self.renew(scenario, broker, renew, self.time)),
            Request::Release(release) => self.take_back(scenario, broker, release, self.time),
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
        let answers = known.answers(scenario);
        if !answers {
            if known.blocks.clone().acquire(request, clock).is_ok() {
                scenario.note(Event::ForkRefuses);
            }
            return;
        }
        let holders = known.blocks.holders();
        let Ok(grant) = known.blocks.acquire(request, clock) else { return };
        if known.blocks.holders() == holders && member.is_some() && scenario.repeats {
            scenario.note(Event::SameAnswer);
        }
        self.granted(scenario, broker, grant.node, grant.start, grant.fence);
        if let Some(member) = member {
            let member = &mut self.members[member];
            member.asked = None;
            member.cell = Some(Cell {
                broker,
                node: grant.node,
                start: grant.start,
                token: grant.token,
                word: grant.start,
                limit: grant.fence,
                is_fenced_off: false,
                renewal: None,
                answer: None,
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
        let answer = arrives.then(|| self.renew(scenario, broker, &renew, clock));
        let Some(cell) = &mut self.members[member].cell else { return };
        match answer {
            None => cell.renewal = Some(renew),
            Some(Ok(fence)) => (cell.renewal, cell.answer) = (Some(renew), Some(fence)),
            Some(Err(Denial::Refused(Refusal::FencedOff))) => {
                scenario.note(Event::FencedOff);
                (cell.is_fenced_off, cell.renewal) = (true, None);
            }
            // Its own broker does not have the block any more; another one sends it to the owner.
            Some(Err(Denial::NotHeld)) if broker == cell.broker => {
                (cell.is_fenced_off, cell.renewal) = (true, None);
            }
            // It is asked again later; what was sent before may have arrived.
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
        if !known.answers(scenario) {
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

    fn take_back(&mut self, scenario: &Scenario, broker: usize, request: &Release, clock: i64) {
        let known = self.broker(broker);
        if known.answers(scenario) {
            known.blocks.release(request, clock);
        }
    }

    /// A broker has granted a window.
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
    /// The start and the token of a node's row.
    fn row(&self, node: u64) -> Option<(u64, Option<Token>)> {
        let mut rows = self.blocks.rows(node);
        rows.next().filter(|row| row.node == node).map(|row| (row.start, row.token))
    }
}

fn node_request(token: Token, now: i64) -> Acquire {
    Acquire {
        layout: LAYOUT,
        block_bits: 0,
        identity: Identity::Any,
        from: 0,
        to: LAYOUT.max_node(),
        rotation: 0,
        reuse: true,
        token,
        window_ms: WINDOW,
        ttl_ms: TTL,
        now,
        waited_ms: 0,
        after: 0,
        owner: Owner::default(),
    }
}
