//! Events without a promise, which may repeat IDs: older data restored into a running server, which
//! a store cannot detect by itself, two primaries at once, and clocks that are all wrong before
//! older data are restored.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

use flakeid_test_servers::{
    EtcdServer, MariadbServer, PostgresPair, PostgresServer, RedisServer, Server,
};
use tempfile::TempDir;

/// A store, in some cases with a copy of its data from before any process leased from it.
pub(super) enum Excluded {
    Redis(RedisServer),
    Etcd(EtcdServer, BTreeMap<String, String>),
    Mariadb(MariadbServer),
    Postgres(PostgresServer),
    /// Two primaries, and the time for which both are primaries.
    Primaries(PostgresPair, Duration),
    /// A store whose clock, like those of the processes, is ahead by [`AHEAD`] at first and correct
    /// afterwards.
    Clock(TempDir),
}

/// The name of a case, and the function that starts its servers.
type Case = (&'static str, fn() -> io::Result<Excluded>);

/// The table that is restored.
const TABLE: &str = "ids.flakeid_node";
const PREFIX: &str = "/flakeid/";
/// The error of a wrong clock, which exceeds the wait of new processes after a restore.
const AHEAD: Duration = Duration::from_secs(60);

impl Excluded {
    pub(super) const ALL: [Case; 7] = [
        ("PostgreSQL: a database renamed away, and later back", || {
            Ok(Self::Postgres(PostgresServer::new()))
        }),
        ("MariaDB: `IMPORT TABLESPACE`", || Ok(Self::Mariadb(MariadbServer::new()))),
        ("Redis: keys put back, as by `RESTORE`", || Ok(Self::Redis(RedisServer::new()))),
        ("etcd: `etcdctl put` and `del`", || Ok(Self::Etcd(EtcdServer::new(), BTreeMap::new()))),
        ("PostgreSQL: two primaries for 20 s", || Ok(Self::primaries(20))),
        ("PostgreSQL: two primaries for 60 s", || Ok(Self::primaries(60))),
        ("SQLite: all clocks 60 s ahead, then set right and an older copy put back", || {
            TempDir::with_prefix("flakeid-clock").map(Self::Clock)
        }),
    ];

    fn primaries(seconds: u64) -> Self {
        Self::Primaries(PostgresPair::new(false), Duration::from_secs(seconds))
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Redis(server) => server.url(),
            Self::Etcd(server, _) => server.url(),
            Self::Mariadb(server) => server.url(),
            Self::Postgres(server) => server.url(),
            Self::Primaries(pair, _) => pair.url(""),
            Self::Clock(home) => format!("sqlite://{}/ids.db", home.path().display()),
        }
    }

    /// Returns the URLs for the processes that start after the event, one for each.
    pub(super) fn newcomers(&self) -> Vec<String> {
        match self {
            Self::Primaries(pair, _) => vec![pair.primary.url(), pair.standby.url()],
            _ => vec![self.url()],
        }
    }

    /// Ends the event if its duration has passed, and returns whether it has ended.
    pub(super) fn end(&self, after: Duration) -> bool {
        match self {
            Self::Primaries(pair, lasts) if after >= *lasts => {
                pair.primary.kill();
                true
            }
            _ => false,
        }
    }

    /// Returns the duration of the event, or zero if it is instantaneous.
    pub(super) const fn lasts(&self) -> Duration {
        match self {
            Self::Primaries(_, lasts) => *lasts,
            Self::Clock(_) => AHEAD,
            _ => Duration::ZERO,
        }
    }

    /// Returns the clock error of the first processes, in milliseconds. They end before the clock
    /// is corrected.
    pub(super) fn ahead_ms(&self) -> i64 {
        if matches!(self, Self::Clock(_)) { AHEAD.as_millis() as i64 } else { 0 }
    }

    /// Whether a holder from before the event can prove it.
    pub(super) const fn can_be_proved(&self) -> bool {
        !matches!(self, Self::Primaries(..) | Self::Clock(_))
    }

    /// Returns the time for which processes issue IDs before the restore. A copied database is
    /// another run of the store, so its processes wait first, and then have windows ahead of the
    /// clock for some time.
    pub(super) const fn before(&self) -> Duration {
        match self {
            Self::Postgres(_) => Duration::from_secs(45),
            _ => Duration::from_secs(8),
        }
    }

    /// Takes the copy while no process is connected.
    pub(super) fn copy(&mut self) -> io::Result<()> {
        match self {
            Self::Redis(server) => {
                let copy = "for _, key in ipairs(redis.call('KEYS', '*')) do \
                            redis.call('COPY', key, 'old:' .. key) end return 'OK'";
                server.command(&["EVAL", copy, "0"])
            }
            Self::Etcd(server, values) => {
                let keys = server.ctl(&["get", "--prefix", PREFIX, "--keys-only"]);
                for key in keys.map_err(io::Error::other)?.lines().filter(|key| !key.is_empty()) {
                    let value = server.ctl(&["get", "--print-value-only", key]);
                    let value = value.map_err(io::Error::other)?.trim_end().to_owned();
                    values.insert(key.to_owned(), value);
                }
                Ok(String::new())
            }
            Self::Mariadb(server) => {
                let (from, to) = (server.data().join("ids"), server.data().join("ids-copy"));
                std::fs::create_dir(&to)?;
                server.sql(&format!(
                    "FLUSH TABLES {TABLE} FOR EXPORT;
                     \\! cp -a {0}/flakeid_node.ibd {0}/flakeid_node.cfg {1}
                     UNLOCK TABLES",
                    from.display(),
                    to.display()
                ))
            }
            // The original keeps the OID by which the server identifies it. The copy is in use
            // until the restore.
            Self::Postgres(server) => server
                .sql_in("postgres", "ALTER DATABASE ids RENAME TO away")
                .and_then(|_| server.sql_in("postgres", "CREATE DATABASE ids TEMPLATE away")),
            Self::Primaries(..) => Ok(String::new()),
            Self::Clock(home) => {
                return fs::copy(home.path().join("ids.db"), home.path().join("copy")).map(drop);
            }
        }
        .map(drop)
        .map_err(io::Error::other)
    }

    /// Restores the copy, or creates a second primary.
    pub(super) fn begin(&self) -> io::Result<()> {
        match self {
            Self::Redis(server) => {
                let restore = "for _, key in ipairs(redis.call('KEYS', '*')) do \
                     if string.sub(key, 1, 4) ~= 'old:' then redis.call('DEL', key) end end \
                     for _, key in ipairs(redis.call('KEYS', 'old:*')) do \
                     redis.call('COPY', key, string.sub(key, 5)) end return 'OK'";
                server.command(&["EVAL", restore, "0"])
            }
            Self::Etcd(server, values) => {
                for (key, value) in values {
                    server.ctl(&["put", key, value]).map_err(io::Error::other)?;
                }
                let keys = server.ctl(&["get", "--prefix", PREFIX, "--keys-only"]);
                let keys = keys.map_err(io::Error::other)?;
                let is_new = |key: &&str| !key.is_empty() && !values.contains_key(*key);
                for key in keys.lines().filter(is_new) {
                    server.ctl(&["del", key]).map_err(io::Error::other)?;
                }
                Ok(String::new())
            }
            Self::Mariadb(server) => {
                let discard = format!("ALTER TABLE {TABLE} DISCARD TABLESPACE");
                server.sql(&discard).map_err(io::Error::other)?;
                let from = server.data().join("ids-copy/.");
                let to = server.data().join("ids");
                let copied = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
                if !copied.success() {
                    return Err(io::Error::other(format!("cp: {copied}")));
                }
                server.sql(&format!("ALTER TABLE {TABLE} IMPORT TABLESPACE"))
            }
            Self::Postgres(server) => server
                .sql_in("postgres", "DROP DATABASE ids WITH (FORCE)")
                .and_then(|_| server.sql_in("postgres", "ALTER DATABASE away RENAME TO ids")),
            Self::Primaries(pair, _) => {
                pair.standby.promote();
                Ok(String::new())
            }
            Self::Clock(home) => {
                for log in ["ids.db-wal", "ids.db-shm"] {
                    let file = home.path().join(log);
                    if file.exists() {
                        fs::remove_file(file)?;
                    }
                }
                return fs::copy(home.path().join("copy"), home.path().join("ids.db")).map(drop);
            }
        }
        .map(drop)
        .map_err(io::Error::other)
    }
}
