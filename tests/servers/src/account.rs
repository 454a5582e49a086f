use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The account that a server runs under: servers refuse root, so root uses the one that the
/// server's package made. Everybody else uses their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account(Option<(u32, u32)>);

impl Account {
    pub(crate) fn named(name: &str) -> Self {
        if number(&["-u"]) != 0 {
            return Self(None);
        }
        Self(Some((number(&["-u", name]), number(&["-g", name]))))
    }

    pub(crate) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        self.runs(&mut command);
        command
    }

    /// Makes a command run under it.
    pub(crate) fn runs(self, command: &mut Command) {
        if let Self(Some((user, group))) = self {
            command.uid(user).gid(group);
        }
    }

    pub(crate) fn own(self, path: &Path) {
        if let Self(Some((user, group))) = self {
            chown(path, Some(user), Some(group)).expect("root may give files away");
        }
    }
}

fn number(arguments: &[&str]) -> u32 {
    let output = Command::new("id").args(arguments).output().expect("id runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("id {arguments:?} gave {text:?}"))
}

/// Runs a command to its end.
///
/// # Panics
/// If it fails, with what it wrote.
pub(crate) fn run(command: &mut Command) {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// Runs a command and gives what it wrote.
///
/// # Errors
/// What it wrote to standard error, if it failed.
pub(crate) fn ask(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
