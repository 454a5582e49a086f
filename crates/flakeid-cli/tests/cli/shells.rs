#[cfg(unix)]
use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::run::run;

const COMMANDS: [&str; 8] =
    ["next", "inspect", "bounds", "layout", "leases", "whois", "completions", "man"];

#[test]
fn completions_contain_every_command_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]).quiet();
        for command in COMMANDS.iter().chain(&["plan", "fast-forward", "watch"]) {
            assert!(script.text().contains(command), "{shell} {command}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_parses_its_completion_script() {
    let script = run(&["completions", "bash"]).quiet();
    let mut bash = Command::new("bash")
        .args(["-n", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash is missing; install it: apt-get install bash");
    bash.stdin.take().unwrap().write_all(&script.stdout).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_layout_presets() {
    let script = run(&["completions", "bash"]).quiet();
    let calls = r#"
        COMP_WORDS=(flakeid next --layout so); COMP_CWORD=3; COMPREPLY=()
        _flakeid flakeid so --layout; echo "${COMPREPLY[*]}"
        COMP_WORDS=(flakeid ins); COMP_CWORD=1; COMPREPLY=()
        _flakeid flakeid ins flakeid; echo "${COMPREPLY[*]}"
    "#;
    let output =
        Command::new("bash").arg("-c").arg(script.text().to_owned() + calls).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sonyflake\ninspect\n");
}

#[test]
fn main_manual_page_lists_every_command() {
    let page = run(&["man"]).quiet();
    assert!(page.text().contains(".TH flakeid 1"));
    for command in COMMANDS {
        assert!(page.text().contains(&format!("flakeid\\-{command}(1)")), "{command}");
    }
}

#[test]
fn man_command_writes_a_page_for_every_command() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("man1");
    _ = std::fs::remove_dir_all(&dir);
    assert_eq!(run(&["man", dir.to_str().unwrap()]).quiet().text(), "");
    for name in COMMANDS.map(|command| format!("flakeid-{command}.1")) {
        let page = std::fs::read_to_string(dir.join(&name)).expect(&name);
        assert!(page.contains("SYNOPSIS"), "{name}");
    }
    for name in ["flakeid.1", "flakeid-layout-plan.1", "flakeid-leases-fast-forward.1"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
}
