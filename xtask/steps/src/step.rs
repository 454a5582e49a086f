//! Running other programs, and saying which.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Why a task ended early, for people.
#[derive(Debug)]
pub struct Failed(pub String);

/// What a task comes to.
pub type Outcome = Result<(), Failed>;

/// The root of the checkout.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// Where cargo puts what it builds.
pub fn target_folder() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// One command of a task, run from the root of the checkout.
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
    /// A program with its arguments.
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

    /// Another `cargo` command, with the toolchain that runs this one.
    pub fn cargo(arguments: &[&str]) -> Self {
        Self::new("cargo", arguments)
    }

    /// More arguments.
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// Started by another program, which takes it as arguments.
    pub(crate) fn through(mut self, program: &str, arguments: &[&str]) -> Self {
        let mut words: Vec<String> =
            arguments.iter().map(|&argument| argument.to_owned()).collect();
        words.push(std::mem::replace(&mut self.program, program.to_owned()));
        words.append(&mut self.arguments);
        self.arguments = words;
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Run from another folder than the root.
    pub fn within(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = root().join(folder);
        self
    }

    /// Compiler flags of its own, and so a target directory of its own: changing flags would
    /// otherwise rebuild everything, each time.
    pub fn configured(self, cfg: &str) -> Self {
        let target = root().join("target").join(cfg);
        self.env("RUSTFLAGS", format!("--cfg {cfg}")).env("CARGO_TARGET_DIR", target)
    }

    /// Optimised, as users run it, with every check of a debug build in the crates of this
    /// workspace. Those that others have published are compiled as for a release, and so only once.
    pub fn optimised_with_checks(self) -> Self {
        self.args(&["--release", "--locked"])
            .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
            .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
    }

    /// Run in a container that sees the checkout where it is here, and nothing else of this
    /// machine.
    pub fn inside(mut self, image: Option<&'static str>) -> Self {
        self.image = image;
        self
    }

    /// What installs the program, if it is one that a machine may lack.
    pub fn or_install(mut self, command: &'static str) -> Self {
        self.install = Some(command);
        self
    }

    /// The command as a shell would take it.
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
        // There npm is a script, which only its full name starts.
        let npm = cfg!(windows) && self.program == "npm";
        let program = if npm { "npm.cmd" } else { self.program.as_str() };
        let Some(image) = self.image else {
            let mut command = Command::new(program);
            let environment = self.environment.iter().map(|(name, value)| (name, value));
            for name in of_this_package() {
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

    /// Runs it, with its output shown.
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

    /// Runs it with everything it prints in a file, and says whether it succeeded.
    pub(crate) fn run_into(&self, file: &Path) -> Result<bool, Failed> {
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

    /// Starts it, and leaves it to the caller.
    pub fn spawn(self, input: Stdio, others: Stdio) -> Result<Child, Failed> {
        println!("\n$ {}", self.shown());
        let mut command = self.command();
        command.stdin(input).stdout(others);
        command.spawn().map_err(|error| self.not_started(&error))
    }

    /// Runs it and returns what it wrote to standard error.
    pub fn complaints(self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown());
        let output = self.command().output().map_err(|error| self.not_started(&error))?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(Failed(format!("failed ({}): {}\n{errors}", output.status, self.shown())));
        }
        Ok(errors)
    }

    /// Runs it and returns what it wrote to standard output; errors and progress are shown.
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

    /// Runs it and returns what it wrote to standard output.
    pub fn output(self) -> Result<String, Failed> {
        println!("\n$ {}", self.shown());
        self.captured()
    }

    /// The same without a word.
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

/// What `cargo run` tells this program about its own package. ring's build script asks for the same
/// names, so with them it would be compiled anew by each program that calls cargo.
fn of_this_package() -> impl Iterator<Item = OsString> {
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    std::env::vars_os().map(|(name, _)| name).filter(move |name| name.to_str().is_some_and(own))
}
