//! Sizes after the load, and queries.

use serde_json::Value;

use crate::database::Database;
use crate::figures::{Figures, Measure};
use crate::kind::Kind;
use crate::load::Span;
use crate::session::Failed;

/// The number of rows in a range of time, and of keys in a lookup.
const ROWS: usize = 10_000;
const MIB: f64 = 1024.0 * 1024.0;

/// Creates the indexes on the time, and records the sizes.
pub(crate) fn sizes(database: &Database, figures: &mut Figures, rows: usize) -> Result<(), Failed> {
    for kind in Kind::ALL {
        let table = kind.table();
        let count = database.row(&format!("SELECT count(*) FROM {table}"))?.remove(0);
        if count != rows.to_string() {
            return Err(format!("{table} has {count} rows instead of {rows}").into());
        }
        let size = |relation: &str| {
            Ok::<_, Failed>(
                database.number(&format!("SELECT pg_relation_size('{relation}')"))? / MIB,
            )
        };
        let heap = size(table)?;
        let key_index = size(&format!("{table}_pkey"))?;
        let mut total = heap + key_index;
        if !kind.contains_time() {
            database.run(&format!("CREATE INDEX {table}_time ON {table} (created_at)"))?;
            let time_index = size(&format!("{table}_time"))?;
            total += time_index;
            figures.record(Measure::TimeIndex, kind, time_index);
        }
        let density = database
            .number(&format!("SELECT avg_leaf_density FROM pgstatindex('{table}_pkey')"))?;
        figures.record(Measure::Heap, kind, heap);
        figures.record(Measure::KeyIndex, kind, key_index);
        figures.record(Measure::Total, kind, total);
        figures.record(Measure::Density, kind, density);
        database.run(&format!("VACUUM (ANALYZE) {table}"))?;
    }
    Ok(())
}

/// Creates a table with random keys of each kind, for lookups.
pub(crate) fn choose_keys(database: &Database, rows: usize) -> Result<(), Failed> {
    // A few more than required, because the sample has a random size.
    let percent = (110.0 * ROWS as f64 / rows as f64).min(100.0);
    for kind in Kind::ALL {
        let table = kind.table();
        database.run(&format!(
            "CREATE TABLE {table}_keys AS SELECT id FROM {table} TABLESAMPLE BERNOULLI ({percent})
             ORDER BY random() LIMIT {ROWS}"
        ))?;
        database.run(&format!("ANALYZE {table}_keys"))?;
    }
    Ok(())
}

/// Reads rows by their keys, in random order.
pub(crate) fn lookups(
    database: &Database,
    figures: &mut Figures,
    kind: Kind,
) -> Result<(), Failed> {
    let table = kind.table();
    let query = format!("SELECT sum(customer) FROM {table}_keys JOIN {table} USING (id)");
    database
        .run("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off")?;
    // The first run only fills the buffers.
    database.plan(&query)?;
    let plan = database.plan(&query)?;
    let join = &plan[0]["Plan"]["Plans"][0];
    let (keys, inner) = (number(&join["Actual Rows"])?, &join["Plans"][1]);
    if inner["Node Type"] != "Index Scan" {
        return Err(format!("{table}: the lookups do not use the index: {plan}").into());
    }
    figures.record(Measure::Lookup, kind, number(&plan[0]["Execution Time"])? * 1000.0 / keys);
    figures.record(Measure::LookupPages, kind, pages(inner)? / keys);
    Ok(())
}

/// Reads the rows of a part of the span, in which `rows` rows were inserted.
pub(crate) fn scan(
    database: &Database,
    figures: &mut Figures,
    kind: Kind,
    span: Span,
    rows: usize,
) -> Result<(), Failed> {
    let length = ((span.until - span.from) * ROWS as u64 / rows as u64).max(1);
    let middle = u64::midpoint(span.from, span.until);
    let step = usize::try_from(length)?;
    // If the server paused, a part of the span contains few rows or none.
    let starts = (middle..span.until).step_by(step).chain((span.from..middle).step_by(step));
    for from in starts {
        let range = kind.time_range(from, from + length);
        let query =
            format!("SELECT count(*), sum(length(note)) FROM {} WHERE {range}", kind.table());
        // The first run also fills the buffers.
        if found(&database.plan(&query)?)? >= ROWS.min(rows) as f64 / 4.0 {
            let plan = database.plan(&query)?;
            let per_rows = ROWS as f64 / found(&plan)?;
            let milliseconds = number(&plan[0]["Execution Time"])?;
            figures.record(Measure::Scan, kind, milliseconds * per_rows);
            figures.record(Measure::ScanPages, kind, pages(&plan[0]["Plan"])? * per_rows);
            return Ok(());
        }
    }
    Err(format!("{}: no part of a step contains enough rows", kind.table()).into())
}

/// Returns the number of rows below the aggregate of a plan.
fn found(plan: &Value) -> Result<f64, Failed> {
    number(&plan[0]["Plan"]["Plans"][0]["Actual Rows"])
}

/// Returns the number of page accesses of a node of a plan, in the buffers or in files. A page may be accessed more than
/// once.
fn pages(node: &Value) -> Result<f64, Failed> {
    Ok(number(&node["Shared Hit Blocks"])? + number(&node["Shared Read Blocks"])?)
}

fn number(value: &Value) -> Result<f64, Failed> {
    value.as_f64().ok_or_else(|| format!("a plan contains {value} instead of a number").into())
}
