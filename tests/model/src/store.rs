//! The store of both models: the product's in-memory store without the values that do not affect safety, and with the
//! mistakes of mutants.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::Layout;
use flakeid_protocol::operations::BlockRenewal;
use flakeid_protocol::store::{
    Candidates, Continuity, Fault, Ledger, RecordsAround, Store, SubGrantsAround,
};
use flakeid_protocol::{
    Acquire, Bounds, Grant, Handover, MemorySpace, Namespace, Record, Refusal, Renew, Renewed, Row,
    State, SubGrant, Token, operations,
};

use crate::message::Message;

/// A layout with so few ticks that clocks can read every one of them. A tick is one millisecond.
pub const LAYOUT: Layout = Layout::builder().time(5).node(2).sequence(1).build_const();
pub const MAX_SKEW_MS: u64 = 1;
pub const NAMESPACE: &str = "model";

/// The namespace and its rows. Worlds share them until one of the worlds changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents(Arc<MemorySpace>);

impl Contents {
    /// Creates an empty namespace in run 0.
    pub fn new(bounds: Bounds, block_bits: u32) -> Self {
        let namespace = Namespace {
            block_bits,
            incarnation: "0".into(),
            bounds,
            keeps_history: false,
            ..Namespace::new(NAMESPACE, LAYOUT)
        };
        let mut space = MemorySpace::default();
        space.namespace = Some(Arc::new(namespace));
        Self(Arc::new(space))
    }

    pub fn namespace(&self) -> &Namespace {
        self.0.namespace.as_ref().expect("the namespace is never removed")
    }

    pub fn floor(&self) -> u64 {
        self.namespace().floor
    }

    /// Whether a row has the namespace's present incarnation.
    pub fn is_present(&self, row: &Row) -> bool {
        row.incarnation == self.namespace().incarnation
    }

    /// Whether the store has detected a restore.
    pub fn is_restored(&self) -> bool {
        self.namespace().incarnation != "0"
    }

    pub fn row(&self, node: u64) -> Option<&Row> {
        self.0.row(node)
    }

    pub fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.0.rows.iter().map(|row| &**row)
    }

    pub fn fence(&self, node: u64) -> u64 {
        self.row(node).map_or(0, |row| row.fence)
    }

    pub fn remove_rows(&mut self, is_removed: impl Fn(&Row) -> bool) {
        Arc::make_mut(&mut self.0).rows.retain(|row| !is_removed(row));
    }

    pub fn forget_quiet(&mut self) {
        if let Some(namespace) = &mut Arc::make_mut(&mut self.0).namespace {
            Arc::make_mut(namespace).quiet_until = 0;
        }
    }

    /// Replaces the token, the expiry and the renewal time of each row with the values that `update` returns. For
    /// equal rows, `update` must return equal values.
    pub fn update_rows(&mut self, mut update: impl FnMut(&Row) -> (Option<Token>, i64, i64)) {
        if self.rows().all(|row| update(row) == (row.token, row.expires, row.renewed)) {
            return;
        }
        for row in &mut Arc::make_mut(&mut self.0).rows {
            let updated = update(row);
            if updated != (row.token, row.expires, row.renewed) {
                let row = Arc::make_mut(row);
                (row.token, row.expires, row.renewed) = updated;
            }
        }
    }
}

impl Hash for Contents {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Namespace { floor, quiet_until, incarnation, .. } = self.namespace();
        (floor, quiet_until, incarnation).hash(state);
        for row in self.rows() {
            (row.node, row.fence, row.start, row.token, row.state as u8).hash(state);
            (row.expires, row.renewed, &row.incarnation, row.fixed).hash(state);
        }
        self.0.rows.len().hash(state);
    }
}

/// Returns the half of a token that identifies the grant, and the half that identifies the renewal.
pub fn halves(token: Token) -> [u64; 2] {
    [(token.to_bits() >> 64) as u64, token.to_bits() as u64]
}

/// Returns a token that differs from all known tokens. Tokens that are no longer known can be returned again.
pub fn fresh(known: impl Iterator<Item = Token>) -> Token {
    let known: Vec<u64> = known.flat_map(halves).collect();
    let half = (1..=u64::MAX)
        .find(|half| !known.contains(half))
        .expect("fewer than 2^64 halves are known");
    Token::from_bits(u128::from(half) << 64 | u128::from(half))
}

/// Returns the run of an incarnation, and how often holders proved in that run that the store had lost data.
pub fn run_and_proofs(incarnation: &str) -> (u8, u8) {
    let (run, proofs) = incarnation.split_once('~').unwrap_or((incarnation, "0"));
    let number =
        |text: &str| text.parse().expect("an incarnation of this store consists of numbers");
    (number(run), number(proofs))
}

/// The falsification by which a mutant's store differs from the product's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Falsification {
    None,
    /// Rows without a fence.
    NoFence,
    /// Rows held with the token and the start of the request.
    Token(Token, u64),
    /// A store that never reports a restore.
    Continuous,
    /// Rows whose latest grant has the start of the request.
    Start(u64),
    /// Rows from before a restore that seem to never expire; they are stored with this expiry.
    NeverExpires(i64),
    /// Rows from before a restore that seem to expire later, by the two skews that the rules require.
    ExpiresLater,
    /// Rows from before a restore that seem to have been renewed just now.
    RenewedNow,
    /// Rows from before a restore whose renewal seems to be just too old for the holder to continue.
    RenewedTooEarly,
    /// Rows from before a restore that seem to be held under the grant of the request.
    GrantIfOlder(Token, u64),
    /// Rows that seem to have been granted as fixed nodes.
    Fixed,
    /// Rows that seem not to have been granted as fixed nodes.
    NotFixed,
    /// A namespace without a floor and without a quiet time after a restore.
    NoWait,
}

/// A connection to the store: the contents, the server's run, and the reading of the server's clock.
pub struct ModelStore {
    pub contents: Contents,
    pub run: u8,
    pub now: i64,
    pub falsification: Falsification,
    /// Whether the scenario depends on the times at which rows were renewed.
    pub ages: bool,
}

impl Store for ModelStore {
    fn transact(
        &mut self,
        _namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut transaction = self.contents.0.begin(self.run.into(), self.now);
        match self.falsification {
            Falsification::None => work(&mut transaction)?,
            falsification => {
                work(&mut Falsified { ledger: &mut transaction, falsification, now: self.now })?;
            }
        }
        let mut after = transaction.space;
        self.simplify(&mut after);
        self.contents = Contents(Arc::new(after));
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        Ok(vec![NAMESPACE.into()])
    }
}

impl ModelStore {
    /// Processes a request with the product's operations, and returns the response. `acquire` contains the options of
    /// an acquire.
    pub fn respond(&mut self, request: Message, acquire: Acquire) -> Option<Message> {
        match request {
            Message::Acquire { token, now, after } => {
                let acquire = Acquire { token, now, after, ..acquire };
                let granted = operations::acquire(self, NAMESPACE, &acquire);
                Some(refusal_of(granted).map_or(Message::NotGranted { token }, |grant| {
                    Message::Granted(Grant { expires: 0, ..grant })
                }))
            }
            Message::Renew(renew) => {
                let renewed = refusal_of(operations::renew(self, NAMESPACE, &renew));
                Some(Message::renewed(renew.next, renewed))
            }
            Message::Release(release, _) => {
                operations::release(self, NAMESPACE, &release).expect("a release is never refused");
                None
            }
            _ => unreachable!("{request:?}"),
        }
    }

    /// Processes renewals in one transaction with the product's operation, and returns one response for each renewal.
    pub fn renew_together(&mut self, renewals: &[Renew]) -> Vec<Message> {
        // An instant in the future makes the waiting time of every request 0, so that the outcome does not depend on
        // the real time.
        let read = Instant::now() + Duration::from_secs(3_600);
        let of_request = |request: &Renew| BlockRenewal {
            request: *request,
            read,
            handover: Handover::default(),
        };
        let batch: Vec<_> = renewals.iter().map(of_request).collect();
        match refusal_of(operations::renew_blocks(self, NAMESPACE, &batch)) {
            Ok(responses) => {
                assert_eq!(responses.len(), renewals.len(), "each renewal has its own response");
                let each = renewals.iter().zip(responses);
                let message = |(renew, renewed): (&Renew, Result<(Renewed, u64), Refusal>)| {
                    Message::renewed(renew.next, renewed.map(|(renewed, _)| renewed))
                };
                each.map(message).collect()
            }
            Err(refusal) => {
                let message = |renew: &Renew| Message::renewed(renew.next, Err(refusal.clone()));
                renewals.iter().map(message).collect()
            }
        }
    }

    /// Removes the values that do not affect safety, and replaces the random part of a new incarnation with a number.
    fn simplify(&self, after: &mut MemorySpace) {
        let before = &self.contents.namespace().incarnation;
        let namespace = after.namespace.as_mut().expect("the namespace is never removed");
        let random = match namespace.incarnation.split_once('~') {
            Some((run, _)) if namespace.incarnation != *before => {
                let (run_before, proofs) = run_and_proofs(before);
                let proofs = if run == run_before.to_string() { proofs + 1 } else { 1 };
                let numbered = format!("{run}~{proofs}");
                Some(std::mem::replace(&mut Arc::make_mut(namespace).incarnation, numbered))
            }
            _ => None,
        };
        let is_old = |row: &Arc<Row>| self.contents.0.rows.iter().any(|old| Arc::ptr_eq(old, row));
        for row in after.rows.iter_mut().filter(|row| !is_old(row)) {
            let row = Arc::make_mut(row);
            (row.grant, row.acquired, row.history_until) = (1, 0, 0);
            if !self.ages {
                row.renewed = 0;
            }
            if random.as_ref() == Some(&row.incarnation) {
                row.incarnation.clone_from(&namespace.incarnation);
            }
        }
    }
}

/// Returns a result of this store; panics if the store reports a fault other than a refusal.
fn refusal_of<T>(response: Result<T, Fault>) -> Result<T, Refusal> {
    response.map_err(|fault| match fault {
        Fault::Refused(refusal) => refusal,
        fault => panic!("the in-memory store must not fail: {fault}"),
    })
}

struct Falsified<'a> {
    ledger: &'a mut dyn Ledger,
    falsification: Falsification,
    now: i64,
}

impl Falsified<'_> {
    fn show(&mut self, mut row: Row) -> Result<Row, Fault> {
        let namespace = self.ledger.namespace()?.expect("the namespace is never removed");
        let is_older = row.incarnation != namespace.incarnation;
        match self.falsification {
            Falsification::NeverExpires(_) if is_older => row.expires = i64::MAX,
            Falsification::ExpiresLater if is_older => row.expires += 2 * MAX_SKEW_MS.cast_signed(),
            Falsification::RenewedNow if is_older => row.renewed = self.now,
            Falsification::RenewedTooEarly if is_older => {
                row.renewed = self.now - namespace.bounds.continuation_ms().cast_signed();
            }
            Falsification::GrantIfOlder(token, start) if is_older => {
                (row.token, row.state, row.start) = (Some(token), State::Held, start);
                // The rules require that a row's fence is not below its start.
                row.fence = row.fence.max(start);
            }
            Falsification::Fixed => row.fixed = true,
            Falsification::NotFixed => row.fixed = false,
            Falsification::NoFence => (row.fence, row.start) = (0, 0),
            Falsification::Token(token, start) => {
                (row.token, row.state, row.start) = (Some(token), State::Held, start);
            }
            Falsification::Start(start) => row.start = start,
            _ => {}
        }
        Ok(row)
    }
}

impl Ledger for Falsified<'_> {
    fn now(&mut self) -> Result<i64, Fault> {
        self.ledger.now()
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        match self.falsification {
            Falsification::Continuous => Ok(Continuity::Same),
            _ => self.ledger.continuity(noted),
        }
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        self.ledger.incarnation()
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        let namespace = self.ledger.namespace()?;
        Ok(match self.falsification {
            Falsification::NoWait => {
                namespace.map(|kept| Namespace { floor: 0, quiet_until: 0, ..kept })
            }
            _ => namespace,
        })
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        let kept = self.ledger.namespace()?.expect("the namespace is never removed");
        let floor = namespace.floor.max(kept.floor);
        let quiet_until = namespace.quiet_until.max(kept.quiet_until);
        self.ledger.put_namespace(&Namespace { floor, quiet_until, ..namespace.clone() })
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        self.ledger.row(node)?.map(|row| self.show(row)).transpose()
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let rows = self.rows()?.into_iter().filter(|row| candidates.include(row));
        Ok(rows.min_by_key(|row| (row.fence, row.node)))
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        self.ledger.unused(from, to, first)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        self.ledger.rows()?.into_iter().map(|row| self.show(row)).collect()
    }

    fn put_row(&mut self, _before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        let before = self.ledger.row(after.node)?;
        let expires = match self.falsification {
            Falsification::NeverExpires(expires) if after.expires == i64::MAX => expires,
            _ => after.expires,
        };
        self.ledger.put_row(before.as_ref(), &Row { expires, ..after.clone() })
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        self.ledger.record(record)
    }

    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault> {
        self.ledger.records_around(node, tick)
    }

    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault> {
        self.ledger.oldest_records(node, limit)
    }

    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault> {
        self.ledger.remove_records_through(last)
    }

    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault> {
        self.ledger.record_sub_grants(sub_grants)
    }

    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault> {
        self.ledger.sub_grants_around(node, tick)
    }

    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault> {
        self.ledger.oldest_sub_grants(from, to, limit)
    }

    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault> {
        self.ledger.remove_sub_grants_through(last)
    }
}
