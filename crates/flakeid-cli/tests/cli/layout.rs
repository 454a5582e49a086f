use flakeid_core::Layout;

use crate::run::run;

#[test]
fn layout_command_lists_every_preset() {
    let run = run(&["layout"]).quiet();
    let lines = run.lines();
    assert!(lines[0].starts_with("preset     descriptor"), "{}", lines[0]);
    assert_eq!(lines.len(), Layout::presets().len() + 1);
    for ((name, layout), line) in Layout::presets().iter().zip(&lines[1..]) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells[..3], [name, layout.to_string().as_str(), &layout.width().to_string()]);
    }
    assert_eq!(
        lines[1],
        "twitter    t41.d5.w5.s12@1288834974657/1ms    63      1,024     4,096   4,096,000  2080-07-10"
    );
    assert!(lines[4].ends_with("2024-11-20 (ended)"), "{}", lines[4]);
}

#[test]
fn layout_command_lists_every_preset_as_json() {
    let values = run(&["layout", "--json"]).quiet().json();
    for ((name, layout), value) in Layout::presets().iter().zip(&values) {
        assert_eq!(value["name"], *name);
        assert_eq!(value["descriptor"], layout.to_string());
        assert_eq!(value["bits"], layout.width());
        assert_eq!(value["nodes"], layout.max_node() + 1);
        assert_eq!(value["ids_per_tick"], layout.ids_per_tick());
        assert_eq!(value["horizon_unix_ms"], layout.horizon());
        assert_eq!(value["can_generate"], *name != "baidu");
        assert_eq!(value["js_safe"], *name == "js-safe");
    }
    assert_eq!(values.len(), Layout::presets().len());
    let obstacle = values[3]["obstacle"].as_str().unwrap();
    assert!(obstacle.starts_with("FLAKEID_HORIZON_REACHED: "), "{obstacle}");
}

#[test]
fn layout_command_describes_a_single_preset() {
    assert_eq!(
        run(&["layout", "flakeid"]).quiet().text(),
        "\
flakeid  t42.d5.w5.s12@0/1ms

  63       55       47       39       31       23       15       7
  tttttttt tttttttt tttttttt tttttttt tttttttt ttdddddw wwwwssss ssssssss

  t  time            42 bits  0 to 4,398,046,511,103
  d  datacenter       5 bits  0 to 31
  w  worker           5 bits  0 to 31
  s  sequence        12 bits  0 to 4,095

  width            64 of 64 bits
  epoch            1970-01-01T00:00:00Z (0)
  unit             1 ms
  nodes            1,024
  IDs per node     4,096 per tick, 4,096,000 per second
  horizon          2109-05-15T07:35:11.104Z
  signed 64-bit    positive until 2039-09-07T15:47:35.552Z, then negative and out of order
  JavaScript       IDs cannot be represented exactly as JavaScript numbers: use BigInt or strings
  issues IDs now   yes
"
    );
}

#[test]
fn layout_command_describes_unused_and_reserved_bits() {
    let run = run(&["layout", "t32.r1.n10.s8@2020-01-01T00:00:00Z/1s"]).quiet();
    for line in [
        "t32.r1.n10.s8@1577836800000/1s",
        "  -------- -----ttt tttttttt tttttttt tttttttt tttttrnn nnnnnnnn ssssssss",
        "  -  unused          13 bits  always 0",
        "  r  reserved         1 bit   always 0",
        "  n  node            10 bits  0 to 1,023",
        "  unit             1 s",
        "  IDs per node     256 per tick, 256 per second",
        "  signed 64-bit    always positive",
        "  JavaScript       IDs can be represented exactly as JavaScript numbers",
    ] {
        assert!(run.lines().contains(&line), "{line:?} is not in\n{}", run.text());
    }
}

#[test]
fn layout_command_explains_why_ids_cannot_be_generated() {
    for (layout, part) in [
        ("baidu", "no: the layout's time field ran out at 2024-11-20T13:24:16Z"),
        ("t52.s12@0/1ms", "not generate them: time and sequence may have at most 63 bits together"),
        ("t41.n10.s12@9000-01-01T00:00:00Z/1ms", "before the layout's epoch"),
    ] {
        let text = run(&["layout", layout]).quiet();
        let line = text.lines().into_iter().find(|line| line.contains("issues IDs now")).unwrap();
        assert!(line.contains(part), "{line}");
        let json = run(&["layout", layout, "--json"]).quiet().json().remove(0);
        assert_eq!(json["can_generate"], false);
        assert!(json["obstacle"].as_str().unwrap().contains(part.trim_start_matches("no: ")));
    }
}
