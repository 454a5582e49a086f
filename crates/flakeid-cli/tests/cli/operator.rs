//! Tests of `flakeid leases` and `flakeid whois` on a terminal, with simulated answers to the
//! confirmation prompts.

use crate::leases::die_with;
use crate::run::{run, scratch};
use crate::terminal::typing;

const PLAIN: [(&str, &str); 1] = [("NO_COLOR", "1")];

fn shown(command: &str) -> String {
    let (code, text) = typing("", &PLAIN, command);
    assert_eq!(code, Some(0), "{text}");
    text
}

#[test]
fn ls_prints_a_table_on_a_terminal() {
    let (_, url) = scratch("table");
    let pid = die_with(&url, "7");
    run(&["next", "--store", &url, "--name", "import"]).quiet();
    run(&["leases", "quarantine", "300", "--yes", "--store", &url]).quiet();
    let text = shown(&format!("flakeid leases ls --store '{url}'"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("namespace default of {url}  twitter"));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let titles = ["node", "owner", "host", "pid", "state", "fence", "age", "renewed"];
    assert_eq!(words(lines[2]), titles);
    let held = words(lines[3]);
    assert_eq!((&*held[0], &*held[1], &*held[3], &*held[4]), ("7", "-", &*pid.to_string(), "held"));
    assert!(lines[3].ends_with(" s ago"), "{text}");
    assert!(words(lines[4]).starts_with(&["300", "-", "-", "-", "quarantined"].map(str::to_owned)));
    assert_eq!(&lines[5..], ["", "1 held, 1 free, 1 quarantined of 1,024 nodes"]);
    let all = shown(&format!("flakeid leases ls --all --store '{url}'"));
    assert!(all.contains(" import "), "{all}");
    let (_, coloured) = typing("", &[], &format!("flakeid leases ls --store '{url}'"));
    assert!(coloured.contains("\u{1b}[33m"), "{coloured:?}");
}

#[test]
fn control_characters_in_names_never_reach_the_terminal() {
    let (_, url) = scratch("hostile");
    let long = "n".repeat(100);
    run(&["next", "--store", &url, "--name", &long]).quiet();
    let text = shown(&format!("flakeid leases ls --all --store '{url}'"));
    assert!(text.contains(&format!(" {}… ", "n".repeat(40))), "{text}");
    let refused = run(&["next", "--store", &url, "--name", "\u{1b}[2J"]);
    assert_eq!(refused.code, Some(1));
    assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
}

#[test]
fn operator_commands_describe_their_effect_and_require_confirmation() {
    let (_, url) = scratch("asking");
    let pid = die_with(&url, "7");
    let state =
        || run(&["leases", "ls", "--all", "--store", &url]).quiet().json()[0]["state"].clone();
    let release = format!("flakeid leases release 7 --store '{url}'");
    for answer in ["n\n", "\n", "yes?\n", "\u{4}"] {
        let (code, text) = typing(answer, &PLAIN, &release);
        assert_eq!(code, Some(1), "{text}");
        let plan = format!(
            "this releases node 7 in namespace default of {url}. Its holder (process {pid} on "
        );
        assert!(text.contains(&plan) && text.contains("Continue? [y/N] "), "{text}");
        assert!(text.ends_with("flakeid: nothing was changed\n"), "{text}");
        assert_eq!(state(), "held");
    }
    let (code, text) = typing("y\n", &PLAIN, &release);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with(": it can be leased now\n"), "{text}");
    assert_eq!(state(), "free");
    for (command, plan) in [
        ("quarantine 7", "this quarantines node 7 in namespace default of "),
        ("fast-forward --by 5min", "this prevents windows of namespace default of "),
        ("adopt", "this assigns namespace default of "),
    ] {
        let (code, text) =
            typing("n\n", &PLAIN, &format!("flakeid leases {command} --store '{url}'"));
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(plan) && text.ends_with("nothing was changed\n"), "{text}");
    }
    assert_eq!(state(), "free");
}

#[test]
fn init_describes_the_created_namespace() {
    let (_, url) = scratch("described");
    let command = format!("flakeid leases init --namespace orders --max-skew 10s --store '{url}'");
    let text = shown(&command);
    assert_eq!(
        text,
        format!(
            "namespace orders of {url}: created\n\
             layout twitter, windows up to 10 s, ahead up to 20 s, clocks apart up to 10 s, quiet for \
             51 s after a restart, with a history\n"
        )
    );
    assert!(shown(&command).starts_with(&format!("namespace orders of {url}: already exists\n")));

    let command = format!("flakeid leases init --namespace users --lost 2h,20s,5s --store '{url}'");
    let text = shown(&command);
    let wait = "\nno leases will be granted for 2 h; by then, all leases that the store has lost will have ended\n";
    assert!(text.ends_with(wait), "{text}");
    let command = format!("flakeid leases init --namespace users --store '{url}'");
    let text = shown(&command);
    assert!(text.contains("\nno leases will be granted for another "), "{text}");
}

#[test]
fn watch_redraws_the_table_until_interrupted() {
    let (_, url) = scratch("watching");
    die_with(&url, "7");
    let command = format!("timeout -s INT 3 flakeid leases watch --store '{url}'");
    let (code, text) = typing("", &PLAIN, &command);
    assert_eq!(code, Some(124), "{text}");
    let pictures: Vec<&str> = text.split("\u{1b}[H\u{1b}[J").skip(1).collect();
    assert!(pictures.len() >= 2, "{text:?}");
    for picture in pictures {
        assert!(picture.contains("1 held, 0 free, 0 quarantined of 1,024 nodes"), "{picture}");
    }
}

#[test]
fn whois_prints_a_paragraph_per_id_on_a_terminal() {
    let (_, url) = scratch("paragraph");
    let id = run(&["next", "--name", "import", "--store", &url]).quiet().text().trim().to_owned();
    let text = shown(&format!("flakeid whois {id} 910499571847892992 --store '{url}'"));
    assert!(text.starts_with(&format!("{id}  node 0, 20")), "{text}");
    for part in [
        "\n  owner    import\n",
        "\n  host     ",
        "\n  pid      ",
        "\n  from     20",
        "\n  to       20",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let unknown = "\n\n910499571847892992  node 569, 2017-09-20T13:43:08.849Z\n  unknown  node 569 was never \
                   leased in the namespace default\n";
    assert!(text.ends_with(unknown), "{text}");
}

/// The output for a broker has the same format as the output for a store.
#[test]
fn ls_and_whois_show_the_clients_of_a_broker() {
    let (_, store) = scratch("drawn_broker");
    let (_server, url) = crate::serve::serve(&["--store", &store]);
    let id = run(&["next", "--name", "import", "--store", &url]).quiet().text().trim().to_owned();
    let text = shown(&format!("flakeid leases ls --store '{url}' --all"));
    assert!(text.starts_with(&format!("namespace default of {url}  twitter\n")), "{text}");
    assert!(text.contains("import") && text.contains("held"), "{text}");
    assert!(text.ends_with("1 held, 1 free; this broker's blocks contain 16 nodes\n"), "{text}");
    let text = shown(&format!("flakeid whois {id} --store '{url}'"));
    for part in ["\n  owner    import\n", "\n  to       20", &format!("\n  broker   {url} (pid ")] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    // If the broker has renewed its block in the meantime, the history in the store already
    // contains the client.
    let text = shown(&format!("flakeid whois {id} --store '{store}'"));
    let broker = format!("\n  broker   {url}");
    assert!(
        text.contains("\n  unknown  the history contains") || text.contains("import"),
        "{text}"
    );
    assert!(text.contains(&broker), "{text}");
    let text = shown(&format!("flakeid leases ls --store '{store}'"));
    assert!(text.contains("1 held, 0 free, 0 quarantined of 64 blocks"), "{text}");
}
