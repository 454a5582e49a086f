//! The `DynamoDB` store. The URL is `dynamodb://[id:secret@]table`, with the options `region` and `endpoint`. Without an
//! access key in the URL, flakeid uses the credentials of the environment.
//!
//! - A namespace is one item. The table's key is the string `id`: the name of a
//!   namespace, or `<namespace>/history/<part>-<number>` for a part of a history. The other attributes are `document` (the
//!   JSON) and `nonce`. `flakeid leases init` creates a missing table, which is billed by requests.
//! - Reads are strongly consistent. A write requires that the item still has the nonce that was read.
//! - The store's clock is the clock of the server that responds: flakeid uses the middle of the second in the
//!   response's `Date` header. With the default `max_skew` of one second, hosts must be accurate to half a second.
//! - **Restores**: each document contains the table's ID, which each transaction compares with the ID that the service
//!   reports after the read, or reported less than 3 s before. A table that was restored from a backup or to a point in time, and a table into which an
//!   export was imported, has another ID, so the namespace counts as restored.
//! - **Global tables are refused**, because a table's replica in another region would be a second primary.
//! - **Not detected**, in addition to the cases that [no store detects](flakeid_protocol::store): older contents of an
//!   item that another program writes back into the same table. After such a change, proceed as
//!   [after any other restored data](flakeid_protocol::store).

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::aws::{self, Provider, Signed};
use crate::backend::{Backend, Connect, DocumentLimits, OldDocuments, Price};
use crate::certificates::system_tls;
use crate::document::{Change, Client, DocumentStore, Documents, Key, Reading, Stored};
use flakeid_protocol::Token;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::ServerUrl;

/// The time for which a client assumes that the table was not replaced. To replace a table, `DynamoDB` needs much longer,
/// because it deletes the table before it creates another one with the same name.
const LEAST_REPLACEMENT: Duration = Duration::from_secs(3);

/// The time limit for the creation of a table.
const CREATION_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) static BACKEND: Backend = Backend {
    forms: &["dynamodb://table"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: Some(<DynamoDb as Documents>::LIMITS),
};

/// Connects to the table in the URL.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["region", "endpoint"])?;
    let (_, table) = url.base.split_once("://").unwrap_or_default();
    let table = table.rsplit_once('@').map_or(table, |(_, table)| table);
    let table = table.strip_suffix('/').unwrap_or(table);
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if !(3..=255).contains(&table.len()) || !table.bytes().all(is_allowed) {
        return Err(url.reject(
            "the URL does not have the form dynamodb://TABLE?region=REGION, where TABLE is 3 to 255 of A-Z a-z 0-9 \
             . _ -",
        ));
    }
    let region = aws::region(&url)?;
    let endpoint = aws::endpoint(&url, "AWS_ENDPOINT_URL_DYNAMODB")?
        .unwrap_or_else(|| format!("https://dynamodb.{region}.{}", aws::domain(&region)));
    let tls = if endpoint.starts_with("https:") { Some(system_tls(&url)?) } else { None };
    let mut store = DynamoDb {
        client: Client::new(&url.shown, tls),
        provider: Provider::new(&url, &region)?,
        endpoint,
        region,
        table: table.to_owned(),
        described: None,
    };
    // The request checks the connection, the credentials and the table.
    store.identify()?;
    Ok(Box::new(DocumentStore(store)))
}

struct DynamoDb {
    client: Client,
    provider: Provider,
    endpoint: String,
    region: String,
    table: String,
    /// The ID of the table, with the time of the request that returned it.
    described: Option<(Instant, String)>,
}

/// A successful response, and the time at which the service sent it.
struct Answer {
    body: Value,
    now: i64,
}

impl DynamoDb {
    /// Sends a request. Returns `Err` with the name of the exception if the service reports one of the `expected`
    /// exceptions.
    fn call(
        &mut self,
        operation: &str,
        request: &Value,
        expected: &[&'static str],
    ) -> Result<Result<Answer, &'static str>, Fault> {
        let body = request.to_string();
        let headers = [
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("x-amz-target", format!("DynamoDB_20120810.{operation}")),
        ];
        let (_, host) = self.endpoint.split_once("://").unwrap_or_default();
        let signed = Signed {
            region: &self.region,
            service: "dynamodb",
            method: "POST",
            host,
            path: "/",
            query: &[],
            headers: &headers,
            body: &body,
        };
        let mut sent = signed.headers(&self.provider.credentials()?);
        sent.extend(headers.clone());
        let answer = self.client.send("POST", &format!("{}/", self.endpoint), &sent, &body)?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        if answer.status == 200 && body.is_object() {
            return Ok(Ok(Answer { now: answer.date()?, body }));
        }
        let exception = body["__type"].as_str().unwrap_or_default();
        let exception = exception.rsplit('#').next().unwrap_or_default();
        if let Some(expected) = expected.iter().find(|name| **name == exception) {
            return Ok(Err(expected));
        }
        let message = body["message"].as_str().or(body["Message"].as_str()).unwrap_or_default();
        let message: String = message.chars().take(300).collect();
        let text = format!(
            "{} refuses {operation} with status {} {exception}: {message}",
            self.client.shown, answer.status
        );
        Err(match exception {
            "ExpiredTokenException" | "ExpiredToken" => {
                self.provider.discard();
                Fault::Unavailable(text)
            }
            "AccessDeniedException"
            | "IncompleteSignatureException"
            | "InvalidSignatureException"
            | "MissingAuthenticationTokenException"
            | "ResourceNotFoundException"
            | "UnrecognizedClientException"
            | "ValidationException" => Fault::Rejected(text),
            _ => Fault::Unavailable(text),
        })
    }

    /// Sends a request whose exceptions are all faults.
    fn demand(&mut self, operation: &str, request: &Value) -> Result<Answer, Fault> {
        match self.call(operation, request, &["ResourceNotFoundException"])? {
            Ok(answer) => Ok(answer),
            Err(_) => Err(Fault::MissingTables),
        }
    }

    /// Returns the description of the table; `None` if it does not exist.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the table has another key, or replicas in other regions.
    fn describe(&mut self) -> Result<Option<Value>, Fault> {
        let request = json!({ "TableName": self.table });
        let Ok(mut answer) =
            self.call("DescribeTable", &request, &["ResourceNotFoundException"])?
        else {
            return Ok(None);
        };
        let table = answer.body["Table"].take();
        let key = json!([{ "AttributeName": "id", "KeyType": "HASH" }]);
        let shown = &self.client.shown;
        if table["KeySchema"] != key {
            return Err(Fault::Rejected(format!(
                "{shown}: the key of the table is not the string `id` alone; use another table, which `flakeid leases \
                 init` creates if it is missing"
            )));
        }
        if table["Replicas"].as_array().is_some_and(|replicas| !replicas.is_empty())
            || table["GlobalTableVersion"].is_string()
        {
            return Err(Fault::Rejected(format!(
                "{shown}: the table is a global table, whose replicas could grant the same node twice; use a table \
                 without replicas"
            )));
        }
        Ok(Some(table))
    }

    /// Requests the ID of the table. Returns `None` if the table does not exist.
    fn identify(&mut self) -> Result<Option<String>, Fault> {
        let begun = Instant::now();
        let Some(table) = self.describe()? else { return Ok(None) };
        let id = table["TableId"].as_str().map(str::to_owned).ok_or_else(|| {
            let shown = &self.client.shown;
            Fault::Rejected(format!(
                "{shown} returned no TableId: this DynamoDB-compatible service is not supported"
            ))
        })?;
        self.described = Some((begun, id.clone()));
        Ok(Some(id))
    }

    /// Returns the ID of the table that contained the item when it was read.
    fn identity(&mut self) -> Result<String, Fault> {
        match &self.described {
            Some((begun, id)) if begun.elapsed() < LEAST_REPLACEMENT => Ok(id.clone()),
            _ => self.identify()?.ok_or(Fault::MissingTables),
        }
    }

    fn id(key: Key<'_>) -> String {
        match key {
            Key::Namespace(name) => name.to_owned(),
            Key::History(name, part, number) => format!("{name}/history/{part}-{number}"),
        }
    }
}

impl Documents for DynamoDb {
    /// The nonce of the document.
    type Version = String;

    const LIMITS: DocumentLimits = DocumentLimits {
        // An item has at most 400 KiB, with the names of its attributes.
        largest: (400 << 10) - 1_024,
        old: OldDocuments::Current,
        // The third request is for the table's ID, and is free.
        // The list of on-demand tables in us-east-1 since 2024-11-01, looked up on 2026-11-27
        // (<https://aws.amazon.com/dynamodb/pricing/on-demand/>).
        requests: 3.0,
        price: Some(Price { read: (0.000_000_125, 4 << 10), write: (0.000_000_625, 1 << 10) }),
    };

    fn shown(&self) -> &str {
        &self.client.shown
    }

    fn read(&mut self, key: Key<'_>) -> Result<Reading<String>, Fault> {
        let id = Self::id(key);
        let request = json!({
            "TableName": self.table, "ConsistentRead": true, "Key": { "id": { "S": id } },
        });
        let Answer { body, now } = self.demand("GetItem", &request)?;
        // The ID is compared after the read. If the table was replaced after the read, the write fails, because the
        // restored item has another nonce, or is the item that was read.
        let identity = match key {
            Key::Namespace(_) => Some(self.identity()?),
            Key::History(..) => None,
        };
        let item = &body["Item"];
        let stored = match (item["document"]["S"].as_str(), item["nonce"]["S"].as_str()) {
            (Some(text), Some(nonce)) => {
                let (text, version) = (text.to_owned(), nonce.to_owned());
                Some(Stored { text, version, change: Change::Unknown })
            }
            _ if item.is_null() => None,
            _ => {
                return Err(Fault::Rejected(format!(
                    "{}: the item {id:?} has no attributes `document` and `nonce`: it was edited or damaged",
                    self.client.shown
                )));
            }
        };
        Ok(Reading { now, identity, stored })
    }

    fn write(
        &mut self,
        key: Key<'_>,
        text: &str,
        nonce: Token,
        version: Option<&String>,
    ) -> Result<i64, Fault> {
        let mut request = json!({
            "TableName": self.table,
            "Item": {
                "id": { "S": Self::id(key) },
                "document": { "S": text },
                "nonce": { "S": nonce.to_text() },
            },
            "ConditionExpression": "attribute_not_exists(id)",
        });
        if let Some(nonce) = version {
            request["ConditionExpression"] = json!("nonce = :nonce");
            request["ExpressionAttributeValues"] = json!({ ":nonce": { "S": nonce } });
        }
        let conflicts = ["ConditionalCheckFailedException", "TransactionConflictException"];
        let answer = self.call("PutItem", &request, &conflicts)?;
        answer.map(|answer| answer.now).map_err(|_| Fault::Conflict)
    }

    fn names(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let mut request = json!({
            "TableName": self.table, "ConsistentRead": true, "ProjectionExpression": "id",
        });
        loop {
            let Answer { mut body, .. } = self.demand("Scan", &request)?;
            let ids = body["Items"].as_array().into_iter().flatten();
            let ids = ids.filter_map(|item| item["id"]["S"].as_str());
            names.extend(ids.filter(|id| !id.contains('/')).map(str::to_owned));
            match body["LastEvaluatedKey"].take() {
                Value::Null => return Ok(names),
                last => request["ExclusiveStartKey"] = last,
            }
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        let request = json!({
            "TableName": self.table,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
            "DeletionProtectionEnabled": true,
        });
        let begun = Instant::now();
        loop {
            match self.describe()? {
                Some(table) if is_usable(&table) => return Ok(()),
                Some(table) if begun.elapsed() > CREATION_TIMEOUT => {
                    return Err(Fault::Unavailable(format!(
                        "{}: the table is still in the state {} after {} s",
                        self.client.shown,
                        table["TableStatus"],
                        CREATION_TIMEOUT.as_secs()
                    )));
                }
                Some(_) => thread::sleep(Duration::from_millis(250)),
                // Another client may have created the table in the meantime.
                None => drop(self.call("CreateTable", &request, &["ResourceInUseException"])?),
            }
        }
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        Ok(self.describe()?.is_some_and(|table| is_usable(&table)))
    }
}

/// Whether a table can be read, according to its description. The service already describes a table while it creates
/// it.
fn is_usable(table: &Value) -> bool {
    !matches!(table["TableStatus"].as_str(), Some("CREATING" | "DELETING"))
}
