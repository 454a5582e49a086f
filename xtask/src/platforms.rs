//! Tests on systems other than this machine's, native or emulated: the core, leases on `SQLite`,
//! the command, and programs in C.

use clap::ValueEnum;
use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use crate::archive;
use crate::platform::{Profile, RELEASED, Target};
use crate::server_packages::REDIS;

const WORK: &str = "target/platforms";

/// A system that this machine can run or emulate.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Emulated {
    /// Linux with musl, native, as static executables.
    Musl,
    /// 32-bit Linux, native, on a 64-bit kernel.
    I686,
    /// Linux on ARM64, emulated by qemu-user.
    Arm64,
    /// Windows, emulated by Wine.
    Windows,
}

impl Emulated {
    const fn triple(self) -> &'static str {
        match self {
            Self::Musl => "x86_64-unknown-linux-musl",
            Self::I686 => "i686-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
            Self::Windows => "x86_64-pc-windows-gnu",
        }
    }

    const fn compiler(self) -> &'static str {
        match self {
            Self::Musl => "musl-gcc",
            Self::I686 => "i686-linux-gnu-gcc",
            Self::Arm64 => "aarch64-linux-gnu-gcc",
            Self::Windows => "x86_64-w64-mingw32-gcc",
        }
    }

    /// The programs that the tests need, each with its Debian package, including the compiler.
    const fn needed(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Musl => &[("musl-gcc", "musl-tools")],
            Self::I686 => &[
                ("i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
                ("/usr/i686-linux-gnu/lib/crti.o", "libc6-dev-i386-cross"),
                ("/usr/lib32/libc.so.6", "libc6-i386"),
            ],
            Self::Arm64 => &[
                ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
                ("/usr/aarch64-linux-gnu/lib/crti.o", "libc6-dev-arm64-cross"),
                ("qemu-aarch64", "qemu-user"),
            ],
            Self::Windows => {
                &[("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"), ("wine", "wine wine64")]
            }
        }
    }

    /// The program that runs this system's executables here.
    const fn runner(self) -> Option<&'static str> {
        match self {
            Self::Musl | Self::I686 => None,
            Self::Arm64 => Some("qemu-aarch64 -L /usr/aarch64-linux-gnu"),
            Self::Windows => Some("wine"),
        }
    }

    /// The tests of the core that cannot pass on this system. The guide explains the reasons.
    const fn without(self) -> &'static [&'static str] {
        match self {
            Self::Musl | Self::I686 => &[],
            Self::Arm64 => &["fork", "restart"],
            Self::Windows => &["restart"],
        }
    }

    /// The tests of leases that run in one process and do not require a server.
    const fn leases(self) -> &'static [&'static str] {
        match self {
            Self::Musl | Self::I686 => {
                &["--lib", "--test=lease", "--test=memory", "--test=sqlite", "--test=sqlite_fork"]
            }
            Self::Arm64 | Self::Windows => &["--lib", "--test=lease", "--test=memory"],
        }
    }

    fn cargo(self, command: &str, arguments: &[&str]) -> Result<Step, Failed> {
        let triple = self.triple();
        let name = triple.replace('-', "_");
        let upper = name.to_uppercase();
        let step = Step::cargo(&[command, "--locked", "--target", triple])
            .args(arguments)
            .env("CARGO_TARGET_DIR", root().join(WORK))
            .env(&format!("CC_{name}"), self.compiler());
        // Rust links for musl with its own linker.
        let step = match self {
            Self::Musl => step,
            _ => step.env(&format!("CARGO_TARGET_{upper}_LINKER"), self.compiler()),
        };
        let step = match self.runner() {
            Some(runner) => step.env(&format!("CARGO_TARGET_{upper}_RUNNER"), runner),
            None => step,
        };
        self.prepared(step)
    }

    /// Adds the variables that Wine needs, with a separate prefix.
    fn prepared(self, step: Step) -> Result<Step, Failed> {
        Ok(match self {
            Self::Windows => {
                let prefix = files::shown(&root().join(WORK).join("wine"))?;
                step.env("WINEDEBUG", "-all").env("WINEPREFIX", prefix)
            }
            _ => step,
        })
    }

    /// Returns the step that runs a program of this system.
    fn started(self, program: &str, arguments: &[&str]) -> Result<Step, Failed> {
        let step = match self.runner() {
            Some(runner) => {
                let mut words = runner.split(' ');
                let first = words.next().unwrap_or_default();
                Step::new(first, &words.collect::<Vec<_>>()).args(&[program])
            }
            None => Step::new(program, &[]),
        };
        self.prepared(step.args(arguments))
    }
}

pub(crate) fn run(only: &[Emulated]) -> Outcome {
    let all = if only.is_empty() { Emulated::value_variants() } else { only };
    for &system in all {
        println!("\n{}", system.triple());
        packages::ensure(system.needed())?;
        Step::new("rustup", &["target", "add", system.triple()])
            .or_install("see https://rustup.rs")
            .run()?;
        if matches!(system, Emulated::Windows) {
            prepare_wine()?;
        }
        core(system)?;
        let packages = ["-p", "flakeid-protocol", "-p", "flakeid-stores", "-p", "flakeid"];
        let leases = system.cargo("test", &packages)?.args(&["--features", "flakeid/sqlite"]);
        leases.args(system.leases()).run()?;
        command(system)?;
        c(system)?;
    }
    println!("\ncargo xtask platforms: everything passed");
    Ok(())
}

/// Adds a library that Wine 8 lacks. The standard library gets random numbers from it.
fn prepare_wine() -> Outcome {
    Emulated::Windows.prepared(Step::new("wineboot", &["--init"]))?.run()?;
    let library = format!("{WORK}/wine/drive_c/windows/system32/bcryptprimitives.dll");
    Step::new(Emulated::Windows.compiler(), &["-shared", "-O2", "-o", &library])
        .args(&["tests/platforms/bcryptprimitives.c", "-ladvapi32"])
        .run()
}

fn core(system: Emulated) -> Outcome {
    let tests = files::entries("crates/flakeid-core/tests")?;
    let names = tests.iter().filter_map(|path| {
        let is_test =
            path.extension().is_some_and(|kind| kind == "rs") || path.join("main.rs").exists();
        path.file_stem().and_then(|name| name.to_str()).filter(|_| is_test)
    });
    let names = names.filter(|name| !system.without().contains(name));
    let tests: Vec<String> = names.map(|name| format!("--test={name}")).collect();
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    system.cargo("test", &["-p", "flakeid-core", "--lib"])?.args(&tests).run()
}

/// Checks that two processes with one store never return the same ID, and that `inspect` decodes
/// an ID.
fn command(system: Emulated) -> Outcome {
    system.cargo("build", &["-p", "flakeid-cli"])?.run()?;
    packages::ensure(&[REDIS])?;
    let servers = Servers::start(&["redis"])?;
    let mut stores = vec![servers.url("redis")?.to_owned()];
    if !matches!(system, Emulated::Windows) {
        let folder = format!("{WORK}/store/{}", system.triple());
        files::empty(&folder)?;
        stores.push(format!("sqlite://{folder}/flakeid.db"));
    }
    stores.iter().try_for_each(|store| two_processes(system, store))
}

fn two_processes(system: Emulated, store: &str) -> Outcome {
    let suffix = if matches!(system, Emulated::Windows) { ".exe" } else { "" };
    let flakeid = format!("{WORK}/{}/debug/flakeid{suffix}", system.triple());
    system.started(&flakeid, &["leases", "init", "--fresh", "--store", store])?.run()?;
    let next = || system.started(&flakeid, &["next", "-n", "1000", "--store", store])?.output();
    let (first, second) = (next()?, next()?);
    let mut ids: Vec<&str> = first.lines().chain(second.lines()).map(str::trim).collect();
    ids.sort_unstable();
    ids.dedup();
    let id = ids.last().copied().unwrap_or_default();
    let decoded = system.started(&flakeid, &["inspect", id])?.output()?;
    if ids.len() == 2000 && decoded.contains(id) {
        println!("{store}: 2000 distinct IDs of two processes; {}", decoded.trim());
        return Ok(());
    }
    Err(Failed(format!(
        "{store}: {} of 2000 IDs are distinct; inspect prints {decoded}",
        ids.len()
    )))
}

/// Builds and runs the programs of `tests/c` that need only the library.
fn c(system: Emulated) -> Outcome {
    system.cargo("build", &["-p", "flakeid-c"])?.run()?;
    let built = format!("{WORK}/{}/debug/libflakeid.a", system.triple());
    let library = match RELEASED.into_iter().find(|known| known.triple == system.triple()) {
        Some(platform) => {
            let target = Target { platform, released: true, profile: Profile::Dev };
            let reduced = root().join(WORK).join(system.triple()).join("libflakeid.a");
            archive::reduce(&target, &root().join(&built), &reduced)?;
            files::shown(&reduced)?
        }
        None => built,
    };
    let libraries: Vec<&str> = libraries(system).split(' ').collect();
    let mut programs = vec![
        ("tests/c/options.c", None),
        ("tests/c/refusals.c", None),
        ("tests/c/threads.c", Some("200000")),
        ("examples/quickstart.c", None),
    ];
    // These programs lease from a file, and leases on SQLite are not supported on Windows.
    if !matches!(system, Emulated::Windows) {
        programs.extend([("tests/c/local.c", Some("200000")), ("tests/c/ring.c", Some("200000"))]);
    }
    for (source, argument) in programs {
        let name = source.rsplit('/').next().unwrap_or(source);
        let program = format!("{WORK}/{}/{name}.exe", system.triple());
        Step::new(system.compiler(), &["-O2", "-Iinclude", "-o", &program, source, &library])
            .args(&libraries)
            .run()?;
        system.started(&program, argument.as_slice())?.run()?;
    }
    Ok(())
}

/// Returns the system libraries that a program with the static library needs.
const fn libraries(system: Emulated) -> &'static str {
    match system {
        Emulated::Musl => "-static -Wl,--eh-frame-hdr",
        Emulated::I686 | Emulated::Arm64 => "-lm -lpthread -ldl",
        Emulated::Windows => "-lws2_32 -lntdll -luserenv -lbcrypt -ladvapi32 -lpthread -static",
    }
}
