//! Installers of the command, made from the archives of a release: packages for Debian and for
//! systems with RPM, the formula for Homebrew, and the manifests for winget.

use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use crate::command;

const DIST: &str = "target/dist/installers";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// The folder of the templates.
const TEMPLATES: &str = "deploy/command";
/// The time of all files in the packages: the first second of 2026. With a fixed time, the same
/// archive yields the same packages.
const TIME: &str = "1767225600";
const NEEDED: [(&str, &str); 6] = [
    ("tar", "tar"),
    ("dpkg-deb", "dpkg"),
    ("rpmbuild", "rpm"),
    ("rpm2cpio", "rpm2cpio"),
    ("cpio", "cpio"),
    ("sha256sum", "coreutils"),
];

/// The platforms with packages, with Debian's and RPM's names of the processor.
const PACKAGED: [(&str, &str, &str); 2] = [
    ("x86_64-unknown-linux-musl", "amd64", "x86_64"),
    ("aarch64-unknown-linux-musl", "arm64", "aarch64"),
];
/// The templates that contain the hashes of archives. Homebrew and winget read the results.
const MANIFESTS: [&str; 4] = [
    "flakeid.rb",
    "flakeid.flakeid.yaml",
    "flakeid.flakeid.locale.en-US.yaml",
    "flakeid.flakeid.installer.yaml",
];

/// Writes the installers to `target/dist/installers`, from the archives of the command in a folder.
/// If `partial` is set, skips installers of archives that the folder does not contain. Returns the packages for Debian and
/// RPM.
pub(crate) fn build(archives: &Path, partial: bool) -> Result<Vec<PathBuf>, Failed> {
    packages::ensure(&NEEDED)?;
    files::empty(DIST)?;
    let archive = |triple: &str| -> Result<Option<String>, Failed> {
        let file = root().join(archives).join(command::file(triple));
        match file.is_file() {
            true => files::shown(&file).map(Some),
            false if partial => Ok(None),
            false => Err(Failed(format!("{} does not exist", file.display()))),
        }
    };
    let mut packages = Vec::new();
    for (triple, debian, rpm) in PACKAGED {
        if let Some(archive) = archive(triple)? {
            let tree = unpacked(&archive)?;
            packages.push(self::debian(&tree, debian)?);
            packages.push(self::rpm(&tree, rpm)?);
        }
    }
    for manifest in MANIFESTS {
        let text = files::text(format!("{TEMPLATES}/{manifest}.in"))?;
        match filled(&text, archive)? {
            Some(text) => files::write(format!("{DIST}/{manifest}"), text)?,
            None => println!("{manifest} needs the archives of all its platforms"),
        }
    }
    println!("{DIST}");
    Ok(packages)
}

/// Replaces the names in a template. Returns `None` if an archive is missing.
fn filled(
    template: &str,
    archive: impl Fn(&str) -> Result<Option<String>, Failed>,
) -> Result<Option<String>, Failed> {
    let mut text = template.replace("@VERSION@", VERSION).replace("@REPOSITORY@", REPOSITORY);
    while let Some((before, rest)) = text.split_once("@SHA256:") {
        let Some((triple, after)) = rest.split_once('@') else {
            return Err(Failed("a template contains an @SHA256: without its end".to_owned()));
        };
        let Some(archive) = archive(triple)? else { return Ok(None) };
        let url = format!("{REPOSITORY}/releases/download/v{VERSION}/{}", command::file(triple));
        let sum = Step::new("sha256sum", &[&archive]).output()?;
        let sum = sum.split_whitespace().next().unwrap_or_default();
        text = format!("{}{sum}{after}", before.replace(&format!("@URL:{triple}@"), &url));
    }
    Ok(Some(text))
}

/// Unpacks an archive as the file system of a package. Returns its folder.
fn unpacked(archive: &str) -> Result<String, Failed> {
    let (work, tree) = (format!("{DIST}/archive"), format!("{DIST}/tree"));
    files::empty(&work)?;
    files::empty(&tree)?;
    Step::new("tar", &["-xzf", archive, "--strip-components=1", "-C", &work]).run()?;
    files::copy(format!("{work}/flakeid"), format!("{tree}/usr/bin/flakeid"))?;
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        files::copy(format!("{work}/{file}"), format!("{tree}/usr/share/doc/flakeid/{file}"))?;
    }
    // The unit is not enabled: an administrator decides whether the users of the host share a store.
    let unit = "flakeid-host.service";
    files::copy(format!("deploy/systemd/{unit}"), format!("{tree}/usr/lib/systemd/system/{unit}"))?;
    files::copy("deploy/systemd/store", format!("{tree}/usr/share/doc/flakeid/store"))?;
    files::write(
        format!("{tree}/usr/share/doc/flakeid/copyright"),
        format!(
            "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
             Source: {REPOSITORY}\n\nFiles: *\nCopyright: The flakeid developers\n\
             License: MIT or Apache-2.0\n See LICENSE-MIT and LICENSE-APACHE in this folder.\n"
        ),
    )?;
    Step::new("chmod", &["--recursive", "u=rwX,go=rX", &tree]).run()?;
    files::remove(work)?;
    Ok(tree)
}

fn debian(tree: &str, architecture: &str) -> Result<PathBuf, Failed> {
    let folder = format!("{DIST}/debian");
    files::empty(&folder)?;
    // The copy keeps the permissions.
    Step::new("cp", &["--archive", &format!("{tree}/."), &folder]).run()?;
    let kilobytes = files::bytes(format!("{tree}/usr/bin/flakeid"))?.len() / 1024;
    let control = files::text(format!("{TEMPLATES}/control.in"))?
        .replace("@VERSION@", VERSION)
        .replace("@REPOSITORY@", REPOSITORY)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@KILOBYTES@", &kilobytes.to_string());
    files::write(format!("{folder}/DEBIAN/control"), control)?;
    let package = format!("{DIST}/flakeid_{VERSION}-1_{architecture}.deb");
    Step::new("dpkg-deb", &["--build", "--root-owner-group", &folder, &package])
        .env("SOURCE_DATE_EPOCH", TIME)
        .run()?;
    files::empty(&folder)?;
    Step::new("dpkg-deb", &["--extract", &package, &folder]).run()?;
    same_command(tree, &folder)?;
    Ok(package.into())
}

fn rpm(tree: &str, architecture: &str) -> Result<PathBuf, Failed> {
    let (work, folder) = (format!("{DIST}/rpm"), format!("{DIST}/unpacked"));
    files::empty(&work)?;
    files::empty(&folder)?;
    let spec = files::text(format!("{TEMPLATES}/flakeid.spec.in"))?
        .replace("@VERSION@", VERSION)
        .replace("@REPOSITORY@", REPOSITORY)
        .replace("@FILES@", &files::shown(&root().join(tree))?);
    files::write(format!("{work}/flakeid.spec"), spec)?;
    let define = |name: &str, value: &str| format!("{name} {value}");
    let definitions = [
        define("_topdir", &files::shown(&root().join(&work))?),
        define("_rpmdir", &files::shown(&root().join(DIST))?),
        define("_rpmfilename", "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm"),
        define("_buildhost", "localhost"),
        define("_build_id_links", "none"),
        define("use_source_date_epoch_as_buildtime", "1"),
        define("clamp_mtime_to_source_date_epoch", "1"),
        // rpm would strip the executable, with the list of its crates.
        define("__os_install_post", "%{nil}"),
    ];
    let defined = definitions.iter().flat_map(|definition| ["--define", definition.as_str()]);
    Step::new("rpmbuild", &["-bb", "--quiet", "--target", &format!("{architecture}-linux")])
        .args(&defined.collect::<Vec<_>>())
        .args(&[&format!("{work}/flakeid.spec")])
        .env("SOURCE_DATE_EPOCH", TIME)
        .run()?;
    let package = format!("flakeid-{VERSION}-1.{architecture}.rpm");
    let extract = format!("rpm2cpio ../{package} | cpio --extract --make-directories --quiet");
    Step::new("sh", &["-c", &extract]).within(&folder).run()?;
    files::remove(work)?;
    same_command(tree, &folder)?;
    files::remove(tree)?;
    Ok(Path::new(DIST).join(package))
}

/// Checks that a package contains the executable of the archive, and removes the unpacked package.
fn same_command(tree: &str, unpacked: &str) -> Outcome {
    let command = |folder: &str| files::bytes(format!("{folder}/usr/bin/flakeid"));
    if command(tree)? != command(unpacked)? {
        return Err(Failed(format!("{unpacked}/usr/bin/flakeid differs from the archive")));
    }
    files::remove(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_is_not_filled_without_the_archive_of_a_platform() {
        let template = "url \"@URL:one@\"\nsha256 \"@SHA256:one@\"\nversion @VERSION@\n";
        assert!(matches!(filled(template, |_| Ok(None)), Ok(None)));
        let text = filled(template, |_| Ok(Some("LICENSE-MIT".to_owned())));
        let text = text.ok().flatten().unwrap_or_default();
        assert!(
            text.contains(&format!("/releases/download/v{VERSION}/{}\"", command::file("one")))
        );
        assert!(text.ends_with(&format!("\"\nversion {VERSION}\n")));
        assert!(!text.contains('@'));
    }
}
