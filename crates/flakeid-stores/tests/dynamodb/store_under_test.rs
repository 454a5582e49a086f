use std::any::Any;
use std::thread;
use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::Store;
use flakeid_test_servers::{DynamoDbServer, Server};
use serde_json::{Value, json};

use crate::client::eventually_connect;
use crate::document::{self, edited};

pub(crate) struct DynamoDb(pub(crate) DynamoDbServer);

impl DynamoDb {
    /// Starts a server with an empty table.
    pub(crate) fn new() -> Self {
        let store = Self(DynamoDbServer::new());
        eventually_connect(&store.0.url()).prepare().unwrap();
        store
    }

    /// Sends a request as another program would.
    pub(crate) fn call(&self, operation: &str, request: &Value) -> Value {
        let authorization = "AWS4-HMAC-SHA256 Credential=a/20261125/us-east-1/dynamodb/aws4_request, \
                             SignedHeaders=host, Signature=00";
        let mut answer = ureq::post(self.0.endpoint())
            .header("authorization", authorization)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-date", "20261125T000000Z")
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .send(request.to_string())
            .unwrap_or_else(|error| panic!("{operation}: {error}"));
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }

    pub(crate) fn create_table(&self, key: &str) {
        self.call(
            "CreateTable",
            &json!({
                "TableName": DynamoDbServer::TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{ "AttributeName": key, "AttributeType": "S" }],
                "KeySchema": [{ "AttributeName": key, "KeyType": "HASH" }],
            }),
        );
        let table = json!({ "TableName": DynamoDbServer::TABLE });
        while self.call("DescribeTable", &table)["Table"]["TableStatus"] != "ACTIVE" {
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn items(&self) -> Vec<Value> {
        let scan = json!({ "TableName": DynamoDbServer::TABLE, "ConsistentRead": true });
        let mut answer = self.call("Scan", &scan);
        assert!(answer["LastEvaluatedKey"].is_null(), "the test's items fit in one response");
        serde_json::from_value(answer["Items"].take()).unwrap()
    }

    pub(crate) fn put(&self, item: &Value) {
        self.call("PutItem", &json!({ "TableName": DynamoDbServer::TABLE, "Item": item }));
    }

    /// Deletes the table, and creates it again with the given items, as a restore from a backup does.
    pub(crate) fn replace_table(&self, items: &[Value]) {
        let table = json!({ "TableName": DynamoDbServer::TABLE });
        self.call("DeleteTable", &table);
        while self.call("ListTables", &json!({}))["TableNames"] != json!([]) {
            thread::sleep(Duration::from_millis(20));
        }
        self.create_table("id");
        for item in items {
            self.put(item);
        }
    }

    fn edit(&self, namespace: &str, change: impl FnOnce(&mut Value)) {
        let item = self
            .items()
            .into_iter()
            .find(|item| item["id"]["S"] == namespace)
            .expect("the namespace has an item");
        let mut item = item;
        let text = edited(item["document"]["S"].as_str().unwrap(), change);
        item["document"]["S"] = text.into();
        self.put(&item);
    }
}

impl StoreUnderTest for DynamoDb {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        Box::new(self.items())
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.replace_table(&copy.downcast::<Vec<Value>>().expect("a backup"));
    }

    document::edit_rows!();
}
