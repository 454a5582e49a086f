#![allow(unsafe_code)]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::account::{Account, run, stdout_of};
use crate::daemon::Daemon;
use crate::home::home;
use crate::template::Template;
use crate::{Server, free_port};

const NAME: &str = "PostgreSQL";
/// The source code that creates the data folder.
const RECIPE: &str = include_str!("postgres.rs");

/// A private `PostgreSQL` with a database `ids`, its owner `flakeid` and a superuser.
#[derive(Debug)]
pub struct PostgresServer {
    home: TempDir,
    programs: PathBuf,
    account: Account,
    port: u16,
    settings: Vec<String>,
    daemon: Daemon,
}

impl PostgresServer {
    /// The password of all roles.
    pub const PASSWORD: &'static str = "sesame-9c1f";

    /// Starts a server.
    ///
    /// # Panics
    /// If `PostgreSQL` is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        let server = Self::installed();
        server.start();
        server
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
        server.settings = vec![
            "ssl=on".into(),
            format!("ssl_cert_file={home}/server.crt"),
            format!("ssl_key_file={home}/server.key"),
        ];
        server.start();
        server
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL with another role, password, database or options.
    #[must_use]
    pub fn url_of(&self, role: &str, password: &str, database: &str, options: &str) -> String {
        format!("postgresql://{role}:{password}@127.0.0.1:{}/{database}{options}", self.port)
    }

    /// Runs SQL in the database `ids` as superuser.
    ///
    /// # Errors
    /// The error message of the server.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        self.sql_in("ids", sql)
    }

    /// Runs SQL in another database as superuser.
    ///
    /// # Errors
    /// In the same cases as [`sql`](Self::sql).
    pub fn sql_in(&self, database: &str, sql: &str) -> Result<String, String> {
        stdout_of(
            Command::new(self.programs.join("psql"))
                .args([
                    "-X",
                    "-q",
                    "-A",
                    "-t",
                    "-v",
                    "ON_ERROR_STOP=1",
                    "-U",
                    "postgres",
                    "-c",
                    sql,
                ])
                .args(["-d", database, "-p", &self.port.to_string(), "-h"])
                .arg(self.home.path())
                .env("PGPASSWORD", Self::PASSWORD),
        )
    }

    /// Creates a physical copy of the data while the server runs.
    ///
    /// # Panics
    /// If `pg_basebackup` fails.
    #[must_use]
    pub fn backup(&self) -> TempDir {
        let copy = tempfile::tempdir_in(self.home.path()).expect("a temporary directory");
        self.account.own(copy.path());
        self.back_up_to(&copy.path().join("data"));
        copy
    }

    fn back_up_to(&self, folder: &Path) {
        run(self
            .account
            .command(&self.programs.join("pg_basebackup"))
            .args(["--checkpoint=fast", "-U", "postgres", "-p", &self.port.to_string()])
            .arg("-h")
            .arg(self.home.path())
            .arg("-D")
            .arg(folder)
            .env("PGPASSWORD", Self::PASSWORD)
            .current_dir(self.home.path()));
    }

    /// Replaces the data with a copy.
    ///
    /// # Panics
    /// If the files cannot be moved.
    pub fn restore(&self, copy: &TempDir) {
        self.stop();
        fs::remove_dir_all(self.data()).expect("the process owns the data");
        fs::rename(copy.path().join("data"), self.data()).expect("the process owns the copy");
        self.start();
    }

    /// Starts a standby of this server, with the same roles.
    ///
    /// # Panics
    /// In the same cases as [`backup`](Self::backup) and [`new`](Self::new).
    #[must_use]
    pub fn standby(&self) -> Self {
        let home = home();
        self.account.own(home.path());
        let standby = Self {
            daemon: Daemon::new(NAME, home.path().join("log")),
            home,
            programs: self.programs.clone(),
            account: self.account,
            port: free_port(),
            settings: Vec::new(),
        };
        standby.follow(self);
        standby
    }

    /// Replaces the data, if there are any, with a copy of a running server's, and starts this
    /// server as its standby.
    ///
    /// # Panics
    /// In the same cases as [`backup`](Self::backup) and [`new`](Self::new).
    pub fn follow(&self, primary: &Self) {
        self.stop();
        if self.data().exists() {
            fs::remove_dir_all(self.data()).expect("the process owns the data");
        }
        primary.back_up_to(&self.data());
        let signal = self.data().join("standby.signal");
        fs::write(&signal, "").unwrap();
        self.account.own(&signal);
        let settings = format!(
            "primary_conninfo = 'host={} port={} user=postgres password={}'\n\
             wal_retrieve_retry_interval = 200ms\n",
            primary.home.path().display(),
            primary.port,
            Self::PASSWORD
        );
        let file = self.data().join("postgresql.auto.conf");
        let written = fs::read_to_string(&file).unwrap_or_default();
        // The last value of a setting applies.
        fs::write(&file, written + &settings).unwrap();
        self.start();
    }

    /// Sets whether commits wait until a standby has them.
    ///
    /// # Panics
    /// If the server does not run.
    pub fn set_synchronous(&self, synchronous: bool) {
        let names = if synchronous { "*" } else { "" };
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
        self.sql(&set).expect("a setting");
        self.sql("SELECT pg_reload_conf()").expect("a reloaded configuration");
    }

    /// Waits until a standby streams from this server, and is synchronous if `synchronous` is set.
    ///
    /// # Panics
    /// If no standby does so within a minute.
    pub fn wait_for_standby(&self, synchronous: bool) {
        let state = if synchronous { "'sync', 'quorum'" } else { "'async'" };
        let query = format!(
            "SELECT count(*) FROM pg_stat_replication
             WHERE state = 'streaming' AND sync_state IN ({state})"
        );
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.sql(&query).as_deref() != Ok("1") {
            assert!(Instant::now() < deadline, "no standby streams within a minute");
            sleep(Duration::from_millis(50));
        }
    }

    /// Promotes a running standby to a primary.
    ///
    /// # Panics
    /// If `pg_ctl promote` fails.
    pub fn promote(&self) {
        run(self
            .account
            .command(&self.programs.join("pg_ctl"))
            .args(["promote", "-w", "-t", "60", "-D"])
            .arg(self.data())
            .current_dir(self.home.path()));
    }

    fn installed() -> Self {
        let account = Account::named("postgres");
        let home = home();
        account.own(home.path());
        let programs = newest_programs();
        let daemon = Daemon::new(NAME, home.path().join("log"));
        let server =
            Self { home, programs, account, port: free_port(), settings: Vec::new(), daemon };
        let program = server.programs.join("postgres");
        let template = Template { name: "postgresql", program: &program, recipe: RECIPE, account };
        template.copy(&server.data(), || server.create());
        server
    }

    /// Creates a data folder with the role and the database.
    fn create(&self) -> PathBuf {
        let data = self.home.path().join("template");
        let password = self.home.path().join("password");
        fs::write(&password, Self::PASSWORD).unwrap();
        self.account.own(&password);
        run(self
            .account
            .command(&self.programs.join("initdb"))
            .args(["-U", "postgres", "-A", "scram-sha-256", "--no-locale", "-E", "UTF8"])
            // This covers only the files of the template; the server itself syncs its writes.
            .arg("--no-sync")
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(&data)
            .current_dir(self.home.path()));
        let script = format!(
            "CREATE ROLE flakeid LOGIN PASSWORD '{}';\n\nCREATE DATABASE ids OWNER flakeid;\n",
            Self::PASSWORD
        );
        let file = self.home.path().join("create.sql");
        fs::write(&file, script).unwrap();
        // Without a server, each statement ends with an empty line (-j).
        run(self
            .account
            .command(&self.programs.join("postgres"))
            .args(["--single", "-j", "-c", "exit_on_error=on", "-D"])
            .arg(&data)
            .arg("postgres")
            .stdin(File::open(&file).unwrap())
            .current_dir(self.home.path()));
        data
    }

    /// Sends a signal to the server and its children. The children lead their own process groups,
    /// so a signal to the server's group would not reach them.
    fn signal_all(&self, signal: libc::c_int) -> Vec<libc::pid_t> {
        let guard = self.daemon.process();
        let server = guard.as_ref().expect("the server runs");
        // The server is stopped first, so that it can neither start nor reap children. The children's
        // process IDs therefore stay valid.
        server.signal(libc::SIGSTOP);
        let children = children(server.id());
        for child in &children {
            // SAFETY: the child keeps its process ID, because the stopped parent cannot reap it.
            unsafe { libc::kill(*child, signal) };
        }
        server.signal(signal);
        children
    }
}

impl Default for PostgresServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for PostgresServer {
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        self.url_of("flakeid", Self::PASSWORD, "ids", "")
    }

    fn lock(&self, duration: Duration) -> Result<(), String> {
        self.sql(&format!(
            "BEGIN; LOCK TABLE flakeid_namespace, flakeid_node IN ACCESS EXCLUSIVE MODE; \
             SELECT pg_sleep({}); COMMIT",
            duration.as_secs_f32()
        ))
        .map(drop)
    }

    fn start(&self) {
        let mut command = self.account.command(&self.programs.join("postgres"));
        command.arg("-D").arg(self.data()).current_dir(self.home.path());
        command.args(["-p", &self.port.to_string(), "-h", "127.0.0.1", "-N", "300"]);
        command.arg("-k").arg(self.home.path());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let is_ready = || {
            let mut ready = Command::new(self.programs.join("pg_isready"));
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            ready.status().is_ok_and(|status| status.success())
        };
        self.daemon.start(&mut command, is_ready);
    }

    fn stop(&self) {
        // The signal of a fast shutdown, which disconnects clients.
        self.daemon.stop(libc::SIGINT);
    }

    fn kill(&self) {
        let children = self.signal_all(libc::SIGKILL);
        self.daemon.kill();
        // A server does not start while a child of the previous one still uses its shared memory.
        let deadline = Instant::now() + Duration::from_secs(30);
        while children.iter().any(|child| has_memory(*child)) {
            assert!(
                Instant::now() < deadline,
                "children of the killed server still run: {children:?}"
            );
            sleep(Duration::from_millis(5));
        }
    }

    fn pause(&self) {
        self.signal_all(libc::SIGSTOP);
    }

    fn resume(&self) {
        self.signal_all(libc::SIGCONT);
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // The signal of an immediate shutdown, without a checkpoint. The shared memory would outlive a
        // kill.
        self.daemon.stop(libc::SIGQUIT);
    }
}

fn newest_programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").expect("the package postgresql");
    let numbers = versions.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let newest: u32 = numbers.max().expect("the package postgresql");
    Path::new("/usr/lib/postgresql").join(newest.to_string()).join("bin")
}

fn children(of: u32) -> Vec<libc::pid_t> {
    let path = format!("/proc/{of}/task/{of}/children");
    let listed = fs::read_to_string(path).expect("Linux lists a process's children");
    listed.split_whitespace().map(|number| number.parse().expect("a process ID")).collect()
}

/// Whether a process may still use memory. A zombie does not.
fn has_memory(process: libc::pid_t) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) else { return false };
    !status.lines().any(|line| line.starts_with("State:\tZ") || line.starts_with("State:\tX"))
}
