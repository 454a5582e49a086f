//! The requests to a store that keeps each namespace as one document, and the price of the requests.

use flakeid_stores::DocumentLimits;
use serde::Serialize;

/// The size of a row in a document, in bytes. The size depends on the length of the owner's name and host.
const ROW_BYTES: u64 = 330;
/// The size of a document without rows, in bytes.
const EMPTY_BYTES: u64 = 600;
/// The rate at which clients may write one document, in transactions per second. The rate is half of the measured rate
/// for a document of 330 KB in Kubernetes. The other half is reserved for acquiring nodes.
const MOST_PER_SECOND: f64 = 26.0;
const MINUTES_PER_MONTH: f64 = 30.0 * 24.0 * 60.0;

/// The load that a fleet puts on one kind of document store.
#[derive(Serialize)]
pub(super) struct DocumentLoad {
    pub(super) store: &'static str,
    /// The requests of all clients of the store, per minute.
    pub(super) requests_per_minute: f64,
    /// The price of the requests in 30 days, in US dollars. `None` if the requests have no price of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usd_per_month: Option<f64>,
    /// Whether the document fits, and whether the clients can write it as often as they need.
    pub(super) suffices: bool,
}

impl DocumentLoad {
    /// Returns the load on each kind of document store, for a namespace with the given number of rows.
    pub(super) fn each(rows: u64, transactions_per_minute: f64) -> Vec<Self> {
        let bytes = rows.saturating_mul(ROW_BYTES).saturating_add(EMPTY_BYTES);
        let load = |store, limits: DocumentLimits| Self {
            store,
            requests_per_minute: transactions_per_minute * limits.requests,
            usd_per_month: limits.price.map(|price| {
                let of = |(price, unit)| price * bytes.div_ceil(unit) as f64;
                (of(price.read) + of(price.write)) * transactions_per_minute * MINUTES_PER_MONTH
            }),
            suffices: bytes <= limits.largest as u64
                && transactions_per_minute / 60.0 <= MOST_PER_SECOND,
        };
        flakeid_stores::backends()
            .filter_map(|(store, backend)| backend.documents.map(|limits| load(store, limits)))
            .collect()
    }

    /// Formats the load for one line of text.
    pub(super) fn shown(&self) -> String {
        let requests = format!("{} {:.0}/min", self.store, self.requests_per_minute.ceil());
        self.usd_per_month.map_or(requests.clone(), |price| format!("{requests} (${price:.2})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(store: &str, rows: u64) -> Option<f64> {
        let loads = DocumentLoad::each(rows, 36.0);
        loads.into_iter().find(|load| load.store == store).and_then(|load| load.usd_per_month)
    }

    #[test]
    fn price_depends_on_the_size_of_the_document_only_in_dynamodb() {
        // In 30 days, 36 transactions per minute are 1,555,200 transactions.
        let s3 = 1.5552 * (0.4 + 5.0);
        for rows in [0, 10_000] {
            assert!((price("s3", rows).unwrap_or(0.0) - s3).abs() < 1e-9, "{rows}");
            assert_eq!(price("kubernetes", rows), None);
        }
        // The document of 34 rows has 11,820 bytes: 3 units to read, 12 units to write.
        let dynamodb = 1.5552 * (3.0 * 0.125 + 12.0 * 0.625);
        assert!((price("dynamodb", 34).unwrap_or(0.0) - dynamodb).abs() < 1e-9);
    }

    #[test]
    fn document_store_suffices_until_the_document_or_the_rate_is_too_large() {
        let sufficient = |rows, per_minute| {
            let loads = DocumentLoad::each(rows, per_minute).into_iter();
            loads.filter(|load| load.suffices).map(|load| load.store).collect::<Vec<_>>()
        };
        assert_eq!(sufficient(1_000, 1_560.0), ["kubernetes", "s3", "dynamodb"]);
        assert_eq!(sufficient(1_300, 1.0), ["kubernetes", "s3"]);
        assert_eq!(sufficient(4_000, 1.0), ["s3"]);
        assert!(sufficient(10, 1_561.0).is_empty());
    }
}
