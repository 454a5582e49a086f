//! Files and folders: a relative path starts at the root of the checkout, and errors name the path.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command::{Failed, Outcome, root};

pub(crate) fn text(path: impl AsRef<Path>) -> Result<String, Failed> {
    let path = path.as_ref();
    fs::read_to_string(root().join(path)).map_err(|error| failed(path, &error))
}

pub(crate) fn bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, Failed> {
    let path = path.as_ref();
    fs::read(root().join(path)).map_err(|error| failed(path, &error))
}

pub(crate) fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Outcome {
    let path = path.as_ref();
    path.parent().map_or(Ok(()), make_folder)?;
    fs::write(root().join(path), contents).map_err(|error| failed(path, &error))
}

pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Outcome {
    let (from, to) = (from.as_ref(), to.as_ref());
    to.parent().map_or(Ok(()), make_folder)?;
    fs::copy(root().join(from), root().join(to)).map_err(|error| failed(from, &error))?;
    Ok(())
}

/// The files of a folder, but not its folders.
pub(crate) fn copy_files(from: &str, to: &str) -> Outcome {
    names(from)?.iter().try_for_each(|name| copy(format!("{from}/{name}"), format!("{to}/{name}")))
}

/// A folder with everything below it.
pub(crate) fn copy_folder(from: &str, to: &str) -> Outcome {
    make_folder(to)?;
    for path in entries(from)? {
        let name = name(&path);
        // Left there by somebody who ran npm in the checkout.
        if name == "node_modules" {
            continue;
        }
        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
        if path.is_dir() { copy_folder(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

/// What is in a folder, with absolute paths, sorted.
pub(crate) fn entries(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, Failed> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(root().join(folder)).map_err(|error| failed(folder, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| failed(folder, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// The names of the files in a folder, sorted.
pub(crate) fn names(folder: impl AsRef<Path>) -> Result<Vec<String>, Failed> {
    Ok(entries(folder)?.iter().filter(|path| path.is_file()).map(|path| name(path)).collect())
}

/// The one file with that extension in a folder.
pub(crate) fn only(folder: impl AsRef<Path>, extension: &str) -> Result<String, Failed> {
    let folder = folder.as_ref();
    let found = with_extension(folder, extension)?;
    match found.as_slice() {
        [path] => shown(path),
        _ => Err(Failed(format!("{} does not hold exactly one .{extension}", folder.display()))),
    }
}

/// The files with that extension in a folder.
pub(crate) fn with_extension(
    folder: impl AsRef<Path>,
    extension: &str,
) -> Result<Vec<PathBuf>, Failed> {
    let mut found = entries(folder)?;
    found.retain(|path| path.extension().is_some_and(|known| known == extension));
    Ok(found)
}

pub(crate) fn make_folder(path: impl AsRef<Path>) -> Outcome {
    let path = path.as_ref();
    fs::create_dir_all(root().join(path)).map_err(|error| failed(path, &error))
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: impl AsRef<Path>) -> Outcome {
    let folder = folder.as_ref();
    match fs::remove_dir_all(root().join(folder)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

/// Leaves a folder with nothing in it.
pub(crate) fn empty(folder: impl AsRef<Path>) -> Outcome {
    remove(&folder)?;
    make_folder(folder)
}

pub(crate) fn shown(path: &Path) -> Result<String, Failed> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failed("a path that is not UTF-8".to_owned()))
}

pub(crate) fn failed(path: &Path, error: &std::io::Error) -> Failed {
    Failed(format!("{}: {error}", path.display()))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
