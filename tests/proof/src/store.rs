//! Compares the rules of the store with the relations.

use flakeid_core::{Layout, ManualClock};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::store::{Ledger, Store};
use flakeid_protocol::{
    Acquire, Identity, MemoryStore, Namespace, Owner, Release, Renew, Row, State, Token, rules,
};

use crate::comparison::{Mutant, agree};
use crate::random::{Random, tick, ticks};
use crate::relations::{
    self as proof, AdmitQuestion, CutOffQuestion, GrantQuestion, HighestFenceQuestion,
    IsForgottenQuestion, IsLiveQuestion, LatestTimesAnswer, LatestTimesQuestion, ReleaseQuestion,
    RenewOlderQuestion, RenewQuestion, RestoredAnswer, RestoredQuestion, SkewQuestion,
};

fn end(layout: &Layout) -> i128 {
    i128::from(layout.max_tick()) + 1
}

/// The instants whose bounds limit renewals and determine floors.
fn latest(namespace: &Namespace, store_now: i64) -> LatestTimesAnswer {
    let max_skew = namespace.bounds.max_skew_ms.into();
    proof::latest_times(&LatestTimesQuestion { store_now: store_now.into(), max_skew })
}

/// The highest fence that may be confirmed while no client's clock is after `time` (I9).
pub fn highest(namespace: &Namespace, time: i128) -> i128 {
    let Namespace { layout, bounds, .. } = namespace;
    proof::highest_fence(&HighestFenceQuestion {
        clock: tick(layout, time),
        max_ahead: ticks(layout, bounds.max_ahead_ms),
        max_window: ticks(layout, bounds.max_window_ms),
        end: end(layout),
    })
    .fence
}

fn row(random: &mut Random, layout: &Layout) -> Row {
    let start = random.tick();
    let state = [State::Held, State::Held, State::Held, State::Free, State::Quarantined];
    let renewed = random.time(layout);
    Row {
        node: 0,
        fence: (start + random.below(14)).min(layout.max_tick() + 1),
        start,
        token: (!random.once_in(8)).then(|| random.token()),
        grant: 1,
        state: state[random.below(5) as usize],
        owner: Owner::default(),
        acquired: renewed,
        renewed,
        expires: renewed + random.below(60 * layout.unit_ms()).cast_signed(),
        incarnation: if random.once_in(2) { "1" } else { "0" }.into(),
        fixed: random.once_in(4),
        history_until: 0,
    }
}

fn skew(store_now: i64, client_now: i64, waited_ms: u64) -> i128 {
    let (store_now, client_now) = (store_now.into(), client_now.into());
    proof::skew(&SkewQuestion { store_now, client_now, waited: waited_ms.into() }).skew
}

fn near(random: &mut Random, time: i64, most: u64) -> i64 {
    let most = most + 2;
    time - most.cast_signed() + random.below(2 * most + 1).cast_signed()
}

pub fn acquire(random: &mut Random, mutant: Mutant) -> bool {
    let namespace = random.namespace();
    let (layout, bounds) = (&namespace.layout, &namespace.bounds);
    let store_now = random.time(layout);
    let row = (!random.once_in(4)).then(|| row(random, layout));
    let request = Acquire {
        identity: if random.once_in(3) { Identity::Node(0) } else { Identity::Any },
        reuse: !random.once_in(6),
        window_ms: layout.unit_ms() + random.below(14 * layout.unit_ms()),
        ttl_ms: random.below(100),
        waited_ms: random.below(3),
        after: if random.once_in(2) { 0 } else { random.tick() },
        ..Acquire::any_node(*layout, random.token(), near(random, store_now, bounds.max_skew_ms))
    };
    let fixed = request.identity == Identity::Node(0);
    let skew = skew(store_now, request.now, request.waited_ms);
    let admitted = proof::admit(&AdmitQuestion {
        store_now: store_now.into(),
        quiet_until: namespace.quiet_until.into(),
        skew,
        max_skew: bounds.max_skew_ms.into(),
        window_ms: request.window_ms.into(),
        shortest_ms: (2 * layout.unit_ms()).into(),
        max_window_ms: bounds.max_window_ms.into(),
    });
    let of = |value: fn(&Row) -> bool| row.as_ref().is_some_and(value);
    let live = proof::is_live(&IsLiveQuestion {
        row_expires: row.as_ref().map_or(0, |row| row.expires).into(),
        store_now: store_now.into(),
        is_this_run: of(|row| row.incarnation == "1"),
    });
    let question = GrantQuestion {
        exists: row.is_some(),
        quarantined: of(|row| row.state == State::Quarantined),
        live: live.live,
        row_fixed: of(|row| row.fixed),
        row_fence: row.as_ref().map_or(0, |row| row.fence).into(),
        reuse: request.reuse,
        fixed,
        after: request.after.into(),
        window: ticks(layout, request.window_ms),
        clock: tick(layout, request.now.into()),
        max_ahead: ticks(layout, bounds.max_ahead_ms),
        floor: namespace.floor.into(),
        end: end(layout),
    };
    let answer = proof::grant(&question);
    let relation = (admitted.allowed && answer.allowed).then_some((answer.start, answer.fence));
    let falsified = row.clone().map(|row| match mutant {
        Mutant::StartAtClock => Row { fence: 0, ..row },
        _ => row,
    });
    let granted = rules::grant(&namespace, falsified.as_ref(), 0, &request, store_now);
    let code = granted.ok().map(|row| {
        let expires = i128::from(store_now) + i128::from(request.ttl_ms);
        let stored = (row.expires.into(), row.renewed, row.fixed, row.token, row.state);
        agree(
            "acquire",
            &stored,
            &(expires, store_now, fixed, Some(request.token), State::Held),
            &row,
        );
        agree("acquire", &row.incarnation, &namespace.incarnation, &row);
        (row.start.into(), row.fence.into())
    });
    agree("acquire", &code, &relation, &(&namespace, &row, &request, store_now));
    relation.is_some()
}

/// A namespace, a row and a renewal that often belong together.
struct Renewal {
    namespace: Namespace,
    row: Option<Row>,
    request: Renew,
    store_now: i64,
}

impl Renewal {
    fn new(random: &mut Random, incarnation: &str) -> Self {
        let namespace = random.namespace();
        let layout = &namespace.layout;
        let row = (!random.once_in(10)).then(|| row(random, layout));
        let row = row.map(|row| Row { incarnation: incarnation.into(), ..row });
        let store_now = random.time(layout);
        let start = match &row {
            Some(row) if !random.once_in(6) => row.start,
            _ => random.tick(),
        };
        let request = Renew {
            node: 0,
            start,
            token: random.token(),
            next: random.token(),
            confirmed: random.tick(),
            wanted: random.tick(),
            ttl_ms: random.below(100),
            now: near(random, store_now, namespace.bounds.max_skew_ms),
            waited_ms: random.below(3),
        };
        Self { namespace, row, request, store_now }
    }

    fn of(&self, value: impl Fn(&Row) -> bool) -> bool {
        self.row.as_ref().is_some_and(value)
    }

    fn number(&self, value: impl Fn(&Row) -> i128) -> i128 {
        self.row.as_ref().map_or(0, value)
    }

    fn is_same_grant(&self) -> bool {
        let half = |token: Token| token.to_bits() >> 64;
        self.of(|row| row.token.is_some_and(|token| half(token) == half(self.request.token)))
    }

    fn answer(&self, mutant: Mutant) -> Option<Row> {
        let row = self.row.clone().map(|row| match mutant {
            Mutant::NoToken => Row { token: Some(self.request.token), ..row },
            Mutant::ContinueExpired if row.incarnation == "0" => Row { expires: i64::MAX, ..row },
            _ => row,
        });
        rules::renew(&self.namespace, row.as_ref(), &self.request, self.store_now).ok()
    }

    /// Checks the fields of a renewed row that have no relation of their own.
    fn check_rest(&self, renewed: &Row, incarnation: &str, times: (i64, i64)) {
        let expected = (Some(self.request.next), incarnation, times, State::Held);
        let stored = (
            renewed.token,
            &*renewed.incarnation,
            (renewed.renewed, renewed.expires),
            renewed.state,
        );
        agree("renew", &stored, &expected, &self.request);
    }

    fn new_times(&self) -> (i64, i64) {
        let expires = self.store_now + self.request.ttl_ms.cast_signed();
        (self.store_now, expires.max(self.row.as_ref().map_or(0, |row| row.expires)))
    }
}

pub fn renew(random: &mut Random, mutant: Mutant) -> bool {
    let renewal = Renewal::new(random, "1");
    let Renewal { namespace, row, request, store_now } = &renewal;
    let latest = latest(namespace, *store_now).renewal;
    let question = RenewQuestion {
        exists: row.is_some(),
        held: renewal.of(|row| row.state == State::Held),
        is_token: renewal.of(|row| row.token == Some(request.token)),
        is_next_token: renewal.of(|row| row.token == Some(request.next)),
        row_start: renewal.number(|row| row.start.into()),
        row_fence: renewal.number(|row| row.fence.into()),
        start: request.start.into(),
        wanted: request.wanted.into(),
        highest: highest(namespace, latest),
        end: end(&namespace.layout),
    };
    let answer = proof::renew(&question);
    let relation = answer.allowed.then_some(answer.fence);
    let code = renewal.answer(mutant);
    let fence = code.as_ref().map(|row| row.fence.into());
    agree("renew", &fence, &relation, &(namespace, row, request, store_now));
    match (&code, row) {
        (Some(renewed), Some(row)) if question.is_next_token => {
            agree("renew", renewed, row, request);
        }
        (Some(renewed), _) => renewal.check_rest(renewed, "1", renewal.new_times()),
        _ => {}
    }
    answer.allowed
}

pub fn renew_older(random: &mut Random, mutant: Mutant) -> bool {
    let renewal = Renewal::new(random, "0");
    let Renewal { namespace, row, request, store_now } = &renewal;
    let max_skew = i128::from(namespace.bounds.max_skew_ms);
    let now = i128::from(*store_now);
    let row_renewed = renewal.number(|row| row.renewed.into());
    let answer = proof::renew_older(&RenewOlderQuestion {
        exists: row.is_some(),
        held: renewal.of(|row| row.state == State::Held),
        is_same_grant: renewal.is_same_grant(),
        row_fixed: renewal.of(|row| row.fixed),
        row_start: renewal.number(|row| row.start.into()),
        row_fence: renewal.number(|row| row.fence.into()),
        row_renewed,
        row_expires: renewal.number(|row| row.expires.into()),
        start: request.start.into(),
        confirmed: request.confirmed.into(),
        wanted: request.wanted.into(),
        skew: skew(*store_now, request.now, request.waited_ms),
        store_now: now,
        max_skew,
        quiet: namespace.bounds.quiet_ms.into(),
        highest: highest(namespace, latest(namespace, *store_now).renewal),
        highest_then: highest(namespace, row_renewed),
    });
    let relation = answer.allowed.then_some(answer.fence);
    let code = renewal.answer(mutant);
    let fence = code.as_ref().map(|row| row.fence.into());
    agree("renew in a later run", &fence, &relation, &(namespace, row, request, store_now));
    if let (Some(renewed), Some(row)) = (&code, row) {
        let kept = (row.renewed, row.expires);
        let times = if answer.continues { renewal.new_times() } else { kept };
        renewal.check_rest(renewed, if answer.continues { "1" } else { "0" }, times);
    }
    answer.allowed
}

/// Creates a store in memory, in run 0, with one row.
fn store(namespace: &Namespace, row: &Row) -> MemoryStore {
    let namespace = Namespace { incarnation: "0".into(), ..namespace.clone() };
    let mut store =
        MemoryStore::on(ManualClock::new(namespace.layout.unix_ms_at(crate::random::TICK)));
    let write = |ledger: &mut dyn Ledger| {
        ledger.put_namespace(&namespace)?;
        ledger.put_row(None, row)
    };
    let written = store.transact(&namespace.name, &mut { write });
    written.expect("the store in memory accepts each row");
    store
}

fn stored(store: &mut MemoryStore, namespace: &Namespace) -> Row {
    let listing = operations::list(store, &namespace.name).expect("the namespace exists");
    listing.rows.into_iter().next().expect("the namespace has one row")
}

pub fn cut_off(random: &mut Random, _mutant: Mutant) -> bool {
    let namespace = random.namespace();
    let row = row(random, &namespace.layout);
    let mut store = store(&namespace, &row);
    let repair = if random.once_in(2) { Repair::Release } else { Repair::Quarantine };
    let is_allowed = repair == Repair::Quarantine || row.state == State::Held;
    let question = CutOffQuestion { row_fixed: row.fixed, row_expires: row.expires.into() };
    let changed = operations::repair(&mut store, &namespace.name, 0, repair);
    let changed = changed.expect("the namespace has the node");
    let code = changed.as_ref().map(|row| i128::from(row.expires));
    let relation = is_allowed.then(|| proof::cut_off(&question).expires);
    agree("operator", &code, &relation, &(&row, repair));
    if let Some(changed) = changed {
        agree(
            "operator",
            &(changed.fence, changed.token, changed.start),
            &(row.fence, None, row.start),
            &row,
        );
    }
    is_allowed
}

pub fn release(random: &mut Random, _mutant: Mutant) -> bool {
    let namespace = random.namespace();
    let row = row(random, &namespace.layout);
    let request = Release { node: 0, token: random.token(), used_until: random.tick() };
    let answer = proof::release(&ReleaseQuestion {
        is_this_run: row.incarnation == "0",
        is_token: row.token == Some(request.token),
        row_start: row.start.into(),
        row_fence: row.fence.into(),
        used_until: request.used_until.into(),
    });
    let mut store = store(&namespace, &row);
    operations::release(&mut store, &namespace.name, &request).expect("a release is never refused");
    let after = stored(&mut store, &namespace);
    let code = (after.token.is_none() && row.token.is_some()).then_some(after);
    if let Some(released) = &code {
        let expected = (None, 0, row.start, row.state == State::Quarantined);
        let is_quarantined = released.state == State::Quarantined;
        let stored = (released.token, released.expires, released.start, is_quarantined);
        agree("release", &stored, &expected, &row);
    }
    let fence = code.map(|row| row.fence.into());
    agree("release", &fence, &answer.allowed.then_some(answer.fence), &(&row, &request));
    answer.allowed
}

pub fn forgotten(random: &mut Random, _mutant: Mutant) -> bool {
    let renewal = Renewal::new(random, "1");
    let Renewal { namespace, row, request, .. } = &renewal;
    let answer = proof::is_forgotten(&IsForgottenQuestion {
        exists: row.is_some(),
        held: renewal.of(|row| row.state == State::Held),
        is_same_grant: renewal.is_same_grant(),
        row_start: renewal.number(|row| row.start.into()),
        row_fence: renewal.number(|row| row.fence.into()),
        start: request.start.into(),
        confirmed: request.confirmed.into(),
        floor: namespace.floor.into(),
    });
    let code = rules::is_forgotten(namespace, row.as_ref(), request);
    agree("proof of a loss", &code, &answer.forgotten, &(namespace, row, request));
    answer.forgotten
}

pub fn restored(random: &mut Random, mutant: Mutant) -> bool {
    let namespace = random.namespace();
    let store_now = random.time(&namespace.layout);
    let answer = proof::restored(&RestoredQuestion {
        floor: namespace.floor.into(),
        quiet_until: namespace.quiet_until.into(),
        store_now: store_now.into(),
        quiet: namespace.bounds.quiet_ms.into(),
        highest: highest(&namespace, latest(&namespace, store_now).floor),
    });
    let lower = if mutant == Mutant::LowFloor { namespace.bounds.max_skew_ms } else { 0 };
    let early = store_now - lower.cast_signed();
    let code = rules::restored(&namespace, "2".into(), early);
    let quiet_until = if lower == 0 { code.quiet_until.into() } else { answer.quiet_until };
    let found = RestoredAnswer { floor: code.floor.into(), quiet_until };
    agree("new run", &found, &answer, &(&namespace, store_now));
    agree("new run", &&*code.incarnation, &"2", &namespace);
    true
}
