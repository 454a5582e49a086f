//! The JSON of clients' requests and brokers' responses. Both the broker's server and its clients use these types.
//!
//! Ticks are JSON numbers, because they stay far below 2^53 in all practical layouts.

use std::fmt;

use flakeid_core::{Error, Layout, is_invisible};
use serde::{Deserialize, Serialize};

use crate::{Acquire, Grant, Identity, Owner, Release, Renew, Renewed, Token};

/// A request for a node.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcquireJson {
    /// The layout, as a name or a descriptor. The default is the namespace's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The token: 32 random hexadecimal digits that identify the request if it is sent again. By default, the broker
    /// generates a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The time on the client's clock, in Unix milliseconds.
    pub now: i64,
    /// The time since the client's clock was read, in milliseconds.
    #[serde(default)]
    pub waited_ms: u64,
    /// The length of the window in milliseconds. The default is the longest window that the broker grants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ms: Option<u64>,
    /// The time without a renewal after which another client may get the node, in milliseconds. The default is the
    /// longest time that the broker allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The first tick that the client can use.
    #[serde(default)]
    pub after: u64,
    /// The client's name. A client with a name gets its previous node again if that node is free.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The host on which the client runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The client's process ID on its host.
    #[serde(default)]
    pub pid: u32,
    /// The only acceptable node. Brokers refuse requests with this field, because a broker chooses the node itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
    /// The lowest acceptable node. Brokers refuse requests with a value other than 0.
    #[serde(default)]
    pub nodes_from: u64,
    /// The highest acceptable node. Brokers refuse requests with a value other than the layout's highest node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_to: Option<u64>,
    /// Whether the node may have been granted before. Brokers refuse requests with the value `false`.
    #[serde(default = "yes")]
    pub reuse: bool,
}

/// A granted node.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct GrantJson {
    /// The node.
    pub node: u64,
    /// The first tick that may be used.
    pub start: u64,
    /// The first tick that must not be used.
    pub fence: u64,
    /// The token for renewals and the release.
    pub token: String,
    /// The maximum time by which IDs may be ahead of the clock, in milliseconds.
    pub max_ahead_ms: u64,
    /// The maximum length of a window, in milliseconds.
    pub max_window_ms: u64,
    /// The time until which the node is reserved for this client, in Unix milliseconds according to the broker's
    /// clock.
    pub expires: i64,
    /// The name of the broker that renews and releases the node.
    pub broker: String,
    /// The layout of the IDs, as a descriptor.
    pub layout: String,
}

/// A request to raise a fence.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenewJson {
    /// The first tick of the grant.
    pub start: u64,
    /// The token from the last response.
    pub token: String,
    /// The next token: the first 16 digits of the old token, followed by 16 new digits.
    pub next: String,
    /// The fence from the last response.
    pub confirmed: u64,
    /// The requested fence: the first tick after the requested window.
    pub wanted: u64,
    /// The time without a renewal after which another client may get the node, in milliseconds. The default is the
    /// longest time that the broker allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The time on the client's clock, in Unix milliseconds.
    pub now: i64,
    /// The time since the client's clock was read, in milliseconds.
    #[serde(default)]
    pub waited_ms: u64,
    /// The name of the broker that granted the node.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub broker: String,
}

/// The result of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RenewedJson {
    /// The first tick that must not be used.
    pub fence: u64,
    /// The time until which the node is reserved for this client, in Unix milliseconds according to the broker's
    /// clock.
    pub expires: i64,
    /// The time of the renewal, in Unix milliseconds according to the broker's clock.
    pub renewed: i64,
    /// Whether the broker is about to shut down, so that the client should request a node from another broker.
    #[serde(skip_serializing_if = "is_false")]
    pub leaving: bool,
}

/// A request to release a node.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseJson {
    /// The token from the last response.
    pub token: String,
    /// The tick after the last tick in which an ID was issued.
    pub used_until: u64,
}

// `Debug` omits the tokens, as for `Token`.

impl fmt::Debug for AcquireJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireJson").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for GrantJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantJson")
            .field("node", &self.node)
            .field("start", &self.start)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RenewJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenewJson")
            .field("confirmed", &self.confirmed)
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ReleaseJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReleaseJson").field("used_until", &self.used_until).finish_non_exhaustive()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

const fn yes() -> bool {
    true
}

impl AcquireJson {
    /// Creates the JSON of a client's request. The broker may shorten the requested window and TTL.
    #[must_use]
    pub fn new(request: &Acquire, waited_ms: u64) -> Self {
        let (node, name) = match &request.identity {
            Identity::Any => (None, String::new()),
            Identity::Name(name) => (None, name.clone()),
            Identity::Node(node) => (Some(*node), String::new()),
        };
        Self {
            layout: Some(request.layout.to_string()),
            token: Some(request.token.to_text()),
            now: request.now,
            waited_ms,
            window_ms: Some(request.window_ms),
            ttl_ms: Some(request.ttl_ms),
            after: request.after,
            name,
            host: request.owner.host.clone(),
            pid: request.owner.pid,
            node,
            nodes_from: request.from,
            nodes_to: (request.to != request.layout.max_node()).then_some(request.to),
            reuse: request.reuse,
        }
    }

    /// Converts the JSON to a request. `layout` and `fresh` are the layout and the token to use if the JSON omits them.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the name of an invalid field;
    /// [`InvalidLayout`](flakeid_core::ErrorKind::InvalidLayout) if the layout is invalid.
    pub fn to_request(&self, layout: &Layout, fresh: Token) -> Result<Acquire, Error> {
        let layout = match &self.layout {
            Some(text) => text.parse::<Layout>()?,
            None => *layout,
        };
        for (field, text, longest) in [("name", &self.name, 128), ("host", &self.host, 255)] {
            if text.len() > longest || text.chars().any(is_invisible) {
                let reason = format!(
                    "must be at most {longest} bytes long and must not contain control characters or other invisible \
                     characters"
                );
                return Err(Error::invalid_option(field, &reason));
            }
        }
        let identity = match self.node {
            Some(node) => Identity::Node(node),
            None if self.name.is_empty() => Identity::Any,
            None => Identity::Name(self.name.clone()),
        };
        Ok(Acquire {
            layout,
            block_bits: 0,
            identity,
            from: self.nodes_from,
            to: self.nodes_to.unwrap_or(layout.max_node()),
            rotation: 0,
            reuse: self.reuse,
            token: self.token.as_deref().map_or(Ok(fresh), |text| token("token", text))?,
            window_ms: self.window_ms.unwrap_or(u64::MAX),
            ttl_ms: self.ttl_ms.unwrap_or(u64::MAX),
            now: self.now,
            waited_ms: self.waited_ms,
            after: self.after,
            owner: Owner { name: self.name.clone(), host: self.host.clone(), pid: self.pid },
        })
    }
}

impl GrantJson {
    /// Creates the JSON of a grant by the broker named `broker`.
    #[must_use]
    pub fn new(grant: &Grant, broker: &str, layout: &Layout) -> Self {
        Self {
            node: grant.node,
            start: grant.start,
            fence: grant.fence,
            token: grant.token.to_text(),
            max_ahead_ms: grant.max_ahead_ms,
            max_window_ms: grant.max_window_ms,
            expires: grant.expires,
            broker: broker.into(),
            layout: layout.to_string(),
        }
    }
}

impl RenewJson {
    /// Creates the JSON of a client's request to renew a grant from the broker named `broker`.
    #[must_use]
    pub fn new(request: &Renew, waited_ms: u64, broker: &str) -> Self {
        Self {
            start: request.start,
            token: request.token.to_text(),
            next: request.next.to_text(),
            confirmed: request.confirmed,
            wanted: request.wanted,
            ttl_ms: Some(request.ttl_ms),
            now: request.now,
            waited_ms,
            broker: broker.into(),
        }
    }

    /// Converts the JSON to a request to renew a node.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if a token is invalid, or if `next` is not a new token
    /// of the same grant.
    pub fn to_request(&self, node: u64) -> Result<Renew, Error> {
        let (held, next) = (token("token", &self.token)?, token("next", &self.next)?);
        if !next.is_same_grant(held) || next == held {
            let reason =
                "must have the same first 16 digits as `token`, but not the same last 16 digits";
            return Err(Error::invalid_option("next", reason));
        }
        Ok(Renew {
            node,
            start: self.start,
            token: held,
            next,
            confirmed: self.confirmed,
            wanted: self.wanted,
            ttl_ms: self.ttl_ms.unwrap_or(u64::MAX),
            now: self.now,
            waited_ms: self.waited_ms,
        })
    }
}

impl From<Renewed> for RenewedJson {
    fn from(Renewed { fence, expires, renewed, leaving }: Renewed) -> Self {
        Self { fence, expires, renewed, leaving }
    }
}

impl ReleaseJson {
    /// Converts the JSON to a request to release a node.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the token is invalid.
    pub fn to_request(&self, node: u64) -> Result<Release, Error> {
        Ok(Release { node, token: token("token", &self.token)?, used_until: self.used_until })
    }
}

/// Parses a token. If the token is invalid, the error message does not reveal it.
pub(super) fn token(field: &'static str, text: &str) -> Result<Token, Error> {
    let wrong = || Error::invalid_option(field, "must be 32 hexadecimal digits");
    Token::from_text(text).ok_or_else(wrong)
}
