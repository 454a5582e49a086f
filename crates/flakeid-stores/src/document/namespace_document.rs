//! The JSON of a namespace's document.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::history::{Entries, PARTS};
use crate::json::{namespace_json, namespace_of, parse, row_json, row_of};
use crate::values::damage_fault;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Namespace, Row, Token};

/// The contents of a namespace's document. A row that cannot be read does not make the document unusable: it is reported
/// to the process that requests the row's node.
#[derive(Clone, Debug)]
pub(super) struct NamespaceDocument {
    /// The string that identifies the document's run in the namespace's incarnation.
    pub(super) run: String,
    /// The identity of the object that contained the document when it was last written; see
    /// [`Reading::identity`](super::Reading::identity). An empty string if the object had none yet, which is only so
    /// while the document contains no namespace.
    pub(super) identity: String,
    /// The time at which the document was read before it was last written, by the store's clock, in Unix milliseconds.
    pub(super) written: i64,
    pub(super) namespace: Option<Namespace>,
    /// The JSON of each row, with its node.
    rows: BTreeMap<u64, Json>,
    /// The newest entries of the history.
    pub(super) tail: Entries,
    /// For each part of the history, the number of its newest document.
    pub(super) newest: [u64; PARTS],
}

impl NamespaceDocument {
    /// Returns the document of a namespace that does not exist yet.
    pub(super) fn new(run: String) -> Self {
        Self {
            run,
            identity: String::new(),
            written: 0,
            namespace: None,
            rows: BTreeMap::new(),
            tail: Entries::default(),
            newest: [0; PARTS],
        }
    }

    /// Parses the output of [`to_text`](Self::to_text).
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Fault> {
        let damaged = |field: &str| damage_fault(name, None, field, "(unreadable)");
        let Json::Object(mut fields) = parse(name, None, text)? else {
            return Err(damaged("contents"));
        };
        let string = |json: Option<Json>| match json {
            Some(Json::String(text)) => Some(text),
            _ => None,
        };
        let Some(Json::Object(rows)) = fields.remove("rows") else { return Err(damaged("rows")) };
        let rows = rows.into_iter().map(|(node, row)| {
            node.parse()
                .map(|node| (node, row))
                .map_err(|_| damage_fault(name, None, "node", &node))
        });
        let namespace = fields.remove("namespace").ok_or_else(|| damaged("namespace"))?;
        let newest = fields.remove("history").ok_or_else(|| damaged("history"))?;
        Ok(Self {
            newest: serde_json::from_value(newest).map_err(|_| damaged("history"))?,
            run: string(fields.remove("run")).ok_or_else(|| damaged("run"))?,
            identity: string(fields.remove("identity")).ok_or_else(|| damaged("identity"))?,
            written: fields
                .get("written")
                .and_then(Json::as_i64)
                .ok_or_else(|| damaged("written"))?,
            namespace: match namespace {
                Json::Null => None,
                namespace => Some(namespace_of(name, namespace)?),
            },
            rows: rows.collect::<Result<_, Fault>>()?,
            tail: Entries::parse(name, &mut fields)?,
        })
    }

    /// Formats the document with a new nonce.
    pub(super) fn to_text(&self, nonce: Token) -> Result<String, Fault> {
        let mut fields = Map::new();
        fields.insert("nonce".into(), nonce.to_text().into());
        fields.insert("run".into(), self.run.as_str().into());
        fields.insert("identity".into(), self.identity.as_str().into());
        fields.insert("written".into(), self.written.into());
        let namespace = self.namespace.as_ref().map(namespace_json).transpose()?;
        fields.insert("namespace".into(), json!(namespace));
        let rows = self.rows.iter().map(|(node, row)| (node.to_string(), row.clone()));
        fields.insert("rows".into(), Json::Object(rows.collect()));
        fields.insert("history".into(), json!(self.newest));
        self.tail.write(&mut fields)?;
        Ok(Json::Object(fields).to_string())
    }

    pub(super) fn row(&self, name: &str, node: u64) -> Result<Option<Row>, Fault> {
        self.rows.get(&node).map(|row| row_of(name, node, row.clone())).transpose()
    }

    /// Returns all rows, ordered by node, each with its node's number. Rows that cannot be read are faults.
    pub(super) fn rows(&self, name: &str) -> impl Iterator<Item = Result<Row, Fault>> {
        self.rows.iter().map(move |(node, row)| row_of(name, *node, row.clone()))
    }

    pub(super) fn has_row(&self, node: u64) -> bool {
        self.rows.contains_key(&node)
    }

    pub(super) fn put_row(&mut self, row: &Row) -> Result<(), Fault> {
        self.rows.insert(row.node, row_json(row)?);
        Ok(())
    }
}
