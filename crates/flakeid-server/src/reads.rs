//! Answers that need no new ID: what an ID says, the IDs of a time range, the layout.

use flakeid_core::{Clock, Error, Id, Layout, Rfc3339, SystemClock};
use flakeid_lease::AnyGenerator;
use serde::Serialize;

use crate::id_json::{IdJson, layout_name};
use crate::instant::parse_instant;
use crate::query::parameters;

#[derive(Serialize)]
pub(crate) struct BoundsJson {
    layout: String,
    lower: Option<String>,
    upper: Option<String>,
}

/// The smallest and the largest ID of a range, both inclusive.
pub(crate) fn bounds(layout: &Layout, query: Option<&str>) -> Result<BoundsJson, Error> {
    let [from, to] = parameters(query, ["from", "to"])?;
    let instant = |name, text: Option<_>| {
        text.map(|text: std::borrow::Cow<'_, str>| parse_instant(name, &text)).transpose()
    };
    let (from, to) = (instant("from", from)?, instant("to", to)?);
    match (from, to) {
        (None, None) => {
            return Err(Error::invalid_option(
                "from, to",
                "give at least one of them: a date, RFC 3339 or Unix milliseconds",
            ));
        }
        (Some(from), Some(to)) if from > to => {
            return Err(Error::invalid_option("from", "must not be after `to`"));
        }
        _ => {}
    }
    let text = |id: Id| id.to_string();
    Ok(BoundsJson {
        layout: layout_name(layout),
        lower: from.map(|from| text(layout.lower_bound(from))),
        upper: to.map(|to| text(layout.upper_bound(to))),
    })
}

/// An ID's fields.
pub(crate) fn inspect<'a>(layout: &Layout, name: &'a str, text: &str) -> Result<IdJson<'a>, Error> {
    IdJson::new(text.parse()?, layout, name)
}

#[derive(Serialize)]
pub(crate) struct LayoutJson {
    layout: String,
    descriptor: String,
    epoch: String,
    epoch_unix_ms: i64,
    unit_ms: u64,
    max_node: u64,
    ids_per_tick: u64,
    horizon: String,
    horizon_unix_ms: i64,
}

pub(crate) fn layout(layout: &Layout) -> LayoutJson {
    let time = |unix_ms| Rfc3339::with_fewest_digits(unix_ms).to_string();
    LayoutJson {
        layout: layout_name(layout),
        descriptor: layout.to_string(),
        epoch: time(layout.epoch()),
        epoch_unix_ms: layout.epoch(),
        unit_ms: layout.unit_ms(),
        max_node: layout.max_node(),
        ids_per_tick: layout.ids_per_tick(),
        horizon: time(layout.horizon()),
        horizon_unix_ms: layout.horizon(),
    }
}

/// Whether a generator can issue now, and for how much longer if nothing is renewed.
#[derive(Serialize)]
pub(crate) struct Readiness {
    pub(crate) ready: bool,
    nodes: Vec<u64>,
    /// `null` for a fixed node.
    pub(crate) seconds_left: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

pub(crate) fn readiness(generator: &AnyGenerator) -> Readiness {
    let now = SystemClock.unix_ms();
    let lease = generator.lease();
    let left = lease.as_ref().map(|lease| lease.fence_unix_ms.saturating_sub(now));
    Readiness {
        ready: left.is_none_or(|left| left > 0) && now < generator.layout().horizon(),
        nodes: generator.nodes().into_owned(),
        seconds_left: left.map(|left| left.max(0) as f64 / 1_000.0),
        last_error: lease.and_then(|lease| lease.last_error).map(|error| error.to_string()),
    }
}
