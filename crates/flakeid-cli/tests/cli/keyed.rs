//! Tests of `flakeid keygen`, which generates keys, and of `flakeid seal` and `flakeid open`, which
//! create and decrypt public IDs.

use std::fs;
use std::path::PathBuf;

use crate::run::{Run, run, run_on, run_with, scratch};

const ID: &str = "910499571847892992";

fn key_file(place: &str) -> (PathBuf, String) {
    let path = scratch(place).0.join("public.keys");
    let shown = path.to_str().unwrap().to_owned();
    (path, shown)
}

fn refused(run: &Run, code: &str, parts: &[&str]) {
    assert_eq!((run.code, run.stdout.len()), (Some(1), 0), "{}", run.stderr);
    for part in [&[code], parts].concat() {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn keygen_labels_each_random_key_with_the_next_letter() {
    let keys = [run(&["keygen"]).quiet(), run(&["keygen"]).quiet()];
    assert_ne!(keys[0].text(), keys[1].text());
    for key in &keys {
        let (letter, digits) = key.text().trim_end().split_once(' ').unwrap();
        assert_eq!((letter, digits.len()), ("a", 32));
        assert!(digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
    let (path, file) = key_file("keygen");
    fs::write(&path, "").unwrap();
    assert_eq!(run(&["keygen", "--key-file", &file]).quiet().text(), "a\n", "an empty file");
    // An editor may have saved the file without a newline at the end.
    fs::write(&path, format!("# by hand\n{}", keys[0].text().trim_end())).unwrap();
    let added = run(&["keygen", "--key-file", &file]).quiet();
    assert_eq!(added.text(), "b\n", "a key in a file is not shown");
    let lines = fs::read_to_string(&path).unwrap();
    let letters: Vec<_> = lines.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(letters, ["#", "a", "b"]);
    fs::write(&path, lines.replace("\nb ", "\nz ")).unwrap();
    let full = run(&["keygen", "--key-file", &file]);
    refused(&full, "FLAKEID_INVALID_OPTION", &["--key-file", "all letters"]);
}

#[cfg(unix)]
#[test]
fn new_key_file_is_readable_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (path, file) = key_file("keygen-mode");
    run(&["keygen", "--key-file", &file]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let seal = ["seal", "--key-file", &file, "--domain", "user", ID];
    run(&seal).quiet();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let warned = run(&seal);
    assert_eq!(warned.code, Some(0));
    assert!(warned.stderr.contains("chmod o="), "{}", warned.stderr);
}

#[test]
fn public_ids_can_still_be_opened_after_key_rotation() {
    let (_, file) = key_file("seal");
    run(&["keygen", "--key-file", &file]);
    let options = ["--key-file", &file, "--domain", "user", "--prefix", "usr"];
    let with =
        |command: &'static str, texts: &[&str]| run(&[&[command], &options[..], texts].concat());
    let sealed = with("seal", &[ID, "0xca2be895c239000"]).quiet();
    let [first, second] = sealed.lines()[..] else { panic!("{}", sealed.text()) };
    assert_eq!(first, second, "the same ID, in two forms");
    assert!(first.starts_with("usr_a") && first.len() == 16, "{first}");
    run(&["keygen", "--key-file", &file]);
    let later = with("seal", &[ID]).quiet();
    assert!(later.text().starts_with("usr_b"), "{}", later.text());
    let opened = with("open", &[first, later.text().trim_end()]).quiet();
    assert_eq!(opened.lines(), [ID, ID]);

    // The commands also work in pipes, and can read the path of the key file from an environment
    // variable.
    let generated = run(&["next", "-n", "1000", "--node", "7"]).quiet();
    let sealed = run_on(&generated.stdout, &[&["seal"], &options[..]].concat()).quiet();
    let opened = run_on(&sealed.stdout, &[&["open"], &options[..]].concat()).quiet();
    assert_eq!(opened.text(), generated.text());
    let variable = [("FLAKEID_KEY_FILE", file.as_str())];
    let by_variable = run_with(&variable, &[&["open", first], &options[2..]].concat());
    assert_eq!(by_variable.quiet().lines(), [ID]);
}

#[test]
fn open_rejects_public_ids_with_wrong_prefix_or_time() {
    let (path, file) = key_file("open");
    run(&["keygen", "--key-file", &file]);
    let seal = ["seal", "--key-file", &file, "--domain", "user", "--prefix", "usr", ID];
    let sealed = run(&seal).quiet().text().trim_end().to_owned();
    let open = |domain, prefix, since, text: &str| {
        let options = ["--key-file", &file, "--domain", domain, "--prefix", prefix];
        run(&[&["open"], &options[..], &["--since", since, text]].concat())
    };
    // The ID was generated within the second that begins at this time.
    let since = "2017-09-20T13:43:08Z";
    assert_eq!(open("user", "usr", since, &sealed).quiet().lines(), [ID]);
    for (domain, prefix, since, text) in [
        ("user", "order", since, sealed.as_str()),
        ("user", "usr", "2017-09-20T13:43:09Z", &sealed),
        ("user", "usr", since, ID),
        ("user", "usr", since, ""),
    ] {
        let refusal = open(domain, prefix, since, text);
        refused(&refusal, "FLAKEID_INVALID_ID", &["is not a public ID of this domain", "hint:"]);
    }
    let line = run_on(b"usr_a\n", &[&["open"], &seal[1..7]].concat());
    refused(&line, "FLAKEID_INVALID_ID", &["line 1 of standard input"]);

    refused(&run(&["seal", "--domain", "user", ID]), "FLAKEID_INVALID_OPTION", &["--key-file"]);
    let of = |domain| run(&["seal", "--key-file", &file, "--domain", domain, ID]);
    refused(&of(""), "FLAKEID_INVALID_OPTION", &["domain", "1 to 64 bytes"]);
    let other = run(&[&seal[..7], &["--layout", "js-safe", ID]].concat());
    refused(&other, "FLAKEID_INVALID_ID", &["--layout"]);
    let none = ["seal", "--key-file", "/nowhere/keys", "--domain", "user", ID];
    refused(&run(&none), "cannot read the key file /nowhere/keys", &[]);
    fs::write(&path, "a 00\n").unwrap();
    let parts = ["keyring: line 1", "32 hexadecimal digits", &file];
    refused(&of("user"), "FLAKEID_INVALID_OPTION", &parts);
}
