//! Conversions of namespaces, rows, records and sub-grants to and from JSON strings.

use crate::json;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Namespace, Record, Row, SubGrant};

pub(super) fn namespace_text(namespace: &Namespace) -> Result<String, Fault> {
    json::namespace_json(namespace).map(|json| json.to_string())
}

/// Parses the output of [`namespace_text`].
pub(super) fn namespace_of(name: &str, text: &str) -> Result<Namespace, Fault> {
    json::namespace_of(name, json::parse(name, None, text)?)
}

pub(super) fn row_text(row: &Row) -> Result<String, Fault> {
    json::row_json(row).map(|json| json.to_string())
}

/// Parses the output of [`row_text`].
pub(crate) fn row_of(namespace: &str, node: u64, text: &str) -> Result<Row, Fault> {
    json::row_of(namespace, node, json::parse(namespace, Some(node), text)?)
}

pub(super) fn record_text(record: &Record) -> Result<String, Fault> {
    json::record_json(record).map(|json| json.to_string())
}

/// Parses the output of [`record_text`].
pub(super) fn record_of(namespace: &str, node: u64, text: &str) -> Result<Record, Fault> {
    json::record_of(namespace, node, json::parse(namespace, Some(node), text)?)
}

pub(super) fn sub_grant_text(sub: &SubGrant) -> Result<String, Fault> {
    json::sub_grant_json(sub).map(|json| json.to_string())
}

/// Parses the output of [`sub_grant_text`].
pub(super) fn sub_grant_of(namespace: &str, node: u64, text: &str) -> Result<SubGrant, Fault> {
    json::sub_grant_of(namespace, node, json::parse(namespace, Some(node), text)?)
}
