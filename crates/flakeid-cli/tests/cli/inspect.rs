use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::run::{flakeid, run, run_on, run_with};

const TWITTER: &str = r#"{"id":"910499571847892992","layout":"twitter","timestamp":"2017-09-20T13:43:08.849Z","unix_ms":1505914988849,"tick":217080014192,"node":569,"datacenter":17,"worker":25,"clock_sequence":null,"sequence":0,"hex":"0ca2be895c239000","base32":"0S8NYH5E27400","base36":"6x155swzxs74","base58":"37amtpPtjf5","base62":"15G63YLn9Ae","base58_flickr":"37zLTPoTJE5","zbase32":"3ei6tfqn8ryy","uuid":"0ca2be89-5c23-8900-8366-6c616b656964"}
"#;

const DRAWING: &str = "\
910499571847892992  twitter  t41.d5.w5.s12@1288834974657/1ms

  63       55       47       39       31       23       15       7
  00001100 10100010 10111110 10001001 01011100 00100011 10010000 00000000
  -ttttttt tttttttt tttttttt tttttttt tttttttt ttdddddw wwwwssss ssssssss

  t  time            41 bits  217080014192  2017-09-20T13:43:08.849Z
  d  datacenter       5 bits            17  0 to 31
  w  worker           5 bits            25  0 to 31
  s  sequence        12 bits             0  0 to 4,095

  node           569
  unix ms        1505914988849
  decimal        910499571847892992
  base32         0S8NYH5E27400
  base36         6x155swzxs74
  base58         37amtpPtjf5
  base62         15G63YLn9Ae
  hex            0ca2be895c239000
  base58_flickr  37zLTPoTJE5
  zbase32        3ei6tfqn8ryy
  uuid           0ca2be89-5c23-8900-8366-6c616b656964
";

#[test]
fn inspect_prints_json_to_a_pipe_by_default() {
    assert_eq!(run(&["inspect", "910499571847892992"]).quiet().text(), TWITTER);
    assert_eq!(run(&["inspect", "--json", "910499571847892992"]).quiet().text(), TWITTER);
}

#[test]
fn inspect_reads_ids_in_every_text_form() {
    for (form, id) in [
        ("dec", "910499571847892992"),
        ("dec", "0910499571847892992"),
        ("dec", "0x0ca2be895c239000"),
        ("dec", "0xca2be895c239000"),
        ("dec", "0XCA2BE895C239000"),
        ("hex", "0ca2be895c239000"),
        ("hex", "0xca2be895c239000"),
        ("base32", "0S8NYH5E27400"),
        ("base32", "0s8nyh5e274oo"),
        ("base36", "6x155swzxs74"),
        ("base58", "37amtpPtjf5"),
        ("base62", "15G63YLn9Ae"),
        ("base58_flickr", "37zLTPoTJE5"),
        ("zbase32", "3ei6tfqn8ryy"),
        ("uuid", "0ca2be89-5c23-8900-8366-6c616b656964"),
    ] {
        assert_eq!(run(&["inspect", "--format", form, id]).quiet().text(), TWITTER, "{form} {id}");
    }
}

#[test]
fn inspect_reads_a_uuid_without_an_option() {
    for uuid in ["0ca2be89-5c23-8900-8366-6c616b656964", "0CA2BE89-5C23-8900-8366-6C616B656964"] {
        assert_eq!(run(&["inspect", uuid]).quiet().text(), TWITTER, "{uuid}");
    }
}

#[test]
fn inspect_warns_of_a_number_that_javascript_rounds() {
    let drawn = run(&["inspect", "--pretty", "910499571847893000"]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    assert!(
        drawn.stderr.contains("from 910499571847892928 to 910499571847893056"),
        "{}",
        drawn.stderr
    );
    run(&["inspect", "--pretty", "910499571847892992"]).quiet();
    run(&["inspect", "910499571847893000"]).quiet();
}

#[test]
fn inspect_reads_a_hex_prefix_as_base62_digits() {
    let run = run(&["inspect", "--format", "base62", "0xAAAAAAAAA"]).quiet();
    assert_eq!(run.json()[0]["base62"], "0xAAAAAAAAA");
}

#[test]
fn inspect_prints_null_for_fields_that_the_layout_lacks() {
    let run = run(&["inspect", "--layout", "baidu-29", "180363646902239241"]).quiet();
    let value = &run.json()[0];
    assert_eq!(value["layout"], "baidu-29");
    assert_eq!(value["datacenter"], serde_json::Value::Null);
    assert_eq!(value["worker"], serde_json::Value::Null);
    assert_eq!(value["clock_sequence"], serde_json::Value::Null);
    // The README of https://github.com/baidu/uid-generator shows the same instant for this ID, in
    // China's time zone.
    assert_eq!(value["timestamp"], "2017-01-19T04:15:46Z");
    assert_eq!((&value["node"], &value["sequence"]), (&4.into(), &9.into()));
    assert_eq!(value["id"], "180363646902239241");
}

#[test]
fn inspect_decodes_the_clock_sequence_in_a_custom_layout() {
    let layout = "t41.c2.n8.s12@2020-01-01T00:00:00Z/1ms";
    let run = run(&["inspect", "--layout", layout, "3149824"]).quiet();
    let value = &run.json()[0];
    assert_eq!(value["layout"], "t41.c2.n8.s12@1577836800000/1ms");
    assert_eq!(value["clock_sequence"], 3);
    assert_eq!((&value["node"], &value["sequence"]), (&1.into(), &0.into()));
    assert_eq!(value["timestamp"], "2020-01-01T00:00:00.000Z");
}

#[test]
fn inspect_reads_the_layout_from_the_environment() {
    let id = "180363646902239241";
    let run = run_with(&[("FLAKEID_LAYOUT", "baidu-29")], &["inspect", id]).quiet();
    assert_eq!(run.json()[0]["layout"], "baidu-29");
}

#[test]
fn inspect_decodes_ids_with_the_top_bit_set() {
    let run = run(&["inspect", "--layout", "discord", "18446744073709551615"]).quiet();
    let value = &run.json()[0];
    assert_eq!(value["id"], "18446744073709551615");
    assert_eq!(value["hex"], "ffffffffffffffff");
    assert_eq!(value["tick"], 4_398_046_511_103_u64);
    assert_eq!(value["timestamp"], "2154-05-15T07:35:11.103Z");
}

#[test]
fn inspect_prints_results_in_the_order_of_its_arguments() {
    let run = run(&["inspect", "3", "1", "2"]).quiet();
    let ids: Vec<_> = run.json().iter().map(|value| value["sequence"].as_u64().unwrap()).collect();
    assert_eq!(ids, [3, 1, 2]);
}

#[test]
fn pretty_flag_prints_an_uncoloured_drawing_to_a_pipe() {
    assert_eq!(run(&["inspect", "--pretty", "910499571847892992"]).quiet().text(), DRAWING);
}

#[test]
fn blank_line_separates_the_drawings_of_several_ids() {
    let run = run(&["inspect", "--pretty", "910499571847892992", "910499571847892992"]).quiet();
    assert_eq!(run.text(), format!("{DRAWING}\n{DRAWING}"));
}

#[test]
fn inspect_draws_every_kind_of_field() {
    let layout = "t30.r3.c2.n8.s9@1420070400000/5ms";
    let run = run(&["inspect", "--pretty", "--layout", layout, "4195073"]).quiet();
    assert_eq!(
        run.lines()[..11],
        [
            "4195073  t30.r3.c2.n8.s9@1420070400000/5ms",
            "",
            "  63       55       47       39       31       23       15       7",
            "  00000000 00000000 00000000 00000000 00000000 01000000 00000011 00000001",
            "  -------- ----tttt tttttttt tttttttt tttttttt ttrrrccn nnnnnnns ssssssss",
            "",
            "  t  time            30 bits    1  2015-01-01T00:00:00.005Z",
            "  r  reserved         3 bits    0  always 0",
            "  c  clock_sequence   2 bits    0  0 to 3",
            "  n  node             8 bits    1  0 to 255",
            "  s  sequence         9 bits  257  0 to 511",
        ]
    );
}

#[test]
fn color_option_applies_to_drawings_but_not_to_json() {
    let args = ["inspect", "--pretty", "910499571847892992", "--color"];
    let always = run(&[&args[..], &["always"]].concat()).quiet();
    assert!(always.text().contains("\u{1b}[36mttttttt tttttttt"), "{}", always.text());
    assert_eq!(anstream::adapter::strip_str(always.text()).to_string(), DRAWING);
    assert_eq!(run(&[&args[..], &["never"]].concat()).quiet().text(), DRAWING);
    let json = run(&["--color", "always", "inspect", "910499571847892992"]).quiet();
    assert_eq!(json.text(), TWITTER, "JSON is never coloured");
}

#[test]
fn inspect_reads_ids_from_standard_input() {
    let run =
        run_on(b"910499571847892992\n  910499571847892992\t\r\n0x0ca2be895c239000", &["inspect"]);
    assert_eq!(run.quiet().text(), TWITTER.repeat(3));
    assert_eq!(run_on(b"", &["inspect"]).quiet().text(), "");
    let pretty = run_on(b"910499571847892992\n", &["inspect", "--pretty"]).quiet();
    assert_eq!(pretty.text(), DRAWING);
}

#[test]
fn inspect_prints_each_result_before_reading_the_next_line() {
    let mut child =
        flakeid().arg("inspect").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        stdin.write_all(b"910499571847892992\n").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, TWITTER);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn inspect_decodes_ids_printed_by_flakeid_next() {
    let generated = run(&["next", "-n", "50000", "--node", "11"]).quiet();
    let seen = run_on(&generated.stdout, &["inspect"]).quiet();
    let ids: Vec<String> =
        seen.json().iter().map(|value| value["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, generated.lines());
    assert!(seen.json().iter().all(|value| value["node"] == 11));
}
