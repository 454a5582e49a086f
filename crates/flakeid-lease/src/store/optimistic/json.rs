use std::fmt;

use flakeid_core::Layout;
use serde_json::{Map, Value, json};

use super::super::Fault;
use crate::protocol::{Bounds, Namespace, Owner, Record, Row, State, Token};

/// A namespace as it is kept.
pub(super) fn namespace_text(namespace: &Namespace) -> String {
    json!({
        "layout": namespace.layout.to_string(),
        "floor": namespace.floor,
        "incarnation": namespace.incarnation,
        "max_window_ms": namespace.bounds.max_window_ms,
        "max_ahead_ms": namespace.bounds.max_ahead_ms,
        "max_skew_ms": namespace.bounds.max_skew_ms,
        "keeps_history": namespace.keeps_history,
    })
    .to_string()
}

/// Reads what [`namespace_text`] wrote.
pub(in super::super) fn namespace_of(name: &str, text: &str) -> Result<Namespace, Fault> {
    let fields = Fields::read(format!("namespace {name:?}"), text)?;
    Ok(Namespace {
        name: name.into(),
        layout: fields.parsed("layout", |text| text.parse::<Layout>().ok())?,
        floor: fields.tick("floor")?,
        incarnation: fields.text("incarnation")?.into(),
        bounds: Bounds {
            max_window_ms: fields.tick("max_window_ms")?,
            max_ahead_ms: fields.tick("max_ahead_ms")?,
            max_skew_ms: fields.tick("max_skew_ms")?,
        },
        keeps_history: fields.get("keeps_history", Value::as_bool)?,
    })
}

/// A row as it is kept.
pub(super) fn row_text(row: &Row) -> String {
    json!({
        "fence": row.fence,
        "start": row.start,
        "token": row.token.map(Token::to_text).unwrap_or_default(),
        "grant": row.grant,
        "state": row.state.name(),
        "name": row.owner.name,
        "host": row.owner.host,
        "pid": row.owner.pid,
        "acquired": row.acquired,
        "renewed": row.renewed,
        "expires": row.expires,
        "incarnation": row.incarnation,
    })
    .to_string()
}

/// Reads what [`row_text`] wrote.
pub(in super::super) fn row_of(namespace: &str, node: u64, text: &str) -> Result<Row, Fault> {
    let fields = Fields::read(format!("node {node} of namespace {namespace:?}"), text)?;
    Ok(Row {
        node,
        fence: fields.tick("fence")?,
        start: fields.tick("start")?,
        token: fields.token()?,
        grant: fields.tick("grant")?,
        state: fields.parsed("state", State::from_name)?,
        owner: fields.owner()?,
        acquired: fields.get("acquired", Value::as_i64)?,
        renewed: fields.get("renewed", Value::as_i64)?,
        expires: fields.get("expires", Value::as_i64)?,
        incarnation: fields.text("incarnation")?.into(),
    })
}

/// A record as it is kept.
pub(super) fn record_text(record: &Record) -> String {
    json!({
        "grant": record.grant,
        "start": record.start,
        "name": record.owner.name,
        "host": record.owner.host,
        "pid": record.owner.pid,
        "acquired": record.acquired,
    })
    .to_string()
}

/// Reads what [`record_text`] wrote.
pub(in super::super) fn record_of(namespace: &str, node: u64, text: &str) -> Result<Record, Fault> {
    let fields = Fields::read(format!("the history of node {node} of {namespace:?}"), text)?;
    Ok(Record {
        node,
        grant: fields.tick("grant")?,
        start: fields.tick("start")?,
        owner: fields.owner()?,
        acquired: fields.get("acquired", Value::as_i64)?,
    })
}

/// Named values that somebody may have edited.
struct Fields {
    place: String,
    map: Map<String, Value>,
}

impl Fields {
    fn read(place: String, text: &str) -> Result<Self, Fault> {
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(Self { place, map }),
            // Not the text itself: there is a token in it.
            _ => Err(Fault::Rejected(format!(
                "what the store has for {place} is no JSON object: it was edited or damaged"
            ))),
        }
    }

    fn get<'a, T>(
        &'a self,
        field: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<T, Fault> {
        let value = self.map.get(field);
        value.and_then(read).ok_or_else(|| self.nonsense(field, value))
    }

    fn text(&self, field: &str) -> Result<&str, Fault> {
        self.get(field, Value::as_str)
    }

    fn parsed<T>(&self, field: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        self.get(field, |value| value.as_str().and_then(&read))
    }

    /// Stores with signed columns hold no more than this.
    fn tick(&self, field: &str) -> Result<u64, Fault> {
        self.get(field, |value| value.as_u64().filter(|tick| i64::try_from(*tick).is_ok()))
    }

    fn owner(&self) -> Result<Owner, Fault> {
        Ok(Owner {
            name: self.text("name")?.into(),
            host: self.text("host")?.into(),
            pid: self.get("pid", |value| value.as_u64().and_then(|pid| pid.try_into().ok()))?,
        })
    }

    fn token(&self) -> Result<Option<Token>, Fault> {
        self.parsed("token", |text| match text {
            "" => Some(None),
            text => Token::from_text(text).map(Some),
        })
    }

    fn nonsense(&self, field: &str, value: Option<&Value>) -> Fault {
        let value: &dyn fmt::Display = match value {
            None => &"missing",
            Some(_) if field == "token" => &"no token",
            Some(value) => &format!("{:.60}", value.to_string()),
        };
        Fault::Rejected(format!(
            "the field {field} of {} makes no sense ({value}): it was edited or damaged",
            self.place
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            node: 7,
            fence: (1 << 53) + 1,
            start: 5,
            token: Some(Token::from_bits(0xfeed)),
            grant: 3,
            state: State::Held,
            owner: Owner { name: "a \"b\" ü".into(), host: "h".into(), pid: u32::MAX },
            acquired: 1,
            renewed: 2,
            expires: i64::MAX,
            incarnation: "i".into(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(row_of("n", 7, &row_text(&row())).unwrap(), row());
        let free = Row { token: None, state: State::Free, ..row() };
        assert_eq!(row_of("n", 7, &row_text(&free)).unwrap(), free);

        let namespace = Namespace { floor: 9, ..Namespace::new("n", Layout::SONYFLAKE) };
        assert_eq!(namespace_of("n", &namespace_text(&namespace)).unwrap(), namespace);

        let record = Record { node: 7, grant: 2, start: 5, owner: row().owner, acquired: 4 };
        assert_eq!(record_of("n", 7, &record_text(&record)).unwrap(), record);
    }

    #[test]
    fn nonsense_is_named_and_a_token_never_shown() {
        for (field, text, shown) in [
            ("fence", json!(-1), "(-1)"),
            ("fence", json!(1_u64 << 63), "9223372036854775808"),
            ("fence", json!("many"), "many"),
            ("state", json!("lost"), "lost"),
            ("pid", json!(1_u64 << 40), "1099511627776"),
            ("token", json!("0123secret"), "no token"),
        ] {
            let mut fields: Value = serde_json::from_str(&row_text(&row())).unwrap();
            fields[field] = text;
            let Err(Fault::Rejected(told)) = row_of("n", 7, &fields.to_string()) else {
                panic!("{field} was taken");
            };
            assert!(told.contains(field) && told.contains(shown) && told.contains("node 7"));
            assert!(!told.contains("secret"), "{told}");
        }
        assert!(
            matches!(row_of("n", 7, "feed"), Err(Fault::Rejected(text)) if !text.contains("feed"))
        );
    }
}
