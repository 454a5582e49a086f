//! Identifies clients by a bearer token (RFC 6750) or by a name in a client certificate. Each client's scopes limit the
//! operations that the client may perform.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::sync::Arc;

use flakeid_core::Error;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use crate::files;

/// The minimum length of a token, in characters. Shorter tokens would be easy to guess.
const SHORTEST: usize = 16;

/// The prefix of a name that takes the place of a token in a token file. The name is a subject alternative name in a
/// client certificate.
const CERTIFICATE: &str = "san:";

/// The clients that a server accepts, as listed in a token file.
///
/// ```
/// use flakeid_server::Tokens;
///
/// let tokens = Tokens::parse(
///     "# NAME SCOPES TOKEN\n\
///      orders ids:orders,leases:orders 0123456789abcdef\n\
///      prometheus metrics fedcba9876543210\n",
/// )?;
/// assert!(Tokens::parse("short").is_err());
/// # drop(tokens);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Tokens {
    clients: Arc<[Arc<Client>]>,
    /// The path of the token file, or `None` if the tokens were not loaded from a file.
    file: Option<Arc<Path>>,
}

impl PartialEq for Tokens {
    fn eq(&self, other: &Self) -> bool {
        self.clients == other.clients && self.file == other.file
    }
}

/// A client that the server accepts.
#[derive(PartialEq, Eq)]
pub(crate) struct Client {
    /// The name of the client in logs and metrics.
    pub(crate) name: Box<str>,
    /// A number that identifies the client's name, even after the token file was loaded again.
    pub(crate) number: u64,
    credential: Credential,
    /// The permitted operations, or `None` if all operations are permitted.
    grants: Option<Vec<Grant>>,
}

#[derive(PartialEq, Eq)]
enum Credential {
    Token(Box<[u8]>),
    /// A name in the client's certificate.
    Certificate(Box<str>),
}

#[derive(PartialEq, Eq)]
struct Grant {
    scope: Scope,
    /// The only namespace to which the grant applies, or `None` if the grant applies to all
    /// namespaces.
    namespace: Option<Box<str>>,
}

/// A group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Requesting new IDs.
    Ids,
    /// Acquiring, renewing and releasing leases.
    Leases,
    /// Reading the leases and the holders of a namespace.
    Read,
    Metrics,
}

/// The permission that a request requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need<'a> {
    /// The client must be known.
    Known,
    /// The client must have at least one scope, other than `metrics`, that applies to the namespace.
    Some(&'a str),
    Scope(Scope, Option<&'a str>),
}

/// The reason why a request is not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Missing,
    Wrong,
    /// The client is known, but lacks the required scope.
    Forbidden {
        client: Box<str>,
        scope: String,
    },
}

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing | Self::Wrong => formatter.write_str(
                "send a token that this server accepts, in the header `Authorization: Bearer TOKEN`",
            ),
            Self::Forbidden { client, scope } => write!(
                formatter,
                "the client {client:?} lacks the scope {scope}: use another token, or add the scope to the token file"
            ),
        }
    }
}

impl Scope {
    const ALL: [Self; 4] = [Self::Ids, Self::Leases, Self::Read, Self::Metrics];

    const fn name(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Leases => "leases",
            Self::Read => "read",
            Self::Metrics => "metrics",
        }
    }
}

impl Tokens {
    /// Parses a token file. Each line contains a token of at least 16 characters, optionally preceded by a name and a
    /// list of scopes: `NAME SCOPES TOKEN`. The scopes are `ids`, `leases`, `read` and `metrics`, separated by commas.
    /// A scope such as `ids:orders` applies only to the namespace `orders`. The scope `all`, or a line with only a
    /// token, permits everything. Instead of a token, a line can contain `san:NAME`, which accepts client certificates
    /// with the subject alternative name `NAME`. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// An [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) error if the token file is invalid. The error can
    /// contain the number of the invalid line, but never the line's content.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut clients: Vec<Arc<Client>> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let client = Client::parse(number, line)?;
            if clients.iter().any(|other| other.name == client.name) {
                let reason = format!("line {number} repeats a name; each client has its own name");
                return Err(Error::invalid_option("token-file", &reason));
            }
            clients.push(Arc::new(client));
        }
        if clients.is_empty() {
            return Err(Error::invalid_option("token-file", "the file contains no token"));
        }
        Ok(Self { clients: clients.into(), file: None })
    }

    /// Loads a token file in the format that [`parse`](Self::parse) describes. A running [`Server`](crate::Server)
    /// reloads the token file when the file changes.
    ///
    /// # Errors
    /// An [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) error if the file cannot be read, is invalid, or
    /// can be changed by every user of the host.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_secret("token-file", path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::invalid_option("token-file", "the file is not UTF-8"))?;
        Ok(Self { file: Some(path.into()), ..Self::parse(&text)? })
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether every request must come from a known client.
    pub(crate) fn are_required(&self) -> bool {
        !self.clients.is_empty()
    }

    /// Whether both values are copies that share one list of clients.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.clients, &other.clients)
    }

    /// Finds the client that has the given token. The search takes the same time for all wrong tokens of the same
    /// length, so response times do not help attackers guess a token.
    pub(crate) fn by_token(&self, shown: &[u8]) -> Result<Arc<Client>, Denied> {
        let found = self.clients.iter().fold(None, |found, client| match &client.credential {
            Credential::Token(token) if token.ct_eq(shown).into() => Some(client),
            _ => found,
        });
        found.cloned().ok_or(Denied::Wrong)
    }

    /// Finds the client whose certificate contains one of the given names.
    pub(crate) fn by_certificate(&self, names: &[String]) -> Option<Arc<Client>> {
        let is_shown = |client: &&Arc<Client>| match &client.credential {
            Credential::Certificate(name) => {
                {
                    // The case of a DNS name has no meaning. A URI contains a colon, and an email address an at sign.
                    let is_dns = !name.contains([':', '@']);
                    names.iter().any(|shown| {
                        **shown == **name || is_dns && shown.eq_ignore_ascii_case(name)
                    })
                }
            }
            Credential::Token(_) => false,
        };
        self.clients.iter().find(is_shown).cloned()
    }

    /// Finds the client that sent a request. The client is identified by the bearer token in the headers or, without a
    /// token, by the names in the client's certificate.
    pub(crate) fn by_request(
        &self,
        headers: &HeaderMap,
        names: &[String],
    ) -> Result<Arc<Client>, Denied> {
        let Some(value) = headers.get(AUTHORIZATION) else {
            return self.by_certificate(names).ok_or(Denied::Missing);
        };
        let Some((scheme, shown)) = value.as_bytes().split_at_checked(7) else {
            return Err(Denied::Wrong);
        };
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return Err(Denied::Wrong);
        }
        self.by_token(shown)
    }
}

impl Client {
    fn parse(number: usize, line: &str) -> Result<Self, Error> {
        let refused = |reason: String| {
            Error::invalid_option("token-file", &format!("line {number} {reason}"))
        };
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (name, scopes, credential): (Box<str>, &str, &str) = match fields[..] {
            [credential] => (format!("line {number}").into(), "all", credential),
            [name, scopes, credential] => (Box::from(name), scopes, credential),
            _ => {
                let format = "must contain one field (TOKEN), or three fields separated by spaces (NAME SCOPES TOKEN)";
                return Err(refused(format.to_owned()));
            }
        };
        let is_printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_printable(&name.replace(' ', "")) || name.len() > 64 {
            return Err(refused(
                "must have a name of at most 64 printable ASCII characters".to_owned(),
            ));
        }
        let credential = match credential.strip_prefix(CERTIFICATE) {
            Some("") => {
                return Err(refused("must contain a certificate name after `san:`".to_owned()));
            }
            Some(san) => Credential::Certificate(san.into()),
            None if credential.len() < SHORTEST || !is_printable(credential) => {
                return Err(refused(format!(
                    "must end with a token of at least {SHORTEST} printable ASCII characters; `openssl rand -hex \
                     32` generates a good token"
                )));
            }
            None => Credential::Token(credential.as_bytes().into()),
        };
        let number = BuildHasherDefault::<DefaultHasher>::default().hash_one(&name);
        if scopes == "all" {
            return Ok(Self { name, number, credential, grants: None });
        }
        let grants = scopes.split(',').map(|text| {
            let (scope, namespace) = match text.split_once(':') {
                Some((scope, namespace)) => (scope, Some(namespace)),
                None => (text, None),
            };
            let scope = Scope::ALL.into_iter().find(|known| known.name() == scope);
            let is_named = namespace.is_none_or(|namespace| {
                scope != Some(Scope::Metrics)
                    && flakeid_protocol::Namespace::check_name(namespace).is_ok()
            });
            match scope {
                Some(scope) if is_named => {
                    Ok(Grant { scope, namespace: namespace.map(Box::from) })
                }
                _ => Err(refused(
                    "has an unknown scope; the scopes are all, or a list of ids, leases, read and metrics, such as \
                     ids:NAMESPACE,metrics"
                        .to_owned(),
                )),
            }
        });
        let grants = grants.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { name, number, credential, grants: Some(grants) })
    }

    /// Checks that the client has the permission that a request requires.
    pub(crate) fn permit(&self, need: Need<'_>) -> Result<(), Denied> {
        let Some(grants) = &self.grants else { return Ok(()) };
        let applies = |grant: &Grant, namespace: Option<&str>| {
            grant.namespace.as_deref().is_none_or(|only| Some(only) == namespace)
        };
        let is_permitted = match need {
            Need::Known => true,
            Need::Some(namespace) => grants
                .iter()
                .any(|grant| grant.scope != Scope::Metrics && applies(grant, Some(namespace))),
            Need::Scope(scope, namespace) => {
                grants.iter().any(|grant| grant.scope == scope && applies(grant, namespace))
            }
        };
        if is_permitted {
            return Ok(());
        }
        let scope = match need {
            Need::Scope(scope, Some(namespace)) => format!("{}:{namespace}", scope.name()),
            Need::Scope(scope, None) => scope.name().to_owned(),
            Need::Some(namespace) => format!("read:{namespace}"),
            Need::Known => String::new(),
        };
        Err(Denied::Forbidden { client: self.name.clone(), scope })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} tokens", self.clients.len())
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "client {}", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn token_lookup_accepts_only_complete_bearer_tokens() {
        let tokens = Tokens::parse("# ours\n\n0123456789abcdef\nfedcba9876543210\n").unwrap();
        assert_eq!(format!("{tokens:?}"), "2 tokens");
        let find = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(text).unwrap());
            tokens.by_request(&headers, &[])
        };
        assert_eq!(&*find("Bearer fedcba9876543210").unwrap().name, "line 4");
        assert_eq!(&*find("bearer 0123456789abcdef").unwrap().name, "line 3");
        for wrong in [
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer ",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "",
        ] {
            assert_eq!(find(wrong).unwrap_err(), Denied::Wrong, "{wrong}");
        }
        assert_eq!(tokens.by_request(&HeaderMap::new(), &[]).unwrap_err(), Denied::Missing);
    }

    #[test]
    fn token_file_errors_do_not_contain_the_tokens() {
        for text in [
            "",
            "# nothing\n",
            "0123456789abcdef\nshort-secret\n",
            "with a space in it",
            "a ids short-secret",
            "a idz 0123456789-short-secret",
            "a metrics:orders 0123456789-short-secret",
            "a ids:no/slash 0123456789-short-secret",
            "a all 0123456789-short-secret\na all 1123456789-short-secret",
            "a all san:",
        ] {
            let error = Tokens::parse(text).unwrap_err().to_string();
            assert!(error.contains("token-file"), "{error}");
            assert!(!error.contains("short-secret") && !error.contains("with a s"), "{error}");
        }
    }

    #[test]
    fn scopes_permit_only_their_operations_and_namespaces() {
        let tokens = Tokens::parse(
            "web ids:orders,ids:users 0123456789abcdef\n\
             jobs leases 1123456789abcdef\n\
             prometheus metrics 2123456789abcdef\n\
             support read:orders san:support.example\n\
             admin all 3123456789abcdef\n",
        )
        .unwrap();
        let orders = Some("orders");
        let needs = [
            Need::Scope(Scope::Ids, orders),
            Need::Scope(Scope::Ids, Some("logs")),
            Need::Scope(Scope::Leases, orders),
            Need::Scope(Scope::Read, orders),
            Need::Scope(Scope::Metrics, None),
            Need::Some("orders"),
            Need::Some("logs"),
            Need::Known,
        ];
        let permitted = |client: &Client| needs.map(|need| client.permit(need).is_ok());
        for (token, expected) in [
            ("0123456789abcdef", [true, false, false, false, false, true, false, true]),
            ("1123456789abcdef", [false, false, true, false, false, true, true, true]),
            ("2123456789abcdef", [false, false, false, false, true, false, false, true]),
            ("3123456789abcdef", [true; 8]),
        ] {
            let client = tokens.by_token(token.as_bytes()).unwrap();
            assert_eq!(permitted(&client), expected, "{client:?}");
        }
        let names = ["other.example".to_owned(), "support.example".to_owned()];
        let support = tokens.by_request(&HeaderMap::new(), &names).unwrap();
        assert_eq!(permitted(&support), [false, false, false, true, false, true, false, true]);
        assert_eq!(
            support.permit(needs[0]).unwrap_err(),
            Denied::Forbidden { client: "support".into(), scope: "ids:orders".to_owned() }
        );
        let unknown = tokens.by_request(&HeaderMap::new(), &names[..1]);
        assert_eq!(unknown.unwrap_err(), Denied::Missing);
    }
}
