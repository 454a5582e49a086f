use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The account that a server runs under. Servers refuse to run as root, so root uses the account
/// that the server's package created. Other users use their own account.
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

    /// Sets the account that a command runs under.
    pub(crate) fn runs(self, command: &mut Command) {
        if let Self(Some((user, group))) = self {
            command.uid(user).gid(group);
        }
    }

    pub(crate) fn own(self, path: &Path) {
        if let Self(Some((user, group))) = self {
            chown(path, Some(user), Some(group)).expect("root can change the owner of files");
        }
    }
}

fn number(arguments: &[&str]) -> u32 {
    let output = Command::new("id").args(arguments).output().expect("id runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("id {arguments:?} printed {text:?}"))
}

/// Runs a command and waits until it ends.
///
/// # Panics
/// If the command fails; the message contains its output.
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

/// Runs a command and returns its output.
///
/// # Errors
/// The command's standard error, if it failed.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
