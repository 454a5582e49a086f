//! The Kubernetes store. The URL is `kubernetes://namespace/name`, with the option `kubeconfig`. In a pod, flakeid uses
//! the pod's service account. If the Kubernetes namespace is empty, flakeid
//! uses the namespace of the pod or of the kubeconfig.
//!
//! - A namespace of flakeid is one `ConfigMap`, `<name>-<namespace>`. A namespace
//!   whose name contains other characters than `a-z 0-9 -` is `<name>.x<hexadecimal>`. The `ConfigMap`s with a
//!   namespace's history have the suffix `.history-<part>-<number>`. All have the label
//!   `app.kubernetes.io/managed-by: flakeid`.
//! - The service account needs the verbs `get`, `list`, `create` and `patch` for `configmaps`.
//! - Reads are reads of etcd's current data. A write is a JSON Patch that tests the random nonce, the UID and the resource
//!   version that were read. A `ConfigMap` is created without a namespace, because it gets its UID only then.
//! - The store's clock is the clock of the API server that responds: flakeid uses the middle of the second in the
//!   response's `Date` header. With the default `max_skew` of one second, the clocks of all API servers must be accurate
//!   to half a second.
//! - **Restores**: each document contains the UID of its `ConfigMap`, and the time at which it was written. The namespace
//!   counts as restored if the `ConfigMap` has another UID, if another program owns its data according to
//!   `managedFields`, if flakeid changed the data more than 4.5 s before or after that time, or if the document is older
//!   than `max_window + 2 × max_skew`, but at least 60 s. The first case is an object that was deleted and created again;
//!   the second is a copy that was applied or replaced; the third is a write by a process that was paused since its read;
//!   the fourth is a restored snapshot of etcd, and also a namespace in which no lease was in use.
//! - **Not detected**, in addition to the cases that [no store detects](flakeid_protocol::store): a snapshot of etcd that
//!   is restored within 60 s after it was saved, and a write by a program that uses the field manager `flakeid`.

mod access;

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::backend::{Backend, Connect, DocumentLimits, OldDocuments};
use crate::document::{Change, Client, DocumentStore, Documents, Key, Reading, Response, Stored};
use crate::retry::ANSWER_TIMEOUT;
use access::Access;
use flakeid_core::Rfc3339;
use flakeid_protocol::Token;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::ServerUrl;

/// The name under which Kubernetes records the changes of this library.
const MANAGER: &str = "flakeid";

pub(super) static BACKEND: Backend = Backend {
    forms: &["kubernetes://namespace/name"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: Some(<Kubernetes as Documents>::LIMITS),
};

/// Connects to the API server of the pod or of the kubeconfig.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["kubeconfig"])?;
    let (_, place) = url.base.split_once("://").unwrap_or_default();
    let (namespace, name) = place.split_once('/').unwrap_or((place, ""));
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_label = |text: &str| {
        text.len() <= 63 && is_plain(text) && !text.starts_with('-') && !text.ends_with('-')
    };
    if name.is_empty() || !is_label(name) || !is_label(namespace) {
        return Err(url.reject(
            "the URL does not have the form kubernetes://NAMESPACE/NAME, where both are 1 to 63 of a-z 0-9 -, and \
             NAMESPACE may be empty",
        ));
    }
    let access = Access::new(&url)?;
    let namespace =
        if namespace.is_empty() { access.namespace(&url)? } else { namespace.to_owned() };
    let mut store = Kubernetes {
        client: Client::new(&url.shown, access.tls(&url)?),
        access,
        namespace,
        name: name.to_owned(),
    };
    // The request checks the connection and the permissions.
    store.read(Key::Namespace("connection-check"))?;
    Ok(Box::new(DocumentStore(store)))
}

struct Kubernetes {
    client: Client,
    access: Access,
    namespace: String,
    /// The beginning of the names of all `ConfigMap`s.
    name: String,
}

impl Kubernetes {
    fn send(
        &mut self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &str,
    ) -> Result<Response, Fault> {
        let base =
            format!("{}/api/v1/namespaces/{}/configmaps", self.access.server, self.namespace);
        let mut headers = vec![("accept", "application/json".to_owned())];
        if !body.is_empty() {
            headers.push(("content-type", content_type.to_owned()));
        }
        if let Some(token) = self.access.token(&self.client.shown)? {
            headers.push(("authorization", format!("Bearer {token}")));
        }
        self.client.send(method, &format!("{base}{path}"), &headers, body)
    }

    /// Returns the fault for a response that reports an error.
    fn fault(&mut self, action: &str, answer: &Response) -> Fault {
        let status: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let message: String =
            status["message"].as_str().unwrap_or_default().chars().take(300).collect();
        let text = format!(
            "{} refuses to {action} with status {}: {message}",
            self.client.shown, answer.status
        );
        match answer.status {
            // The program of the kubeconfig may print a new token for a later request.
            401 if self.access.discard() => Fault::Unavailable(text),
            401 => Fault::Rejected(format!(
                "{text}; the token of the service account or of the kubeconfig is not valid"
            )),
            403 => Fault::Rejected(format!(
                "{text}; grant the verbs get, list, create and patch for configmaps in the namespace {:?}",
                self.namespace
            )),
            408 | 429 | 500.. => Fault::Unavailable(text),
            _ => Fault::Rejected(text),
        }
    }

    /// Whether a document no longer has the given version.
    fn is_changed(&mut self, key: Key<'_>, version: &Version) -> Result<bool, Fault> {
        Ok(self.read(key)?.stored.is_none_or(|stored| stored.version != *version))
    }

    /// Returns the name of a document's `ConfigMap`.
    fn map(&self, key: Key<'_>) -> String {
        let map = |name: &str| {
            let is_label = is_plain(name) && !name.ends_with('-');
            if is_label {
                format!("{}-{name}", self.name)
            } else {
                let mut hex = String::new();
                for byte in name.bytes() {
                    let _ = write!(hex, "{byte:02x}");
                }
                format!("{}.x{hex}", self.name)
            }
        };
        match key {
            Key::Namespace(name) => map(name),
            Key::History(name, part, number) => format!("{}.history-{part}-{number}", map(name)),
        }
    }
}

/// Whether a string consists of the characters that the names of most objects may contain.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Returns the last change of the document according to the `managedFields` of a `ConfigMap`'s metadata. The time of a
/// change has whole seconds, so the middle of the second is used.
fn change(metadata: &Value) -> Change {
    let fields = metadata["managedFields"].as_array();
    let Some(fields) = fields.filter(|fields| !fields.is_empty()) else { return Change::Unknown };
    let own = fields.iter().find(|entry| {
        entry["manager"] == MANAGER && entry["fieldsV1"]["f:data"]["f:document"].is_object()
    });
    let second = own.and_then(|entry| Rfc3339::parse(entry["time"].as_str()?));
    second.map_or(Change::Foreign, |second| Change::At(second + 500))
}

/// The version of a document.
#[derive(Clone, PartialEq)]
struct Version {
    nonce: String,
    /// The UID of the `ConfigMap`.
    uid: String,
    /// The `resourceVersion` of the `ConfigMap`. A copy that is put back changes it, but contains the same nonce.
    resource: String,
}

impl Documents for Kubernetes {
    type Version = Version;

    const LIMITS: DocumentLimits = DocumentLimits {
        // The data of a `ConfigMap` has at most 1 MiB, with the names of its fields.
        largest: (1 << 20) - 1_024,
        old: OldDocuments::Restored,
        requests: 2.0,
        price: None,
    };

    fn shown(&self) -> &str {
        &self.client.shown
    }

    fn read(&mut self, key: Key<'_>) -> Result<Reading<Version>, Fault> {
        let map = self.map(key);
        let answer = self.send("GET", &format!("/{map}"), "", "")?;
        if answer.status == 404 {
            return Ok(Reading { now: answer.date()?, identity: None, stored: None });
        }
        if answer.status != 200 {
            return Err(self.fault("read a ConfigMap", &answer));
        }
        let now = answer.date()?;
        let object: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (data, metadata) = (&object["data"], &object["metadata"]);
        let resource = text(&metadata["resourceVersion"]).unwrap_or_default();
        let (Some(document), Some(nonce), Some(uid)) =
            (text(&data["document"]), text(&data["nonce"]), text(&metadata["uid"]))
        else {
            return Err(Fault::Rejected(format!(
                "{}: the ConfigMap {map:?} has no data `document` and `nonce`: it was edited or damaged",
                self.client.shown
            )));
        };
        let change = change(metadata);
        let (identity, version) = (Some(uid.clone()), Version { nonce, uid, resource });
        let stored = Stored { text: document, version, change };
        Ok(Reading { now, identity, stored: Some(stored) })
    }

    fn write(
        &mut self,
        key: Key<'_>,
        text: &str,
        nonce: Token,
        version: Option<&Version>,
    ) -> Result<i64, Fault> {
        let (map, nonce) = (self.map(key), nonce.to_text());
        // The server gives a request up when the client does. A write that takes effect later would look like one of a
        // process that was paused.
        let limit = ANSWER_TIMEOUT.as_secs();
        let manager = format!("?fieldManager={MANAGER}&timeout={limit}s");
        let name = match key {
            Key::Namespace(name) | Key::History(name, ..) => name,
        };
        let answer = if let Some(version) = version {
            let patch = json!([
                { "op": "test", "path": "/metadata/uid", "value": version.uid },
                { "op": "test", "path": "/metadata/resourceVersion", "value": version.resource },
                { "op": "test", "path": "/data/nonce", "value": version.nonce },
                { "op": "add", "path": "/data/namespace", "value": name },
                { "op": "replace", "path": "/data/nonce", "value": nonce },
                { "op": "replace", "path": "/data/document", "value": text },
            ]);
            let content_type = "application/json-patch+json";
            self.send("PATCH", &format!("/{map}{manager}"), content_type, &patch.to_string())?
        } else {
            // `names` omits a `ConfigMap` without the entry `namespace`. The first change of the document adds the entry.
            let object = json!({
                "metadata": { "name": map, "labels": { "app.kubernetes.io/managed-by": MANAGER } },
                "data": { "document": text, "nonce": nonce },
            });
            self.send("POST", &manager, "application/json", &object.to_string())?
        };
        match (answer.status, version) {
            (200 | 201, _) => answer.date(),
            // Status 404 reports that the object was deleted in the meantime.
            (409, _) | (404, Some(_)) => Err(Fault::Conflict),
            // The API server reports a failed test like any other invalid patch.
            (422, Some(version)) if self.is_changed(key, version)? => Err(Fault::Conflict),
            _ => Err(self.fault("write a ConfigMap", &answer)),
        }
    }

    fn names(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let mut next = String::new();
        loop {
            let path = format!(
                "?labelSelector=app.kubernetes.io%2Fmanaged-by%3D{MANAGER}&limit=100&continue={next}"
            );
            let answer = self.send("GET", &path, "", "")?;
            if answer.status != 200 {
                return Err(self.fault("list the ConfigMaps", &answer));
            }
            let list: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            for object in list["items"].as_array().into_iter().flatten() {
                let Some(name) = object["data"]["namespace"].as_str() else { continue };
                if object["metadata"]["name"] == self.map(Key::Namespace(name)) {
                    names.push(name.to_owned());
                }
            }
            match list["metadata"]["continue"].as_str() {
                Some(token) if !token.is_empty() => token.clone_into(&mut next),
                _ => return Ok(names),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_is_foreign_if_another_manager_owns_the_document() {
        let entry = |manager: &str, field: &str| {
            json!({
                "manager": manager, "time": "2026-11-29T10:00:01Z", "fieldsV1": { "f:data": { ".": {}, field: {} } },
            })
        };
        let of = |entries: &[Value]| change(&json!({ "managedFields": entries }));
        assert_eq!(of(&[entry("flakeid", "f:document")]), Change::At(1_795_946_401_500));
        assert_eq!(
            of(&[entry("flakeid", "f:nonce"), entry("kubectl-replace", "f:document")]),
            Change::Foreign
        );
        assert_eq!(of(&[]), Change::Unknown);
    }
}
