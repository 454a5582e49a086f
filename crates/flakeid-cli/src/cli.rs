//! The command line.

use anstream::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use flakeid_core::TextForm;

use crate::args::layout_arg::{LayoutChoice, Presets};
use crate::args::node::NodeArgs;
use crate::commands::leases::LeasesArgs;
use crate::store::StoreArgs;

/// Makes, decodes and draws 64-bit IDs of the whole Snowflake family
///
/// An ID holds the time, a node and a sequence number in 64 bits, so it fits a BIGINT column, sorts
/// by time and is made without asking anybody.
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
    Layout(LayoutArgs),
    Leases(LeasesArgs),
    Whois(WhoisArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Makes IDs, one per line
///
/// Leases a node from a store, so that no other run makes the same IDs, whatever happens to either,
/// and gives it back at the end. Without --store that is the embedded store of this host.
///
/// A node that is given, by flag or environment, is leased too if a store is named. If none is,
/// nobody checks that no other process has it; the first ID is then in the tick after the start, so
/// that runs which follow each other do not repeat IDs.
#[derive(Args)]
#[command(after_long_help = NEXT_EXAMPLES)]
pub(crate) struct NextArgs {
    /// How many; memory stays the same for any number
    #[arg(short = 'n', long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) count: String,

    #[command(flatten)]
    pub(crate) layout: LayoutChoice,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// Lease the node that was leased by this name last, if it is free
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) node: NodeArgs,

    /// How to write them
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    pub(crate) format: OutputForm,

    /// Begin each tick at a random sequence number of up to this many bits
    ///
    /// At low rates every ID otherwise ends in sequence 0, and `id mod 2^k` is badly skewed. Costs
    /// up to 2^BITS IDs per tick.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    pub(crate) sequence_start: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    /// Decimal digits
    #[value(alias = "decimal")]
    Dec,
    /// 16 hexadecimal digits; sorts
    Hex,
    /// 13 digits of Crockford's base32; sorts, and survives being read out
    Base32,
    /// 11 digits 0-9A-Za-z; sorts in ASCII order
    Base62,
    /// Up to 11 digits of Bitcoin's alphabet
    Base58,
    /// Up to 13 digits 0-9a-z
    Base36,
    /// 8 raw bytes each, most significant first, nothing between them
    Bytes,
    /// What `inspect --json` says of it
    Json,
}

/// Takes IDs apart and draws their bits
///
/// On a terminal it draws the 64 bits by field; in a pipe, or with --json, it writes one JSON
/// object per line. Without arguments it reads one ID per line from standard input.
#[derive(Args)]
#[command(after_long_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArgs {
    /// IDs; 0x in front makes a decimal one hexadecimal
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) layout: LayoutChoice,

    /// How the IDs are written
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    pub(crate) format: InputForm,

    /// Write one JSON object per line, also to a terminal
    #[arg(long, conflicts_with = "pretty")]
    pub(crate) json: bool,

    /// Draw, also into a pipe
    #[arg(long)]
    pub(crate) pretty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    #[value(alias = "decimal")]
    Dec,
    Hex,
    Base32,
    Base36,
    Base58,
    Base62,
}

impl InputForm {
    pub(crate) const fn text_form(self) -> TextForm {
        match self {
            Self::Dec => TextForm::Decimal,
            Self::Hex => TextForm::Hex,
            Self::Base32 => TextForm::Base32,
            Self::Base36 => TextForm::Base36,
            Self::Base58 => TextForm::Base58,
            Self::Base62 => TextForm::Base62,
        }
    }
}

/// Gives the smallest and the largest ID of a time range, for queries
///
/// Both are inclusive: `id BETWEEN lower AND upper` finds the IDs made from the tick that contains
/// --from through the tick that contains --to. Either side alone may be given. In a pipe it writes
/// lower, a tab and upper.
///
/// T is a date (2026-01-31, midnight UTC), RFC 3339 (2026-01-31T12:00:00Z) or Unix milliseconds.
#[derive(Args)]
#[command(after_long_help = BOUNDS_EXAMPLES)]
pub(crate) struct BoundsArgs {
    /// Begin of the range
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,

    /// End of the range, inclusive
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) layout: LayoutChoice,

    /// Write a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Describes layouts: what each bit means, how many IDs, until when
///
/// Without an argument it lists the presets.
#[derive(Args)]
#[command(after_long_help = LAYOUT_EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LayoutArgs {
    /// A preset or a descriptor such as t42.n8.s13@1420070400000/5ms
    #[arg(value_name = "L", value_parser = Presets, hide_possible_values = true)]
    pub(crate) layout: Option<String>,

    /// Write one JSON object per layout
    #[arg(long)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Option<LayoutCommand>,
}

#[derive(Subcommand)]
pub(crate) enum LayoutCommand {
    Plan(PlanArgs),
}

/// Proposes layouts for what you need
///
/// Says for each what it costs: bits, how precisely IDs are ordered, how many nodes and IDs it
/// allows, when it ends, and whether it fits a signed 64-bit column and a JavaScript number.
///
/// With --processes it plans for a fleet that leases its nodes: also the nodes that the dead still
/// hold, and as the fleet grows the load of the store, and which stores and presets do.
#[derive(Args)]
#[command(after_long_help = PLAN_EXAMPLES)]
pub(crate) struct PlanArgs {
    /// How many nodes make IDs at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[arg(required_unless_present = "processes", conflicts_with = "processes")]
    pub(crate) nodes: Option<String>,

    /// Instead of --nodes: how many processes lease a node each
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) processes: Option<String>,

    /// How long a process lives on average until it dies without giving its node back
    #[arg(long, value_name = "TIME", default_value = "1h", allow_hyphen_values = true)]
    #[arg(conflicts_with = "nodes")]
    pub(crate) lifetime: String,

    /// How long a node is kept for a process that does not renew
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    #[arg(conflicts_with = "nodes")]
    pub(crate) ttl: String,

    /// How far a lease reaches ahead; it is renewed after a third of that on average
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    #[arg(conflicts_with = "nodes")]
    pub(crate) window: String,

    /// How many IDs a node makes in its busiest second
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) rate: String,

    /// How long it has to last: a year or a date (through its end), RFC 3339, or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) until: String,

    /// When time begins: a date, RFC 3339 or Unix milliseconds [default: today, 00:00 UTC]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) epoch: Option<String>,

    /// The most bits an ID may have; 63 keeps it positive in a signed 64-bit column
    #[arg(long, value_name = "BITS", default_value = "63", allow_hyphen_values = true)]
    pub(crate) bits: String,

    /// Write one JSON object per proposal, and then one per size of the fleet
    #[arg(long)]
    pub(crate) json: bool,
}

/// Names the process that made an ID
///
/// Looks up in a namespace's history who held the ID's node at the ID's tick. Windows of one node do
/// not overlap, so there is one answer, or none if the history does not reach there.
///
/// In a pipe, or with --json, it writes one JSON object per ID.
#[derive(Args)]
#[command(after_long_help = WHOIS_EXAMPLES)]
pub(crate) struct WhoisArgs {
    /// IDs; 0x in front makes a decimal one hexadecimal
    #[arg(value_name = "ID", required = true, allow_negative_numbers = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// How the IDs are written
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    pub(crate) format: InputForm,

    /// Write one JSON object per ID, also to a terminal
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a completion script for a shell
#[derive(Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    pub(crate) shell: Shell,
}

/// Writes the manual
#[derive(Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages of all commands; without it, the main page goes to standard output
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    #[value(help = "On a terminal, unless NO_COLOR is set")]
    Auto,
    /// In pipes, too
    Always,
    /// Nowhere
    Never,
}

impl Color {
    /// Decides for everything that is written from here on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

// Every line of these that begins with `flakeid` is run by the tests.

const MAIN_EXAMPLES: &str = "\
Examples:
  flakeid next
  flakeid next -n 5 --store sqlite://flakeid.db
  flakeid next --node 7
  flakeid inspect 910499571847892992
  flakeid bounds --from 2026-01-01 --to 2026-01-31T23:59:59.999Z
  flakeid layout
  flakeid layout plan --nodes 64 --rate 5000 --until 2095

Environment:
  FLAKEID_STORE       store of the leases, where --store is not given
  FLAKEID_NAMESPACE   namespace in it, where --namespace is not given
  FLAKEID_LAYOUT      layout, where --layout is not given
  FLAKEID_NODE        node of `next`, where no flag gives one
  FLAKEID_DATACENTER  the same in two parts,
  FLAKEID_WORKER      which go together
  NO_COLOR            no colour, if set and not empty

Exit status:
  0  done, also if the reader of a pipe has gone
  1  an error, with its code on standard error, or a no to a question
  2  wrong usage";

const NEXT_EXAMPLES: &str = "\
Examples:
  flakeid next
  flakeid next -n 5 --store sqlite://flakeid.db
  flakeid next --store sqlite://flakeid.db --name import
  flakeid next --node 7
  flakeid next -n 5 --datacenter 17 --worker 25 --format base62
  flakeid next -n 1000000 --node 7 --format bytes | wc -c
  flakeid next --node 7 --layout t42.n8.s13@2015-01-01T00:00:00Z/5ms --format json
  FLAKEID_NODE=7 flakeid next

Environment (flags win):
  FLAKEID_STORE       store, where --store is not given
  FLAKEID_NAMESPACE   namespace in it, where --namespace is not given
  FLAKEID_LAYOUT      layout, where --layout is not given
  FLAKEID_NODE        node, where no flag gives one
  FLAKEID_DATACENTER  the same in two parts,
  FLAKEID_WORKER      which go together";

const INSPECT_EXAMPLES: &str = "\
Examples:
  flakeid inspect 910499571847892992
  flakeid inspect 0x0ca2ba7ecc639000
  flakeid inspect --layout baidu-29 180363646902239241
  flakeid inspect --format base62 15G63YLn9Ae --pretty
  flakeid next -n 3 --node 7 | flakeid inspect";

const BOUNDS_EXAMPLES: &str = "\
Examples:
  flakeid bounds --from 2026-01-01 --to 2026-01-31T23:59:59.999Z
  flakeid bounds --from 2026-01-01 --layout discord
  flakeid bounds --from 1505914988849 --to 1505914988849 --json";

const LAYOUT_EXAMPLES: &str = "\
Examples:
  flakeid layout
  flakeid layout sonyflake
  flakeid layout t42.n8.s13@1420070400000/5ms --json
  flakeid layout plan --nodes 64 --rate 5000 --until 2095";

const PLAN_EXAMPLES: &str = "\
Examples:
  flakeid layout plan --nodes 64 --rate 5000 --until 2095
  flakeid layout plan --processes 1000000 --rate 1000 --until 2080
  flakeid layout plan --nodes 1000 --rate 200 --until 2060-06-30 --bits 53
  flakeid layout plan --nodes 3 --rate 1000000 --until 2050 --epoch 2024-01-01 --json";

const WHOIS_EXAMPLES: &str = "\
Examples:
  flakeid whois 910499571847892992 --store sqlite://flakeid.db
  flakeid next --store sqlite://flakeid.db | xargs flakeid whois --store sqlite://flakeid.db";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  flakeid completions bash > ~/.local/share/bash-completion/completions/flakeid
  flakeid completions zsh > ~/.zfunc/_flakeid
  flakeid completions fish > ~/.config/fish/completions/flakeid.fish
  flakeid completions powershell >> $PROFILE";
