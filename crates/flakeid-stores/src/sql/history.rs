//! The statements that search and prune the history in an SQL database.

use crate::values::{Cells, Value};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Record, SubGrant};

/// The maximum number of sub-grants that one statement inserts. Each sub-grant has eight values, and every database
/// accepts 2,048 values in a statement.
pub(super) const MOST_INSERTED: usize = 250;

/// A table that contains a part of the history.
pub(super) struct HistoryTable<E> {
    pub(super) name: &'static str,
    /// The columns of an entry, in the order in which its values are written and read.
    pub(super) columns: &'static str,
    /// The columns by which the entries of one node are ordered. The first column is `start`.
    pub(super) order: &'static [&'static str],
    pub(super) read: fn(&str, Vec<Value>) -> Result<E, Fault>,
    pub(super) start: fn(&E) -> u64,
}

/// The table of records. The columns have the order of [`record_values`](crate::values::record_values).
pub(super) const RECORDS: HistoryTable<Record> = HistoryTable {
    name: "flakeid_grant",
    columns: "node, grant_number, start, owner_name, owner_host, owner_pid, acquired, previous_until",
    order: &["start", "grant_number"],
    read: Cells::read_record,
    start: |record| record.start,
};

/// The table of sub-grants. The columns have the order of [`sub_grant_values`](crate::values::sub_grant_values).
pub(super) const SUB_GRANTS: HistoryTable<SubGrant> = HistoryTable {
    name: "flakeid_sub_grant",
    columns: "node, start, block_grant, grant_number, owner_name, owner_host, owner_pid, acquired",
    order: &["start", "block_grant", "grant_number"],
    read: Cells::read_sub_grant,
    start: |sub| sub.start,
};

impl<E> HistoryTable<E> {
    /// Returns the query for the last entry of node `?2` that starts at or before tick `?3`, and for the first entry
    /// after the tick. One statement reads both entries, because each statement of a transaction may see a later state
    /// of the history.
    pub(super) fn entries_around(&self) -> String {
        let Self { name, columns, order, .. } = self;
        let first = |condition: &str, alias: &str| {
            format!(
                "SELECT {columns} FROM (
                     SELECT {columns} FROM {name}
                     WHERE namespace = ?1 AND node = ?2 AND {condition} LIMIT 1
                 ) AS {alias}"
            )
        };
        let (forwards, backwards) = (order.join(", "), order.join(" DESC, "));
        let last = first(&format!("start <= ?3 ORDER BY {backwards} DESC"), "earlier");
        let next = first(&format!("start > ?3 ORDER BY {forwards}"), "later");
        format!("{last} UNION ALL {next}")
    }

    /// Returns the query for the oldest entries of the nodes from `?2` to `?3`, ordered by node. The query returns at
    /// most `limit` entries.
    pub(super) fn oldest_entries(&self, limit: usize) -> String {
        let Self { name, columns, order, .. } = self;
        let order = order.join(", ");
        format!(
            "SELECT {columns} FROM {name} WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3
             ORDER BY node, {order} LIMIT {limit}"
        )
    }

    /// Returns the statement that deletes the entries of node `?2` up to and including one entry. The values of that
    /// entry in the columns of `order` are the parameters from `?3` on.
    pub(super) fn delete_through(&self) -> String {
        let Self { name, order, .. } = self;
        format!(
            "DELETE FROM {name} WHERE namespace = ?1 AND node = ?2 AND start <= ?3 AND {}",
            through(order)
        )
    }

    /// Adds a remedy to the fault that reports a refused deletion. A trigger that an earlier version of flakeid created
    /// refuses every deletion.
    pub(super) fn with_remedy(&self, fault: Fault) -> Fault {
        let Fault::Rejected(text) = fault else { return fault };
        let remedy = if text.contains("flakeid: ") {
            "an earlier version of flakeid created the triggers; run `flakeid leases init` as the owner of the tables"
                .to_owned()
        } else {
            format!("pruning the history requires the DELETE privilege on {}", self.name)
        };
        Fault::Rejected(format!("{text}: {remedy}"))
    }
}

/// Returns the SQL condition that selects a given entry and all entries that precede it in `order`. The parameters from
/// `?3` on are the values of the given entry. The condition compares one column at a time, because not every database
/// uses an index when several columns are compared as a tuple.
fn through(order: &[&str]) -> String {
    let mut columns = order.iter().zip(3..order.len() + 3).rev();
    let last = columns.next().map(|(column, number)| format!("{column} <= ?{number}"));
    columns.fold(last.unwrap_or_default(), |rest, (column, number)| {
        format!("({column} < ?{number} OR {column} = ?{number} AND {rest})")
    })
}

#[cfg(test)]
mod tests {
    use super::through;

    #[test]
    fn sql_condition_compares_columns_in_the_given_order() {
        assert_eq!(
            through(&["start", "block_grant", "grant_number"]),
            "(start < ?3 OR start = ?3 AND \
             (block_grant < ?4 OR block_grant = ?4 AND grant_number <= ?5))"
        );
    }
}
