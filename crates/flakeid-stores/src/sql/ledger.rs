//! A namespace in one transaction of an SQL database, with the statements that all SQL databases share.

use super::history::{HistoryTable, MOST_INSERTED, RECORDS, SUB_GRANTS};
use crate::gaps::{self, UsedNodes};
use crate::values::{
    Cells, Value, namespace_values, record_values, row_values, sub_grant_values, to_bigint,
};
use flakeid_protocol::store::{
    Candidates, Continuity, Fault, Forgotten, Ledger, RecordsAround, SubGrantsAround,
};
use flakeid_protocol::{Namespace, Record, Row, SubGrant, Token};

/// The columns of a row, in the order in which [`row_values`] returns their values.
const ROW_COLUMNS: &str = "node, fence, start, token, grant_number, state, owner_name, \
     owner_host, owner_pid, acquired, renewed, expires, incarnation, fixed, history_until";

/// The columns of a namespace, in the order in which [`namespace_values`] returns their values.
const NAMESPACE_COLUMNS: &str = "layout, block_bits, floor, quiet_until, incarnation, max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms, \
     keeps_history";

/// The parts of SQL statements that differ between databases.
pub(crate) struct Dialect {
    /// The clause that locks the rows that a query reads.
    pub(crate) lock: &'static str,
    /// The clause that locks the rows that a query reads, and skips rows that another transaction has locked.
    pub(crate) lock_unless_locked: &'static str,
    /// The operator for comparing values that may be NULL.
    pub(crate) is: &'static str,
    /// The clause that makes a query read rows in order of fence.
    pub(crate) by_fence: &'static str,
    /// The clause that makes a query read the rows of one owner in order of fence.
    pub(crate) by_name: &'static str,
    /// The additional condition that makes a query for the rows of one owner use the index of owner names.
    pub(crate) is_named: &'static str,
    /// The clause that makes a query read rows in order of node number.
    pub(crate) by_node: &'static str,
    /// The strings before and after the values in a statement that inserts a row for node `?2` of namespace `?1`. If
    /// the row exists, the statement inserts nothing or fails with a conflict.
    pub(crate) insert_node: [&'static str; 2],
    /// The strings before the table name and after the values in a statement that inserts rows and leaves existing rows
    /// unchanged.
    pub(crate) insert_new: [&'static str; 2],
    /// The query that counts the rows of namespace `?1` with nodes from `?2` to `?3`.
    pub(crate) count_nodes: &'static str,
}

/// The state of a database, which every transaction reads first.
pub(crate) struct DatabaseState {
    /// The time by the store's clock, in Unix milliseconds.
    pub(crate) now: i64,
    pub(crate) incarnation: String,
}

/// A transaction in one kind of SQL database, such as `PostgreSQL`.
pub(crate) trait SqlTransaction: Sized {
    const DIALECT: Dialect;

    /// Compares a recorded incarnation with the current incarnation, which must be different. Returns
    /// [`Continuity::Restored`] or [`Continuity::Foreign`].
    fn compare_incarnation(&self, _recorded: &str) -> Continuity {
        Continuity::Restored
    }

    fn forgotten(&self) -> Option<Forgotten> {
        None
    }

    /// Runs a query. The parameter `?1` refers to the first value.
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault>;

    /// Runs an INSERT or UPDATE statement. Returns the number of rows that were inserted, or that the update matched.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault>;

    /// Returns the clause that locks the namespace when it is read.
    fn namespace_lock(&self) -> &'static str {
        ""
    }

    /// Runs a statement that deletes entries of the history. Triggers refuse any other deletion of history.
    fn delete_history(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.execute(sql, values)
    }

    /// Prepares the transaction for writing the namespace.
    ///
    /// # Errors
    /// [`Fault::Conflict`] if the transaction must be retried before it can write the namespace.
    fn before_namespace_write(&mut self, namespace: &Namespace) -> Result<(), Fault>;

    /// Returns a node without a row; see [`Ledger::unused`].
    fn unused(
        ledger: &mut SqlLedger<'_, Self>,
        range: (u64, u64),
        first: u64,
    ) -> Result<Option<u64>, Fault> {
        gaps::unused(ledger, range, first, 0)
    }
}

/// A namespace in one transaction of an SQL database.
pub(crate) struct SqlLedger<'a, T> {
    pub(crate) namespace: &'a str,
    pub(crate) transaction: T,
    state: DatabaseState,
    /// Whether the transaction has found no namespace.
    is_missing: bool,
    failure: Option<Fault>,
}

impl<'a, T: SqlTransaction> SqlLedger<'a, T> {
    pub(crate) const fn new(namespace: &'a str, state: DatabaseState, transaction: T) -> Self {
        Self { namespace, transaction, state, is_missing: false, failure: None }
    }

    /// Returns the fault of the first statement that failed, so that the transaction is rolled back even if the caller
    /// ignored that fault.
    pub(crate) fn into_outcome(self) -> Result<(), Fault> {
        self.failure.map_or(Ok(()), Err)
    }

    pub(crate) fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let rows = self.transaction.query(sql, values);
        self.remember_failure(rows)
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let rows = self.transaction.execute(sql, values);
        self.remember_failure(rows)
    }

    fn remember_failure<V>(&mut self, outcome: Result<V, Fault>) -> Result<V, Fault> {
        if let Err(fault) = &outcome {
            self.failure.get_or_insert_with(|| fault.clone());
        }
        outcome
    }

    fn first_row(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>, Fault> {
        let row = self.query(sql, values)?.into_iter().next();
        row.map(|cells| Cells::read_row(self.namespace, cells)).transpose()
    }

    /// Returns the parameters of a query for a range of nodes: `?1` is the namespace, `?2` the first node, and `?3`
    /// the last node.
    pub(crate) fn range(&self, low: u64, high: u64) -> Result<Vec<Value>, Fault> {
        Ok(vec![self.namespace.into(), to_bigint("node", low)?, to_bigint("node", high)?])
    }

    /// Runs a query and returns the first column of the result as numbers.
    pub(crate) fn numbers(&mut self, sql: &str, values: &[Value]) -> Result<Vec<u64>, Fault> {
        let rows = self.query(sql, values)?.into_iter();
        rows.map(|cells| Cells::new(self.namespace, cells).number("node")).collect()
    }
}

impl<T: SqlTransaction> SqlLedger<'_, T> {
    fn entries_around<E>(
        &mut self,
        table: &HistoryTable<E>,
        node: u64,
        tick: u64,
    ) -> Result<(Option<E>, Option<E>), Fault> {
        let last = i64::try_from(tick).unwrap_or(i64::MAX);
        let values = [self.namespace.into(), to_bigint("node", node)?, last.into()];
        let (mut found, mut next) = (None, None);
        for cells in self.query(&table.entries_around(), &values)? {
            let entry = (table.read)(self.namespace, cells)?;
            let place = if (table.start)(&entry) <= tick { &mut found } else { &mut next };
            *place = Some(entry);
        }
        Ok((found, next))
    }

    fn oldest_entries<E>(
        &mut self,
        table: &HistoryTable<E>,
        (from, to): (u64, u64),
        limit: usize,
    ) -> Result<Vec<E>, Fault> {
        let values = self.range(from, to)?;
        let rows = self.query(&table.oldest_entries(limit), &values)?.into_iter();
        rows.map(|cells| (table.read)(self.namespace, cells)).collect()
    }

    /// Removes a node's entries up to and including the entry with the given values in the columns of `order`.
    fn remove_entries_through<E>(
        &mut self,
        table: &HistoryTable<E>,
        node: u64,
        place: &[u64],
    ) -> Result<(), Fault> {
        let mut values = vec![self.namespace.into(), to_bigint("node", node)?];
        for (column, value) in table.order.iter().zip(place) {
            values.push(to_bigint(column, *value)?);
        }
        let deleted = self.transaction.delete_history(&table.delete_through(), &values);
        self.remember_failure(deleted.map_err(|fault| table.with_remedy(fault))).map(drop)
    }
}

/// Returns the parameters `?first, ?first+1, …`, one for each column.
fn parameters(columns: &str, first: usize) -> String {
    let all = (first..).zip(columns.split(", ")).map(|(number, _)| format!("?{number}"));
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the assignments `column = ?first, …`, one for each column.
fn assignments(columns: &str, first: usize) -> String {
    let all = (first..).zip(columns.split(", "));
    all.map(|(number, column)| format!("{column} = ?{number}")).collect::<Vec<_>>().join(", ")
}

impl<T: SqlTransaction> Ledger for SqlLedger<'_, T> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.state.now)
    }

    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault> {
        if recorded == self.state.incarnation {
            return Ok(Continuity::Same);
        }
        Ok(self.transaction.compare_incarnation(recorded))
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.state.incarnation.clone())
    }

    fn forgotten(&mut self) -> Result<Option<Forgotten>, Fault> {
        Ok(self.transaction.forgotten())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        let lock = self.transaction.namespace_lock();
        let sql =
            format!("SELECT {NAMESPACE_COLUMNS} FROM flakeid_namespace WHERE name = ?1 {lock}");
        let row = self.query(&sql, &[self.namespace.into()])?.into_iter().next();
        self.is_missing = row.is_none();
        row.map(|cells| Cells::read_namespace(self.namespace, cells)).transpose()
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        let begun = self.transaction.before_namespace_write(namespace);
        self.remember_failure(begun)?;
        let mut values = vec![self.namespace.into()];
        values.extend(namespace_values(namespace)?);
        // A namespace that the transaction did not find is only inserted, so that it never replaces one that another
        // client has created in the meantime. The UPDATE is separate from the INSERT, so that database users without
        // the right to create namespaces can still record a restore.
        let sql = if self.is_missing {
            let parameters = parameters(NAMESPACE_COLUMNS, 2);
            format!(
                "INSERT INTO flakeid_namespace (name, {NAMESPACE_COLUMNS}) VALUES (?1, {parameters})"
            )
        } else {
            let assigned = assignments(NAMESPACE_COLUMNS, 2);
            format!("UPDATE flakeid_namespace SET {assigned} WHERE name = ?1")
        };
        if self.execute(&sql, &values)? == 0 {
            return self.remember_failure(Err(Fault::Conflict));
        }
        self.is_missing = false;
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        Ok(self.rows_of(&[node])?.pop().flatten())
    }

    fn rows_of(&mut self, nodes: &[u64]) -> Result<Vec<Option<Row>>, Fault> {
        if nodes.is_empty() {
            return Ok(Vec::new());
        }
        let Dialect { lock, by_node, .. } = T::DIALECT;
        let mut values = vec![self.namespace.into()];
        for node in nodes {
            values.push(to_bigint("node", *node)?);
        }
        let parameters: Vec<_> = (2..=values.len()).map(|number| format!("?{number}")).collect();
        // The order of the nodes is also the order in which the server locks the rows.
        let sql = format!(
            "SELECT {ROW_COLUMNS} FROM flakeid_node {by_node}
             WHERE namespace = ?1 AND node IN ({}) ORDER BY node {lock}",
            parameters.join(", ")
        );
        let found = self.query(&sql, &values)?.into_iter();
        let found = found.map(|cells| Cells::read_row(self.namespace, cells));
        let mut found: Vec<Row> = found.collect::<Result<_, _>>()?;
        let mut row = |node: &u64| {
            let place = found.iter().position(|row| row.node == *node)?;
            Some(found.swap_remove(place))
        };
        Ok(nodes.iter().map(&mut row).collect())
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let Dialect { by_fence, by_name, is_named, lock_unless_locked, .. } = T::DIALECT;
        let mut values = self.range(candidates.from, candidates.to)?;
        values.push(candidates.store_now.into());
        values.push(i64::try_from(candidates.hottest).unwrap_or(i64::MAX).into());
        values.push(candidates.incarnation.into());
        let (index, condition) = if let Some(name) = candidates.name {
            values.push(name.into());
            (by_name, format!("AND owner_name = ?7 {is_named}"))
        } else {
            (by_fence, String::new())
        };
        // The query excludes rows with an invalid fence or state.
        let sql = format!(
            "SELECT {ROW_COLUMNS} FROM flakeid_node {index}
             WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3 AND state IN ('free', 'held')
                 AND (expires <= ?4 OR incarnation <> ?6)
                 AND fence BETWEEN 0 AND ?5 {condition}
             ORDER BY fence, node LIMIT 1 {lock_unless_locked}"
        );
        self.first_row(&sql, &values)
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        T::unused(self, (from, to), first)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        let sql =
            format!("SELECT {ROW_COLUMNS} FROM flakeid_node WHERE namespace = ?1 ORDER BY node");
        let rows = self.query(&sql, &[self.namespace.into()])?.into_iter();
        rows.map(|cells| Cells::read_row(self.namespace, cells)).collect()
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        let Dialect { is, insert_node: [insert, or_nothing], .. } = T::DIALECT;
        let mut values = vec![self.namespace.into()];
        values.extend(row_values(after)?);
        let sql = if let Some(before) = before {
            values.push(to_bigint("fence", before.fence)?);
            values.push(before.token.map(Token::to_text).into());
            values.push(before.state.name().into());
            values.push(to_bigint("grant", before.grant)?);
            let assigned = assignments(ROW_COLUMNS, 2);
            format!(
                "UPDATE flakeid_node SET {assigned} WHERE namespace = ?1 AND node = ?2
                     AND fence = ?17 AND token {is} ?18 AND state = ?19 AND grant_number = ?20"
            )
        } else {
            let parameters = parameters(ROW_COLUMNS, 2);
            format!(
                "INSERT INTO flakeid_node (namespace, {ROW_COLUMNS})
                 {insert} ?1, {parameters} {or_nothing}"
            )
        };
        if self.execute(&sql, &values)? == 0 {
            return self.remember_failure(Err(Fault::Conflict));
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        let mut values = vec![self.namespace.into()];
        values.extend(record_values(record)?);
        let (columns, parameters) = (RECORDS.columns, parameters(RECORDS.columns, 2));
        let sql =
            format!("INSERT INTO flakeid_grant (namespace, {columns}) VALUES (?1, {parameters})");
        self.execute(&sql, &values).map(drop)
    }

    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault> {
        self.entries_around(&RECORDS, node, tick)
    }

    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault> {
        self.oldest_entries(&RECORDS, (node, node), limit)
    }

    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault> {
        self.remove_entries_through(&RECORDS, last.node, &[last.start, last.grant])
    }

    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault> {
        let [insert, or_nothing] = T::DIALECT.insert_new;
        let columns = SUB_GRANTS.columns;
        for part in sub_grants.chunks(MOST_INSERTED) {
            let mut values = vec![self.namespace.into()];
            let mut rows = Vec::with_capacity(part.len());
            for sub in part {
                rows.push(format!("(?1, {})", parameters(columns, values.len() + 1)));
                values.extend(sub_grant_values(sub)?);
            }
            let rows = rows.join(", ");
            let sql = format!(
                "{insert} flakeid_sub_grant (namespace, {columns}) VALUES {rows} {or_nothing}"
            );
            self.execute(&sql, &values)?;
        }
        Ok(())
    }

    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault> {
        self.entries_around(&SUB_GRANTS, node, tick)
    }

    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault> {
        self.oldest_entries(&SUB_GRANTS, (from, to), limit)
    }

    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault> {
        let place = [last.start, last.block_grant, last.grant];
        self.remove_entries_through(&SUB_GRANTS, last.node, &place)
    }
}

impl<T: SqlTransaction> UsedNodes for SqlLedger<'_, T> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let values = self.range(low, high)?;
        let count = self.numbers(T::DIALECT.count_nodes, &values)?;
        Ok(count.first().copied().unwrap_or(0))
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let values = self.range(low, high)?;
        let index = T::DIALECT.by_node;
        let sql = format!(
            "SELECT node FROM flakeid_node {index}
             WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3 ORDER BY node"
        );
        self.numbers(&sql, &values)
    }
}
