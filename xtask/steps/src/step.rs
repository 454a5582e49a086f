//! Runs other programs, and prints each command first.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The reason why a task failed, as a message for people.
#[derive(Debug)]
pub struct Failed(pub String);

/// The result of a task.
pub type Outcome = Result<(), Failed>;

/// Returns the root of the checkout.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// Returns the folder of cargo's output.
pub fn target_folder() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A command of a task. It runs in the root of the checkout by default.
#[must_use = "a step does nothing until it is run"]
pub struct Step {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, OsString)>,
    folder: PathBuf,
    image: Option<&'static str>,
    install: Option<&'static str>,
}

impl Step {
    /// Creates a step that runs a program with arguments.
    pub fn new(program: &str, arguments: &[&str]) -> Self {
        let step = Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: root(),
            image: None,
            install: None,
        };
        step.args(arguments)
    }

    /// Creates a step that runs a `cargo` command, with the toolchain that runs this program.
    pub fn cargo(arguments: &[&str]) -> Self {
        Self::new("cargo", arguments)
    }

    /// Appends arguments.
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// Lets another program start this one, with the command as its last arguments.
    pub(crate) fn through(mut self, program: &str, arguments: &[&str]) -> Self {
        let mut words: Vec<String> =
            arguments.iter().map(|&argument| argument.to_owned()).collect();
        words.push(std::mem::replace(&mut self.program, program.to_owned()));
        words.append(&mut self.arguments);
        self.arguments = words;
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs the command in another folder, relative to the root.
    pub fn within(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = root().join(folder);
        self
    }

    /// Sets a `--cfg` flag of the compiler, and a separate target directory for the flag, because
    /// every change of flags would otherwise rebuild everything.
    pub fn configured(self, cfg: &str) -> Self {
        let target = root().join("target").join(cfg);
        self.env("RUSTFLAGS", format!("--cfg {cfg}")).env("CARGO_TARGET_DIR", target)
    }

    /// Runs the command in a container. The container can access only the checkout, under the
    /// same path, and nothing else on this machine.
    pub fn inside(mut self, image: Option<&'static str>) -> Self {
        self.image = image;
        self
    }

    /// Sets the command that installs the program. An error shows the command if the program is
    /// missing.
    pub fn or_install(mut self, command: &'static str) -> Self {
        self.install = Some(command);
        self
    }

    /// Returns the command in the syntax of a shell.
    pub(crate) fn shown(&self) -> String {
        let folder = self.folder.strip_prefix(root()).unwrap_or(&self.folder);
        let mut words = Vec::new();
        if folder != Path::new("") {
            words.push(format!("cd {} &&", folder.display()));
        }
        words.extend(self.image.map(|image| format!("[in {image}]")));
        for (name, value) in &self.environment {
            words.push(format!("{name}={}", value.display()));
        }
        words.push(self.program.clone());
        words.extend_from_slice(&self.arguments);
        words.join(" ")
    }

    fn command(&self) -> Command {
        // On Windows, npm is a script that can be started only by its full name.
        let npm = cfg!(windows) && self.program == "npm";
        let program = if npm { "npm.cmd" } else { self.program.as_str() };
        let Some(image) = self.image else {
            let mut command = Command::new(program);
            let environment = self.environment.iter().map(|(name, value)| (name, value));
            for name in package_variables() {
                command.env_remove(name);
            }
            command.args(&self.arguments).envs(environment).current_dir(&self.folder);
            return command;
        };
        let root = root();
        let mut command = Command::new("docker");
        command.args(["run", "--rm", "--volume"]);
        command.arg(format!("{0}:{0}", root.display())).arg("--workdir").arg(&self.folder);
        for (name, value) in &self.environment {
            let mut pair = OsString::from(format!("{name}="));
            pair.push(value);
            command.arg("--env").arg(pair);
        }
        command.arg(image).arg(program).args(&self.arguments).current_dir(root);
        command
    }

    fn not_started(&self, error: &std::io::Error) -> Failed {
        let install = self.image.map_or(self.install, |_| Some("https://docs.docker.com/engine"));
        let hint = match install {
            Some(install) if error.kind() == ErrorKind::NotFound => {
                format!("\ninstall it with: {install}")
            }
            _ => String::new(),
        };
        Failed(format!("cannot run {}: {error}{hint}", self.shown()))
    }

    /// Runs the command, and shows its output.
    pub fn run(self) -> Outcome {
        println!("\n$ {}", self.shown());
        let start = Instant::now();
        let status = self.command().status().map_err(|error| self.not_started(&error))?;
        if !status.success() {
            return Err(Failed(format!("failed ({status}): {}", self.shown())));
        }
        println!("({:.1} s)", start.elapsed().as_secs_f32());
        Ok(())
    }

    /// Runs the command with its output in a file. Returns whether it succeeded.
    pub fn run_into(&self, file: &Path) -> Result<bool, Failed> {
        let failed = |error| Failed(format!("{}: {error}", file.display()));
        let output = File::create(file).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let status = command.status().map_err(|error| self.not_started(&error))?;
        if !status.success() {
            let mut log = File::options().append(true).open(file).map_err(failed)?;
            writeln!(log, "({status})").map_err(failed)?;
        }
        Ok(status.success())
    }

    /// Starts the command, and returns the process.
    pub fn spawn(self, input: Stdio, others: Stdio) -> Result<Child, Failed> {
        println!("\n$ {}", self.shown());
        let mut command = self.command();
        command.stdin(input).stdout(others);
        command.spawn().map_err(|error| self.not_started(&error))
    }

    /// Runs the command, and returns its standard error.
    pub fn error_output(self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown());
        let output = self.command().output().map_err(|error| self.not_started(&error))?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(Failed(format!("failed ({}): {}\n{errors}", output.status, self.shown())));
        }
        Ok(errors)
    }

    /// Runs the command, and returns its standard output; standard error is shown.
    pub fn printed(self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown());
        let child = self.command().stdout(Stdio::piped()).spawn();
        let output =
            child.and_then(Child::wait_with_output).map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            return Err(Failed(format!("failed ({}): {}", output.status, self.shown())));
        }
        self.utf8(output.stdout)
    }

    /// Runs the command, and returns its standard output.
    pub fn output(self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown());
        self.captured()
    }

    /// Runs the command without printing it, and returns its standard output.
    pub(crate) fn captured(self) -> Result<String, Failed> {
        let output = self.command().output().map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(Failed(format!("failed ({}): {}\n{errors}", output.status, self.shown())));
        }
        self.utf8(output.stdout)
    }

    fn utf8(&self, output: Vec<u8>) -> Result<String, Failed> {
        String::from_utf8(output)
            .map_err(|_| Failed(format!("{} did not write UTF-8", self.shown())))
    }
}

/// Returns the variables that `cargo run` sets for this program's own package. They are removed,
/// because the build script of ring depends on them and would run again for each program that
/// calls cargo.
fn package_variables() -> impl Iterator<Item = OsString> {
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    std::env::vars_os().map(|(name, _)| name).filter(move |name| name.to_str().is_some_and(own))
}
