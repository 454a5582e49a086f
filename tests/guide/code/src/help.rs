//! The pages with the help of the command, and with the libraries that `flakeid migrate` supports.

use crate::subcommands::COMMANDS;
use crate::{check_generated, flakeid, read};

#[test]
fn guide_contains_help_of_every_command() {
    let mut generated = String::new();
    for command in COMMANDS {
        let help = flakeid(&[command, &["--help"]].concat());
        let name = [&["flakeid"], command].concat().join(" ");
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let lines = lines.join("\n");
        generated.extend(["\n## ", &name, "\n\n```text\n", &lines, "\n```\n"]);
    }
    check_generated("reference/command", "guide_contains_help_of_every_command", &generated);
}

#[test]
fn migration_guide_table_lists_every_supported_library() {
    let (help, guide) = (flakeid(&["migrate", "--help"]), read("how-to/moving"));
    let (_, table) = help.split_once("Libraries, with their default settings:\n").unwrap();
    let libraries: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert!(libraries.len() > 5, "{table}");
    for line in libraries {
        let mut words = line.split_whitespace();
        let (name, layout) = (words.next().unwrap(), words.next().unwrap());
        let row = guide.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_default();
        assert!(row.contains(&format!("`{layout}`")), "{name}: {row:?}");
    }
}
