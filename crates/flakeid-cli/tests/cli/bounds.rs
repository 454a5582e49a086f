use flakeid_core::{Id, Layout};

use crate::run::run;

#[test]
fn bounds_command_prints_the_smallest_and_largest_ids_to_a_pipe() {
    let run = run(&["bounds", "--from", "1505914988849", "--to", "2017-09-20T13:43:08.849Z"]);
    assert_eq!(run.quiet().text(), "910499571845562368\t910499571849756671\n");
}

#[test]
fn bounds_command_prints_an_empty_field_for_an_omitted_range_end() {
    let lower = run(&["bounds", "--from", "2017-09-20T13:43:08.849Z"]).quiet();
    assert_eq!(lower.text(), "910499571845562368\t\n");
    let upper = run(&["bounds", "--to", "2017-09-20T15:43:08.849+02:00"]).quiet();
    assert_eq!(upper.text(), "\t910499571849756671\n");
}

#[test]
fn bounds_include_exactly_the_ids_in_the_time_range() {
    for (name, layout) in Layout::presets() {
        let (from, to) = (1_700_000_000_123, 1_700_000_100_456);
        let args =
            ["bounds", "--layout", name, "--from", &from.to_string(), "--to", &to.to_string()];
        let run = run(&args).quiet();
        let (lower, upper) = run.text().trim_end().split_once('\t').unwrap();
        let (lower, upper): (Id, Id) = (lower.parse().unwrap(), upper.parse().unwrap());
        assert_eq!(lower, layout.lower_bound(from), "{name}");
        assert_eq!(upper, layout.upper_bound(to), "{name}");
        let tick = |id: Id| layout.unpack(id).unwrap().tick;
        assert_eq!(tick(lower), layout.tick_at(from).unwrap());
        assert_eq!(tick(upper), layout.tick_at(to).unwrap());
        assert_eq!(tick(Id::from_u64(lower.to_u64() - 1)), tick(lower) - 1);
        assert_eq!(tick(Id::from_u64(upper.to_u64() + 1)), tick(upper) + 1);
    }
}

#[test]
fn bounds_command_prints_one_json_object() {
    let run =
        run(&["bounds", "--json", "--from", "2026-01-01", "--to", "2026-01-31T23:59:59.999Z"]);
    assert_eq!(
        run.quiet().text(),
        "{\"layout\":\"twitter\",\"from\":\"2026-01-01T00:00:00.000Z\",\
         \"to\":\"2026-01-31T23:59:59.999Z\",\"lower\":\"2006515713438646272\",\
         \"upper\":\"2017749737272246271\"}\n"
    );
    let one = run_json(&["--layout", "t42.n8.s13@1420070400000/5ms", "--from", "2026-01-01"]);
    assert_eq!(one["layout"], "t42.n8.s13@1420070400000/5ms");
    assert_eq!((&one["to"], &one["upper"]), (&serde_json::Value::Null, &serde_json::Value::Null));
}

fn run_json(args: &[&str]) -> serde_json::Value {
    run(&[&["bounds", "--json"], args].concat()).quiet().json().remove(0)
}

#[test]
fn bounds_command_warns_about_times_outside_the_layout_range() {
    let run = run(&["bounds", "--from", "2000-01-01", "--to", "2100-01-01"]);
    assert_eq!((run.code, run.text()), (Some(0), "0\t9223372036854775807\n"));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "flakeid: warning: --from 2000-01-01T00:00:00Z is before the layout's epoch, \
             2010-11-04T01:42:54.657Z; the first tick is used instead",
            "flakeid: warning: --to 2100-01-01T00:00:00Z is not before the layout's end, \
             2080-07-10T17:30:30.209Z; the last tick is used instead",
        ]
    );
    let negative = crate::run::run(&["bounds", "--from", "-1"]);
    assert_eq!((negative.code, negative.text()), (Some(0), "0\t\n"));
    assert!(
        negative.stderr.contains("--from 1969-12-31T23:59:59.999Z is before the layout's epoch")
    );
}

#[test]
fn bounds_command_warns_when_a_signed_id_is_negative() {
    let run = run(&["bounds", "--layout", "discord", "--from", "2080-01-01", "--to", "2090-01-01"]);
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.starts_with(
            "flakeid: warning: 9927253190250594303 is above 2^63 - 1: a signed 64-bit column \
             stores it as -8519490883458957313"
        ),
        "{}",
        run.stderr
    );
    crate::run::run(&["bounds", "--layout", "discord", "--to", "2026-01-01"]).quiet();
    crate::run::run(&["bounds", "--layout", "twitter", "--to", "2080-01-01"]).quiet();
}

#[test]
fn bounds_command_warns_when_a_millisecond_value_looks_like_a_year() {
    let run = run(&["bounds", "--layout", "plain", "--from", "2026"]);
    assert_eq!((run.code, run.text()), (Some(0), "8497659904\t\n"));
    assert!(run.stderr.contains("if you mean the year, write 2026-01-01"), "{}", run.stderr);
}
