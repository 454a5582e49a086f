//! Helpers that bind-mount files and directories, as container runtimes do. The helpers work only on Linux.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Runs a program with the first path of each pair mounted over the second path. The mounts are invisible to other
/// processes and end with the program.
pub(crate) fn run(mounts: &[(&Path, &Path)], program: &Command) -> Output {
    // The script's arguments are the pairs of paths, then `--`, and then the program to run as the current user.
    const MOUNT_AND_RUN: &str = r#"
        while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done
        shift
        exec $AS "$@""#;
    let way = way();
    let mut command = Command::new(way[0]);
    command.args(&way[1..]).args(["sh", "-c"]);
    command.arg(match way[0] {
        "sudo" => format!(
            r#"AS="setpriv --reuid $SUDO_UID --regid $SUDO_GID --clear-groups"; {MOUNT_AND_RUN}"#
        ),
        _ => format!("AS=; {MOUNT_AND_RUN}"),
    });
    command.arg("sh");
    for (over, under) in mounts {
        command.args([over, under]);
    }
    command.args(["--", "env"]);
    for (name, value) in program.get_envs() {
        // `env` sets the program's environment variables, because sudo would discard them.
        let value = value.expect("no variable is removed").to_str().unwrap();
        command.arg(format!("{}={value}", name.to_str().unwrap()));
    }
    let output = command.arg(program.get_program()).args(program.get_args()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(125), "{mounts:?} cannot be mounted: {said}");
    output
}

/// Returns the first command prefix that works on this machine. The prefix allows a program to create mounts that are
/// invisible to other processes.
fn way() -> &'static [&'static str] {
    static WAY: OnceLock<&[&str]> = OnceLock::new();
    const WAYS: [&[&str]; 3] = [
        &["unshare", "--mount"],
        &["unshare", "--map-root-user", "--mount"],
        &["sudo", "-n", "unshare", "--mount"],
    ];
    WAY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let tried = WAYS.map(|way| {
            Command::new(way[0])
                .args(&way[1..])
                .args(["mount", "--bind"])
                .args([directory.path(); 2])
                .output()
        });
        let found = tried.iter().position(|tried| tried.as_ref().is_ok_and(|o| o.status.success()));
        WAYS[found.unwrap_or_else(|| {
            panic!(
                "this test mounts files, which requires `unshare` and `mount` (apt-get install \
                 util-linux mount) and root, or unprivileged user namespaces (sysctl \
                 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 \
                 user.max_user_namespaces=10000), or sudo without a password: {tried:?}"
            )
        })]
    })
}
