//! What the store keeps, as small as it can be, under the product's operations.

use flakeid_core::Layout;
use flakeid_protocol::store::{Candidates, Continuity, Fault, Ledger, Store, SubGrantsAround};
use flakeid_protocol::{Bounds, Namespace, Owner, Record, Row, State, SubGrant, Token};

/// Few ticks, so that clocks can read every one; a tick is a millisecond.
pub const LAYOUT: Layout = Layout::builder().time(5).node(2).sequence(1).build_const();
pub const MAX_SKEW_MS: u64 = 1;
pub const NAMESPACE: &str = "model";
pub const NODES: u64 = 3;

/// A row without what safety does not depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slim {
    pub node: u64,
    pub fence: u64,
    pub start: u64,
    pub token: Option<Token>,
    pub state: State,
    pub expires: i64,
    /// Always 0 where no holder can go on after a restoration.
    pub renewed: i64,
    pub incarnation: Incarnation,
    pub fixed: bool,
}

/// A run of the store, and how often holders have proved in it that the store forgot something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation {
    pub run: u8,
    pub proofs: u8,
}

impl Incarnation {
    fn to_text(self) -> String {
        if self.proofs == 0 {
            self.run.to_string()
        } else {
            format!("{}~{}", self.run, self.proofs)
        }
    }

    fn from_text(text: &str) -> Self {
        let (run, proofs) = text.split_once('~').unwrap_or((text, "0"));
        let number = |text: &str| text.parse().expect("what this store gave out");
        Self { run: number(run), proofs: number(proofs) }
    }
}

/// The namespace and its rows, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contents {
    pub floor: u64,
    pub quiet_until: i64,
    pub incarnation: Incarnation,
    pub rows: Vec<Slim>,
}

impl Contents {
    pub fn row(&self, node: u64) -> Option<&Slim> {
        self.rows.iter().find(|row| row.node == node)
    }

    pub fn fence(&self, node: u64) -> u64 {
        self.row(node).map_or(0, |row| row.fence)
    }
}

/// What a broken store shows the rules instead of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disguise {
    None,
    /// Rows without a fence.
    NoFence,
    /// Rows held with this token, of the grant with this start: those that the request has.
    Token(Token, u64),
    /// A store that is always what it was.
    Continuous,
    /// Rows of which the latest grant is always the one that the request is for.
    Start(u64),
    /// Rows from before a restoration that never expire, but do so after this time in fact.
    NeverExpires(i64),
    /// Rows from before a restoration that expire as many skews later as the rules ask for.
    ExpiresLater,
    /// Rows from before a restoration that were renewed just now.
    RenewedNow,
    /// Rows from before a restoration that were renewed just too long ago for continuing.
    RenewedTooEarly,
    /// Rows from before a restoration that are of the grant that the request is for.
    GrantIfOlder(Token, u64),
    /// Rows that were all granted as fixed nodes.
    Fixed,
    /// Rows of which none was granted as a fixed node.
    NotFixed,
    /// A namespace without a floor, in which nothing is waited for.
    NoWait,
}

/// A connection: what is kept, which run of the server this is, what its clock reads.
pub struct ModelStore {
    pub contents: Contents,
    pub run: u8,
    pub now: i64,
    pub disguise: Disguise,
    pub bounds: Bounds,
    pub ages: bool,
}

impl Store for ModelStore {
    fn transact(
        &mut self,
        _namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Self { run, now, disguise, bounds, ages, .. } = *self;
        let contents = self.contents.clone();
        let mut transaction =
            Transaction { contents, run, now, disguise, bounds, ages, proof: None };
        work(&mut transaction)?;
        self.contents = transaction.contents;
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        Ok(vec![NAMESPACE.into()])
    }
}

/// One transaction's copy.
struct Transaction {
    contents: Contents,
    run: u8,
    now: i64,
    disguise: Disguise,
    bounds: Bounds,
    ages: bool,
    /// An incarnation that a holder's proof has just begun, as the operations call it.
    proof: Option<String>,
}

impl Transaction {
    fn widen(&self, slim: &Slim) -> Row {
        let mut row = Row {
            node: slim.node,
            fence: slim.fence,
            start: slim.start,
            token: slim.token,
            grant: 1,
            state: slim.state,
            owner: Owner::default(),
            acquired: 0,
            renewed: slim.renewed,
            expires: slim.expires,
            incarnation: slim.incarnation.to_text(),
            fixed: slim.fixed,
            history_until: 0,
        };
        let is_older = slim.incarnation != self.contents.incarnation;
        match self.disguise {
            Disguise::NeverExpires(_) if is_older => row.expires = i64::MAX,
            Disguise::ExpiresLater if is_older => row.expires += 2 * MAX_SKEW_MS.cast_signed(),
            Disguise::RenewedNow if is_older => row.renewed = self.now,
            Disguise::RenewedTooEarly if is_older => {
                row.renewed = self.now - self.bounds.continuation_ms().cast_signed();
            }
            Disguise::GrantIfOlder(token, start) if is_older => {
                (row.token, row.state, row.start) = (Some(token), State::Held, start);
                // A row whose fence is below its start makes no sense.
                row.fence = row.fence.max(start);
            }
            Disguise::Fixed => row.fixed = true,
            Disguise::NotFixed => row.fixed = false,
            Disguise::None
            | Disguise::Continuous
            | Disguise::NoWait
            | Disguise::NeverExpires(_)
            | Disguise::ExpiresLater
            | Disguise::RenewedNow
            | Disguise::RenewedTooEarly
            | Disguise::GrantIfOlder(..) => {}
            Disguise::NoFence => (row.fence, row.start) = (0, 0),
            Disguise::Token(token, start) => {
                (row.token, row.state, row.start) = (Some(token), State::Held, start);
            }
            Disguise::Start(start) => row.start = start,
        }
        row
    }
}

impl Ledger for Transaction {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        let same =
            Incarnation::from_text(noted).run == self.run || self.disguise == Disguise::Continuous;
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.run.to_string())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        Ok(Some(Namespace {
            name: NAMESPACE.into(),
            layout: LAYOUT,
            block_bits: 0,
            floor: if self.disguise == Disguise::NoWait { 0 } else { self.contents.floor },
            quiet_until: match self.disguise {
                Disguise::NoWait => 0,
                _ => self.contents.quiet_until,
            },
            incarnation: self.contents.incarnation.to_text(),
            bounds: self.bounds,
            keeps_history: false,
        }))
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        self.contents.floor = self.contents.floor.max(namespace.floor);
        self.contents.quiet_until = self.contents.quiet_until.max(namespace.quiet_until);
        let kept = self.contents.incarnation;
        if namespace.incarnation == kept.to_text() {
            return Ok(());
        }
        self.contents.incarnation = if namespace.incarnation.contains('~') {
            self.proof = Some(namespace.incarnation.clone());
            Incarnation { proofs: kept.proofs + 1, ..kept }
        } else {
            Incarnation::from_text(&namespace.incarnation)
        };
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        Ok(self.contents.row(node).map(|row| self.widen(row)))
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let rows = self.rows()?.into_iter().filter(|row| candidates.include(row));
        Ok(rows.min_by_key(|row| (row.fence, row.node)))
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        let mut order = (first..=to).chain(from..first);
        Ok(order.find(|node| self.contents.row(*node).is_none()))
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        Ok(self.contents.rows.iter().map(|row| self.widen(row)).collect())
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.row(after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        let slim = Slim {
            node: after.node,
            fence: after.fence,
            start: after.start,
            token: after.token,
            state: after.state,
            expires: match self.disguise {
                Disguise::NeverExpires(expires) if after.expires == i64::MAX => expires,
                _ => after.expires,
            },
            renewed: if self.ages { after.renewed } else { 0 },
            incarnation: if self.proof.as_ref() == Some(&after.incarnation) {
                self.contents.incarnation
            } else {
                Incarnation::from_text(&after.incarnation)
            },
            fixed: after.fixed,
        };
        let rows = &mut self.contents.rows;
        match rows.binary_search_by_key(&slim.node, |row| row.node) {
            Ok(place) => rows[place] = slim,
            Err(place) => rows.insert(place, slim),
        }
        Ok(())
    }

    fn record(&mut self, _record: &Record) -> Result<(), Fault> {
        Err(Fault::Rejected("this namespace keeps no history".into()))
    }

    fn record_at(
        &mut self,
        _node: u64,
        _tick: u64,
    ) -> Result<Option<(Record, Option<Record>)>, Fault> {
        Err(Fault::Rejected("this namespace keeps no history".into()))
    }

    fn record_sub_grants(&mut self, _sub_grants: &[SubGrant]) -> Result<(), Fault> {
        Err(Fault::Rejected("this namespace keeps no history".into()))
    }

    fn sub_grants_around(&mut self, _node: u64, _tick: u64) -> Result<SubGrantsAround, Fault> {
        Err(Fault::Rejected("this namespace keeps no history".into()))
    }
}
