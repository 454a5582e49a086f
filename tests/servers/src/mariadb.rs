use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use crate::account::{Account, run, stdout_of};
use crate::daemon::Daemon;
use crate::home::home;
use crate::mysql_programs::Programs;
use crate::template::{self, Template};
use crate::{Server, free_port};

/// A private `MariaDB` with a database `ids` and a user `flakeid` with all rights to it. For tests
/// of both systems, `MySQL` instead if `FLAKEID_MYSQL` names a folder with its packages, as in
/// `cargo xtask mysql`.
#[derive(Debug)]
pub struct MariadbServer {
    programs: Programs,
    home: TempDir,
    account: Account,
    port: u16,
    settings: Vec<String>,
    daemon: Daemon,
}

impl MariadbServer {
    /// The password of the user.
    pub const PASSWORD: &'static str = "sesame-7ab2";

    /// Starts a server.
    ///
    /// # Panics
    /// If `MariaDB` is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// Starts a server with additional options for `mariadbd`.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with(settings: &[&str]) -> Self {
        let server = Self { settings: strings(settings), ..Self::installed() };
        server.begin();
        server
    }

    /// Starts a server without database and user, because a replica gets them from its source.
    pub(crate) fn empty(settings: &[&str]) -> Self {
        let server = Self { settings: strings(settings), ..Self::installed() };
        server.start();
        server
    }

    /// Returns a server with a copy of this server's data. Neither server may run.
    pub(crate) fn stopped_copy(&self) -> Self {
        let (account, home) = Self::home();
        let programs = self.programs.clone();
        template::copy(&self.data(), &home.path().join("data"));
        let daemon = Daemon::new(programs.name(), home.path().join("log"));
        Self { programs, home, account, port: free_port(), settings: Vec::new(), daemon }
    }

    /// Replaces the additional options from the next start on.
    pub(crate) fn set(&mut self, settings: Vec<String>) {
        self.settings = settings;
    }

    /// Starts the server with further options, which apply only to this start.
    pub(crate) fn start_with(&self, settings: &[&str]) {
        let mut command = self.programs.server();
        self.account.runs(&mut command);
        command.current_dir(self.home.path());
        command.env("TMPDIR", self.home.path().join("tmp"));
        command.args(["--bind-address=127.0.0.1", "--max-connections=300"]);
        command.arg(format!("--port={}", self.port));
        command.arg(format!("--datadir={}", self.data().display()));
        command.arg(format!("--socket={}", self.socket().display()));
        command.arg(format!("--pid-file={}", self.home.path().join("pid").display()));
        command.args(&self.settings).args(settings);
        self.daemon.start(&mut command, || self.sql("SELECT 1").is_ok());
    }

    /// Whether the server is `MySQL`.
    #[must_use]
    pub fn is_mysql(&self) -> bool {
        matches!(self.programs, Programs::Mysql(_))
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts a server that uses a certificate and its key, both in PEM format.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with_certificate(certificate: &str, key: &str) -> Self {
        let mut server = Self::installed();
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let file = server.home.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            server.account.own(&file);
        }
        let home = server.home.path().display();
        server.settings =
            vec![format!("--ssl-cert={home}/server.crt"), format!("--ssl-key={home}/server.key")];
        server.begin();
        server
    }

    /// Returns the URL with another user, password, database or options.
    #[must_use]
    pub fn url_of(&self, user: &str, password: &str, database: &str, options: &str) -> String {
        format!("mysql://{user}:{password}@127.0.0.1:{}/{database}{options}", self.port)
    }

    /// Runs SQL as root. The statements have to name the database.
    ///
    /// # Errors
    /// The error message of the server.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        stdout_of(
            self.programs
                .client()
                .args(["-u", "root", "-N", "-B", "-e", sql])
                .arg(format!("--socket={}", self.socket().display())),
        )
    }

    /// Disables the checks of `ids.flakeid_node` permanently, for servers where a session cannot
    /// disable them.
    ///
    /// # Errors
    /// The error message of the server.
    pub fn disable_checks(&self) -> Result<(), String> {
        let checks = self.sql(
            "SELECT GROUP_CONCAT('ALTER CHECK ', constraint_name, ' NOT ENFORCED')
             FROM information_schema.table_constraints
             WHERE table_schema = 'ids' AND table_name = 'flakeid_node' AND constraint_type = 'CHECK'",
        )?;
        self.sql(&format!("ALTER TABLE ids.flakeid_node {checks}")).map(drop)
    }

    /// Returns the statements that recreate the current tables of the database.
    ///
    /// # Panics
    /// If the dump fails.
    #[must_use]
    pub fn dump(&self) -> String {
        stdout_of(
            self.programs
                .dump()
                .args(["-u", "root", "--single-transaction", "--triggers", "ids"])
                .arg(format!("--socket={}", self.socket().display())),
        )
        .expect("a dump")
    }

    /// Runs the statements of a dump.
    ///
    /// # Panics
    /// If the server refuses a statement.
    pub fn load(&self, dump: &str) {
        let file = self.home.path().join("dump.sql");
        // The dump contains rows that violate the checks, because tests inserted them while the
        // checks were disabled.
        fs::write(&file, format!("{}\n{dump}", self.programs.without_checks())).unwrap();
        run(self
            .programs
            .client()
            .args(["-u", "root", "ids"])
            .arg(format!("--socket={}", self.socket().display()))
            .stdin(File::open(&file).unwrap()));
    }

    fn socket(&self) -> PathBuf {
        self.home.path().join("socket")
    }

    /// Returns an account, and a directory that the account owns. The directory contains one for
    /// temporary tables, because a server deletes all temporary tables in it at its start.
    fn home() -> (Account, TempDir) {
        let account = Account::named("mysql");
        let home = home();
        account.own(home.path());
        let temporary = home.path().join("tmp");
        fs::create_dir(&temporary).unwrap();
        account.own(&temporary);
        (account, home)
    }

    fn installed() -> Self {
        let programs = Programs::chosen();
        let (account, home) = Self::home();
        let daemon = Daemon::new(programs.name(), home.path().join("log"));
        let server =
            Self { programs, home, account, port: free_port(), settings: Vec::new(), daemon };
        let program = server.programs.file();
        let recipe = concat!(include_str!("mariadb.rs"), include_str!("mysql_programs.rs"));
        let name = server.programs.name();
        let template = Template { name, program: &program, recipe, account };
        template.copy(&server.data(), || server.create());
        server
    }

    /// Creates a data folder.
    fn create(&self) -> PathBuf {
        let data = self.home.path().join("template");
        let mut command = self.programs.install();
        self.account.runs(&mut command);
        run(command
            .env("TMPDIR", self.home.path().join("tmp"))
            .arg(format!("--datadir={}", data.display()))
            .current_dir(self.home.path()));
        // MySQL creates this file with its identifier, which differs between servers.
        let _ = fs::remove_file(data.join("auto.cnf"));
        data
    }

    fn begin(&self) {
        self.start();
        self.sql(&format!(
            "CREATE DATABASE ids; CREATE USER flakeid IDENTIFIED BY '{}'; GRANT ALL ON ids.* TO \
             flakeid",
            Self::PASSWORD
        ))
        .expect("a database");
    }
}

fn strings(settings: &[&str]) -> Vec<String> {
    settings.iter().map(ToString::to_string).collect()
}

impl Default for MariadbServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for MariadbServer {
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        self.url_of("flakeid", Self::PASSWORD, "ids", "")
    }

    fn lock(&self, duration: Duration) -> Result<(), String> {
        self.sql(&format!(
            "USE ids; LOCK TABLES flakeid_namespace WRITE, flakeid_node WRITE; SELECT SLEEP({}); UNLOCK TABLES",
            duration.as_secs_f32()
        ))
        .map(drop)
    }

    fn start(&self) {
        self.start_with(&[]);
    }
}
