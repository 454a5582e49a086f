//! What the store keeps, as small as it can be, under the product's operations.

use flakeid_core::Layout;
use flakeid_lease::protocol::{Bounds, Namespace, Owner, Record, Row, State, Token};
use flakeid_lease::store::{Candidates, Continuity, Fault, Ledger, Store};

/// Few ticks, so that clocks can read every one; a tick is a millisecond.
pub const LAYOUT: Layout = Layout::builder().time(5).node(2).sequence(1).build_const();
pub const MAX_WINDOW_MS: u64 = 2;
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
    pub incarnation: u8,
}

/// The namespace and its rows, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contents {
    pub floor: u64,
    pub incarnation: u8,
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
}

/// A connection: what is kept, which run of the server this is, what its clock reads.
pub struct ModelStore {
    pub contents: Contents,
    pub run: u8,
    pub now: i64,
    pub disguise: Disguise,
    pub max_ahead_ms: u64,
}

impl Store for ModelStore {
    fn transact(
        &mut self,
        _namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Self { run, now, disguise, max_ahead_ms, .. } = *self;
        let bounds =
            Bounds { max_window_ms: MAX_WINDOW_MS, max_ahead_ms, max_skew_ms: MAX_SKEW_MS };
        let mut page = Page { contents: self.contents.clone(), run, now, disguise, bounds };
        work(&mut page)?;
        self.contents = page.contents;
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
struct Page {
    contents: Contents,
    run: u8,
    now: i64,
    disguise: Disguise,
    bounds: Bounds,
}

impl Page {
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
            renewed: 0,
            expires: slim.expires,
            incarnation: slim.incarnation.to_string(),
        };
        match self.disguise {
            Disguise::None | Disguise::Continuous => {}
            Disguise::NoFence => (row.fence, row.start) = (0, 0),
            Disguise::Token(token, start) => {
                (row.token, row.state, row.start) = (Some(token), State::Held, start);
            }
            Disguise::Start(start) => row.start = start,
        }
        row
    }
}

fn number(text: &str) -> u8 {
    text.parse().expect("what this store gave out")
}

impl Ledger for Page {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        let same = number(noted) == self.run || self.disguise == Disguise::Continuous;
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.run.to_string())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        Ok(Some(Namespace {
            name: NAMESPACE.into(),
            layout: LAYOUT,
            floor: self.contents.floor,
            incarnation: self.contents.incarnation.to_string(),
            bounds: self.bounds,
            keeps_history: false,
        }))
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        self.contents.floor = namespace.floor;
        self.contents.incarnation = number(&namespace.incarnation);
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
            expires: after.expires,
            incarnation: number(&after.incarnation),
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
    ) -> Result<Option<(Record, Option<u64>)>, Fault> {
        Err(Fault::Rejected("this namespace keeps no history".into()))
    }
}
