//! The packages that the guide's tutorials install. `tests/guide` runs the tutorials.

use clap::ValueEnum;
use flakeid_linking::Library;
use flakeid_steps::{Failed, files, packages, root, workspace};

use crate::platform::Target;
use crate::server_packages::POSTGRESQL;
use crate::{c, go, jar, node, python};

/// The folder with a folder of packages for each tutorial.
pub(crate) const PACKAGES: &str = "target/docs/packages";

/// A part of the guide that can be checked alone.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The pages with the API references of all languages, as for publishing, and their links.
    Book,
    /// The pages, and everything else except the tutorials.
    Guide,
    /// All tutorials.
    Tutorials,
    /// The tutorial for `FastAPI`, `SQLAlchemy` and Alembic.
    Fastapi,
    /// The tutorial for Fastify and Drizzle.
    Fastify,
    /// The tutorial for Go and pgx.
    Go,
    /// The tutorial for Spring Boot.
    SpringBoot,
    /// The tutorial for Django.
    Django,
    /// The tutorial for C and `CMake`.
    C,
    /// The tutorial for brokers on Docker Compose.
    Brokers,
    /// The tutorial for Next.js.
    Next,
}

/// A package that is not published yet, so that a tutorial installs it from a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Package {
    Wheel,
    Npm,
    C,
    Jar,
    Go,
}

/// The tutorials, with the name of each page and the packages that the tutorial installs.
const TUTORIALS: [(Part, &str, &[Package]); 8] = [
    (Part::Fastapi, "fastapi", &[Package::Wheel]),
    (Part::Fastify, "fastify", &[Package::Npm]),
    (Part::Go, "go", &[Package::C, Package::Go]),
    (Part::SpringBoot, "spring-boot", &[Package::Jar]),
    (Part::Django, "django", &[Package::Wheel]),
    (Part::C, "c", &[Package::C]),
    (Part::Brokers, "brokers", &[Package::Wheel]),
    (Part::Next, "next", &[Package::Npm]),
];

/// Builds the packages of the chosen tutorials, or of all tutorials if the parts contain
/// [`Part::Tutorials`]. Returns the names of the tutorials.
pub(crate) fn prepare(parts: &[Part]) -> Result<Vec<&'static str>, Failed> {
    let chosen = TUTORIALS
        .iter()
        .filter(|(part, ..)| parts.contains(&Part::Tutorials) || parts.contains(part));
    let chosen: Vec<_> = chosen.collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    packages::ensure(&[("timeout", "coreutils"), ("curl", "curl"), POSTGRESQL])?;
    workspace::build_programs(&["flakeid"])?;
    let mut built: Vec<(Package, Vec<String>)> = Vec::new();
    for (_, name, needed) in &chosen {
        let folder = format!("{PACKAGES}/{name}");
        files::empty(&folder)?;
        for package in *needed {
            if !built.iter().any(|(known, _)| known == package) {
                built.push((*package, build(*package)?));
            }
            let paths = built.iter().filter(|(known, _)| known == package);
            for path in paths.flat_map(|(_, paths)| paths) {
                let name = path.rsplit('/').next().unwrap_or(path);
                files::copy(path, format!("{folder}/{name}"))?;
            }
        }
    }
    Ok(chosen.iter().map(|(_, name, _)| *name).collect())
}

/// Builds a package, and returns the paths of the files that a tutorial needs in its folder.
fn build(package: Package) -> Result<Vec<String>, Failed> {
    let target = Target::tested(None)?;
    match package {
        Package::Wheel => {
            python::build(&python::Wheel { target, free_threaded: None })?;
            Ok(vec![python::wheel(&target)?])
        }
        Package::Npm => node::tarballs(&target),
        Package::C => {
            packages::ensure(&[("gcc", "gcc"), ("cmake", "cmake"), ("make", "make")])?;
            c::build(&target)?;
            Ok(vec![c::tarball(&target)])
        }
        Package::Jar => {
            packages::ensure(&jar::NEEDED)?;
            let work = root().join("target/docs/jar");
            let prefix = c::installed(&target, "target/docs/jar/c")?;
            let jar = flakeid_linking::jar(&Library { prefix, work })?;
            Ok(vec![files::shown(&jar)?])
        }
        Package::Go => {
            go::proxy(&target)?;
            Ok(Vec::new())
        }
    }
}
