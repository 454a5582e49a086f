//! What SQL knows of the protocol's types: values, and the cells of a row.

use flakeid_core::Layout;

use crate::protocol::{Bounds, Namespace, Owner, Record, Row, State, Token};
use crate::store::Fault;

/// A parameter, or a cell of an answer.
#[derive(Clone, Debug)]
pub(in crate::store) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Boolean(bool),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A number as SQL has it, where integers have a sign.
///
/// # Errors
/// [`Fault::Rejected`] naming the field of a number above 2^63 − 1.
pub(in crate::store) fn to_bigint(field: &str, value: u64) -> Result<Value, Fault> {
    let signed = i64::try_from(value);
    signed
        .map(Value::Integer)
        .map_err(|_| Fault::Rejected(format!("{field} {value} is above {}", i64::MAX)))
}

pub(super) const ROW_COLUMNS: &str = "node, fence, start, token, grant_number, state, owner_name, \
     owner_host, owner_pid, acquired, renewed, expires, incarnation";

pub(super) fn row_values(row: &Row) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        to_bigint("node", row.node)?,
        to_bigint("fence", row.fence)?,
        to_bigint("start", row.start)?,
        row.token.map(Token::to_text).into(),
        to_bigint("grant", row.grant)?,
        row.state.name().into(),
        row.owner.name.as_str().into(),
        row.owner.host.as_str().into(),
        Value::Integer(row.owner.pid.into()),
        row.acquired.into(),
        row.renewed.into(),
        row.expires.into(),
        row.incarnation.as_str().into(),
    ])
}

pub(super) const NAMESPACE_COLUMNS: &str =
    "layout, floor, incarnation, max_window_ms, max_ahead_ms, max_skew_ms, keeps_history";

pub(super) fn namespace_values(namespace: &Namespace) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        namespace.layout.to_string().into(),
        to_bigint("floor", namespace.floor)?,
        namespace.incarnation.as_str().into(),
        to_bigint("max_window_ms", namespace.bounds.max_window_ms)?,
        to_bigint("max_ahead_ms", namespace.bounds.max_ahead_ms)?,
        to_bigint("max_skew_ms", namespace.bounds.max_skew_ms)?,
        namespace.keeps_history.into(),
    ])
}

pub(super) const RECORD_COLUMNS: &str =
    "node, grant_number, start, owner_name, owner_host, owner_pid, acquired";

pub(super) fn record_values(record: &Record) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        to_bigint("node", record.node)?,
        to_bigint("grant", record.grant)?,
        to_bigint("start", record.start)?,
        record.owner.name.as_str().into(),
        record.owner.host.as_str().into(),
        Value::Integer(record.owner.pid.into()),
        record.acquired.into(),
    ])
}

/// The cells of one row, read from left to right. Somebody may have edited them: what makes no sense
/// is a [`Fault::Rejected`] that names namespace, node, field and value, but never shows a token.
pub(super) struct Cells<'a> {
    namespace: &'a str,
    /// If the row is about one.
    node: Option<i64>,
    values: std::vec::IntoIter<Value>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(namespace: &'a str, values: Vec<Value>) -> Self {
        Self { namespace, node: None, values: values.into_iter() }
    }

    /// Of a row whose first cell is a node.
    fn with_node(namespace: &'a str, values: Vec<Value>) -> Self {
        let node = match values.first() {
            Some(Value::Integer(node)) => Some(*node),
            _ => None,
        };
        Self { node, ..Self::new(namespace, values) }
    }

    /// `node` and the columns of [`ROW_COLUMNS`].
    pub(super) fn row(namespace: &str, values: Vec<Value>) -> Result<Row, Fault> {
        let mut cells = Cells::with_node(namespace, values);
        Ok(Row {
            node: cells.number("node")?,
            fence: cells.number("fence")?,
            start: cells.number("start")?,
            token: cells.token()?,
            grant: cells.number("grant_number")?,
            state: cells.parse("state", State::from_name)?,
            owner: cells.owner()?,
            acquired: cells.integer("acquired")?,
            renewed: cells.integer("renewed")?,
            expires: cells.integer("expires")?,
            incarnation: cells.text("incarnation")?,
        })
    }

    /// The columns of [`RECORD_COLUMNS`], and the start of the next record.
    pub(super) fn record(
        namespace: &str,
        values: Vec<Value>,
    ) -> Result<(Record, Option<u64>), Fault> {
        let mut cells = Cells::with_node(namespace, values);
        let record = Record {
            node: cells.number("node")?,
            grant: cells.number("grant_number")?,
            start: cells.number("start")?,
            owner: cells.owner()?,
            acquired: cells.integer("acquired")?,
        };
        Ok((record, cells.optional_number("start")?))
    }

    /// The columns of [`NAMESPACE_COLUMNS`].
    pub(super) fn namespace(name: &str, values: Vec<Value>) -> Result<Namespace, Fault> {
        let mut cells = Cells::new(name, values);
        Ok(Namespace {
            name: name.into(),
            layout: cells.parse("layout", |text| text.parse::<Layout>().ok())?,
            floor: cells.number("floor")?,
            incarnation: cells.text("incarnation")?,
            bounds: Bounds {
                max_window_ms: cells.number("max_window_ms")?,
                max_ahead_ms: cells.number("max_ahead_ms")?,
                max_skew_ms: cells.number("max_skew_ms")?,
            },
            keeps_history: cells.boolean("keeps_history")?,
        })
    }

    pub(super) fn number(&mut self, field: &str) -> Result<u64, Fault> {
        self.optional_number(field)?.ok_or_else(|| self.damaged(field, "NULL"))
    }

    fn optional_number(&mut self, field: &str) -> Result<Option<u64>, Fault> {
        let Some(number) = self.optional_integer(field)? else { return Ok(None) };
        let unsigned = u64::try_from(number);
        unsigned.map(Some).map_err(|_| self.damaged(field, &number.to_string()))
    }

    fn integer(&mut self, field: &str) -> Result<i64, Fault> {
        self.optional_integer(field)?.ok_or_else(|| self.damaged(field, "NULL"))
    }

    fn optional_integer(&mut self, field: &str) -> Result<Option<i64>, Fault> {
        match self.next() {
            Value::Integer(number) => Ok(Some(number)),
            Value::Null => Ok(None),
            Value::Text(text) => Err(self.damaged(field, &text)),
            Value::Boolean(boolean) => Err(self.damaged(field, &boolean.to_string())),
        }
    }

    /// Not every database has a type for it.
    fn boolean(&mut self, field: &str) -> Result<bool, Fault> {
        match self.next() {
            Value::Boolean(boolean) => Ok(boolean),
            Value::Integer(number) => Ok(number != 0),
            Value::Null => Err(self.damaged(field, "NULL")),
            Value::Text(text) => Err(self.damaged(field, &text)),
        }
    }

    fn text(&mut self, field: &str) -> Result<String, Fault> {
        match self.next() {
            Value::Text(text) => Ok(text),
            _ => Err(self.damaged(field, "not a text")),
        }
    }

    fn parse<T>(&mut self, field: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let text = self.text(field)?;
        read(&text).ok_or_else(|| self.damaged(field, &text))
    }

    fn token(&mut self) -> Result<Option<Token>, Fault> {
        let token = match self.next() {
            Value::Null => return Ok(None),
            Value::Text(text) => Token::from_text(&text),
            Value::Integer(_) | Value::Boolean(_) => None,
        };
        token.map(Some).ok_or_else(|| self.damaged("token", "(not shown)"))
    }

    fn owner(&mut self) -> Result<Owner, Fault> {
        let (name, host) = (self.text("owner_name")?, self.text("owner_host")?);
        let pid = self.integer("owner_pid")?;
        let number = u32::try_from(pid).map_err(|_| self.damaged("owner_pid", &pid.to_string()));
        Ok(Owner { name, host, pid: number? })
    }

    fn next(&mut self) -> Value {
        self.values.next().unwrap_or(Value::Null)
    }

    fn damaged(&self, field: &str, value: &str) -> Fault {
        let node = self.node.map(|node| format!("node {node} of ")).unwrap_or_default();
        let shown: String = value.chars().take(80).collect();
        Fault::Rejected(format!(
            "{node}namespace {:?} has {field} {shown:?}, which makes no sense: it was edited or \
             damaged",
            self.namespace
        ))
    }
}
