//! The S3 store, for S3 itself and for servers with its interface. The URL is `s3://[id:secret@]bucket/prefix`, with the
//! options `region`, `endpoint` and `place`. Without an access key in the URL, flakeid uses the credentials of the environment.
//!
//! - A namespace is one object, `<prefix>/<namespace>.json`. The objects with a
//!   namespace's history are `<prefix>/<namespace>/history-<part>-<number>.json`.
//! - A write has the condition that the object still has the `ETag` that was read (`If-Match`), or that it does not
//!   exist (`If-None-Match`). Each object contains a random nonce, so that different contents have different `ETag`s.
//!   Before the first use of a bucket, a connection checks with the object `<prefix>/conditional-writes` that the
//!   server enforces both conditions, and otherwise refuses the bucket.
//! - The store's clock is the clock of the server that responds: flakeid uses the middle of the second in the
//!   response's `Date` header. With the default `max_skew` of one second, hosts must be accurate to half a second. A
//!   server whose `Date` header lags, such as `versitygw`, needs a larger `max_skew`.
//! - **Restores**: each document contains the time at which it was written. The namespace counts as restored if the
//!   object was last modified more than 4.5 s before or after that time, or if the document is older than
//!   `max_window + 2 × max_skew`, but at least 60 s. The first case is a copy that was put back; the second is a bucket
//!   from which newer versions were deleted, and also a namespace in which no lease was in use.
//! - **Replicas**: a namespace records the host of its server, its bucket and its prefix. At another place it is refused
//!   until an operator runs `flakeid leases adopt`, because the original may be in use. Two hosts of one server are two
//!   places, unless all URLs give the server one name with the option `place`.
//! - **Not detected**, in addition to the cases that [no store detects](flakeid_protocol::store): a copy that another
//!   program puts back within 4.5 s after it was made, newer versions that are deleted within 60 s after they were
//!   written, and a replica that takes over the host name of the original. A namespace whose object was deleted is missing; see `flakeid leases init --lost`.

use crate::aws::{self, Provider, Signed, between, encode};
use crate::backend::{Backend, Connect, DocumentLimits, OldDocuments, Price};
use crate::certificates::system_tls;
use crate::document::{Change, Client, DocumentStore, Documents, Key, Reading, Response, Stored};
use flakeid_protocol::Token;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::ServerUrl;

pub(super) static BACKEND: Backend = Backend {
    forms: &["s3://bucket/prefix"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: Some(<S3 as Documents>::LIMITS),
};

/// Connects to the bucket in the URL, and checks that the server enforces the conditions of writes.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["region", "endpoint", "place"])?;
    let (_, place) = url.base.split_once("://").unwrap_or_default();
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    if !(3..=63).contains(&bucket.len()) || !bucket.bytes().all(is_name) {
        return Err(url.reject(
            "the URL does not have the form s3://BUCKET/PREFIX?region=REGION, where BUCKET has 3 to 63 characters from a-z 0-9 . _ -",
        ));
    }
    // Other characters would have to be encoded in the lists of objects.
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-/".contains(&b);
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    if !prefix.bytes().all(is_allowed) || !(prefix.is_empty() || prefix.split('/').all(is_part)) {
        return Err(url.reject(
            "the prefix in the URL may contain only A-Z a-z 0-9 . _ - and /, and no empty part, such as in a//b",
        ));
    }
    let region = aws::region(&url)?;
    let (endpoint, path) = match aws::endpoint(&url, "AWS_ENDPOINT_URL_S3")? {
        Some(endpoint) => (endpoint, format!("/{bucket}")),
        // The certificates of the endpoint are not valid for a bucket whose name contains a dot.
        None if bucket.contains('.') => {
            (format!("https://s3.{region}.{}", aws::domain(&region)), format!("/{bucket}"))
        }
        None => (format!("https://{bucket}.s3.{region}.{}", aws::domain(&region)), String::new()),
    };
    let server = match url.option("place")? {
        Some(name) if is_name_of_server(&name) => name,
        Some(name) => {
            return Err(url.reject(format_args!(
                "the place {name:?} is not a name of 1 to 100 of A-Z a-z 0-9 : . _ -"
            )));
        }
        None => host_of(&endpoint, bucket),
    };
    let place = format!("{server}/{bucket}/{prefix}");
    if bucket.rsplit('.').next() == Some("mrap") || place.contains("s3-global.") {
        return Err(url.reject(
            "the URL names a multi-region access point, whose buckets could grant the same node twice; name one bucket",
        ));
    }
    let tls = if endpoint.starts_with("https:") { Some(system_tls(&url)?) } else { None };
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    let mut store = S3 {
        client: Client::new(&url.shown, tls),
        provider: Provider::new(&url, &region)?,
        endpoint,
        path,
        region,
        bucket: bucket.to_owned(),
        prefix,
        place,
    };
    store.check_conditions()?;
    Ok(Box::new(DocumentStore(store)))
}

struct S3 {
    client: Client,
    provider: Provider,
    endpoint: String,
    /// The encoded path of the bucket: empty, or a slash and the name of the bucket.
    path: String,
    region: String,
    bucket: String,
    /// The beginning of each key: empty, or a prefix that ends in a slash.
    prefix: String,
    /// The server's host, the bucket and the prefix.
    place: String,
}

/// Whether the option `place` may have this value.
fn is_name_of_server(name: &str) -> bool {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-:".contains(&b);
    (1..=100).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// Returns the host of an endpoint, and its port unless it is the default one. Several spellings of one endpoint have
/// the same result.
fn host_of(endpoint: &str, bucket: &str) -> String {
    let (scheme, host) = endpoint.split_once("://").unwrap_or_default();
    let host = host.to_ascii_lowercase();
    let default = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(default).unwrap_or(&host);
    host.strip_prefix(&format!("{bucket}.")).unwrap_or(host).to_owned()
}

impl S3 {
    fn send(
        &mut self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        headers: &[(&'static str, String)],
        body: &str,
    ) -> Result<Response, Fault> {
        let path = format!("{}/{}", self.path, encode(key, true));
        let (_, host) = self.endpoint.split_once("://").unwrap_or_default();
        let signed = Signed {
            region: &self.region,
            service: "s3",
            method,
            host,
            path: &path,
            query,
            headers,
            body,
        };
        let mut url = format!("{}{path}", self.endpoint);
        if !query.is_empty() {
            url = format!("{url}?{}", signed.query());
        }
        let mut sent = signed.headers(&self.provider.credentials()?);
        sent.extend(headers.iter().cloned());
        self.client.send(method, &url, &sent, body)
    }

    /// Returns the fault for a response that reports an error.
    fn fault(&mut self, action: &str, answer: &Response) -> Fault {
        let code = between(&answer.body, "Code").unwrap_or_default();
        let message = between(&answer.body, "Message").unwrap_or_default();
        let message: String = message.chars().take(300).collect();
        let text = format!(
            "{} refuses to {action} with status {} {code}: {message}",
            self.client.shown, answer.status
        );
        match (answer.status, code) {
            (_, "ExpiredToken") => {
                self.provider.discard();
                Fault::Unavailable(text)
            }
            (301 | 307, _) => {
                let region = answer.header("x-amz-bucket-region");
                Fault::Rejected(format!(
                    "{text}; the bucket is in another region: add ?region={region} to the URL"
                ))
            }
            // Such a client's clock differs from the server's clock by more than 15 minutes.
            (_, "RequestTimeTooSkewed") | (408 | 429 | 500 | 502.., _) => Fault::Unavailable(text),
            (501, _) => Fault::Rejected(format!(
                "{text}; the server does not support conditional writes, so use another server"
            )),
            _ => Fault::Rejected(text),
        }
    }

    /// Checks that the server refuses a write whose condition is not met. A server that ignores the conditions would let
    /// two clients overwrite each other's leases.
    fn check_conditions(&mut self) -> Result<(), Fault> {
        let key = format!("{}conditional-writes", self.prefix);
        let absent = [("if-none-match", "*".to_owned())];
        let other = [("if-match", "\"00000000000000000000000000000000\"".to_owned())];
        // The object does not exist before the first use, so the first request may create it.
        let created = self.send("PUT", &key, &[], &absent, "flakeid")?;
        if !matches!(created.status, 200 | 409 | 412) {
            return Err(self.fault("write an object", &created));
        }
        for condition in [absent, other] {
            let refused = self.send("PUT", &key, &[], &condition, "flakeid")?;
            match refused.status {
                409 | 412 => {}
                200 => {
                    return Err(Fault::Rejected(format!(
                        "{}: the server ignores the condition `{}` of a write, so leases could be lost; use a server \
                         that supports conditional writes",
                        self.client.shown, condition[0].0
                    )));
                }
                _ => return Err(self.fault("write an object", &refused)),
            }
        }
        Ok(())
    }

    fn key(&self, key: Key<'_>) -> String {
        match key {
            Key::Namespace(name) => format!("{}{name}.json", self.prefix),
            Key::History(name, part, number) => {
                format!("{}{name}/history-{part}-{number}.json", self.prefix)
            }
        }
    }
}

impl Documents for S3 {
    /// The `ETag` of the object.
    type Version = String;

    const LIMITS: DocumentLimits = DocumentLimits {
        // An object may have 5 GiB, but each renewal reads and writes the whole object.
        largest: 4 << 20,
        old: OldDocuments::Restored,
        // The list of S3 Standard in us-east-1, looked up on 2026-11-27 (<https://aws.amazon.com/s3/pricing/>).
        requests: 2.0,
        price: Some(Price { read: (0.000_000_4, u64::MAX), write: (0.000_005, u64::MAX) }),
    };

    fn shown(&self) -> &str {
        &self.client.shown
    }

    fn place(&self) -> Option<&str> {
        Some(&self.place)
    }

    fn read(&mut self, key: Key<'_>) -> Result<Reading<String>, Fault> {
        let key = self.key(key);
        let answer = self.send("GET", &key, &[], &[], "")?;
        let is_missing = answer.status == 404 && between(&answer.body, "Code") == Some("NoSuchKey");
        let (now, identity) = (answer.date()?, Some(self.bucket.clone()));
        if is_missing {
            return Ok(Reading { now, identity, stored: None });
        }
        if answer.status != 200 {
            return Err(self.fault("read an object", &answer));
        }
        let version = answer.header("etag").to_owned();
        let modified = answer.time("last-modified");
        let (Some(modified), false) = (modified, version.is_empty()) else {
            return Err(Fault::Rejected(format!(
                "{}: the server sends no ETag or Last-Modified header with an object; use another server",
                self.client.shown
            )));
        };
        let stored = Stored { text: answer.body, version, change: Change::At(modified) };
        Ok(Reading { now, identity, stored: Some(stored) })
    }

    fn write(
        &mut self,
        key: Key<'_>,
        text: &str,
        _: Token,
        version: Option<&String>,
    ) -> Result<i64, Fault> {
        let key = self.key(key);
        let condition = match version {
            Some(version) => ("if-match", version.clone()),
            None => ("if-none-match", "*".to_owned()),
        };
        let headers = [condition, ("content-type", "application/json".to_owned())];
        let answer = self.send("PUT", &key, &[], &headers, text)?;
        match (answer.status, between(&answer.body, "Code")) {
            (200, _) => answer.date(),
            // Status 409 reports another conditional write at the same time, and 404 reports that the object was deleted
            // in the meantime.
            (409 | 412, _) | (404, Some("NoSuchKey")) => Err(Fault::Conflict),
            _ => Err(self.fault("write an object", &answer)),
        }
    }

    fn names(&mut self) -> Result<Vec<String>, Fault> {
        let prefix = self.prefix.clone();
        let mut names = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut query = vec![("delimiter", "/"), ("list-type", "2"), ("prefix", &prefix)];
            query.extend(next.as_deref().map(|token| ("continuation-token", token)));
            let answer = self.send("GET", "", &query, &[], "")?;
            if answer.status != 200 {
                return Err(self.fault("list the objects", &answer));
            }
            // The keys of namespaces contain no character that XML encodes.
            let keys =
                answer.body.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
            let of_namespaces =
                keys.filter_map(|key| key.strip_prefix(&prefix)?.strip_suffix(".json"));
            names.extend(of_namespaces.map(str::to_owned));
            match between(&answer.body, "NextContinuationToken") {
                Some(token) => next = Some(token.to_owned()),
                None => return Ok(names),
            }
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        Ok(true)
    }
}
