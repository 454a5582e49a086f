//! The guide's commands. The commands of a chapter run one after another in one shell, as a
//! reader would run them, in an otherwise empty folder with the files that the chapter quotes.

use std::path::Path;

use flakeid_linking::Library;
use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome, Step, files, root, target_folder};

use crate::book::{Block, Chapter, NOT_RUN};
use crate::run::{Built, WORK, bounded};
use crate::tutorials::is_tutorial;

pub(crate) fn run(chapters: &[Chapter], built: &Built, stores: &Servers) -> Outcome {
    // The tutorials are run separately.
    for chapter in chapters.iter().filter(|chapter| !is_tutorial(chapter)) {
        let mut script = String::new();
        for block in &chapter.blocks {
            if let Some(commands) = commands(chapter, block)? {
                script += &stores.with_addresses(commands);
            }
        }
        if !script.is_empty() {
            run_chapter(chapter, &script, built)?;
        }
    }
    Ok(())
}

/// Returns the commands of a block, unless the block is marked as not run.
fn commands<'a>(chapter: &Chapter, block: &'a Block) -> Result<Option<&'a str>, Failed> {
    let shown = chapter.path.display();
    match block.info.split_once(',') {
        None if block.info == "sh" => Ok(Some(&block.code)),
        Some(("sh", mark)) => match mark.strip_prefix(NOT_RUN).filter(|why| !why.is_empty()) {
            Some(why) => {
                println!("\n{shown}: not run, because {why}:\n{}", block.code);
                Ok(None)
            }
            None => Err(Failed(format!("{shown}: `sh,{mark}` must be `sh,{NOT_RUN}REASON`"))),
        },
        _ => Ok(None),
    }
}

fn run_chapter(chapter: &Chapter, script: &str, built: &Built) -> Outcome {
    let name = chapter.path.file_stem().unwrap_or_default().display();
    let folder = format!("{WORK}/commands/{name}");
    files::empty(&folder)?;
    // The commands of this chapter begin in an empty folder with the packages.
    let is_node = chapter.path.ends_with("languages/node.md");
    if is_node {
        for tarball in files::with_extension(&built.npm_packages, "tgz")? {
            let name = tarball.file_name().unwrap_or_default().to_owned();
            files::copy(tarball, Path::new(&folder).join(name))?;
        }
    }
    // The commands of this chapter begin in a folder that contains only the programs.
    let is_go = chapter.path.ends_with("languages/go.md");
    if is_go {
        files::copy("examples/go/first/main.go", format!("{folder}/main.go"))?;
        files::copy("examples/go/orders/main.go", format!("{folder}/orders/main.go"))?;
    }
    let quoted = chapter.blocks.iter().filter_map(Block::quoted);
    for quoted in quoted.filter(|_| !is_node && !is_go) {
        let file = chapter.path.with_file_name(quoted);
        let parent = file.parent().unwrap_or(Path::new("."));
        // The folder of main.go must also contain its go.mod.
        if parent.ends_with("examples") {
            let to = Path::new(&folder).join(file.file_name().unwrap_or_default());
            files::copy(&file, to)?;
        } else {
            files::copy_files(&files::shown(parent)?, &folder)?;
        }
    }
    if chapter.path.ends_with("languages/c.md") {
        let name = built.c_archive.file_name().unwrap_or_default();
        files::copy(&built.c_archive, Path::new(&folder).join(name))?;
    }
    if chapter.path.ends_with("java.md") {
        let work = root().join(WORK).join("java");
        let library = Library { prefix: built.c_library.clone(), work };
        files::copy(flakeid_linking::jar(&library)?, format!("{folder}/flakeid.jar"))?;
    }
    if chapter.path.ends_with("python.md") {
        let name = built.wheel.file_name().unwrap_or_default();
        files::copy(&built.wheel, Path::new(&folder).join(name))?;
    }
    if chapter.path.ends_with("bundle-server.md") || chapter.path.ends_with("bundle-page.md") {
        let installed = format!("{}/node_modules", built.bundlers);
        Step::new("ln", &["-s", &installed, "."]).within(&folder).run()?;
    }
    files::write(format!("{folder}/commands.sh"), script)?;
    println!("\n{}", chapter.path.display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [target_folder().join("debug")].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).map_err(|error| Failed(format!("PATH: {error}")))?;
    let lib = built.c_library.join("lib");
    let commands = bounded("sh", &["-eux", "commands.sh"])
        .within(root().join(folder))
        .env("PATH", path)
        .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
        .env("LD_LIBRARY_PATH", &lib)
        .env("CGO_LDFLAGS", format!("-L{}", lib.display()))
        // The guide installs the jar, but not in this user's repository.
        .env(
            "MAVEN_OPTS",
            format!("-Dmaven.repo.local={}", root().join(WORK).join("maven").display()),
        );
    if is_go { with_go_proxy(commands, built)?.run() } else { commands.run() }
}

/// Sets the variables that the chapter on Go describes. The downloaded module is not kept for other
/// programs of this user.
fn with_go_proxy(step: Step, built: &Built) -> Result<Step, Failed> {
    let modules = format!("{WORK}/go-modules");
    files::empty(&modules)?;
    Ok(step
        .env("GOPROXY", format!("file://{}", built.go_proxy.display()))
        .env("GONOSUMDB", "github.com/flakeid/flakeid/go")
        .env("GOMODCACHE", root().join(modules))
        .env("GOFLAGS", "-modcacherw"))
}
