use mysql_async::prelude::FromValue;
use mysql_async::{Row as SqlRow, Value};

use crate::protocol::{Namespace, Record, Row};
use crate::store::Fault;
use crate::store::sql::{NamespaceCells, RecordCells, RowCells};

/// A cell of an answer.
///
/// # Errors
/// [`Fault::Rejected`] naming the column if it has another type than `init` gave it.
pub(super) fn cell<T: FromValue>(row: &SqlRow, index: usize) -> Result<T, Fault> {
    row.get_opt(index).and_then(Result::ok).ok_or_else(|| {
        let columns = row.columns_ref();
        let name = columns.get(index).map(|column| column.name_str().into_owned());
        let name = name.unwrap_or_default();
        Fault::Rejected(format!("column {name} is not as `init` made it"))
    })
}

pub(super) fn row_of(namespace: &str, row: &SqlRow) -> Result<Row, Fault> {
    let cells = RowCells {
        node: cell(row, 0)?,
        fence: cell(row, 1)?,
        start: cell(row, 2)?,
        token: cell(row, 3)?,
        grant: cell(row, 4)?,
        state: cell(row, 5)?,
        owner_name: cell(row, 6)?,
        owner_host: cell(row, 7)?,
        owner_pid: cell(row, 8)?,
        acquired: cell(row, 9)?,
        renewed: cell(row, 10)?,
        expires: cell(row, 11)?,
        incarnation: cell(row, 12)?,
    };
    cells.row(namespace)
}

/// The values of a row's columns, in their order.
pub(super) fn values_of(cells: RowCells) -> Vec<Value> {
    vec![
        cells.node.into(),
        cells.fence.into(),
        cells.start.into(),
        cells.token.into(),
        cells.grant.into(),
        cells.state.into(),
        cells.owner_name.into(),
        cells.owner_host.into(),
        cells.owner_pid.into(),
        cells.acquired.into(),
        cells.renewed.into(),
        cells.expires.into(),
        cells.incarnation.into(),
    ]
}

pub(super) fn namespace_of(name: &str, row: &SqlRow) -> Result<Namespace, Fault> {
    let cells = NamespaceCells {
        layout: cell(row, 0)?,
        floor: cell(row, 1)?,
        incarnation: cell(row, 2)?,
        max_window_ms: cell(row, 3)?,
        max_ahead_ms: cell(row, 4)?,
        max_skew_ms: cell(row, 5)?,
        keeps_history: cell(row, 6)?,
    };
    cells.namespace(name)
}

pub(super) fn record_of(namespace: &str, row: &SqlRow) -> Result<(Record, Option<u64>), Fault> {
    let cells = RecordCells {
        node: cell(row, 0)?,
        grant: cell(row, 1)?,
        start: cell(row, 2)?,
        owner_name: cell(row, 3)?,
        owner_host: cell(row, 4)?,
        owner_pid: cell(row, 5)?,
        acquired: cell(row, 6)?,
        next: cell(row, 7)?,
    };
    cells.record(namespace)
}
