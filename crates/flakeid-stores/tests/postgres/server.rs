//! The `PostgreSQL` names, options and statements for the tests that run on every SQL server.

use std::any::Any;

use flakeid_test_servers::{PostgresServer, free_port};
use tempfile::TempDir;

use crate::sql::SqlServer;

const PASSWORD: &str = PostgresServer::PASSWORD;

impl SqlServer for PostgresServer {
    const SCHEME: &'static str = "postgresql";
    const PASSWORD: &'static str = PASSWORD;
    const GIVEN: &'static str = "FLAKEID_TEST_POSTGRES_URL";

    const CREATE_SERVICE: &'static str = "CREATE ROLE service LOGIN PASSWORD '{password}';
         GRANT USAGE ON SCHEMA public TO service;
         GRANT SELECT ON flakeid_schema TO service;
         GRANT SELECT, UPDATE ON flakeid_namespace TO service;
         GRANT SELECT, INSERT, UPDATE ON flakeid_node TO service;
         GRANT SELECT, INSERT ON flakeid_grant TO service;
         GRANT SELECT, INSERT ON flakeid_sub_grant TO service";
    const PERMIT_PRUNING: &'static str =
        "GRANT DELETE ON flakeid_grant, flakeid_sub_grant TO service";
    const OLD_TRIGGERS: &'static str = "DROP TRIGGER flakeid_keep ON flakeid_grant;
         DROP TRIGGER flakeid_keep_delete ON flakeid_grant;
         CREATE TRIGGER flakeid_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON flakeid_grant
             FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();
         DROP TRIGGER flakeid_keep ON flakeid_sub_grant;
         DROP TRIGGER flakeid_keep_delete ON flakeid_sub_grant;
         CREATE TRIGGER flakeid_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON flakeid_sub_grant
             FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();";
    const DENIED: &'static str = "permission denied";
    const CONSTRAINT: &'static str = "VIOLATES CHECK";
    const LOSING: &'static [&'static str] = &[
        "TRUNCATE flakeid_node",
        "TRUNCATE flakeid_grant",
        "TRUNCATE flakeid_sub_grant",
        "TRUNCATE flakeid_namespace CASCADE",
    ];

    fn sleep(seconds: u32) -> String {
        format!("SELECT pg_sleep({seconds})")
    }
    const SLEEPING: &'static str =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";

    const UNVERIFIED: &'static [&'static str] = &["", "?sslmode=prefer", "?sslmode=require"];
    const REQUIRED: &'static [&'static str] =
        &["?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"];
    const NO_TLS: &'static str = "?sslmode=disable";
    const AUTHORITIES: &'static str = "sslrootcert";
    const VERIFY_HOST: &'static str = "sslmode=verify-full";
    const TLS_MISSING: &'static str = "TLS";
    const BAD_TLS: &'static [(&'static str, &'static str)] = &[
        ("?sslmode=verify-ca&sslrootcert={wrong}", "invalid peer"),
        ("?sslmode=require&sslrootcert={wrong}", "invalid peer"),
        ("?sslmode=require&sslrootcert=system", "verify-full"),
        ("?sslmode=sometimes", "sslmode must be"),
    ];

    fn new() -> Self {
        Self::new()
    }

    fn with_certificate(certificate: &str, key: &str) -> Self {
        Self::with_certificate(certificate, key)
    }

    fn url_of(&self, user: &str, password: &str, database: &str, options: &str) -> String {
        self.url_of(user, password, database, options)
    }

    fn sql(&self, sql: &str) -> Result<String, String> {
        self.sql(sql)
    }

    fn check_encryption(&self, _encrypted: &str, _plain: &str) {
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE usename = 'flakeid'";
        assert_eq!(self.sql(encrypted).unwrap(), "t");
    }

    fn unreachable(&self) -> Vec<(String, bool, &'static str)> {
        let nobody = free_port();
        vec![
            (self.url_of("flakeid", "wr0ng-secret", "ids", ""), false, "password authentication"),
            (self.url_of("nobody", "wr0ng-secret", "ids", ""), false, "password authentication"),
            (self.url_of("flakeid", PASSWORD, "missing", ""), false, "does not exist"),
            (self.url_of("flakeid", PASSWORD, "ids", "?wr0ng-secret=1"), false, "unknown option"),
            (self.url_of("flakeid", "wr0ng?secret@", "ids", ""), false, "unknown option"),
            (self.url_of("flakeid", "wr0ng/secret", "ids", ""), false, "written as %2F"),
            (format!("postgresql://u:wr0ng-secret@127.0.0.1:{nobody}/d"), true, "refused"),
            (format!("postgresql://u:wr0ng-secret@127.0.0.1:{nobody}x/d"), false, "port"),
            ("postgresql://u:wr0ng-secret@no-such-host.invalid/d".into(), true, "connecting"),
        ]
    }

    fn back_up(&self) -> Box<dyn Any> {
        Box::new(self.backup())
    }

    fn put_back(&self, copy: Box<dyn Any>) {
        self.restore(&copy.downcast::<TempDir>().expect("a backup"));
    }

    /// Changes a field after disabling the triggers and dropping the checks, as the owner of the tables could.
    fn damage(&self, field: &str, text: &str, condition: &str) {
        let checks = "SELECT string_agg('DROP CONSTRAINT ' || conname, ', ') FROM pg_constraint \
             WHERE conrelid = 'flakeid_node'::regclass AND contype = 'c'";
        let dropped = self.sql(checks).unwrap();
        if !dropped.is_empty() {
            self.sql(&format!("ALTER TABLE flakeid_node {dropped}")).unwrap();
        }
        self.sql(&format!(
            "ALTER TABLE flakeid_node DISABLE TRIGGER USER;
             UPDATE flakeid_node SET {field} = '{text}' WHERE {condition};
             ALTER TABLE flakeid_node ENABLE TRIGGER USER"
        ))
        .unwrap();
    }

    fn can_hold(field: &str, text: &str) -> bool {
        field != "fence" || text.parse::<i64>().is_ok()
    }
}
