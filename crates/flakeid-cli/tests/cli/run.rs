use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

/// The result of running the `flakeid` command.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("output is UTF-8")
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }

    /// Parses each line of the output as JSON.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Checks that the command succeeded and wrote nothing to standard error, and returns the
    /// result.
    pub(crate) fn quiet(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.text());
        self
    }
}

/// The environment variables that affect IDs or colours.
pub(crate) const CLEARED: [&str; 10] = [
    "FLAKEID_STORE",
    "FLAKEID_NAMESPACE",
    "FLAKEID_NODE",
    "FLAKEID_DATACENTER",
    "FLAKEID_WORKER",
    "FLAKEID_LAYOUT",
    "FLAKEID_KEY_FILE",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
];

/// Returns the `flakeid` command without environment variables that affect IDs or colours.
pub(crate) fn flakeid() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flakeid"));
    for name in CLEARED {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(args: &[&str]) -> Run {
    finish(flakeid().args(args).output().expect("the command runs"))
}

pub(crate) fn run_with(variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = flakeid();
    command.args(args).envs(variables.iter().copied());
    finish(command.output().expect("the command runs"))
}

pub(crate) fn run_on(input: &[u8], args: &[&str]) -> Run {
    finish(pipe(flakeid().args(args), input))
}

/// Runs a program with `input` as its standard input, and returns the output of the program.
pub(crate) fn pipe(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("it has a standard input");
    let input = input.to_vec();
    // A write error is ignored, because the command may end before it has read all of its input.
    let writer = thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

/// Starts the command. The caller reads the command's standard output and standard error.
pub(crate) fn start(args: &[&str]) -> Child {
    let mut command = flakeid();
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command runs")
}

/// Runs the command, and closes the pipe from its standard output after reading the given number of
/// bytes.
pub(crate) fn run_and_close(args: &[&str], bytes: usize) -> Run {
    let mut child = start(args);
    let mut stdout = child.stdout.take().expect("it has a standard output");
    stdout.read_exact(&mut vec![0; bytes]).expect("the command writes enough");
    drop(stdout);
    finish(child.wait_with_output().expect("the command ends"))
}

pub(crate) fn finish(output: Output) -> Run {
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    Run { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Creates an empty directory for one test, and returns the directory and the URL of a store in
/// this directory.
pub(crate) fn scratch(test: &str) -> (PathBuf, String) {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory for the test");
    let url = format!("sqlite://{}", dir.join("flakeid.db").display());
    (dir, url)
}
