//! A private `PgBouncer` in front of a private `PostgreSQL`.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::account::Account;
use crate::daemon::Daemon;
use crate::home::home;
use crate::{PostgresServer, free_port};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A connection pooler that assigns a server connection to a client for one transaction at a time.
#[derive(Debug)]
pub struct PgBouncer {
    home: TempDir,
    account: Account,
    port: u16,
    daemon: Daemon,
}

impl PgBouncer {
    /// Starts a pooler in front of a server, in the pool mode `transaction`, with additional
    /// settings such as `server_login_retry = 1`. The last value of a setting applies.
    ///
    /// # Panics
    /// If `PgBouncer` (Debian's `pgbouncer`) is not installed or does not start.
    #[must_use]
    pub fn to(server: &PostgresServer, settings: &[&str]) -> Self {
        assert!(Path::new(PROGRAM).exists(), "no {PROGRAM}: apt-get install pgbouncer");
        // PgBouncer refuses to run as root.
        let account = Account::named("postgres");
        let home = home();
        account.own(home.path());
        let port = free_port();
        let users = home.path().join("users");
        let password = PostgresServer::PASSWORD;
        fs::write(&users, format!("\"flakeid\" \"{password}\"\n\"service\" \"{password}\"\n"))
            .expect("a file of users");
        let text = format!(
            "[databases]\n\
             ids = host=127.0.0.1 port={}\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = scram-sha-256\n\
             auth_file = {}\n\
             pool_mode = transaction\n\
             max_client_conn = 300\n\
             {}\n",
            server.port(),
            users.display(),
            settings.join("\n")
        );
        let file = home.path().join("pgbouncer.ini");
        fs::write(&file, text).expect("a configuration");
        for file in [&users, &file] {
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("our file");
            account.own(file);
        }
        let daemon = Daemon::new("PgBouncer", home.path().join("log"));
        let pooler = Self { home, account, port, daemon };
        pooler.start();
        pooler
    }

    /// Returns the URL of the database through the pooler.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgresql://flakeid:{}@127.0.0.1:{}/ids", PostgresServer::PASSWORD, self.port)
    }

    /// Starts the pooler and waits until it accepts connections.
    ///
    /// # Panics
    /// If it accepts none within a minute.
    pub fn start(&self) {
        let mut command = self.account.command(Path::new(PROGRAM));
        command.arg(self.home.path().join("pgbouncer.ini")).current_dir(self.home.path());
        let is_ready = || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        self.daemon.start(&mut command, is_ready);
    }

    /// Kills the pooler without warning.
    pub fn kill(&self) {
        self.daemon.kill();
    }
}
