//! Files and folders. A relative path starts at the root of the checkout, and errors contain the
//! path.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::step::{Failed, Outcome, Step, root};

/// Returns the content of a text file.
pub fn text(path: impl AsRef<Path>) -> Result<String, Failed> {
    let path = path.as_ref();
    fs::read_to_string(root().join(path)).map_err(|error| failed(path, &error))
}

/// Returns the bytes of a file.
pub fn bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, Failed> {
    let path = path.as_ref();
    fs::read(root().join(path)).map_err(|error| failed(path, &error))
}

/// Writes a file, and creates the folders that contain it.
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Outcome {
    let path = path.as_ref();
    path.parent().map_or(Ok(()), make_folder)?;
    fs::write(root().join(path), contents).map_err(|error| failed(path, &error))
}

/// Copies a file, and creates the folders that contain the copy.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Outcome {
    let (from, to) = (from.as_ref(), to.as_ref());
    to.parent().map_or(Ok(()), make_folder)?;
    fs::copy(root().join(from), root().join(to)).map_err(|error| failed(from, &error))?;
    Ok(())
}

/// Copies the files of a folder, but not its subfolders.
pub fn copy_files(from: &str, to: &str) -> Outcome {
    names(from)?.iter().try_for_each(|name| copy(format!("{from}/{name}"), format!("{to}/{name}")))
}

/// Copies a folder and everything below it.
pub fn copy_folder(from: &str, to: &str) -> Outcome {
    make_folder(to)?;
    for path in entries(from)? {
        let name = name(&path);
        // A run of npm in the checkout creates the folder `node_modules`.
        if name == "node_modules" {
            continue;
        }
        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
        if path.is_dir() { copy_folder(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

/// Returns the files that git tracks or would add, relative to the root of the checkout and sorted.
pub fn of_project() -> Result<Vec<PathBuf>, Failed> {
    let all = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let listed = Step::new("git", &all).captured()?;
    let mut paths: Vec<PathBuf> = listed.split_terminator('\0').map(PathBuf::from).collect();
    // Git's index can contain files that no longer exist.
    paths.retain(|path| root().join(path).is_file());
    paths.sort();
    Ok(paths)
}

/// Returns the absolute paths of a folder's entries, sorted.
pub fn entries(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, Failed> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(root().join(folder)).map_err(|error| failed(folder, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| failed(folder, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Returns the names of the files in a folder, sorted.
pub fn names(folder: impl AsRef<Path>) -> Result<Vec<String>, Failed> {
    Ok(entries(folder)?.iter().filter(|path| path.is_file()).map(|path| name(path)).collect())
}

/// Returns the only file with the given extension in a folder.
pub fn only(folder: impl AsRef<Path>, extension: &str) -> Result<String, Failed> {
    let folder = folder.as_ref();
    let found = with_extension(folder, extension)?;
    match found.as_slice() {
        [path] => shown(path),
        _ => Err(Failed(format!("{} does not contain exactly one .{extension}", folder.display()))),
    }
}

/// Returns the files with the given extension in a folder.
pub fn with_extension(folder: impl AsRef<Path>, extension: &str) -> Result<Vec<PathBuf>, Failed> {
    let mut found = entries(folder)?;
    found.retain(|path| path.extension().is_some_and(|known| known == extension));
    Ok(found)
}

/// Returns the files with the given extension in a folder and below it, sorted. The paths begin with the folder.
pub fn below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failed> {
    let mut found = Vec::new();
    for entry in entries(folder)? {
        let path = folder.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            found.extend(below(&path, extension)?);
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Creates a folder, and the folders that contain it.
pub fn make_folder(path: impl AsRef<Path>) -> Outcome {
    let path = path.as_ref();
    fs::create_dir_all(root().join(path)).map_err(|error| failed(path, &error))
}

/// Removes a folder if it exists.
pub fn remove(folder: impl AsRef<Path>) -> Outcome {
    let folder = folder.as_ref();
    match fs::remove_dir_all(root().join(folder)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

/// Creates an empty folder, and removes the content of an existing one.
pub fn empty(folder: impl AsRef<Path>) -> Outcome {
    remove(&folder)?;
    make_folder(folder)
}

/// Returns a path as an argument for a program.
pub fn shown(path: &Path) -> Result<String, Failed> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failed("a path is not UTF-8".to_owned()))
}

/// Converts any string to a file name.
pub(crate) fn plain_name(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// Returns the error for a failed operation on a file.
pub fn failed(path: &Path, error: &std::io::Error) -> Failed {
    Failed(format!("{}: {error}", path.display()))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
