//! The complete command line. The module of each command defines the command's arguments.

use anstream::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::bounds::BoundsArgs;
use crate::commands::exec::ExecArgs;
use crate::commands::inspect::InspectArgs;
use crate::commands::keyed::{KeygenArgs, OpenArgs, SealArgs};
use crate::commands::layout::ShowArgs;
use crate::commands::leases::LeasesArgs;
use crate::commands::migrate::MigrateArgs;
use crate::commands::next::NextArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::shell::{CompletionsArgs, ManArgs};
use crate::commands::sql::SqlArgs;
use crate::commands::whois::WhoisArgs;

/// Generates, decodes and draws 64-bit Snowflake-family IDs
///
/// An ID packs the time, a node number and a sequence number into 64 bits. IDs fit in BIGINT
/// columns, sort by time, and are generated without a request to a server.
#[derive(Parser)]
#[command(name = "flakeid", version, after_long_help = MAIN_EXAMPLES)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// When to use colour
    #[arg(
        long,
        global = true,
        display_order = 100,
        value_enum,
        value_name = "WHEN",
        default_value_t
    )]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Next(NextArgs),
    Inspect(InspectArgs),
    Bounds(BoundsArgs),
    Sql(SqlArgs),
    Layout(LayoutArgs),
    Leases(LeasesArgs),
    Migrate(MigrateArgs),
    Whois(WhoisArgs),
    Serve(Box<ServeArgs>),
    Exec(ExecArgs),
    Keygen(KeygenArgs),
    Seal(SealArgs),
    Open(OpenArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Describes layouts: the meaning of each bit, the number of IDs, and the time when the IDs run out
///
/// Without an argument, the command lists the presets.
#[derive(Args)]
#[command(after_long_help = LAYOUT_EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LayoutArgs {
    #[command(flatten)]
    pub(crate) show: ShowArgs,

    #[command(subcommand)]
    pub(crate) command: Option<LayoutCommand>,
}

#[derive(Subcommand)]
pub(crate) enum LayoutCommand {
    Plan(PlanArgs),
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    #[value(help = "On a terminal, unless NO_COLOR is set")]
    Auto,
    /// Always, even in pipes
    Always,
    /// Never
    Never,
}

impl Color {
    /// Applies the user's colour choice to all further output.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

// The tests run every example line that begins with `flakeid`.

const MAIN_EXAMPLES: &str = "\
Examples:
  flakeid next
  flakeid next -n 5 --store sqlite://flakeid.db
  flakeid next --node 7
  flakeid inspect 910499571847892992
  flakeid bounds --from 2026-01-01 --to 2026-01-31T23:59:59.999Z
  flakeid layout
  flakeid layout plan --nodes 64 --rate 5000 --until 2095
  flakeid serve --help

Environment:
  FLAKEID_STORE       URL of the store, if --store is not given
  FLAKEID_NAMESPACE   namespace in the store, if --namespace is not given
  FLAKEID_LAYOUT      layout, if --layout is not given
  FLAKEID_NODE        node number for `next`, if no flag gives one
  FLAKEID_DATACENTER  the node number in two parts:
  FLAKEID_WORKER      set both or neither
  FLAKEID_KEY_FILE    file with the keys of public IDs, if --key-file is not given
  NO_COLOR            turns colour off, if set and not empty

Exit status:
  0  success, also if the reader of a pipe closes it early
  1  an error, reported with its code on standard error, or the user answered no
  2  invalid arguments";

const LAYOUT_EXAMPLES: &str = "\
Examples:
  flakeid layout
  flakeid layout sonyflake
  flakeid layout t42.n8.s13@1420070400000/5ms --json
  flakeid layout plan --nodes 64 --rate 5000 --until 2095";
