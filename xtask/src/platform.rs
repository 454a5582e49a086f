//! The platforms of a release, and building for them.

use std::env::consts::{ARCH, OS};
use std::path::PathBuf;

use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Step, target_folder};

use crate::sbom;

/// The features of the tests in Rust.
pub(crate) const OF_TESTS: &str = "workspace-hack/tests";
/// The part of these features that adds no store.
pub(crate) const WITHOUT_STORES: &str = "workspace-hack/shared";

/// The oldest glibc that Rust supports, which is also the glibc of manylinux2014 wheels.
const GLIBC: &str = "2.17";

/// A platform, with Node's names of the system and the processor.
#[derive(Clone, Copy)]
pub(crate) struct Platform {
    pub(crate) triple: &'static str,
    pub(crate) system: &'static str,
    pub(crate) processor: &'static str,
    /// The C library or the kind of object files, on a system with several.
    pub(crate) abi: Option<&'static str>,
}

/// The platforms of a release. `release.yml` and `node/package.json` contain the same list.
pub(crate) const RELEASED: [Platform; 7] = [
    platform("aarch64-apple-darwin", "darwin", "arm64", None),
    platform("x86_64-apple-darwin", "darwin", "x64", None),
    platform("aarch64-unknown-linux-gnu", "linux", "arm64", Some("gnu")),
    platform("aarch64-unknown-linux-musl", "linux", "arm64", Some("musl")),
    platform("x86_64-unknown-linux-gnu", "linux", "x64", Some("gnu")),
    platform("x86_64-unknown-linux-musl", "linux", "x64", Some("musl")),
    platform("x86_64-pc-windows-msvc", "win32", "x64", Some("msvc")),
];

/// The platform of the jar's library for Windows, for which nothing else is built.
pub(crate) const WINDOWS_GNU: Platform =
    platform("x86_64-pc-windows-gnu", "win32", "x64", Some("gnu"));

const fn platform(
    triple: &'static str,
    system: &'static str,
    processor: &'static str,
    abi: Option<&'static str>,
) -> Platform {
    Platform { triple, system, processor, abi }
}

impl Platform {
    fn here() -> Result<Self, Failed> {
        let system = match OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        let processor = match ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let musl = cfg!(target_env = "musl");
        RELEASED
            .into_iter()
            .find(|known| {
                known.system == system
                    && known.processor == processor
                    && (known.abi == Some("musl")) == musl
            })
            .ok_or_else(|| Failed(format!("no release supports {OS} on {ARCH}")))
    }

    /// Returns the suffix of npm packages, such as `linux-x64-gnu`.
    pub(crate) fn suffix(&self) -> String {
        let abi = self.abi.map_or_else(String::new, |abi| format!("-{abi}"));
        format!("{}-{}{abi}", self.system, self.processor)
    }

    /// Returns cargo's file name for an executable.
    pub(crate) fn program(&self, name: &str) -> String {
        if self.system == "win32" { format!("{name}.exe") } else { name.to_owned() }
    }

    /// Returns cargo's file name for a shared library.
    pub(crate) fn library(&self, name: &str) -> String {
        match self.system {
            "win32" => format!("{name}.dll"),
            "darwin" => format!("lib{name}.dylib"),
            _ => format!("lib{name}.so"),
        }
    }
}

/// A profile of `Cargo.toml`.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// The profile of all published or benchmarked programs. Building with it takes several times as long.
    Dist,
    /// The profile of the slim C library, which is published, too.
    Slim,
    /// The profile of the tests.
    Dev,
}

impl Profile {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Slim => "slim",
            Self::Dev => "dev",
        }
    }

    /// Returns the name of the folder to which cargo writes the result.
    const fn folder(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Slim => "slim",
            Self::Dev => "debug",
        }
    }
}

/// The target of a build: this machine with its own linker, or a platform of a release.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) platform: Platform,
    pub(crate) released: bool,
    pub(crate) profile: Profile,
}

impl Target {
    /// Returns the target to publish: the given platform, or this machine if none is given.
    pub(crate) fn new(triple: Option<&str>) -> Result<Self, Failed> {
        let Some(triple) = triple else {
            return Ok(Self {
                platform: Platform::here()?,
                released: false,
                profile: Profile::Dist,
            });
        };
        let known = RELEASED.into_iter().find(|known| known.triple == triple);
        let platform = known.ok_or_else(|| {
            let all = RELEASED.map(|known| known.triple).join(", ");
            Failed(format!("--target is {triple}, but must be one of {all}"))
        })?;
        Ok(Self { platform, released: true, profile: Profile::Dist })
    }

    /// Returns the target to test: the given platform as in a release, or this machine with the profile of the tests,
    /// which builds sooner and reveals the same errors.
    pub(crate) fn tested(triple: Option<&str>) -> Result<Self, Failed> {
        let target = Self::new(triple)?;
        Ok(if target.released { target } else { Self { profile: Profile::Dev, ..target } })
    }

    /// Whether the result has to run on systems that are older than this machine's, or that have another C library.
    pub(crate) fn needs_zig(&self) -> bool {
        self.released && self.platform.system == "linux"
    }

    /// Returns the environment with zig, which includes every C library that releases require.
    pub(crate) fn zig() -> Result<Venv, Failed> {
        let venv = Venv::lasting("zig")?;
        venv.pip(&["install", "-q", "-r", "xtask/requirements.txt"])?;
        Ok(venv)
    }

    /// Returns a `cargo` command, such as `rustc`, for this target.
    pub(crate) fn cargo(&self, command: &str) -> Result<Step, Failed> {
        let triple = self.platform.triple;
        if !self.released {
            return Ok(Step::cargo(&[command]));
        }
        if !self.needs_zig() {
            return Ok(Step::cargo(&[command, "--target", triple]));
        }
        let zig = Self::zig()?;
        let step = Step::new(&zig.program("cargo-zigbuild")?, &[command, "--target"])
            .env("CARGO_ZIGBUILD_PYTHON_PATH", zig.program("python")?);
        Ok(match self.platform.abi {
            // Without this flag, there would be no shared library.
            Some("musl") => step.args(&[triple]).env("RUSTFLAGS", "-C target-feature=-crt-static"),
            _ => step.args(&[&format!("{triple}.{GLIBC}")]),
        })
    }

    /// Returns cargo's options for building a package. Only packages for tests have the given features, with which they
    /// share our crates with the tests in Rust.
    pub(crate) fn options(&self, of_tests: &'static str) -> Vec<&'static str> {
        let options = vec!["--profile", self.profile.name(), "--locked"];
        match self.profile {
            Profile::Dist | Profile::Slim => options,
            Profile::Dev => [options, vec!["--features", of_tests]].concat(),
        }
    }

    /// Returns the C compiler that matches the output of cargo.
    pub(crate) fn c_compiler(&self) -> Result<Step, Failed> {
        if !self.needs_zig() {
            let program =
                if self.platform.system == "win32" { "x86_64-w64-mingw32-gcc" } else { "cc" };
            return Ok(Step::new(program, &[]));
        }
        let zig = Self::zig()?;
        let (processor, _) = self.platform.triple.split_once('-').unwrap_or_default();
        let target = match self.platform.abi {
            Some("musl") => format!("{processor}-linux-musl"),
            _ => format!("{processor}-linux-gnu.{GLIBC}"),
        };
        Ok(Step::new(&zig.program("python")?, &["-m", "ziglang", "cc", "-target", &target]))
    }

    /// Returns `cargo build` for an executable that needs no system library. For musl only. The
    /// executable contains the list of its crates, in which `cargo audit bin` searches for advisories.
    pub(crate) fn cargo_static(&self) -> Result<Step, Failed> {
        let triple = self.platform.triple;
        if self.platform.abi != Some("musl") {
            return Err(Failed(format!("--target is {triple}, but must be one with musl")));
        }
        let zig = Self::zig()?;
        let auditable = sbom::auditable()?;
        Ok(Step::new(&auditable, &["auditable", "zigbuild", "--target", triple])
            // cargo finds its command zigbuild in the PATH.
            .env("PATH", zig.path()?)
            .env("CARGO_ZIGBUILD_PYTHON_PATH", zig.program("python")?))
    }

    /// Returns the folder where cargo writes the output of this profile.
    pub(crate) fn built_folder(&self) -> PathBuf {
        let folder = target_folder();
        let folder = if self.released { folder.join(self.platform.triple) } else { folder };
        folder.join(self.profile.folder())
    }

    /// Returns the folder for a language's packages, below the root of the checkout. Packages for tests have a
    /// separate folder, so that `target/dist` contains only packages for users.
    pub(crate) fn packages(&self, language: &str) -> String {
        match self.profile {
            Profile::Dist | Profile::Slim => format!("target/dist/{language}"),
            Profile::Dev => format!("target/tests/{language}"),
        }
    }

    pub(crate) fn runs_here(&self) -> Result<bool, Failed> {
        Ok(Platform::here()?.triple == self.platform.triple)
    }

    /// Returns the container image in which to run the tests: `None` if they run on this machine, otherwise `musl`.
    /// Fails if they run in neither.
    pub(crate) fn image(&self, musl: &'static str) -> Result<Option<&'static str>, Failed> {
        if self.runs_here()? {
            return Ok(None);
        }
        let (here, platform) = (Platform::here()?, self.platform);
        let same_machine = (here.system, here.processor) == (platform.system, platform.processor);
        if same_machine && platform.abi == Some("musl") {
            return Ok(Some(musl));
        }
        Err(Failed(format!("tests for {} cannot run on {}", platform.triple, here.triple)))
    }
}
