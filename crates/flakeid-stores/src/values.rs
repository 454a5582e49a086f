//! The conversion of namespaces, rows and records to and from values that every store can hold. Each value is stored in
//! a column of a table or in a field of a JSON object.

use flakeid_core::Layout;

use flakeid_protocol::store::Fault;
use flakeid_protocol::{Bounds, Namespace, Owner, Record, Row, State, SubGrant, Token};

/// The value of a column or a JSON field.
#[derive(Clone, Debug)]
pub(super) enum Value {
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

/// Converts a number to a signed 64-bit integer, because standard SQL lacks unsigned integers. Numbers that do not fit
/// are rejected even for stores that use JSON, although JSON has no such limit.
///
/// # Errors
/// [`Fault::Rejected`], which names the field, if the number is above 2^63 − 1.
pub(super) fn to_bigint(field: &str, value: u64) -> Result<Value, Fault> {
    let signed = i64::try_from(value);
    signed
        .map(Value::Integer)
        .map_err(|_| Fault::Rejected(format!("{field} {value} is above {}", i64::MAX)))
}

/// Returns the values of a row, in the order of the columns.
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
        row.fixed.into(),
        to_bigint("history_until", row.history_until)?,
    ])
}

/// Returns the values of a namespace, in the order of the columns.
pub(super) fn namespace_values(namespace: &Namespace) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        namespace.layout.to_string().into(),
        Value::Integer(namespace.block_bits.into()),
        to_bigint("floor", namespace.floor)?,
        namespace.quiet_until.into(),
        namespace.incarnation.as_str().into(),
        to_bigint("max_window_ms", namespace.bounds.max_window_ms)?,
        to_bigint("max_ahead_ms", namespace.bounds.max_ahead_ms)?,
        to_bigint("max_skew_ms", namespace.bounds.max_skew_ms)?,
        to_bigint("quiet_ms", namespace.bounds.quiet_ms)?,
        namespace.keeps_history.into(),
    ])
}

/// Returns the values of a record, in the order of the columns.
pub(super) fn record_values(record: &Record) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        to_bigint("node", record.node)?,
        to_bigint("grant", record.grant)?,
        to_bigint("start", record.start)?,
        record.owner.name.as_str().into(),
        record.owner.host.as_str().into(),
        Value::Integer(record.owner.pid.into()),
        record.acquired.into(),
        to_bigint("previous_until", record.previous_until)?,
    ])
}

/// Returns the values of a sub-grant, in the order of the columns.
pub(super) fn sub_grant_values(sub: &SubGrant) -> Result<Vec<Value>, Fault> {
    Ok(vec![
        to_bigint("node", sub.node)?,
        to_bigint("start", sub.start)?,
        to_bigint("block_grant", sub.block_grant)?,
        to_bigint("grant", sub.grant)?,
        sub.owner.name.as_str().into(),
        sub.owner.host.as_str().into(),
        Value::Integer(sub.owner.pid.into()),
        sub.acquired.into(),
    ])
}

/// A reader for the cells of one row, from left to right. An invalid value, for example in a cell that a user edited,
/// results in [`Fault::Rejected`]. The message contains the namespace, the node, the field and the value, but never a
/// token.
pub(super) struct Cells<'a> {
    namespace: &'a str,
    /// The node that the row describes; `None` for a namespace or an invalid node.
    node: Option<i64>,
    values: std::vec::IntoIter<Value>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(namespace: &'a str, values: Vec<Value>) -> Self {
        Self { namespace, node: None, values: values.into_iter() }
    }

    /// Creates a reader for a row whose first cell contains a node.
    fn with_node(namespace: &'a str, values: Vec<Value>) -> Self {
        let node = match values.first() {
            Some(Value::Integer(node)) => Some(*node),
            _ => None,
        };
        Self { node, ..Self::new(namespace, values) }
    }

    /// Reads a row from its values, in the order of [`row_values`].
    pub(super) fn read_row(namespace: &str, values: Vec<Value>) -> Result<Row, Fault> {
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
            fixed: cells.boolean("fixed")?,
            history_until: cells.number("history_until")?,
        })
    }

    /// Reads a record from its values, in the order of [`record_values`].
    pub(super) fn read_record(namespace: &str, values: Vec<Value>) -> Result<Record, Fault> {
        let mut cells = Cells::with_node(namespace, values);
        Ok(Record {
            node: cells.number("node")?,
            grant: cells.number("grant_number")?,
            start: cells.number("start")?,
            owner: cells.owner()?,
            acquired: cells.integer("acquired")?,
            previous_until: cells.number("previous_until")?,
        })
    }

    /// Reads a sub-grant from its values, in the order of [`sub_grant_values`].
    pub(super) fn read_sub_grant(namespace: &str, values: Vec<Value>) -> Result<SubGrant, Fault> {
        let mut cells = Cells::with_node(namespace, values);
        Ok(SubGrant {
            node: cells.number("node")?,
            start: cells.number("start")?,
            block_grant: cells.number("block_grant")?,
            grant: cells.number("grant_number")?,
            owner: cells.owner()?,
            acquired: cells.integer("acquired")?,
        })
    }

    /// Reads a namespace from its values, in the order of [`namespace_values`].
    pub(super) fn read_namespace(name: &str, values: Vec<Value>) -> Result<Namespace, Fault> {
        let mut cells = Cells::new(name, values);
        Ok(Namespace {
            name: name.into(),
            layout: cells.parse("layout", |text| text.parse::<Layout>().ok())?,
            block_bits: cells.block_bits()?,
            floor: cells.number("floor")?,
            quiet_until: cells.integer("quiet_until")?,
            incarnation: cells.text("incarnation")?,
            bounds: Bounds {
                max_window_ms: cells.number("max_window_ms")?,
                max_ahead_ms: cells.number("max_ahead_ms")?,
                max_skew_ms: cells.number("max_skew_ms")?,
                quiet_ms: cells.number("quiet_ms")?,
            },
            keeps_history: cells.boolean("keeps_history")?,
        })
    }

    pub(super) fn number(&mut self, field: &str) -> Result<u64, Fault> {
        match self.next() {
            Value::Integer(number @ 0..) => Ok(number.cast_unsigned()),
            other => Err(self.damage_fault(field, &other)),
        }
    }

    fn integer(&mut self, field: &str) -> Result<i64, Fault> {
        match self.next() {
            Value::Integer(number) => Ok(number),
            other => Err(self.damage_fault(field, &other)),
        }
    }

    /// Reads a boolean value, which databases without a boolean type store as an integer.
    fn boolean(&mut self, field: &str) -> Result<bool, Fault> {
        match self.next() {
            Value::Boolean(boolean) => Ok(boolean),
            Value::Integer(number) => Ok(number != 0),
            other => Err(self.damage_fault(field, &other)),
        }
    }

    fn text(&mut self, field: &str) -> Result<String, Fault> {
        match self.next() {
            Value::Text(text) => Ok(text),
            other => Err(self.damage_fault(field, &other)),
        }
    }

    fn parse<T>(&mut self, field: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let text = self.text(field)?;
        read(&text).ok_or_else(|| self.damage_fault(field, &text.into()))
    }

    fn block_bits(&mut self) -> Result<u32, Fault> {
        let number = self.integer("block_bits")?;
        let bits = u32::try_from(number).ok().filter(|bits| *bits < u64::BITS);
        bits.ok_or_else(|| self.damage_fault("block_bits", &number.into()))
    }

    fn token(&mut self) -> Result<Option<Token>, Fault> {
        let token = match self.next() {
            Value::Null => return Ok(None),
            Value::Text(text) => Token::from_text(&text),
            _ => None,
        };
        token.map(Some).ok_or_else(|| self.damage_fault("token", &"(not shown)".into()))
    }

    fn owner(&mut self) -> Result<Owner, Fault> {
        let (name, host) = (self.text("owner_name")?, self.text("owner_host")?);
        let pid = self.integer("owner_pid")?;
        let number = u32::try_from(pid).map_err(|_| self.damage_fault("owner_pid", &pid.into()));
        Ok(Owner { name, host, pid: number? })
    }

    fn next(&mut self) -> Value {
        self.values.next().unwrap_or(Value::Null)
    }

    fn damage_fault(&self, field: &str, value: &Value) -> Fault {
        let shown = match value {
            Value::Null => "NULL",
            Value::Integer(number) => &number.to_string(),
            Value::Boolean(boolean) => &boolean.to_string(),
            Value::Text(text) => text,
        };
        damage_fault(self.namespace, self.node, field, shown)
    }
}

/// Returns the fault that reports an invalid value in a store.
pub(super) fn damage_fault(namespace: &str, node: Option<i64>, field: &str, value: &str) -> Fault {
    let node = node.map(|node| format!("node {node} of ")).unwrap_or_default();
    let shown: String = value.chars().take(80).collect();
    Fault::Rejected(format!(
        "{node}namespace {namespace:?} has {field} {shown:?}, which makes no sense: it was edited or \
         damaged"
    ))
}
