#[cfg(unix)]
use std::{path::Path, process::Command};

#[cfg(unix)]
use crate::run::scratch;
use crate::run::{CLEARED, run};
use crate::subcommands::COMMANDS;

#[test]
fn short_help_fits_on_one_screen_and_omits_the_examples() {
    for command in COMMANDS {
        let short = run(&[command, &["-h"]].concat()).quiet();
        assert!(short.lines().len() <= 30, "{command:?}");
        assert!(!short.text().contains("Examples:"), "{command:?}");
        let long = run(&[command, &["--help"]].concat()).quiet();
        assert!(command == ["man"] || long.text().contains("Examples:\n  flakeid"), "{command:?}");
        assert!(long.text().len() > short.text().len());
    }
}

/// Users copy the examples from the help, so the test runs every example in a shell.
#[cfg(unix)]
#[test]
fn every_example_in_the_help_runs_without_errors() {
    let command_dir = Path::new(env!("CARGO_BIN_EXE_flakeid")).parent().unwrap();
    let path = format!("{}:{}", command_dir.display(), std::env::var("PATH").unwrap_or_default());
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
    for place in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"]
    {
        std::fs::create_dir_all(home.join(place)).unwrap();
    }
    // All examples share one store, so that later examples find the namespaces that earlier
    // examples created. In the examples, the test replaces the URL of a database server with the
    // URL of this store.
    let (dir, url) = scratch("examples");
    let mut tried = 0;
    for command in COMMANDS {
        let help = run(&[command, &["--help"]].concat()).quiet();
        let examples = help.text().split("Examples:").nth(1).unwrap_or_default();
        let is_example = |line: &&str| {
            line.starts_with("  flakeid")
                || (line.starts_with("  FLAKEID_") && line.contains(" flakeid "))
        };
        for example in examples.lines().filter(is_example) {
            let mut example = example.replace("postgresql://db/app", &url);
            if command == ["serve"] {
                // `timeout` sends SIGTERM, after which the server stops gracefully. The server
                // listens on any free port.
                let port = if example.contains("--unix") { "" } else { " --listen 127.0.0.1:0" };
                example = example.replace("127.0.0.1:7118", "127.0.0.1:0");
                let quiet = "--log-level error --drain 0s";
                example = format!("timeout --preserve-status 2 {} {quiet}{port}", example.trim());
            }
            let example = &example;
            let mut bash = Command::new("bash");
            for name in CLEARED {
                bash.env_remove(name);
            }
            // `flakeid next` does not use its default store here, because the embedded store is not
            // available if the build machine is a container.
            if example.trim() == "flakeid next" {
                bash.env("FLAKEID_STORE", &url);
            }
            let output = bash
                .args(["-eo", "pipefail", "-c", example])
                .env("PATH", &path)
                .env("HOME", &home)
                .env("PROFILE", home.join("profile"))
                .current_dir(&dir)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && stderr.is_empty(), "{example}: {stderr}");
            assert!(!output.stdout.is_empty() || example.contains('>'), "{example}");
            tried += 1;
        }
    }
    assert!(tried >= 40, "{tried}");
}

#[test]
fn version_flag_prints_the_workspace_version() {
    let version = format!("flakeid {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]).quiet().text(), version);
}
