//! Compares the keeper, its holders and the generator with the relations.

use std::time::Duration;

use flakeid_core::{Generator, Layout, ManualClock, Window};
use flakeid_protocol::keeper::{
    Begin, Demand, GeneratorState, Input, Keeper, KeeperOptions, Output, Reading, Reply,
};
use flakeid_protocol::{
    Acquire, Grant, HeldNode, Holder, Release, Renew, Renewals, Renewed, Token,
};

use crate::comparison::{Mutant, agree};
use crate::random::Random;
use crate::relations::{self as proof, BeginQuestion, IssueQuestion, RaiseLimitQuestion};

const LAYOUT: Layout = Layout::builder().time(41).node(4).sequence(4).build_const();
const BASE: u64 = 1_000;

fn grant(random: &mut Random, node: u64) -> Grant {
    let start = BASE + random.below(20);
    Grant {
        node,
        start,
        fence: start + 2 + random.below(20),
        token: Token::from_bits(u128::from(node + 1) << 64),
        max_ahead_ms: 1_000,
        max_window_ms: 20,
        expires: 0,
    }
}

/// A keeper of one to three nodes, with what the driver reads.
struct State {
    keeper: Keeper,
    options: KeeperOptions,
    reading: Reading,
}

impl State {
    fn new(random: &mut Random, generator: GeneratorState, closing: bool) -> Self {
        let nodes = 1 + random.below(3) as usize;
        let now = BASE + random.below(40);
        let acquire =
            Acquire { window_ms: 20, ..Acquire::any_node(LAYOUT, Token::from_bits(0), 0) };
        let options = KeeperOptions { nodes, acquire, moves: false };
        let mut keeper = Keeper::new(&options, generator);
        for (node, holder) in (0..).zip(&mut keeper.holders) {
            let hold = HeldNode {
                grant: grant(random, node),
                renewal: None,
                waiting: false,
                fenced_off: false,
                renewals: Renewals::Succeed,
            };
            *holder = Holder { hold: Some(hold), closing, ..Holder::new() };
        }
        let next = (generator == GeneratorState::Open).then(|| BASE + random.below(40));
        let (unix_ms, passed) = (Ok(now.cast_signed()), Duration::ZERO);
        let reading = Reading { unix_ms, passed, next, jitter: 1.0 };
        Self { keeper, options, reading }
    }

    fn grants(&self) -> impl Iterator<Item = Grant> {
        self.keeper.holders.iter().filter_map(|holder| Some(holder.hold.as_ref()?.grant))
    }

    /// Returns the member's node, which must be held.
    fn hold(&mut self, member: usize) -> &mut HeldNode {
        self.keeper.holders[member].hold.as_mut().expect("each holder has a node")
    }

    fn renew(&mut self, member: usize) -> Renew {
        let Grant { node, start, fence, token, .. } = self.hold(member).grant;
        let next = Token::from_bits(7).of_grant(token);
        let (confirmed, wanted) = (fence, fence + 10);
        Renew { node, start, token, next, confirmed, wanted, ttl_ms: 60, now: 0, waited_ms: 0 }
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        self.keeper.handle(&self.options, &self.reading, input)
    }

    fn check_begin(&self, used_until: u64, outputs: &[Output]) -> bool {
        let answer = proof::begin(&BeginQuestion {
            start: self.grants().map(|grant| grant.start).max().unwrap_or(0).into(),
            fence: self.grants().map(|grant| grant.fence).min().unwrap_or(0).into(),
            used_until: used_until.into(),
        });
        let code = outputs.iter().find_map(|output| match output {
            Output::Begin(Begin { start, fence, .. }) => Some(((*start).into(), (*fence).into())),
            _ => None,
        });
        let relation = answer.allowed.then_some((answer.first, answer.limit));
        agree("begin a generator", &code, &relation, &(&self.keeper, used_until));
        answer.allowed
    }
}

fn extension(outputs: &[Output]) -> Option<i128> {
    outputs.iter().find_map(|output| match output {
        Output::Extend { fence } => Some((*fence).into()),
        _ => None,
    })
}

fn releases(outputs: &[Output]) -> Vec<Release> {
    let of = |output: &Output| match output {
        Output::Demand(Demand::Release(release)) => Some(*release),
        _ => None,
    };
    outputs.iter().filter_map(of).collect()
}

/// Compares the window of the next generator after a generator has ended.
pub fn begin(random: &mut Random, _mutant: Mutant) -> bool {
    let used_until = BASE + random.below(50);
    let mut state = State::new(random, GeneratorState::Open, false);
    let held: Vec<Grant> = state.grants().collect();
    let outputs = state.handle(Input::Ended { used_until, keeps_fence: random.once_in(2) });
    let before = State { keeper: state.keeper.clone(), ..state };
    if before.grants().count() < held.len() {
        // A window that is too short for the only node is released.
        let answer = proof::begin(&BeginQuestion {
            start: held[0].start.into(),
            fence: held[0].fence.into(),
            used_until: used_until.into(),
        });
        agree("begin a generator", &(releases(&outputs).len(), answer.allowed), &(1, false), &held);
        return false;
    }
    before.check_begin(used_until, &outputs)
}

/// Compares the limit after a response to a renewal, including responses for which the holder no longer waits.
pub fn raise_limit(random: &mut Random, _mutant: Mutant) -> bool {
    let is_open = !random.once_in(4);
    let is_awaited = !random.once_in(4);
    let ended = GeneratorState::Ended { used_until: BASE + 100 };
    let generator = if is_open { GeneratorState::Open } else { ended };
    let mut state = State::new(random, generator, false);
    let member = random.below(state.options.nodes as u64) as usize;
    let renew = state.renew(member);
    if is_awaited {
        (state.hold(member).renewal, state.hold(member).waiting) = (Some(renew), true);
    }
    let known = state.hold(member).grant.fence;
    let confirmed = BASE + random.below(60);
    let others = state.grants().filter(|grant| grant.node != renew.node).map(|grant| grant.fence);
    let question = RaiseLimitQuestion {
        is_awaited,
        is_open,
        known: known.into(),
        confirmed: confirmed.into(),
        others: others.min().unwrap_or(u64::MAX).into(),
    };
    let answer = proof::raise_limit(&question);
    let result = Ok(Renewed { fence: confirmed, expires: 0, renewed: 0, leaving: false });
    let outputs = state.handle(Input::Reply(Reply::Renew { next: renew.next, result }));
    let relation = answer.allowed.then_some(answer.limit);
    agree("raise the limit", &extension(&outputs), &relation, &(&state.keeper, question));
    answer.allowed
}

/// Checks that a request for a renewal neither raises the limit nor releases a node.
pub fn send(random: &mut Random, mutant: Mutant) -> bool {
    let mut state = State::new(random, GeneratorState::Open, false);
    let member = random.below(state.options.nodes as u64) as usize;
    let fresh = Token::from_bits(9);
    let margin = random.below(30);
    let mut outputs = state.handle(Input::Wake { member, margin, reserve: 0, fresh });
    let sent = outputs.iter().find_map(|output| match output {
        Output::Demand(Demand::Renew(renew)) => Some(*renew),
        _ => None,
    });
    if let (Some(renew), Mutant::LimitOnSend) = (sent, mutant) {
        outputs.push(Output::Extend { fence: renew.wanted });
    }
    agree(
        "renewal sent",
        &(extension(&outputs), releases(&outputs).len()),
        &(None, 0),
        &state.keeper,
    );
    if let Some(renew) = sent {
        let Grant { start, fence, token, .. } = state.hold(member).grant;
        let found = (renew.start, renew.confirmed, renew.token, renew.next.is_same_grant(token));
        agree("renewal sent", &found, &(start, fence, token, true), &renew);
    }
    sent.is_some()
}

/// Checks that a closed lease releases its nodes only after its generator has ended.
pub fn close(random: &mut Random, mutant: Mutant) -> bool {
    let mut state = State::new(random, GeneratorState::Open, false);
    let lost = random.below(2 * state.options.nodes as u64) as usize;
    if let Some(holder) = state.keeper.holders.get_mut(lost) {
        holder.hold.as_mut().expect("each holder has a node").fenced_off = true;
    }
    let used_until = BASE + random.below(50);
    let mut outputs = state.handle(Input::Close);
    if mutant == Mutant::ReleaseEarly {
        outputs.extend(state.handle(Input::Ended { used_until, keeps_fence: false }));
    }
    agree("close and release", &(outputs, 0), &(vec![Output::End], 0), &state.keeper);
    let keeps_fence = random.once_in(3);
    let held = state.keeper.holders.iter().filter_map(|holder| holder.hold.clone());
    let expected: Vec<Release> = held
        .filter(|hold| !hold.fenced_off)
        .map(|HeldNode { grant: Grant { node, token, .. }, .. }| {
            let used_until = if keeps_fence { LAYOUT.max_tick() + 1 } else { used_until };
            Release { node, token, used_until }
        })
        .collect();
    let outputs = state.handle(Input::Ended { used_until, keeps_fence });
    agree("close and release", &releases(&outputs), &expected, &state.keeper);
    !expected.is_empty()
}

/// Compares the tick of the first ID of a generator with a window.
pub fn issue(random: &mut Random, mutant: Mutant) -> bool {
    let (start, max_ahead) = (BASE + random.below(20), random.below(10));
    let (limit, clock) = (start + 2 + random.below(10), BASE + random.below(40));
    let made = |clock: ManualClock| {
        let further = u64::from(mutant == Mutant::IssueFence);
        Generator::builder(LAYOUT)
            .node(1)
            .window(Window::new(start, limit + further)?)
            .max_ahead(Duration::from_millis(max_ahead))
            .clock(clock)
            .build()
    };
    let generator = made(ManualClock::new(clock.cast_signed())).expect("the options are valid");
    let question = IssueQuestion {
        next_tick: start.into(),
        limit: limit.into(),
        clock: clock.into(),
        max_ahead: max_ahead.into(),
    };
    let answer = proof::issue(&question);
    let tick = |id| LAYOUT.unpack(id).expect("the layout has this ID").tick.into();
    let code: Option<i128> = generator.try_next_id().ok().map(tick);
    agree("issue", &code, &answer.allowed.then_some(answer.tick), &question);
    answer.allowed
}
