//! `flakeid exec`: leases a node for a generator from another library.
//!
//! This process cannot see the IDs that the other generator creates. By default, it therefore
//! releases the node without lowering the fence (module `lease`). The fence is lowered only if the
//! user promises that the generator never runs ahead of the clock, and the clock was never set
//! (module `clock_watch`). The node is not released while a process that may use the node is
//! running. On Linux, this process finds and ends all such processes (module `descendants`).

mod child;
mod clock_watch;
#[cfg(target_os = "linux")]
mod descendants;
mod lease;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use flakeid_core::{Error, Layout};

use super::next_source::LeaseArgs;
use crate::args::layout_arg::LAYOUT;
use crate::args::node::{DATACENTER, NODE, WORKER};
use crate::failure::{Failure, Outcome};
use crate::format::duration;
use crate::store::{NAMESPACE, STORE};
use child::Supervisor;
use clock_watch::ClockWatch;
use lease::{KILL_MARGIN_MS, Lease};

/// Runs a command with a leased node number in its environment
///
/// Use `flakeid exec` for ID generators from other libraries, such as sonyflake, yitter or
/// MyBatis-Plus, and for worker IDs in your own code. The command finds a node number in the
/// variable `WORKER_ID`. No other process has the same number at the same time. The lease is
/// renewed while the command runs, and `flakeid exec` returns the command's exit status. If the
/// lease cannot be renewed, the command and all processes that it started get SIGTERM. They get
/// SIGKILL before another process can get the node.
///
/// When the command ends, the processes that it left behind get SIGTERM, in whatever session they
/// are. After the time --grace, they get SIGKILL. The node is released when all of them have ended.
/// A service must therefore run in the foreground. If `flakeid exec` is not permitted to signal a
/// process, such as a set-uid program, it renews the lease until that process ends. This behaviour
/// requires Linux: on macOS, only the command's process group gets SIGKILL, and on Windows no
/// process is ended. Processes that other services start for the command (docker run, systemd-run,
/// at) are not ended on any system.
///
/// `flakeid exec` cannot determine the last ID that the command's generator issued. The node is
/// therefore released as if its whole window had been used. By default, the window ends up to 10 s
/// ahead of the clock (see --window). The next `flakeid exec` with the same --node or --name waits
/// until the end of that window before it starts its command. Without these options, it gets
/// another node and does not wait. With --no-ahead, no wait is necessary.
///
/// If `flakeid exec` itself is killed with SIGKILL (kill -9), Linux also kills the command, unless
/// the command is a set-uid program. Linux does not kill the processes that the command started,
/// and other systems kill none of these processes. IDs can repeat if a process of the command is
/// still running when another process gets the node. Another process gets the node when the lease
/// expires, 60 s after its last renewal. If `flakeid exec` is started again with the same --node,
/// it can get the node as early as the end of the window. A wrapper script must therefore replace
/// itself with the program: write `exec program`, not `program`.
///
/// `flakeid exec` promises less than flakeid's own generators. IDs also repeat if the command's
/// generator repeats IDs when the clock goes backwards. The same happens if the generator runs
/// ahead of the clock beyond the end of the window. IDs can also repeat if the host is paused, or
/// its clock is set forward, beyond the end of the lease. In both cases, the command runs for an
/// instant after the end of the lease before it is killed.
///
/// --layout must be the layout of the IDs that the command generates. In particular, its unit of
/// time must be correct.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    lease: LeaseArgs,

    #[arg(
        long,
        value_name = "VARIABLE",
        help = "Environment variable for the node number; may be given several times [default: WORKER_ID]"
    )]
    env: Vec<String>,

    /// Variable for the high part of the node number, if the layout splits the number
    #[arg(long, hide_short_help = true, value_name = "VARIABLE", requires = "env_worker")]
    env_datacenter: Option<String>,

    /// Variable for the low part of the node number, if the layout splits the number
    #[arg(long, hide_short_help = true, value_name = "VARIABLE", requires = "env_datacenter")]
    env_worker: Option<String>,

    /// Time for which the command can run while the store is down [default: 10s, or 4 ticks if
    /// longer]
    ///
    /// The maximum is the namespace's --max-window, which `flakeid leases init` sets. A shorter time
    /// also means that the next command on the same node starts sooner.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    window: Option<String>,

    /// Time between SIGTERM and SIGKILL
    ///
    /// The time applies to the processes that the command left behind. If the lease cannot be
    /// renewed, the command gets SIGTERM this long before the end of the lease. If the time is
    /// longer than a quarter of the window, a quarter of the window is used instead. The command
    /// gets SIGKILL shortly before the end of the lease.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "2s",
        allow_hyphen_values = true
    )]
    grace: String,

    /// Promise that the command's generator never runs ahead of the clock
    ///
    /// The node can then be used again from the time when the command ended, so the next command on
    /// the same node does not wait. The option takes effect only if the clock was not set and the
    /// host was not suspended while the command ran. IDs can repeat if the generator does run
    /// ahead. A generator runs ahead if it borrows from later ticks when a tick is full. It also
    /// runs ahead if it continues after its last ID when the clock goes backwards. Only Linux
    /// reports clock changes. On other systems, the option is accepted but has no effect.
    #[arg(long, hide_short_help = true)]
    no_ahead: bool,

    /// Command to run, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid exec --store sqlite://foreign.db -- printenv WORKER_ID
  flakeid exec --store sqlite://sony.db --layout sonyflake --env MACHINE -- printenv MACHINE
  flakeid exec --store sqlite://foreign.db --env-datacenter DC --env-worker W -- printenv DC W

Environment (the command does not inherit these variables):
  FLAKEID_STORE       URL of the store, if --store is not given
  FLAKEID_NAMESPACE   namespace in the store, if --namespace is not given
  FLAKEID_LAYOUT      layout, if --layout is not given
  FLAKEID_NODE        node number, if no flag gives one
  FLAKEID_DATACENTER  the node number in two parts:
  FLAKEID_WORKER      set both or neither

Exit status:
  that of the command, or 128 plus the number of the signal that killed it;
  1 if no node could be leased, or if the lease was lost";

/// The environment variables that `flakeid exec` itself reads. The command does not inherit these
/// variables, because the store URL may contain a password and the node is already leased.
const OWN_VARIABLES: [&str; 6] = [STORE, NAMESPACE, LAYOUT, NODE, DATACENTER, WORKER];

const LONGEST_GRACE_MS: u64 = 3_600_000;

pub(crate) fn run(args: &ExecArgs) -> Outcome {
    let layout = args.lease.layout()?;
    let grace_ms = duration::parse("grace", &args.grace)?;
    if !(KILL_MARGIN_MS..=LONGEST_GRACE_MS).contains(&grace_ms) {
        let (least, most) = (KILL_MARGIN_MS, LONGEST_GRACE_MS);
        return Err(Error::field_out_of_range("grace", &grace_ms, least, most).into());
    }
    let window = args.window.as_deref().map(|text| duration::parse("window", text)).transpose()?;
    let identity = args.lease.identity(&layout)?;
    let variables = Variables::new(args, &layout)?;
    // The supervisor, which handles signals, is created before the lease. A signal therefore cannot
    // end this process before the node is released.
    let mut supervisor = Supervisor::new(Duration::from_millis(grace_ms))?;
    let mut builder = args.lease.builder(layout, identity)?.keep_node();
    if let Some(window_ms) = window {
        builder = builder.window(Duration::from_millis(window_ms));
    }
    let mut lease = Lease::new(builder.open()?, grace_ms);
    if let Some(status) = supervisor.wait_for_first_tick(&lease) {
        return Err(Failure::Exit(status));
    }
    let variables = variables.values(&layout, lease.node());
    let watch = args.no_ahead.then(ClockWatch::start).transpose();
    let watch = watch.map_err(|error| Failure::io("cannot watch the clock", error))?;
    let child = supervisor.start(&args.command, &OWN_VARIABLES, &variables)?;
    lease.begin(watch);
    let ended = supervisor.run(child, &mut lease)?;
    lease.release();
    match ended.lost {
        Some(error) => Err(Failure::hinted(
            error,
            "the command was ended, because another process may get its node from now on; longer windows \
             bridge longer outages: `--window`, up to `flakeid leases init --max-window`",
        )),
        None if ended.status == 0 => Ok(()),
        None => Err(Failure::Exit(ended.status)),
    }
}

/// The environment variables to set for the command, grouped by their values.
struct Variables<'a> {
    node: Vec<&'a str>,
    parts: Option<[&'a str; 2]>,
}

impl<'a> Variables<'a> {
    fn new(args: &'a ExecArgs, layout: &Layout) -> Result<Self, Failure> {
        let parts = args.env_datacenter.as_deref().zip(args.env_worker.as_deref());
        if parts.is_some() && !layout.is_split() {
            let reason = "this layout does not split its node number; use --env";
            return Err(Error::invalid_option("env-datacenter", reason).into());
        }
        let mut node: Vec<&str> = args.env.iter().map(String::as_str).collect();
        if node.is_empty() && parts.is_none() {
            node.push("WORKER_ID");
        }
        let parts = parts.map(|(datacenter, worker)| [datacenter, worker]);
        for name in node.iter().chain(parts.iter().flatten()) {
            if name.is_empty() || name.contains(['=', '\0']) {
                let reason = format!("{name:?} cannot be the name of a variable");
                return Err(Error::invalid_option("env", &reason).into());
            }
        }
        Ok(Self { node, parts })
    }

    fn values(&self, layout: &Layout, node: u64) -> Vec<(&'a str, u64)> {
        let mut values: Vec<_> = self.node.iter().map(|name| (*name, node)).collect();
        if let (Some([high, low]), Some((datacenter, worker))) =
            (self.parts, layout.split_node(node))
        {
            values.extend([(high, datacenter), (low, worker)]);
        }
        values
    }
}
