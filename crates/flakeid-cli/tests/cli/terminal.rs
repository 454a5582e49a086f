//! Tests of the output on a terminal. The `script` command from util-linux provides the terminal.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::run::CLEARED;

/// Runs a shell command on its own terminal. Returns the exit status and everything that the
/// terminal showed.
fn on_terminal(variables: &[(&str, &str)], command: &str) -> (Option<i32>, String) {
    typing("", variables, command)
}

/// Runs a shell command on its own terminal, and immediately types `line`, which may be empty.
/// Returns the exit status and everything that the terminal showed.
pub(crate) fn typing(
    line: &str,
    variables: &[(&str, &str)],
    command: &str,
) -> (Option<i32>, String) {
    let flakeid = env!("CARGO_BIN_EXE_flakeid");
    let mut script = Command::new("script");
    script
        .args(["-qec", &command.replace("flakeid ", &format!("'{flakeid}' ")), "/dev/null"])
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for name in CLEARED {
        script.env_remove(name);
    }
    script.envs(variables.iter().copied());
    let mut script = script.spawn().expect(
        "`script` of util-linux is missing; install it: apt-get install bsdutils (Debian, Ubuntu), \
         dnf install util-linux-script (Fedora), apk add util-linux-misc (Alpine)",
    );
    script.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

const INSPECT: &str = "flakeid inspect 910499571847892992";

#[test]
fn inspect_output_is_coloured_on_a_terminal() {
    let (code, text) = on_terminal(&[], INSPECT);
    assert_eq!(code, Some(0));
    for part in [
        "\u{1b}[36m0001100 10100010 10111110 10001001 01011100 00\u{1b}[0m",
        "\u{1b}[33m10001\u{1b}[0m\u{1b}[32m1 1001\u{1b}[0m\u{1b}[35m0000 00000000\u{1b}[0m",
        "\u{1b}[33mddddd\u{1b}[0m\u{1b}[32mw wwww\u{1b}[0m\u{1b}[35mssss ssssssss\u{1b}[0m",
        "\u{1b}[36mt\u{1b}[0m  time ",
        "2017-09-20T13:43:08.849Z",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn terminal_output_is_plain_if_an_option_or_variable_disables_colours() {
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], INSPECT);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.contains("-ttttttt tttttttt tttttttt tttttttt tttttttt ttdddddw wwwwssss"));
    let (_, text) = on_terminal(&[], "flakeid --color never inspect 910499571847892992");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], "flakeid next --node 1024");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn json_is_not_coloured_on_a_terminal() {
    let (_, text) = on_terminal(&[], &format!("{INSPECT} --json"));
    assert!(text.starts_with("{\"id\":\"910499571847892992\"") && !text.contains('\u{1b}'));
}

#[test]
fn drawings_and_tables_fit_into_narrow_terminals() {
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], &format!("stty rows 24 cols 50; {INSPECT}"));
    assert!(text.contains("\n  -ttttttt tttttttt tttttttt tttttttt\n"), "{text}");
    assert!(text.contains("\n  tttttttt ttdddddw wwwwssss ssssssss\n"), "{text}");
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], "stty rows 24 cols 80; flakeid layout");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    assert!(text.contains("\n  t41.d5.w5.s12@1288834974657/1ms\n"), "{text}");
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], "stty rows 24 cols 120; flakeid layout");
    assert!(text.contains("\ntwitter    t41.d5.w5.s12@1288834974657/1ms "), "{text}");
}

#[test]
fn bounds_command_prints_a_where_clause_on_a_terminal() {
    let command = "flakeid bounds --from 1505914988849 --to 1505914988849";
    let (code, text) = on_terminal(&[("NO_COLOR", "1")], command);
    assert_eq!(code, Some(0));
    assert_eq!(
        text,
        "lower  910499571845562368  2017-09-20T13:43:08.849Z\n\
         upper  910499571849756671  2017-09-20T13:43:08.849Z\n\
         \n\
         WHERE id BETWEEN 910499571845562368 AND 910499571849756671\n"
    );
    let (_, text) = on_terminal(&[("NO_COLOR", "1")], "flakeid bounds --to 1505914988849");
    assert!(text.ends_with("\nWHERE id <= 910499571849756671\n"), "{text}");
}

#[test]
fn error_codes_are_red_on_a_terminal() {
    let (code, text) = on_terminal(&[], "flakeid next --node 1024");
    assert_eq!(code, Some(1));
    assert_eq!(
        text,
        "flakeid: \u{1b}[1m\u{1b}[31mFLAKEID_FIELD_OUT_OF_RANGE\u{1b}[0m: node 1024 is out of range: \
         must be from 0 to 1023\n"
    );
}

#[test]
fn inspect_without_ids_fails_on_a_terminal() {
    let (code, text) = on_terminal(&[("NO_COLOR", "1")], "flakeid inspect < /dev/tty");
    assert_eq!(code, Some(1));
    assert!(text.contains("FLAKEID_INVALID_OPTION: ID: missing"), "{text}");
}

/// The arguments for a layout that allows a node only 200 IDs per second.
const SLOW: &str = "--node 1 --layout t39.s1.n16@1409529600000/10ms";

#[test]
fn progress_bar_appears_during_slow_id_generation() {
    let (code, text) = on_terminal(&[], &format!("flakeid next -n 400 {SLOW} > /dev/null"));
    assert_eq!(code, Some(0));
    assert!(text.contains(" of 400, ") && text.contains(" IDs/s, "), "{text:?}");
    assert!(text.ends_with("\u{1b}[2K"), "the line must be cleared: {text:?}");
}

#[test]
fn progress_bar_is_hidden_in_fast_runs_and_when_ids_go_to_the_terminal() {
    let (_, text) = on_terminal(&[], "flakeid next -n 100 --node 1 > /dev/null");
    assert_eq!(text, "", "the generation was short");
    let (_, text) = on_terminal(&[], &format!("flakeid next -n 300 {SLOW}"));
    assert_eq!(text.lines().count(), 300);
    assert!(text.lines().all(|line| line.bytes().all(|byte| byte.is_ascii_digit())));
    let (_, text) = on_terminal(&[], &format!("flakeid next -n 300 {SLOW} 2>&1 | cat"));
    assert_eq!(text.lines().count(), 300);
}
