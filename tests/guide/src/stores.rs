//! Private servers, and the addresses that the guide writes where readers have their own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use flakeid_steps::{Failed, Step};

/// What the guide writes, by the kind of store.
const IN_THE_GUIDE: [(&str, &str); 4] = [
    ("postgresql", "postgresql://orders:secret@db.example/orders"),
    ("mysql", "mysql://orders:secret@db.example/orders"),
    ("redis", "redis://:secret@cache.example/0"),
    ("etcd", "etcd://etcd.example:2379"),
];

/// A server of every kind, until this is dropped.
pub(crate) struct Stores {
    urls: Vec<(String, String)>,
    keeper: Child,
    /// The servers end with it.
    input: Option<ChildStdin>,
}

impl Stores {
    pub(crate) fn start() -> Result<Self, Failed> {
        let step = Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-test-servers"]);
        // Their files are not worth a disk: they are needed for a minute.
        let memory = "/dev/shm";
        let step = if Path::new(memory).is_dir() { step.env("TMPDIR", memory) } else { step };
        let mut keeper = step.spawn(Stdio::piped(), Stdio::piped())?;
        let input = keeper.stdin.take();
        let mut stores = Self { urls: Vec::new(), keeper, input };
        let Some(output) = stores.keeper.stdout.take() else {
            return Err(Failed("the private servers have no output".to_owned()));
        };
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| Failed(format!("the private servers: {error}")))?;
            match line.split_once(' ') {
                Some((kind, url)) => stores.urls.push((kind.to_owned(), url.to_owned())),
                None => return Ok(stores),
            }
        }
        Err(Failed("the private servers did not start".to_owned()))
    }

    pub(crate) fn url(&self, kind: &str) -> Result<&str, Failed> {
        let found = self.urls.iter().find(|(known, _)| known == kind);
        found.map(|(_, url)| url.as_str()).ok_or_else(|| Failed(format!("no {kind} was started")))
    }

    /// A text of the guide with the private servers' addresses in it.
    pub(crate) fn addressed(&self, text: &str) -> Result<String, Failed> {
        IN_THE_GUIDE.iter().try_fold(text.to_owned(), |text, (kind, address)| {
            Ok(text.replace(address, self.url(kind)?))
        })
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        drop(self.input.take());
        // Nothing is left to be done about it here.
        let _ = self.keeper.wait();
    }
}
