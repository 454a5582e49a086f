use std::any::Any;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Store;
use serde_json::{Value, json};

use crate::client::eventually_connect;
use crate::document::{self, edited};

/// A Kubernetes API server. Each test uses `ConfigMap`s with a prefix of its own.
pub(crate) struct Kubernetes {
    /// The prefix of the `ConfigMap`s.
    name: String,
    /// The URL of the store, without the prefix.
    given: String,
    server: String,
    token: String,
    namespace: String,
    agent: ureq::Agent,
    replaces: bool,
}

impl Kubernetes {
    /// Uses the server at `FLAKEID_TEST_KUBERNETES_URL`, such as `kubernetes://default/?kubeconfig=FILE`. The kubeconfig
    /// must contain a token, and the test does not verify the certificate of the server.
    pub(crate) fn new(name: &str) -> Self {
        let given = std::env::var("FLAKEID_TEST_KUBERNETES_URL")
            .expect("FLAKEID_TEST_KUBERNETES_URL, which `cargo xtask kubernetes` sets");
        let (base, file) = given.split_once("?kubeconfig=").expect("the option kubeconfig");
        let namespace = base.trim_start_matches("kubernetes://").split('/').next().unwrap();
        let config: Value =
            serde_json::from_str(&std::fs::read_to_string(file).expect("the kubeconfig")).unwrap();
        let tls = ureq::tls::TlsConfig::builder()
            .disable_verification(true)
            .unversioned_rustls_crypto_provider(std::sync::Arc::new(
                rustls::crypto::ring::default_provider(),
            ))
            .build();
        let agent = ureq::Agent::config_builder().tls_config(tls).http_status_as_error(false);
        let unique = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self {
            name: format!("{name}-{}", unique.as_nanos()),
            namespace: namespace.to_owned(),
            server: config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned(),
            token: config["users"][0]["user"]["token"].as_str().expect("a token").to_owned(),
            agent: agent.build().into(),
            given,
            replaces: false,
        }
    }

    /// Uses the same server. A restore replaces the data of the `ConfigMap`s, instead of deleting and creating them.
    pub(crate) fn replaced(name: &str) -> Self {
        Self { replaces: true, ..Self::new(name) }
    }

    pub(crate) fn url(&self) -> String {
        let (_, options) = self.given.split_once('?').unwrap();
        format!("kubernetes://{}/{}?{options}", self.namespace, self.name)
    }

    /// Sends a request as another program would.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/api/v1/namespaces/{}/configmaps{path}", self.namespace);
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut answer = if body.is_null() && method == "GET" {
            self.agent.run(request.body(()).unwrap()).unwrap()
        } else {
            let request = request.body(text).unwrap();
            self.agent
                .run(self.agent.configure_request(request).allow_non_standard_methods(true).build())
                .unwrap()
        };
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        assert!(answer.status().is_success(), "{method} {path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the `ConfigMap`s of the test.
    pub(crate) fn maps(&self) -> Vec<Value> {
        let mut list = self.call("GET", "", &Value::Null);
        let maps: Vec<Value> = serde_json::from_value(list["items"].take()).unwrap();
        let is_own =
            |map: &Value| map["metadata"]["name"].as_str().unwrap().starts_with(&self.name);
        maps.into_iter().filter(is_own).collect()
    }

    pub(crate) fn replace(&self, map: &Value) {
        let name = map["metadata"]["name"].as_str().unwrap();
        self.call("PUT", &format!("/{name}?fieldManager=kubectl-replace"), map);
    }

    /// Changes a document under the name of flakeid, so that the change is not detected as that of another program.
    pub(crate) fn edit(&self, namespace: &str, change: impl FnOnce(&mut Value)) {
        let maps = self.maps();
        let map = maps.into_iter().find(|map| {
            map["data"]["namespace"] == namespace
                && !map["metadata"]["name"].as_str().unwrap().contains(".history-")
        });
        let mut map = map.expect("the namespace has a ConfigMap");
        map["data"]["document"] = edited(map["data"]["document"].as_str().unwrap(), change).into();
        let name = map["metadata"]["name"].as_str().unwrap().to_owned();
        map["metadata"] = json!({ "name": name, "labels": map["metadata"]["labels"] });
        self.call("PUT", &format!("/{name}?fieldManager=flakeid"), &map);
    }
}

impl StoreUnderTest for Kubernetes {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.url())
    }

    /// Does nothing, because the test did not start the server. The API server keeps no data of its own, and etcd
    /// confirms a write only after it has been written to its disk.
    fn crash(&self) {}

    fn backup(&self) -> Box<dyn Any> {
        Box::new(self.maps())
    }

    /// Deletes all `ConfigMap`s and creates them again, as tools for backups do, or replaces their data.
    fn restore(&self, copy: Box<dyn Any>) {
        let maps = self.maps();
        for map in maps.iter().filter(|_| !self.replaces) {
            let name = map["metadata"]["name"].as_str().unwrap();
            self.call("DELETE", &format!("/{name}"), &Value::Null);
        }
        for map in *copy.downcast::<Vec<Value>>().expect("a backup") {
            let metadata = json!({
                "name": map["metadata"]["name"], "labels": map["metadata"]["labels"],
            });
            let restored = json!({ "metadata": metadata, "data": map["data"] });
            if self.replaces {
                self.replace(&restored);
            } else {
                self.call("POST", "", &restored);
            }
        }
    }

    document::edit_rows!();
}
