use std::any::Any;
use std::fs::File;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Store;
use flakeid_test_servers::{S3Server, Server};
use serde_json::Value;

use crate::client::eventually_connect;
use crate::document::{self, edited};

pub(crate) struct S3(pub(crate) S3Server);

/// The time after which a copy that is put back is detected.
const UNDETECTED: Duration = Duration::from_millis(5_500);

impl S3 {
    fn key(namespace: &str) -> String {
        format!("leases/{namespace}.json")
    }

    fn edit(&self, namespace: &str, change: impl FnOnce(&mut Value)) {
        let key = Self::key(namespace);
        let text = self.0.request("GET", &key, "");
        self.0.request("PUT", &key, &edited(&text, change));
    }

    /// Returns the keys of all objects.
    fn keys(&self) -> Vec<String> {
        let list = self.0.request("GET", "?list-type=2&prefix=leases", "");
        let keys = list.split("<Key>").skip(1);
        keys.filter_map(|rest| rest.split("</Key>").next()).map(str::to_owned).collect()
    }

    /// Makes an object appear as if it had been written earlier, as after newer versions were deleted.
    pub(crate) fn age(&self, namespace: &str, seconds: u64) {
        let age = Duration::from_secs(seconds);
        let key = Self::key(namespace);
        let millis = i64::try_from(age.as_millis()).unwrap();
        self.edit(namespace, |document| {
            document["written"] = (document["written"].as_i64().unwrap() - millis).into();
        });
        let file = File::open(self.0.data().join(S3Server::BUCKET).join(key)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
}

impl StoreUnderTest for S3 {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        let copy = |key: String| {
            let text = self.0.request("GET", &key, "");
            (key, text)
        };
        Box::new(self.keys().into_iter().map(copy).collect::<Vec<(String, String)>>())
    }

    /// Puts copies of all objects back, as an operator would. A faster restore is not detected.
    fn restore(&self, copy: Box<dyn Any>) {
        let copy = copy.downcast::<Vec<(String, String)>>().expect("a backup");
        thread::sleep(UNDETECTED);
        for key in self.keys() {
            if !copy.iter().any(|(kept, _)| *kept == key) {
                self.0.request("DELETE", &key, "");
            }
        }
        for (key, text) in copy.iter() {
            self.0.request("PUT", key, text);
        }
    }

    document::edit_rows!();
}

/// A server whose copies are restored into new buckets, and keep the times of the objects.
pub(crate) struct OtherBuckets {
    server: S3Server,
    bucket: Mutex<String>,
    copies: AtomicU32,
}

impl OtherBuckets {
    pub(crate) fn new() -> Self {
        Self {
            server: S3Server::new(),
            bucket: Mutex::new(S3Server::BUCKET.into()),
            copies: AtomicU32::new(0),
        }
    }

    fn bucket(&self) -> String {
        self.bucket.lock().unwrap().clone()
    }

    fn copy(&self, from: &str, to: &str) {
        let (from, to) = (self.server.data().join(from), self.server.data().join(to));
        let copied = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
        assert!(copied.success());
    }
}

impl StoreUnderTest for OtherBuckets {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.server.url().replace(S3Server::BUCKET, &self.bucket()))
    }

    fn crash(&self) {
        self.server.kill();
        self.server.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        let number = self.copies.fetch_add(1, Ordering::Relaxed);
        let name = format!("copy-{number}");
        self.copy(&self.bucket(), &name);
        Box::new(name)
    }

    /// Uses a new bucket with the objects of the copy.
    fn restore(&self, copy: Box<dyn Any>) {
        let name = copy.downcast::<String>().expect("a backup");
        let restored = format!("restored-{name}");
        self.copy(&name, &restored);
        *self.bucket.lock().unwrap() = restored;
    }

    fn delete_row(&self, _namespace: &str, _node: u64) -> Result<(), String> {
        Err("only for restores".into())
    }

    fn lower_fence(&self, _namespace: &str, _node: u64) -> Result<(), String> {
        Err("only for restores".into())
    }

    fn guards_rows(&self) -> bool {
        false
    }

    fn damage(&self, _namespace: &str, _node: u64, _field: &str, _text: &str) {}

    fn crash_voids_tokens(&self) -> bool {
        false
    }
}
