use std::fmt;
use std::net::{IpAddr, UdpSocket};
use std::str::FromStr;

use flakeid_core::{Error, Layout, without_url};

use flakeid_stores::host_name;

/// A source from which a program can get a node without a store. A program must choose a source by name, because
/// there is no default.
///
/// No source guarantees uniqueness: the operator must ensure that no other process has the same node. A leased node
/// is the safe alternative.
///
/// ```
/// use flakeid::NodeSource;
///
/// let source: NodeSource = "kubernetes".parse()?;
/// assert_eq!(source, NodeSource::Kubernetes);
/// assert_eq!(source.name(), "kubernetes");
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeSource {
    /// `FLAKEID_NODE`, or `FLAKEID_DATACENTER` and `FLAKEID_WORKER`.
    Environment,
    /// The ordinal at the end of a `StatefulSet` pod's host name: 3 in `orders-3`. While Kubernetes replaces a pod on
    /// an unreachable machine, two pods can have the same ordinal.
    Kubernetes,
    /// The low bits of a network card's MAC address. This source is unsafe: containers and cloned machines share
    /// addresses, and different addresses often have the same low bits.
    MacAddress,
    /// The low bits of this host's IPv4 address. This source is unsafe: different networks reuse addresses, and all
    /// processes on a host share one address.
    Ipv4,
}

impl NodeSource {
    /// All node sources.
    pub const ALL: [Self; 4] = [Self::Environment, Self::Kubernetes, Self::MacAddress, Self::Ipv4];

    /// The name of this source in options: `env`, `kubernetes`, `mac` or `ipv4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Environment => "env",
            Self::Kubernetes => "kubernetes",
            Self::MacAddress => "mac",
            Self::Ipv4 => "ipv4",
        }
    }

    /// The warning about this source if the source is unsafe; otherwise `None`.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Environment | Self::Kubernetes => None,
            Self::MacAddress => Some(
                "nodes from MAC addresses are not unique: containers and cloned machines share \
                 them, and only the low bits count; prefer a lease",
            ),
            Self::Ipv4 => Some(
                "nodes from IPv4 addresses are not unique: private networks repeat them, all \
                 processes of a host share one, and only the low bits count; prefer a lease",
            ),
        }
    }

    /// Returns this process's node in a layout.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the source and the reason, if the source yields
    /// no node; [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) if the node is outside the layout's
    /// range.
    pub fn node(self, layout: &Layout) -> Result<u64, Error> {
        match self {
            Self::Environment => from_environment(layout, |name| std::env::var(name).ok()),
            Self::Kubernetes => from_host_name(layout, &host_name()),
            Self::MacAddress => match mac_address::get_mac_address() {
                Ok(Some(address)) => Ok(low_bits(layout, &address.bytes())),
                Ok(None) => Err(missing("mac", "this host has no network card")),
                Err(error) => Err(missing("mac", &error.to_string())),
            },
            Self::Ipv4 => from_ipv4(layout),
        }
    }
}

impl fmt::Display for NodeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Parses the [`name`](NodeSource::name) of a source.
impl FromStr for NodeSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|known| known.name() == text).ok_or_else(|| {
            let shown: String = without_url(text).chars().take(40).collect();
            let known = Self::ALL.map(Self::name).join(", ");
            Error::invalid_option(
                "node source",
                &format!("{shown:?} is not a node source; it must be one of {known}"),
            )
        })
    }
}

fn missing(source: &str, reason: &str) -> Error {
    Error::invalid_option("node source", &format!("{source}: {reason}"))
}

fn from_environment(
    layout: &Layout,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<u64, Error> {
    let number = |name: &'static str, max: u64| match variable(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u64>() {
            Ok(value) if value <= max => Ok(Some(value)),
            _ => Err(Error::field_out_of_range(name, &text, 0, max)),
        },
    };
    let node = number("FLAKEID_NODE", layout.max_node())?;
    let Some((max_datacenter, max_worker)) = layout.max_datacenter_and_worker() else {
        return node.ok_or_else(|| missing("env", "FLAKEID_NODE is not set"));
    };
    let datacenter = number("FLAKEID_DATACENTER", max_datacenter)?;
    let worker = number("FLAKEID_WORKER", max_worker)?;
    match (node, datacenter, worker) {
        (Some(node), None, None) => Ok(node),
        (None, Some(datacenter), Some(worker)) => layout.join_node(datacenter, worker),
        (None, None, None) => Err(missing(
            "env",
            "neither FLAKEID_NODE nor FLAKEID_DATACENTER and FLAKEID_WORKER are set",
        )),
        _ => Err(missing(
            "env",
            "set either FLAKEID_NODE, or both FLAKEID_DATACENTER and FLAKEID_WORKER",
        )),
    }
}

fn from_host_name(layout: &Layout, name: &str) -> Result<u64, Error> {
    let first = name.split('.').next().unwrap_or_default();
    let ordinal = first.rsplit_once('-').map(|(_, ordinal)| ordinal);
    let digits = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(ordinal) = ordinal.filter(digits) else {
        let reason = format!("the host name {name:?} does not end in an ordinal, such as orders-3");
        return Err(missing("kubernetes", &reason));
    };
    match ordinal.parse::<u64>() {
        Ok(node) if node <= layout.max_node() => Ok(node),
        _ => Err(Error::field_out_of_range("ordinal", &ordinal, 0, layout.max_node())),
    }
}

/// Returns the node for the address from which this host would send packets. To find that address, connects a UDP
/// socket to 192.0.2.1 without sending a packet. The address 192.0.2.1 is reserved for documentation (RFC 5737), so
/// only the default route can match it.
fn from_ipv4(layout: &Layout) -> Result<u64, Error> {
    let own = || -> std::io::Result<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect("192.0.2.1:9")?;
        Ok(socket.local_addr()?.ip())
    };
    match own() {
        Ok(IpAddr::V4(address)) if !address.is_loopback() && !address.is_unspecified() => {
            Ok(low_bits(layout, &address.octets()))
        }
        Ok(address) => Err(missing("ipv4", &format!("{address} cannot identify a host"))),
        Err(error) => Err(missing(
            "ipv4",
            &format!("this host has no network route, so it has no IPv4 address to use: {error}"),
        )),
    }
}

/// Returns the low bits of the bytes as a node. A bit mask suffices, because a layout's nodes are 0 to 2^k − 1.
fn low_bits(layout: &Layout, bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)) & layout.max_node()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use flakeid_core::ErrorKind;

    const LAYOUT: Layout = Layout::TWITTER;

    #[test]
    fn environment_variables_set_the_node_or_datacenter_and_worker() {
        let with = |set: &[(&str, &str)]| {
            let set: Vec<_> =
                set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            from_environment(&LAYOUT, |name| {
                set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            })
        };
        assert_eq!(with(&[("FLAKEID_NODE", "1023")]).unwrap(), 1023);
        let split = [("FLAKEID_DATACENTER", "17"), ("FLAKEID_WORKER", "25")];
        assert_eq!(with(&split).unwrap(), 569);
        for wrong in ["1024", "-1", "", "x", "18446744073709551616"] {
            let error = with(&[("FLAKEID_NODE", wrong)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FieldOutOfRange);
            assert_eq!(error.field(), Some("FLAKEID_NODE"));
        }
        let both = [("FLAKEID_NODE", "1"), ("FLAKEID_WORKER", "1")];
        for wrong in [&[][..], &both[..], &[("FLAKEID_WORKER", "1")][..]] {
            assert_eq!(with(wrong).unwrap_err().kind(), ErrorKind::InvalidOption);
        }
    }

    #[test]
    fn node_is_parsed_from_the_end_of_host_names() {
        assert_eq!(from_host_name(&LAYOUT, "orders-3").unwrap(), 3);
        assert_eq!(from_host_name(&LAYOUT, "a-b-1023.svc.local").unwrap(), 1023);
        for wrong in ["orders", "orders-", "orders-x3", "", "7"] {
            let error = from_host_name(&LAYOUT, wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOption, "{wrong}");
        }
        for wrong in ["orders-1024", "orders-99999999999999999999"] {
            let error = from_host_name(&LAYOUT, wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FieldOutOfRange, "{wrong}");
        }
    }

    #[test]
    fn node_is_taken_from_the_low_bits_of_an_ip_address() {
        assert_eq!(low_bits(&LAYOUT, &[10, 0, 5, 7]), 0x107 & 1023);
        assert_eq!(low_bits(&LAYOUT, &[0, 0, 0, 0, 0xff, 0xff]), 1023);
    }

    #[test]
    fn node_source_is_parsed_from_its_name() {
        for source in NodeSource::ALL {
            assert_eq!(source.name().parse::<NodeSource>().unwrap(), source);
        }
        assert_eq!("dns".parse::<NodeSource>().unwrap_err().kind(), ErrorKind::InvalidOption);
    }
}
