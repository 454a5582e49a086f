//! The options that specify a node number, and the environment variables that can replace these
//! options.

use clap::{Args, ValueEnum};
use flakeid::NodeSource;
use flakeid_core::{Error, Layout};

use crate::failure::Failure;
use crate::format::number;
use crate::{args, terminal};

pub(crate) const NODE: &str = "FLAKEID_NODE";
pub(crate) const DATACENTER: &str = "FLAKEID_DATACENTER";
pub(crate) const WORKER: &str = "FLAKEID_WORKER";

#[derive(Args)]
pub(crate) struct NodeArgs {
    /// Node number; must differ between generators that run at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    node: Option<String>,

    /// High part of the node number, if the layout splits the number; requires --worker
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    datacenter: Option<String>,

    /// Low part of the node number, if the layout splits the number; requires --datacenter
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    worker: Option<String>,

    /// Source of the node number
    #[arg(long, value_enum, value_name = "SOURCE", conflicts_with_all = ["node", "datacenter", "worker"])]
    node_from: Option<Source>,
}

/// The possible values of `--node-from`, each of which is a source of the node number.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    #[value(
        help = "The variable FLAKEID_NODE, or both FLAKEID_DATACENTER and FLAKEID_WORKER; the command fails if none are set"
    )]
    Env,
    #[value(help = "The number at the end of a StatefulSet pod's host name: 3 in orders-3")]
    Kubernetes,
    /// The low bits of a network card's MAC address (unsafe: two hosts may get the same number)
    Mac,
    /// The low bits of this host's IPv4 address (unsafe: two hosts may get the same number)
    Ipv4,
}

impl Source {
    const fn node_source(self) -> NodeSource {
        match self {
            Self::Env => NodeSource::Environment,
            Self::Kubernetes => NodeSource::Kubernetes,
            Self::Mac => NodeSource::MacAddress,
            Self::Ipv4 => NodeSource::Ipv4,
        }
    }
}

/// The strings that specify the node number, either from the flags or from the environment.
struct Given {
    node: Option<String>,
    datacenter: Option<String>,
    worker: Option<String>,
    /// The names of the flags or environment variables for the node number, its high part and its
    /// low part.
    names: [&'static str; 3],
    from_environment: bool,
}

impl NodeArgs {
    /// Whether none of the flags specifies a node number.
    pub(crate) fn is_empty(&self) -> bool {
        self.node.is_none()
            && self.datacenter.is_none()
            && self.worker.is_none()
            && self.node_from.is_none()
    }

    /// Returns the node number, or `None` if none is specified. `environment` returns the value of
    /// an environment variable.
    pub(crate) fn resolve(
        &self,
        layout: &Layout,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<u64>, Failure> {
        if let Some(source) = self.node_from.map(Source::node_source) {
            let node = source.node(layout)?;
            if let Some(warning) = source.warning() {
                terminal::warning(warning);
            }
            return Ok(Some(node));
        }
        let flags = Given {
            node: self.node.clone(),
            datacenter: self.datacenter.clone(),
            worker: self.worker.clone(),
            names: ["--node", "--datacenter", "--worker"],
            from_environment: false,
        };
        let environment = Given {
            node: environment(NODE),
            datacenter: environment(DATACENTER),
            worker: environment(WORKER),
            names: [NODE, DATACENTER, WORKER],
            from_environment: true,
        };
        let given = if flags.is_empty() { environment } else { flags };
        given.node(layout).map_err(|error| given.explain(error))
    }
}

impl Given {
    fn is_empty(&self) -> bool {
        self.node.is_none() && self.datacenter.is_none() && self.worker.is_none()
    }

    fn node(&self, layout: &Layout) -> Result<Option<u64>, Error> {
        let [node_name, datacenter_name, worker_name] = self.names;
        match (&self.node, &self.datacenter, &self.worker) {
            (None, None, None) => Ok(None),
            (Some(node), None, None) => number::parse("node", node, 0, layout.max_node()).map(Some),
            (None, Some(datacenter), Some(worker)) => {
                let Some((most_datacenter, most_worker)) = layout.max_datacenter_and_worker()
                else {
                    // If the layout does not split the node number, `join_node` returns an error
                    // for any two numbers.
                    return layout.join_node(0, 0).map(Some);
                };
                let datacenter = number::parse("datacenter", datacenter, 0, most_datacenter)?;
                let worker = number::parse("worker", worker, 0, most_worker)?;
                layout.join_node(datacenter, worker).map(Some)
            }
            (Some(_), _, _) => Err(Error::invalid_option(
                "node",
                &format!(
                    "give either {node_name} or {datacenter_name} with {worker_name}, not both"
                ),
            )),
            (None, Some(_), None) => Err(self.missing("worker", worker_name, datacenter_name)),
            (None, None, Some(_)) => Err(self.missing("datacenter", datacenter_name, worker_name)),
        }
    }

    fn missing(&self, option: &'static str, missing: &str, given: &str) -> Error {
        let place =
            if self.from_environment { "in the environment" } else { "on the command line" };
        Error::invalid_option(option, &format!("{given} requires {missing}, which is not {place}"))
    }

    /// Adds the name of the environment variable to an error if the invalid value came from that
    /// variable.
    fn explain(&self, error: Error) -> Failure {
        match error.field() {
            Some(field) if self.from_environment => {
                let name = match field {
                    "datacenter" => DATACENTER,
                    "worker" => WORKER,
                    _ => NODE,
                };
                args::variable_failure(error, name)
            }
            _ => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(
        flags: [&str; 3],
        variables: [&str; 3],
        layout: &Layout,
    ) -> Result<Option<u64>, String> {
        let given = |text: &str| (text != "-").then(|| text.to_owned());
        let [node, datacenter, worker] = flags.map(given);
        let args = NodeArgs { node, datacenter, worker, node_from: None };
        let variable = |name: &str| {
            let index = [NODE, DATACENTER, WORKER].iter().position(|known| *known == name)?;
            given(variables[index])
        };
        args.resolve(layout, variable).map_err(|failure| match failure {
            Failure::Refused { error, hint } => format!("{error}; {}", hint.unwrap_or_default()),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn node_flags_take_precedence_over_environment_variables() {
        let none = ["-"; 3];
        let twitter = Layout::TWITTER;
        assert_eq!(resolve(none, none, &twitter), Ok(None));
        assert_eq!(resolve(["7", "-", "-"], none, &twitter), Ok(Some(7)));
        assert_eq!(resolve(["-", "17", "25"], none, &twitter), Ok(Some(569)));
        assert_eq!(resolve(none, ["8", "-", "-"], &twitter), Ok(Some(8)));
        assert_eq!(resolve(none, ["-", "17", "25"], &twitter), Ok(Some(569)));
        assert_eq!(resolve(["7", "-", "-"], ["-", "17", "25"], &twitter), Ok(Some(7)));
        assert_eq!(resolve(["-", "0", "1"], ["8", "-", "-"], &twitter), Ok(Some(1)));
        assert_eq!(resolve(["7", "-", "-"], ["8", "1", "x"], &twitter), Ok(Some(7)));
    }

    #[test]
    fn incomplete_and_conflicting_node_options_are_rejected() {
        let none = ["-"; 3];
        let twitter = Layout::TWITTER;
        for (flags, variables, part) in [
            (["7", "1", "1"], none, "either --node or --datacenter with --worker, not both"),
            (["7", "1", "-"], none, "not both"),
            (["7", "-", "1"], none, "not both"),
            (
                none,
                ["7", "-", "1"],
                "either FLAKEID_NODE or FLAKEID_DATACENTER with FLAKEID_WORKER",
            ),
            (
                ["-", "1", "-"],
                ["-", "-", "1"],
                "--datacenter requires --worker, which is not on the",
            ),
            (["-", "-", "1"], none, "--worker requires --datacenter"),
            (none, ["-", "1", "-"], "FLAKEID_WORKER, which is not in the environment"),
            (none, ["", "-", "-"], "variable FLAKEID_NODE"),
            (
                none,
                ["-", "40", "1"],
                "datacenter 40 is out of range: must be from 0 to 31; the value comes from the environment variable FLAKEID_DATACENTER",
            ),
            (["-", "1", "-2"], none, "worker -2 is out of range: must be from 0 to 31"),
        ] {
            let text = resolve(flags, variables, &twitter).err().unwrap_or_default();
            assert!(text.contains(part), "{text}");
        }
        let text = resolve(["-", "1", "99"], none, &Layout::PLAIN).err().unwrap_or_default();
        assert!(text.contains("does not split its node"), "{text}");
    }
}
