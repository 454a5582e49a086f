//! Programs that are built once for this machine, and not in each checkout.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, process};

use crate::files;
use crate::step::{Failed, Outcome};

/// Returns the folder of a program in this user's cache. If the folder does not exist, `build` writes the program
/// into a new folder, which then gets this name. The name contains a hash of the inputs, such as the file with the
/// pinned versions and the version of the compiler.
pub fn built(
    name: &str,
    inputs: &[String],
    build: impl FnOnce(&Path) -> Outcome,
) -> Result<PathBuf, Failed> {
    built_in(&cache()?, name, inputs, build)
}

fn built_in(
    cache: &Path,
    name: &str,
    inputs: &[String],
    build: impl FnOnce(&Path) -> Outcome,
) -> Result<PathBuf, Failed> {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let folder = cache.join(format!("{name}-{:016x}", hasher.finish()));
    if !folder.exists() {
        println!(
            "building {name} once for all checkouts of this machine; to remove it: rm -r {}",
            folder.display()
        );
        // An interrupted build leaves no folder with the final name, and neither do two builds at once.
        let new = cache.join(format!("{name}-new-{}", process::id()));
        files::empty(&new)?;
        build(&new)?;
        if let Err(error) = fs::rename(&new, &folder)
            && !folder.exists()
        {
            return Err(files::failed(&folder, &error));
        }
    }
    Ok(folder)
}

/// Makes `link` a symbolic link to a folder of the cache.
pub fn link(link: &Path, to: &Path) -> Outcome {
    if fs::read_link(link).is_ok_and(|current| current == to) {
        return Ok(());
    }
    if let Some(parent) = link.parent() {
        files::make_folder(parent)?;
    }
    match fs::symlink_metadata(link) {
        // An earlier version of this program installed into the folder itself.
        Ok(found) if found.is_dir() => files::remove(link)?,
        Ok(_) => fs::remove_file(link).map_err(|error| files::failed(link, &error))?,
        Err(_) => {}
    }
    symlink(to, link).map_err(|error| files::failed(link, &error))
}

#[cfg(unix)]
fn symlink(to: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(not(unix))]
fn symlink(_to: &Path, _link: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Returns this user's cache folder for flakeid's tests.
fn cache() -> Result<PathBuf, Failed> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let base = base.ok_or_else(|| Failed("no folder for built programs: set HOME".to_owned()))?;
    Ok(base.join("flakeid").join("servers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_built_once_for_each_version_of_its_inputs() -> Outcome {
        let cache = crate::step::target_folder().join(format!("tests/machine-{}", process::id()));
        let build = |inputs: &[&str]| {
            let inputs: Vec<String> = inputs.iter().map(|&input| input.to_owned()).collect();
            let mut built = false;
            let folder = built_in(&cache, "program", &inputs, |folder| {
                built = true;
                files::write(folder.join("program"), "")
            })?;
            Ok::<_, Failed>((folder, built))
        };
        let (first, is_new) = build(&["1", "go1.21"])?;
        assert!(is_new && first.join("program").exists());
        assert_eq!(build(&["1", "go1.21"])?, (first.clone(), false));
        let (second, is_new) = build(&["2", "go1.21"])?;
        assert!(is_new && second != first);
        let at = cache.join("link");
        for folder in [&first, &second, &second] {
            link(&at, folder)?;
            assert_eq!(fs::read_link(&at).ok().as_ref(), Some(folder));
        }
        assert!(built_in(&cache, "broken", &[], |_| Err(Failed("no".to_owned()))).is_err());
        assert!(built_in(&cache, "broken", &[], |_| Ok(())).is_ok());
        files::remove(&cache)
    }
}
