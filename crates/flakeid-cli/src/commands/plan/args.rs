//! The arguments of `flakeid layout plan`.

use clap::Args;

/// Proposes layouts that meet your requirements
///
/// For each proposal, the command shows the widths of the fields, the precision with which IDs sort
/// by time, the numbers of nodes and IDs, and the end of the layout's time range. The command also
/// shows whether the IDs fit a signed 64-bit column and a JavaScript number.
///
/// With --processes, the command plans for a fleet of processes that lease their nodes, and
/// includes the nodes that dead processes still hold. For fleets of increasing size, the command
/// also shows the load on the store, and which stores and presets are sufficient. For stores that
/// keep a namespace as one document, the command shows the requests per minute and their price. If
/// you specify --brokers, the processes lease nodes from brokers, which lease blocks of nodes from
/// the store.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// Number of nodes that generate IDs at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[arg(required_unless_present = "processes", conflicts_with = "processes")]
    pub(super) nodes: Option<String>,

    /// Number of processes that lease one node each; replaces --nodes
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) processes: Option<String>,

    /// Average time until a process dies without releasing its node
    #[arg(long, value_name = "TIME", default_value = "1h", allow_hyphen_values = true)]
    #[arg(conflicts_with = "nodes")]
    pub(super) lifetime: String,

    /// Number of brokers (`flakeid serve`) from which the processes lease nodes [default: none;
    /// processes lease from the store]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "nodes")]
    pub(super) brokers: Option<String>,

    /// Time for which a node stays reserved for a process that does not renew its lease [default:
    /// 60s, or 12s with brokers]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "nodes")]
    pub(super) ttl: Option<String>,

    /// Length of a lease's window; on average, the lease is renewed after a third of this time
    /// [default: 10s, or 4s with brokers]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "nodes")]
    pub(super) window: Option<String>,

    /// Length of the window of a broker's block, which is the `max_window` of the namespace
    /// [default: 10s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "brokers")]
    pub(super) block_window: Option<String>,

    /// Number of IDs that a node generates in its busiest second
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(super) rate: String,

    /// Time until which the layout must last: a year or a date (each inclusive), an RFC 3339 time,
    /// or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) until: String,

    /// Start of the layout's time range: a date, an RFC 3339 time or Unix milliseconds [default:
    /// today, 00:00 UTC]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) epoch: Option<String>,

    /// Largest number of bits in an ID; with up to 63 bits, IDs are positive in a signed 64-bit
    /// column
    #[arg(long, value_name = "BITS", default_value = "63", allow_hyphen_values = true)]
    pub(super) bits: String,

    /// Write one JSON object per proposal, then one JSON object per fleet size
    #[arg(long)]
    pub(super) json: bool,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid layout plan --nodes 64 --rate 5000 --until 2095
  flakeid layout plan --processes 1000000 --rate 1000 --until 2080
  flakeid layout plan --processes 100000 --brokers 3 --rate 1000 --until 2080
  flakeid layout plan --nodes 1000 --rate 200 --until 2060-06-30 --bits 53
  flakeid layout plan --nodes 3 --rate 1000000 --until 2050 --epoch 2024-01-01 --json";
