//! What the store keeps, as small as it can be, under the product's operations.

use flakeid_core::Layout;
use flakeid_protocol::store::{Candidates, Continuity, Fault, Ledger, Store, SubGrantsAround};
use flakeid_protocol::{Bounds, Namespace, Owner, Record, Row, State, SubGrant, Token};

/// Few ticks, so that clocks can read every one; a tick is a millisecond.
pub const LAYOUT: Layout = Layout::builder().time(5).node(2).sequence(1).build_const();
pub const MAX_SKEW_MS: u64 = 1;
pub const NAMESPACE: &str = "model";

/// A run of the store, and how often holders have proved in it that the store forgot something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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

/// The row of a block, without what safety does not depend on.
#[derive(Clone, Debug)]
pub struct Slim {
    pub block: u64,
    pub fence: u64,
    pub start: u64,
    pub token: Option<Token>,
    pub state: State,
    pub expires: i64,
    pub renewed: i64,
    pub incarnation: Incarnation,
}

/// The namespace and its rows, by block.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    pub floor: u64,
    pub quiet_until: i64,
    pub incarnation: Incarnation,
    pub rows: Vec<Slim>,
}

impl Contents {
    pub fn row(&self, block: u64) -> Option<&Slim> {
        self.rows.iter().find(|row| row.block == block)
    }
}

/// A connection: what is kept, which run of the server this is, what its clock reads.
pub struct ModelStore {
    pub contents: Contents,
    pub run: u8,
    pub now: i64,
    pub bounds: Bounds,
    pub block_bits: u32,
    /// Whether it does not notice that it was restored.
    pub is_blind: bool,
}

impl Store for ModelStore {
    fn transact(
        &mut self,
        _namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let contents = self.contents.clone();
        let mut transaction = Transaction { contents, store: self, proof: None };
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
struct Transaction<'a> {
    contents: Contents,
    store: &'a ModelStore,
    /// An incarnation that a holder's proof has just begun, as the operations call it.
    proof: Option<String>,
}

fn widen(slim: &Slim) -> Row {
    Row {
        node: slim.block,
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
        fixed: false,
        history_until: 0,
    }
}

impl Ledger for Transaction<'_> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.store.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        let same = Incarnation::from_text(noted).run == self.store.run || self.store.is_blind;
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.store.run.to_string())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        Ok(Some(Namespace {
            name: NAMESPACE.into(),
            layout: LAYOUT,
            block_bits: self.store.block_bits,
            floor: self.contents.floor,
            quiet_until: self.contents.quiet_until,
            incarnation: self.contents.incarnation.to_text(),
            bounds: self.store.bounds,
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

    fn row(&mut self, block: u64) -> Result<Option<Row>, Fault> {
        Ok(self.contents.row(block).map(widen))
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let rows = self.rows()?.into_iter().filter(|row| candidates.include(row));
        Ok(rows.min_by_key(|row| (row.fence, row.node)))
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        let mut order = (first..=to).chain(from..first);
        Ok(order.find(|block| self.contents.row(*block).is_none()))
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        Ok(self.contents.rows.iter().map(widen).collect())
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.row(after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        let slim = Slim {
            block: after.node,
            fence: after.fence,
            start: after.start,
            token: after.token,
            state: after.state,
            expires: after.expires,
            renewed: after.renewed,
            incarnation: if self.proof.as_ref() == Some(&after.incarnation) {
                self.contents.incarnation
            } else {
                Incarnation::from_text(&after.incarnation)
            },
        };
        let rows = &mut self.contents.rows;
        match rows.binary_search_by_key(&slim.block, |row| row.block) {
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
