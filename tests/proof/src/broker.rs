//! Compares the blocks of a broker with the relations, after random requests.

use flakeid_core::Layout;
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::{
    Acquire, Bounds, Grant, Namespace, Owner, Release, Renew, Row, State, Token, rules,
};

use crate::comparison::{Mutant, agree};
use crate::random::{Random, tick, ticks};
use crate::relations::{
    self as proof, LatestTimesQuestion, ReleaseQuestion, SubGrantQuestion, SubRenewQuestion,
};
use crate::store::highest;

const LAYOUT: Layout = Layout::builder().time(41).node(4).sequence(4).build_const();
const BASE: u64 = 1_000;
const END: i128 = LAYOUT.max_tick() as i128 + 1;

/// A broker with one block of two nodes, after some requests.
struct Broker {
    blocks: Blocks,
    namespace: Namespace,
    start: u64,
    fence: u64,
    now: u64,
    tokens: u64,
    /// The tick after the last tick that the broker granted.
    used_until: u64,
}

impl Broker {
    fn new(random: &mut Random, mutant: Mutant) -> Self {
        let (max_window_ms, max_ahead_ms, max_skew_ms) =
            (2 + random.below(12), random.below(12), 3);
        let bounds = Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms: 0 };
        let namespace = Namespace { block_bits: 1, bounds, ..Namespace::new("proof", LAYOUT) };
        let start = BASE + random.below(10);
        let fence = start + 2 + random.below(24);
        let mut blocks = Blocks::new(&namespace, max_window_ms, 1 + random.below(20));
        let now = BASE + random.below(10);
        let further = u64::from(mutant == Mutant::BeyondBlock);
        let grant = Grant {
            node: 0,
            start,
            fence: fence + further,
            token: Token::from_bits(1),
            max_ahead_ms,
            max_window_ms,
            expires: 0,
        };
        blocks.add(&grant, now.cast_signed());
        let used_until = start;
        let mut broker = Self { blocks, namespace, start, fence, now, tokens: 0, used_until };
        for _ in 0..random.below(5) {
            broker.now += random.below(8);
            let request = broker.request(random);
            match random.below(4) {
                0 => broker.release(random),
                1 => broker.raise(random),
                _ => broker.acquire(&request),
            }
        }
        broker.now += random.below(8);
        broker
    }

    fn raise(&mut self, random: &mut Random) {
        let fence = BASE + random.below(40);
        self.blocks.raise(0, fence);
        self.fence = self.fence.max(fence);
    }

    fn acquire(&mut self, request: &Acquire) {
        if let Ok(grant) = self.blocks.acquire(request, self.now.cast_signed()) {
            self.used_until = self.used_until.max(grant.fence);
        }
    }

    fn release(&mut self, random: &mut Random) {
        let row = self.blocks.rows(random.below(2)).next();
        let Some((node, token)) = row.and_then(|row| Some((row.node, row.token?))) else { return };
        let used_until = BASE + random.below(30);
        self.blocks.release(&Release { node, token, used_until }, self.now.cast_signed());
    }

    fn request(&mut self, random: &mut Random) -> Acquire {
        self.tokens += 1;
        Acquire {
            window_ms: 2 + random.below(12),
            ttl_ms: 1 + random.below(20),
            after: if random.once_in(2) { 0 } else { BASE + random.below(30) },
            owner: Owner::default(),
            ..Acquire::any_node(
                LAYOUT,
                Token::from_bits(u128::from(self.tokens + 1) << 64),
                (self.now + random.below(3)).cast_signed(),
            )
        }
    }

    fn row(&self, node: u64) -> Option<&Row> {
        self.blocks.rows(node).next().filter(|row| row.node == node)
    }

    /// Returns the window that the relation grants on a node.
    fn window(&self, row: Option<&Row>, request: &Acquire) -> Option<(i128, i128)> {
        let now = self.now.cast_signed();
        let bounds = &self.namespace.bounds;
        let window_ms = request.window_ms.min(bounds.max_window_ms);
        let answer = proof::sub_grant(&SubGrantQuestion {
            exists: row.is_some(),
            live: row.is_some_and(|row| row.expires > now),
            row_fence: row.map_or(0, |row| row.fence).into(),
            after: request.after.into(),
            window: ticks(&LAYOUT, window_ms),
            clock: tick(&LAYOUT, request.now.into()),
            max_ahead: ticks(&LAYOUT, bounds.max_ahead_ms),
            block_start: self.start.into(),
            block_fence: self.fence.into(),
            end: END,
        });
        answer.allowed.then_some((answer.start, answer.fence))
    }
}

pub fn grant(random: &mut Random, mutant: Mutant) -> bool {
    let mut broker = Broker::new(random, mutant);
    let request = broker.request(random);
    let before: Vec<Option<Row>> = (0..2).map(|node| broker.row(node).cloned()).collect();
    let state = format!("{:?}", broker.blocks);
    let granted = broker.blocks.acquire(&request, broker.now.cast_signed()).ok();
    let code = granted.map(|grant| (grant.start.into(), grant.fence.into()));
    let relation = match granted {
        Some(grant) => broker.window(before[grant.node as usize].as_ref(), &request),
        None => before.iter().find_map(|row| broker.window(row.as_ref(), &request)),
    };
    agree(
        "broker: grant",
        &code,
        &relation,
        &(state, &request, broker.start, broker.fence, broker.now),
    );
    relation.is_some()
}

pub fn renew(random: &mut Random, mutant: Mutant) -> bool {
    let mut broker = Broker::new(random, mutant);
    let Some(row) = broker.blocks.rows(random.below(2)).next().cloned() else { return false };
    let request = Renew {
        node: row.node,
        start: if random.once_in(6) { row.start + 1 } else { row.start },
        token: row.token.filter(|_| !random.once_in(6)).unwrap_or(Token::from_bits(5)),
        next: if random.once_in(8) {
            row.token.unwrap_or(Token::from_bits(6))
        } else {
            Token::from_bits(6)
        },
        confirmed: row.fence,
        wanted: BASE + random.below(50),
        ttl_ms: 10,
        now: broker.now.cast_signed(),
        waited_ms: 0,
    };
    let latest = proof::latest_times(&LatestTimesQuestion {
        store_now: broker.now.into(),
        max_skew: broker.namespace.bounds.max_skew_ms.into(),
    });
    let question = SubRenewQuestion {
        exists: true,
        held: row.state == State::Held,
        is_token: row.token == Some(request.token),
        is_next_token: row.token == Some(request.next),
        row_start: row.start.into(),
        row_fence: row.fence.into(),
        start: request.start.into(),
        wanted: request.wanted.into(),
        highest: highest(&broker.namespace, latest.renewal),
        end: END,
        block_fence: broker.fence.into(),
    };
    let answer = proof::sub_renew(&question);
    let code = broker.blocks.renew(&request, broker.now.cast_signed()).ok();
    let fence = code.map(|renewed| renewed.fence.into());
    agree("broker: renew", &fence, &answer.allowed.then_some(answer.fence), &(question, request));
    answer.allowed
}

/// Compares the fence of a block after its release: it must not fall below a fence that the broker granted (I13).
pub fn lose(random: &mut Random, mutant: Mutant) -> bool {
    let mut broker = Broker::new(random, Mutant::None);
    let used_until = broker.blocks.lose(0);
    let token = Token::from_bits(1);
    let row = |state| Row {
        node: 0,
        fence: broker.fence,
        start: broker.start,
        token: Some(token),
        grant: 1,
        state,
        owner: Owner::default(),
        acquired: 0,
        renewed: 0,
        expires: 0,
        incarnation: String::new(),
        fixed: false,
        history_until: 0,
    };
    let told = if mutant == Mutant::ForgetGrants { broker.start } else { used_until };
    let released =
        rules::release(Some(&row(State::Held)), &Release { node: 0, token, used_until: told });
    let answer = proof::release(&ReleaseQuestion {
        is_this_run: true,
        is_token: true,
        row_start: broker.start.into(),
        row_fence: broker.fence.into(),
        used_until: broker.used_until.into(),
    });
    let code = released.map(|row| row.fence.into());
    agree("broker: lose a block", &code, &Some(answer.fence), &(broker.used_until, used_until));
    broker.used_until > broker.start
}
