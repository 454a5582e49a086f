use flakeid_core::Layout;

use crate::protocol::{Bounds, Namespace, Owner, Record, Row, State, Token};
use crate::store::Fault;

/// A column's number, which SQL has only with a sign.
///
/// # Errors
/// [`Fault::Rejected`] naming what is above 2^63 − 1.
pub(in crate::store) fn whole(field: &str, value: u64) -> Result<i64, Fault> {
    i64::try_from(value)
        .map_err(|_| Fault::Rejected(format!("{field} {value} is above {}", i64::MAX)))
}

/// A row of `flakeid_node` in the types that SQL has.
#[derive(Debug)]
pub(in crate::store) struct RowCells {
    pub(in crate::store) node: i64,
    pub(in crate::store) fence: i64,
    pub(in crate::store) start: i64,
    pub(in crate::store) token: Option<String>,
    pub(in crate::store) grant: i64,
    pub(in crate::store) state: String,
    pub(in crate::store) owner_name: String,
    pub(in crate::store) owner_host: String,
    pub(in crate::store) owner_pid: i64,
    pub(in crate::store) acquired: i64,
    pub(in crate::store) renewed: i64,
    pub(in crate::store) expires: i64,
    pub(in crate::store) incarnation: String,
}

/// Their columns, in the order above.
impl RowCells {
    pub(in crate::store) const COLUMNS: &'static str = "node, fence, start, token, grant_number, \
        state, owner_name, owner_host, owner_pid, acquired, renewed, expires, incarnation";

    pub(in crate::store) fn of(row: &Row) -> Result<Self, Fault> {
        Ok(Self {
            node: whole("node", row.node)?,
            fence: whole("fence", row.fence)?,
            start: whole("start", row.start)?,
            token: row.token.map(Token::to_text),
            grant: whole("grant", row.grant)?,
            state: row.state.name().into(),
            owner_name: row.owner.name.clone(),
            owner_host: row.owner.host.clone(),
            owner_pid: row.owner.pid.into(),
            acquired: row.acquired,
            renewed: row.renewed,
            expires: row.expires,
            incarnation: row.incarnation.clone(),
        })
    }

    /// # Errors
    /// [`Fault::Rejected`] naming namespace, node, field and value. Never the token.
    pub(in crate::store) fn row(self, namespace: &str) -> Result<Row, Fault> {
        let at = At { namespace, node: Some(self.node) };
        let token = match self.token.as_deref() {
            None => None,
            Some(text) => {
                Some(Token::from_text(text).ok_or_else(|| at.nonsense("token", "(not shown)"))?)
            }
        };
        let state = State::from_name(&self.state).ok_or_else(|| at.nonsense("state", &self.state));
        Ok(Row {
            node: at.unsigned("node", self.node)?,
            fence: at.unsigned("fence", self.fence)?,
            start: at.unsigned("start", self.start)?,
            token,
            grant: at.unsigned("grant_number", self.grant)?,
            state: state?,
            owner: at.owner(self.owner_name, self.owner_host, self.owner_pid)?,
            acquired: self.acquired,
            renewed: self.renewed,
            expires: self.expires,
            incarnation: self.incarnation,
        })
    }
}

/// A row of `flakeid_grant`, with the start of the node's next grant.
#[derive(Debug)]
pub(in crate::store) struct RecordCells {
    pub(in crate::store) node: i64,
    pub(in crate::store) grant: i64,
    pub(in crate::store) start: i64,
    pub(in crate::store) owner_name: String,
    pub(in crate::store) owner_host: String,
    pub(in crate::store) owner_pid: i64,
    pub(in crate::store) acquired: i64,
    pub(in crate::store) next: Option<i64>,
}

impl RecordCells {
    /// # Errors
    /// [`Fault::Rejected`] as for rows.
    pub(in crate::store) fn record(self, namespace: &str) -> Result<(Record, Option<u64>), Fault> {
        let at = At { namespace, node: Some(self.node) };
        let record = Record {
            node: at.unsigned("node", self.node)?,
            grant: at.unsigned("grant_number", self.grant)?,
            start: at.unsigned("start", self.start)?,
            owner: at.owner(self.owner_name, self.owner_host, self.owner_pid)?,
            acquired: self.acquired,
        };
        let next = self.next.map(|next| at.unsigned("start", next)).transpose()?;
        Ok((record, next))
    }
}

/// A row of `flakeid_namespace`.
#[derive(Debug)]
pub(in crate::store) struct NamespaceCells {
    pub(in crate::store) layout: String,
    pub(in crate::store) floor: i64,
    pub(in crate::store) incarnation: String,
    pub(in crate::store) max_window_ms: i64,
    pub(in crate::store) max_ahead_ms: i64,
    pub(in crate::store) max_skew_ms: i64,
    pub(in crate::store) keeps_history: bool,
}

impl NamespaceCells {
    pub(in crate::store) const COLUMNS: &'static str =
        "layout, floor, incarnation, max_window_ms, max_ahead_ms, max_skew_ms, keeps_history";

    pub(in crate::store) fn of(namespace: &Namespace) -> Result<Self, Fault> {
        Ok(Self {
            layout: namespace.layout.to_string(),
            floor: whole("floor", namespace.floor)?,
            incarnation: namespace.incarnation.clone(),
            max_window_ms: whole("max_window_ms", namespace.bounds.max_window_ms)?,
            max_ahead_ms: whole("max_ahead_ms", namespace.bounds.max_ahead_ms)?,
            max_skew_ms: whole("max_skew_ms", namespace.bounds.max_skew_ms)?,
            keeps_history: namespace.keeps_history,
        })
    }

    /// # Errors
    /// [`Fault::Rejected`] naming namespace, field and value.
    pub(in crate::store) fn namespace(self, name: &str) -> Result<Namespace, Fault> {
        let at = At { namespace: name, node: None };
        let layout: Result<Layout, _> = self.layout.parse();
        Ok(Namespace {
            name: name.into(),
            layout: layout.map_err(|_| at.nonsense("layout", &self.layout))?,
            floor: at.unsigned("floor", self.floor)?,
            incarnation: self.incarnation,
            bounds: Bounds {
                max_window_ms: at.unsigned("max_window_ms", self.max_window_ms)?,
                max_ahead_ms: at.unsigned("max_ahead_ms", self.max_ahead_ms)?,
                max_skew_ms: at.unsigned("max_skew_ms", self.max_skew_ms)?,
            },
            keeps_history: self.keeps_history,
        })
    }
}

/// Where a cell was read, for errors.
#[derive(Clone, Copy)]
struct At<'a> {
    namespace: &'a str,
    node: Option<i64>,
}

impl At<'_> {
    fn unsigned(self, field: &str, value: i64) -> Result<u64, Fault> {
        u64::try_from(value).map_err(|_| self.nonsense(field, &value.to_string()))
    }

    fn owner(self, name: String, host: String, pid: i64) -> Result<Owner, Fault> {
        let number = u32::try_from(pid).map_err(|_| self.nonsense("owner_pid", &pid.to_string()));
        Ok(Owner { name, host, pid: number? })
    }

    fn nonsense(self, field: &str, value: &str) -> Fault {
        let node = self.node.map(|node| format!("node {node} of ")).unwrap_or_default();
        let shown: String = value.chars().take(80).collect();
        Fault::Rejected(format!(
            "{node}namespace {:?} has {field} {shown:?}, which makes no sense: it was edited or \
             damaged",
            self.namespace
        ))
    }
}
