//! The `MariaDB` and `MySQL` names, options and statements for the tests that run on every SQL server.

use std::any::Any;

use flakeid_protocol::operations;
use flakeid_protocol::store::Fault;
use flakeid_test_servers::{MariadbServer, Server, free_port};

use crate::client::{connect, fresh_namespace};
use crate::sql::SqlServer;

const PASSWORD: &str = MariadbServer::PASSWORD;

impl SqlServer for MariadbServer {
    const SCHEME: &'static str = "mysql";
    const PASSWORD: &'static str = PASSWORD;
    const GIVEN: &'static str = "FLAKEID_TEST_MYSQL_URL";

    const CREATE_SERVICE: &'static str = "CREATE USER service IDENTIFIED BY '{password}';
         GRANT SELECT ON ids.flakeid_schema TO service;
         GRANT SELECT, UPDATE ON ids.flakeid_namespace TO service;
         GRANT SELECT, INSERT, UPDATE ON ids.flakeid_node TO service;
         GRANT SELECT, INSERT ON ids.flakeid_grant TO service;
         GRANT SELECT, INSERT ON ids.flakeid_sub_grant TO service;
         GRANT SELECT, INSERT ON ids.flakeid_run TO service";
    const PERMIT_PRUNING: &'static str = "GRANT DELETE ON ids.flakeid_grant TO service;
         GRANT DELETE ON ids.flakeid_sub_grant TO service";
    const OLD_TRIGGERS: &'static str = "DROP TRIGGER flakeid_grant_stays;
         CREATE TRIGGER flakeid_grant_stays BEFORE DELETE ON flakeid_grant FOR EACH ROW
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of history is refused';
         DROP TRIGGER flakeid_sub_grant_stays;
         CREATE TRIGGER flakeid_sub_grant_stays BEFORE DELETE ON flakeid_sub_grant FOR EACH ROW
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of history is refused';";
    const DENIED: &'static str = "denied";
    const CONSTRAINT: &'static str = "CONSTRAINT";
    const LOSING: &'static [&'static str] = &[];

    fn sleep(seconds: u32) -> String {
        format!("SELECT SLEEP({seconds})")
    }
    const SLEEPING: &'static str =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'";

    const UNVERIFIED: &'static [&'static str] = &["", "?ssl-mode=preferred", "?ssl-mode=required"];
    const REQUIRED: &'static [&'static str] = &["?ssl-mode=required", "?ssl-mode=verify_identity"];
    const NO_TLS: &'static str = "?ssl-mode=disabled";
    const AUTHORITIES: &'static str = "ssl-ca";
    const VERIFY_HOST: &'static str = "ssl-mode=verify_identity";
    const TLS_MISSING: &'static str = "SSL";
    const BAD_TLS: &'static [(&'static str, &'static str)] = &[
        ("?ssl-mode=verify_ca&ssl-ca={right}", "verify_identity"),
        ("?ssl-mode=required&ssl-ca={right}", "verify_identity"),
        ("?ssl-ca={right}", "verify_identity"),
        ("?ssl-mode=sometimes", "ssl-mode must be"),
    ];

    fn new() -> Self {
        Self::new()
    }

    fn without_tls() -> Self {
        // MySQL creates its own certificate, so TLS has to be disabled explicitly.
        let server = Self::new();
        if server.is_mysql() { Self::with(&["--tls-version="]) } else { server }
    }

    fn with_certificate(certificate: &str, key: &str) -> Self {
        Self::with_certificate(certificate, key)
    }

    fn url_of(&self, user: &str, password: &str, database: &str, options: &str) -> String {
        self.url_of(user, password, database, options)
    }

    fn sql(&self, sql: &str) -> Result<String, String> {
        self.sql(&format!("USE ids; {sql}"))
    }

    fn check_encryption(&self, encrypted: &str, plain: &str) {
        self.sql("ALTER USER flakeid REQUIRE SSL").unwrap();
        connect(encrypted).map(drop).unwrap();
        let refused = connect(plain).map(drop);
        assert!(matches!(refused, Err(Fault::Rejected(_))), "{refused:?}");
        self.sql("ALTER USER flakeid REQUIRE NONE").unwrap();
    }

    fn unreachable(&self) -> Vec<(String, bool, &'static str)> {
        let nobody = free_port();
        // For an unknown user, MySQL derives the authentication method from the user name, so that clients cannot find
        // out which users exist. The driver does not support every method.
        let stranger = if self.is_mysql() { "" } else { "Access denied" };
        vec![
            (self.url_of("flakeid", "wr0ng-secret", "ids", ""), false, "Access denied"),
            (self.url_of("nobody", "wr0ng-secret", "ids", ""), false, stranger),
            (self.url_of("flakeid", PASSWORD, "missing", ""), false, "missing"),
            (self.url_of("flakeid", PASSWORD, "ids", "?wr0ng-secret=1"), false, "unknown option"),
            (self.url_of("flakeid", "wr0ng?secret@", "ids", ""), false, "unknown option"),
            (self.url_of("flakeid", "wr0ng/secret", "ids", ""), false, "written as %2F"),
            (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}/d"), true, "refused"),
            (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}"), false, "must name a database"),
            (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}x/d"), false, "not have the form"),
            ("mysql://u:wr0ng-secret@no-such-host.invalid/d".into(), true, "nput/output"),
        ]
    }

    fn back_up(&self) -> Box<dyn Any> {
        Box::new(self.dump())
    }

    fn put_back(&self, copy: Box<dyn Any>) {
        self.load(&copy.downcast::<String>().expect("a backup"));
    }

    /// Disables the check constraints in `MySQL`. This alters the table, so the store then treats it as a different
    /// table.
    fn allow_damage(&self) {
        if self.is_mysql() {
            let namespace = fresh_namespace("checked");
            operations::init(&mut *connect(&self.url()).unwrap(), &namespace).unwrap();
            self.disable_checks().unwrap();
        }
    }

    /// Overwrites a field while the check constraints are disabled, as an administrator could.
    fn damage(&self, field: &str, text: &str, condition: &str) {
        let checks = if self.is_mysql() { "" } else { "SET check_constraint_checks = 0; " };
        let update = format!("UPDATE ids.flakeid_node SET {field} = '{text}' WHERE {condition}");
        self.sql(&(checks.to_owned() + &update)).unwrap();
    }

    fn can_hold(field: &str, text: &str) -> bool {
        match field {
            // The type of the fence column rejects strings, and a trigger rejects a fence that is lower than the old
            // fence.
            "fence" => text.parse::<i64>().is_ok_and(|fence| fence > 0),
            "token" => text.len() <= 32,
            _ => text.len() <= 16,
        }
    }
}
