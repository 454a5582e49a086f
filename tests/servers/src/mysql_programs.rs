use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// The server's program of Debian's `MariaDB`.
const MARIADB: &str = "/usr/sbin/mariadbd";
/// The server's program in the folder `usr` of the `MySQL` packages.
const MYSQL: &str = "sbin/mysqld";

/// The programs of a server that uses the `MySQL` protocol.
#[derive(Clone, Debug)]
pub(crate) enum Programs {
    /// The installed programs of Debian's `MariaDB`.
    Mariadb,
    /// The folder with the unpacked `MySQL` packages of a later Debian, and the C library that they
    /// need.
    Mysql(PathBuf),
}

impl Programs {
    /// Returns the programs of `MySQL` if `FLAKEID_MYSQL` names a folder with its packages,
    /// otherwise those of `MariaDB`.
    pub(crate) fn chosen() -> Self {
        std::env::var_os("FLAKEID_MYSQL").map_or(Self::Mariadb, |folder| Self::Mysql(folder.into()))
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Mariadb => "MariaDB",
            Self::Mysql(_) => "MySQL",
        }
    }

    /// Returns the file of the server's program.
    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::Mariadb => MARIADB.into(),
            Self::Mysql(folder) => folder.join("usr").join(MYSQL),
        }
    }

    /// Returns the command that starts the server, before further options.
    pub(crate) fn server(&self) -> Command {
        let mut command = self.program(MARIADB, MYSQL);
        if let Self::Mysql(folder) = self {
            command.arg(format!("--basedir={}", folder.join("usr").display()));
            // MySQL writes a binary log by default; this option then lets users without SUPER
            // create triggers.
            command.args([
                "--log-bin-trust-function-creators=1",
                "--mysqlx=0",
                "--secure-file-priv=",
            ]);
        }
        command
    }

    /// Returns the command that creates a server's data, before further options.
    pub(crate) fn install(&self) -> Command {
        match self {
            Self::Mariadb => {
                let mut command = self.program("mariadb-install-db", "");
                command.args(["--skip-test-db", "--auth-root-authentication-method=normal"]);
                command
            }
            Self::Mysql(_) => {
                let mut command = self.server();
                command.arg("--initialize-insecure");
                command
            }
        }
    }

    /// Returns the client command, before further options.
    pub(crate) fn client(&self) -> Command {
        self.program("mariadb", "bin/mysql")
    }

    /// Returns the dump command, before further options.
    pub(crate) fn dump(&self) -> Command {
        let mut command = self.program("mariadb-dump", "bin/mysqldump");
        if let Self::Mysql(_) = self {
            // The dump is for the server that wrote it, not for a replica.
            command.arg("--set-gtid-purged=OFF");
        }
        command
    }

    /// Returns a statement that disables the checks of tables, or an empty string if there is none.
    pub(crate) const fn without_checks(&self) -> &'static str {
        match self {
            Self::Mariadb => "SET check_constraint_checks = 0;",
            Self::Mysql(_) => "",
        }
    }

    fn program(&self, of_mariadb: &str, of_mysql: &str) -> Command {
        let mut command = match self {
            Self::Mariadb => Command::new(of_mariadb),
            Self::Mysql(folder) => {
                let mut command = Command::new(folder.join("usr/lib64/ld-linux-x86-64.so.2"));
                let libraries = folder.join("usr/lib/x86_64-linux-gnu");
                command.args([OsStr::new("--library-path"), libraries.as_os_str()]);
                command.arg(folder.join("usr").join(of_mysql));
                command
            }
        };
        command.arg("--no-defaults");
        command
    }
}
