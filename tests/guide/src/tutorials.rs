//! The tutorials. The commands of a tutorial run one after another in one shell, in a folder that
//! contains the files that the tutorial quotes. Services run in the background.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use flakeid_steps::servers::{Servers, free_port};
use flakeid_steps::{Failed, Outcome, Step, files, root, target_folder};

use crate::book::{Block, Chapter, NOT_RUN};
use crate::run::WORK;

/// The folder of the tutorials' pages, and of other pages.
const PAGES: &str = "docs/src/tutorials";
/// The folder of the tutorials' applications, which have the names of their pages.
const APPLICATIONS: &str = "examples/tutorials";

/// Files that pin the versions of packages. Pages do not quote these files.
const LOCK_FILES: [&str; 4] = [".npmrc", "constraints.txt", "go.sum", "package-lock.json"];

/// The database and the checkout in the commands, as the reader's own values.
const DATABASE: &str = "postgresql://orders:secret@db.example/orders";
const JDBC: &str = "jdbc:postgresql://db.example/orders?user=orders&password=secret";
const CHECKOUT: &str = "/path/to/flakeid";
/// The folder of the Go module that users build, and of the module that the check builds.
const GO_MODULE: [&str; 2] = ["target/dist/go/", "target/tests/go/"];

/// The mark of commands that start a service in a terminal of its own, followed by the port.
const LISTENS: &str = "listens=";
/// The mark of commands that run after all services have been stopped. They list the leases that are
/// left, and must print nothing.
const STOPPED: &str = "stopped";

const SERVICES: &str = include_str!("services.sh");

/// The time limit for the commands of a tutorial, which download packages.
const SECONDS: &str = "900";

/// The tutorials to run.
#[derive(Args)]
pub(crate) struct Chosen {
    /// The folder with the packages that each tutorial installs, in a folder of its name.
    #[arg(long)]
    packages: PathBuf,
    /// The names of the tutorials.
    #[arg(required = true)]
    names: Vec<String>,
}

pub(crate) fn run(chapters: &[Chapter], chosen: &Chosen) -> Outcome {
    for name in &chosen.names {
        let page = Path::new(PAGES).join(name).with_extension("md");
        let chapter = chapters.iter().find(|chapter| chapter.path == page);
        let chapter =
            chapter.ok_or_else(|| Failed(format!("{} does not exist", page.display())))?;
        run_tutorial(name, chapter, &chosen.packages.join(name))?;
    }
    Ok(())
}

/// Whether a chapter is a tutorial with an application.
pub(crate) fn is_tutorial(chapter: &Chapter) -> bool {
    chapter.path.starts_with(PAGES) && root().join(application(chapter)).is_dir()
}

/// Returns the folder of a tutorial's application.
fn application(chapter: &Chapter) -> PathBuf {
    Path::new(APPLICATIONS).join(chapter.path.file_stem().unwrap_or_default())
}

/// Checks that the page of each tutorial quotes every file of its application, so that readers can
/// build the application from the page.
pub(crate) fn check(chapters: &[Chapter]) -> Outcome {
    chapters.iter().filter(|chapter| is_tutorial(chapter)).try_for_each(check_quotes)
}

fn check_quotes(chapter: &Chapter) -> Outcome {
    let application = application(chapter);
    let quoted: Vec<PathBuf> = chapter
        .blocks
        .iter()
        .filter_map(Block::quoted)
        .filter_map(|path| Some(Path::new("examples").join(path.split_once("examples/")?.1)))
        .collect();
    for path in files::of_project()?.iter().filter(|path| path.starts_with(&application)) {
        let is_lock_file = path.file_name().is_some_and(|name| {
            LOCK_FILES.iter().any(|lock_file| name.to_string_lossy() == *lock_file)
        });
        if !is_lock_file && !quoted.contains(path) {
            let page = chapter.path.display();
            return Err(Failed(format!("{page} does not quote {}", path.display())));
        }
    }
    Ok(())
}

fn run_tutorial(name: &str, chapter: &Chapter, packages: &Path) -> Outcome {
    let folder = format!("{WORK}/tutorials/{name}");
    files::empty(&folder)?;
    files::copy_folder(&format!("{APPLICATIONS}/{name}"), &folder)?;
    files::copy_files(&files::shown(packages)?, &folder)?;
    let servers = Servers::start(&["postgres"])?;
    let script = script(chapter, &folder, servers.url("postgres")?)?;
    files::write(format!("{folder}/commands.sh"), script)?;
    println!("\n{}", chapter.path.display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [target_folder().join("debug")].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).map_err(|error| Failed(format!("PATH: {error}")))?;
    // The commands download packages to folders of their own, not to this user's folders.
    let cache = |name: &str| root().join(WORK).join(name).display().to_string();
    let mut step = Step::new("timeout", &["--kill-after=5", SECONDS, "sh", "-eux", "commands.sh"])
        .within(&folder)
        .env("PATH", path)
        .env("MAVEN_OPTS", format!("-Dmaven.repo.local={}", cache("maven")))
        .env("GOMODCACHE", root().join(&folder).join("modules"))
        // Go's own cache ignores changes of the C library.
        .env("GOCACHE", root().join(&folder).join("cache"))
        .env("GOFLAGS", "-modcacherw")
        .env("NEXT_TELEMETRY_DISABLED", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    if root().join(&folder).join("constraints.txt").is_file() {
        step = step.env("PIP_CONSTRAINT", "constraints.txt");
    }
    let start = Instant::now();
    step.run()?;
    println!("{}: {:.0} s", chapter.path.display(), start.elapsed().as_secs_f32());
    Ok(())
}

/// The ports in a page's commands, each with the free port that replaces it.
struct Ports(Vec<(String, String)>);

impl Ports {
    fn of(chapter: &Chapter) -> Result<Self, Failed> {
        let mut ports: Vec<(String, String)> = Vec::new();
        for block in &chapter.blocks {
            let Some(shown) = mark(block).and_then(|mark| mark.strip_prefix(LISTENS)) else {
                continue;
            };
            if !ports.iter().any(|(known, _)| known == shown) {
                ports.push((shown.to_owned(), free_port()?.to_string()));
            }
        }
        Ok(Self(ports))
    }

    /// Replaces the ports in commands.
    fn replace(&self, commands: &str) -> String {
        // A free port can contain the digits of another port, so marks replace the ports first.
        let mark = |index: usize| format!("PORT-{index}-");
        let ports = || self.0.iter().enumerate();
        let marked = ports().fold(commands.to_owned(), |text, (index, (shown, _))| {
            text.replace(shown, &mark(index))
        });
        ports().fold(marked, |text, (index, (_, free))| text.replace(&mark(index), free))
    }
}

/// Returns the part of a block's information after `sh,`, or an empty mark after `sh`. Other blocks
/// contain no commands.
fn mark(block: &Block) -> Option<&str> {
    let rest = block.info.strip_prefix("sh")?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(',') }
}

/// Returns the commands of a page as one script, and writes a script for each service.
fn script(chapter: &Chapter, folder: &str, database: &str) -> Result<String, Failed> {
    let page = chapter.path.display();
    let ports = Ports::of(chapter)?;
    let mut script = vec![SERVICES.to_owned()];
    // Programs that read the variable PORT listen on the port of the first service.
    if let Some((_, port)) = ports.0.first() {
        script.push(format!("export PORT={port}\n"));
    }
    let mut services = 0;
    for block in &chapter.blocks {
        let Some(mark) = mark(block) else { continue };
        let commands = ports.replace(&with_addresses(&block.code, database)?);
        if let Some(port) = mark.strip_prefix(LISTENS) {
            services += 1;
            let file = format!("service-{services}.sh");
            files::write(format!("{folder}/{file}"), commands)?;
            script.push(format!("start_service {file} {}\n", ports.replace(port)));
            continue;
        }
        match mark {
            "" => {}
            STOPPED => {
                script.push(format!(
                    "stop_services\n{{\n{commands}}} > printed\ncat printed\ntest ! -s printed\n"
                ));
                continue;
            }
            _ if mark.strip_prefix(NOT_RUN).is_some_and(|why| !why.is_empty()) => {
                println!("\n{page}: {mark}:\n{}", block.code);
                continue;
            }
            _ => {
                return Err(Failed(format!(
                    "{page}: `sh,{mark}` must be `sh`, `sh,{LISTENS}PORT`, `sh,{STOPPED}` or \
                     `sh,{NOT_RUN}REASON`"
                )));
            }
        }
        script.push(commands);
    }
    Ok(script.concat())
}

/// Replaces the reader's own values in commands.
fn with_addresses(commands: &str, database: &str) -> Result<String, Failed> {
    let (login, place) = database
        .strip_prefix("postgresql://")
        .and_then(|rest| rest.split_once('@'))
        .ok_or_else(|| Failed("the private server's URL has no password".to_owned()))?;
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let jdbc = format!("jdbc:postgresql://{place}?user={user}&password={password}");
    let checkout = files::shown(&root())?;
    Ok(commands
        .replace(JDBC, &jdbc)
        .replace(DATABASE, database)
        .replace(GO_MODULE[0], GO_MODULE[1])
        .replace(CHECKOUT, &checkout))
}
