//! The view by which the model distinguishes worlds. It omits differences without consequences, so that the search
//! has fewer worlds to try: past times, the random bits of tokens, the number of grants of a node, and the order of
//! equal brokers or members.

use flakeid_protocol::{Holder, Namespace, Token};

use super::actors::{Broker, Request};
use super::world::{World, slowest};
use crate::message::Message;
use crate::scenario::Scenario;
use crate::store::{Contents, MAX_SKEW_MS, halves, run_and_proofs};

/// The mark at the end of a list, which is higher than any number in a view.
const END: u64 = u64::MAX;

impl World {
    /// Updates the view to the lowest view among all orders of brokers and members.
    pub fn look(&mut self, scenario: &Scenario) {
        let orders = [[0, 1], [1, 0]];
        let views = orders.iter().flat_map(|brokers| {
            orders.iter().map(|members| {
                let mut view = View::new(scenario, self.time);
                view.world(self, *brokers, *members);
                view.words
            })
        });
        self.view = views.min().expect("there are four views");
    }
}

struct View<'a> {
    scenario: &'a Scenario,
    words: Vec<u64>,
    /// The halves of tokens, numbered in the order in which they occur.
    known: Vec<u64>,
    /// The lowest reading that a broker's clock can still return.
    slowest: i64,
}

impl<'a> View<'a> {
    fn new(scenario: &'a Scenario, time: i64) -> Self {
        let slowest = slowest(scenario, time);
        Self { scenario, words: Vec::with_capacity(96), known: vec![0], slowest }
    }

    fn put(&mut self, word: impl Into<u64>) {
        self.words.push(word.into());
    }

    /// Appends a time, as the number of milliseconds since 100 ms before the epoch.
    fn time(&mut self, time: i64) {
        self.put((time + 100).max(0).cast_unsigned());
    }

    fn expiry(&mut self, expires: i64) {
        self.time(if expires <= self.slowest { 0 } else { expires });
    }

    fn token(&mut self, token: Token) {
        for half in halves(token) {
            let number = self.known.iter().position(|known| *known == half).unwrap_or_else(|| {
                self.known.push(half);
                self.known.len() - 1
            });
            self.put(number as u64);
        }
    }

    fn incarnation(&mut self, incarnation: &str) {
        let (run, proofs) = run_and_proofs(incarnation);
        self.words.extend([run, proofs].map(u64::from));
    }

    fn maybe_token(&mut self, token: Option<Token>) {
        self.token(token.unwrap_or(Token::from_bits(0)));
    }

    fn world(&mut self, world: &World, brokers: [usize; 2], members: [usize; 2]) {
        let place = |broker: usize| u64::from(brokers[0] != broker);
        self.time(world.time);
        self.put(world.run);
        self.put(world.accidents);
        self.put(world.broken.map_or(0, |broken| broken as u64 + 1));
        let (tick, node) = world.watched.map_or((END, END), |(tick, node, _)| (tick, node));
        self.words.extend([tick, node]);
        self.words.extend(&world.highest);
        self.contents(&world.contents, world.run);
        if let Some(copy) = &world.copy {
            self.contents(copy, world.run);
        }
        self.put(END);
        for broker in brokers {
            self.broker(&world.brokers[broker]);
        }
        for member in members {
            let member = &world.members[member];
            if let Some((broker, token)) = member.requested {
                self.put(place(broker));
                self.token(token);
            }
            self.put(END);
            let Some(cell) = &member.cell else { continue };
            self.words.extend([place(cell.broker), cell.node, cell.start, cell.word, cell.limit]);
            self.put(cell.is_fenced_off);
            self.put(cell.response.map_or(END, |fence| fence));
            self.token(cell.token);
            self.maybe_token(cell.renewal.map(|renewal| renewal.next));
            self.put(cell.renewal.map_or(0, |renewal| renewal.wanted));
        }
        match &world.stray {
            None => {}
            Some(Request::Acquire(acquire)) => {
                self.token(acquire.token);
                self.time(acquire.now);
            }
            Some(Request::Renew(renew)) => {
                self.token(renew.token);
                self.token(renew.next);
                self.words.extend([renew.node, renew.start, renew.wanted]);
            }
            Some(Request::Release(release)) => {
                self.token(release.token);
                self.words.extend([release.node, release.used_until]);
            }
        }
    }

    fn contents(&mut self, contents: &Contents, run: u8) {
        let Namespace { floor, quiet_until, incarnation, .. } = contents.namespace();
        self.put(*floor);
        self.expiry(*quiet_until);
        self.incarnation(incarnation);
        for row in contents.rows() {
            self.words.extend([row.node, row.fence, row.start, row.state as u64]);
            self.maybe_token(row.token);
            self.expiry(row.expires);
            self.incarnation(&row.incarnation);
            // The renewal time matters only while the holder of the row may still continue after a restore.
            let may_continue = row.expires > self.slowest
                && (run < self.scenario.restores || !contents.is_present(row));
            self.time(if may_continue { row.renewed } else { 0 });
        }
        self.put(END);
    }

    fn broker(&mut self, broker: &Broker) {
        self.put(broker.is_forked);
        if broker.responds(self.scenario) {
            self.blocks(broker);
            for (holder, owned) in broker.holders().zip(&broker.owned) {
                self.put(owned.unwrap_or(END));
                self.holder(holder);
            }
        }
        for (slot, message) in &broker.messages {
            self.message(*slot as u64, message);
        }
        self.put(END);
    }

    fn blocks(&mut self, broker: &Broker) {
        let blocks = &broker.blocks;
        for (block, fence, _) in blocks.blocks() {
            self.words.extend([block, fence]);
            if let Some(confirmed) = broker.confirmed.get(&block) {
                self.words.extend([confirmed.start, confirmed.fence, confirmed.used_until]);
            }
            self.put(END);
        }
        self.put(END);
        self.put(blocks.holders() as u64);
        for row in blocks.rows(0) {
            self.words.extend([row.node, row.start, row.fence, row.state as u64]);
            self.maybe_token(row.token);
            self.expiry(row.expires);
        }
        self.put(END);
    }

    fn holder(&mut self, holder: &Holder) {
        self.put(holder.closing);
        self.maybe_token(holder.acquiring);
        let Some(hold) = &holder.hold else { return self.put(END) };
        self.words.extend([hold.grant.node, hold.grant.start, hold.grant.fence]);
        self.token(hold.grant.token);
        self.put(hold.waiting);
        let Some(renewal) = &hold.renewal else { return self.put(END) };
        self.token(renewal.next);
        self.words.extend([renewal.wanted, renewal.confirmed]);
    }

    fn message(&mut self, slot: u64, message: &Message) {
        match *message {
            Message::Acquire { now, .. } => {
                self.words.extend([1, slot]);
                // The store refuses an acquire with such an old clock reading, whatever the exact reading is.
                let is_late = now + MAX_SKEW_MS.cast_signed() < self.slowest;
                self.time(if is_late { -100 } else { now });
            }
            Message::Renew(renew) => {
                self.words.extend([
                    2,
                    slot,
                    renew.node,
                    renew.start,
                    renew.wanted,
                    renew.confirmed,
                ]);
                self.time(if self.scenario.restores > 0 { renew.now } else { 0 });
            }
            Message::Release(release, _) => {
                self.words.extend([3, release.node, release.used_until]);
            }
            Message::Granted(grant) => {
                self.words.extend([4, slot, grant.node, grant.start, grant.fence]);
            }
            Message::NotGranted { .. } => self.words.extend([5, slot]),
            Message::Renewed { fence, .. } => self.words.extend([6, slot, fence]),
            Message::NotRenewed { fenced_off, restored, .. } => {
                self.words.extend([7, slot, u64::from(fenced_off || restored)]);
            }
        }
        message.tokens().for_each(|token| self.token(token));
    }
}
