//! The commands of Redis clients. The service generates the IDs.

use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::time::Instant;

use flakeid_core::Error;

use super::reply::Replies;
use crate::answer::TOO_MANY;
use crate::pieces::{IdPieces, PIECE};
use crate::query::number;
use crate::served::{NoIds, TooMany};
use crate::service::Service;

/// The supported commands, which `COMMAND COUNT` counts.
const COMMANDS: [&str; 12] = [
    "AUTH",
    "CLIENT",
    "COMMAND",
    "ECHO",
    "FLAKEID.NEXT",
    "HELLO",
    "INCR",
    "INFO",
    "PING",
    "QUIT",
    "RESET",
    "SELECT",
];

/// The state of a connection.
pub(crate) struct Session<'a> {
    service: &'a Service,
    peer: Option<IpAddr>,
    pub(crate) replies: Replies,
    is_admitted: bool,
    name: Vec<u8>,
    /// The remaining pieces of a response that has begun.
    more: Option<IdPieces>,
    /// The number of IDs since other tasks last had the thread.
    since_yield: u64,
}

/// The error of a command that is unknown or has wrong arguments: its code and message.
type Refusal = (&'static str, String);

impl<'a> Session<'a> {
    pub(crate) fn new(service: &'a Service, peer: Option<IpAddr>) -> Self {
        Self {
            service,
            peer,
            replies: Replies::default(),
            is_admitted: !service.requires_tokens(),
            name: Vec::new(),
            more: None,
            since_yield: 0,
        }
    }

    /// Whether the client may request IDs.
    pub(crate) const fn is_admitted(&self) -> bool {
        self.is_admitted
    }

    /// Whether a response has further pieces.
    pub(crate) const fn has_more(&self) -> bool {
        self.more.is_some()
    }

    /// Adds the error for bytes that are not a command.
    pub(crate) fn refuse(&mut self, malformed: &impl fmt::Display) {
        self.service.count_request("none", "RESP_MALFORMED", Instant::now());
        self.replies.error("ERR", &format!("Protocol error: {malformed}"));
    }

    /// Responds to a command, or begins to. Returns `false` if the connection must end.
    pub(crate) async fn answer(&mut self, arguments: &[&[u8]]) -> bool {
        let Some((command, arguments)) = arguments.split_first() else { return true };
        let began = Instant::now();
        let command = command.to_ascii_uppercase();
        let is_open = matches!(command.as_slice(), b"AUTH" | b"HELLO" | b"QUIT" | b"RESET");
        if !self.is_admitted && !is_open {
            self.replies.error("NOAUTH", "send a token that this server accepts: AUTH TOKEN");
            self.service.count_request("none", "NOAUTH", began);
            return true;
        }
        let is_for_ids = matches!(command.as_slice(), b"INCR" | b"FLAKEID.NEXT");
        let code = match command.as_slice() {
            b"INCR" => self.incr(arguments).await,
            b"FLAKEID.NEXT" => self.next(arguments).await,
            _ => match self.answer_without_ids(&command, arguments) {
                Ok(()) => "OK",
                Err((code, text)) => {
                    self.replies.error(code, &text);
                    code
                }
            },
        };
        if is_for_ids && self.more.is_none() {
            self.service.turns().record_short(Instant::now());
        }
        let operation = if is_for_ids { "ids" } else { "connection" };
        self.service.count_request(operation, code, began);
        if self.since_yield >= PIECE {
            self.since_yield = 0;
            tokio::task::yield_now().await;
        }
        command != b"QUIT"
    }

    async fn incr(&mut self, arguments: &[&[u8]]) -> &'static str {
        let [namespace] = arguments else {
            return self.wrong("INCR takes one argument: INCR NAMESPACE");
        };
        let namespace = String::from_utf8_lossy(namespace);
        match self.begin(&namespace, 1).await {
            Err(code) => code,
            Ok(ids) => {
                let Some(number) = ids.first().map(|id| id.to_i64()).filter(|id| *id >= 0) else {
                    return self.wrong(
                        "the IDs of this layout have 64 bits, which do not fit an integer of this \
                         protocol: use FLAKEID.NEXT NAMESPACE",
                    );
                };
                self.replies.integer(number);
                "OK"
            }
        }
    }

    async fn next(&mut self, arguments: &[&[u8]]) -> &'static str {
        let (namespace, count) = match arguments {
            [namespace] => (namespace, None),
            [namespace, option, count] if option.eq_ignore_ascii_case(b"COUNT") => {
                (namespace, Some(count))
            }
            _ => {
                return self
                    .wrong("write FLAKEID.NEXT NAMESPACE, or FLAKEID.NEXT NAMESPACE COUNT N");
            }
        };
        let namespace = String::from_utf8_lossy(namespace);
        let parsed = count.map(|text| number("count", &String::from_utf8_lossy(text), 1, u64::MAX));
        let wanted = match parsed.transpose() {
            Ok(count) => count.unwrap_or(1),
            Err(error) => return self.refused(&error),
        };
        match self.begin(&namespace, wanted).await {
            Err(code) => code,
            Ok(ids) => {
                if count.is_some() {
                    self.replies.array(wanted);
                }
                self.replies.ids(&ids);
                "OK"
            }
        }
    }

    /// Generates the first piece, so that a failure becomes an error reply.
    /// [`next_piece`](Self::next_piece) generates the others.
    async fn begin(
        &mut self,
        namespace: &str,
        count: u64,
    ) -> Result<Vec<flakeid_core::Id>, &'static str> {
        let mut pieces = match self.service.pieces(namespace, count, self.peer) {
            Ok(pieces) => pieces,
            Err(NoIds::Refused(error)) => return Err(self.refused(&error)),
            Err(NoIds::Unknown(message)) => return Err(self.wrong(&message)),
            Err(NoIds::TooMany(TooMany { message, .. })) => {
                self.replies.error("TRYAGAIN", &message);
                // Metrics use the same code as for HTTP.
                return Err(TOO_MANY);
            }
        };
        let first = poll_fn(|context| pieces.poll_next(context).map(owned)).await;
        let ids = match first.transpose() {
            Ok(ids) => ids.unwrap_or_default(),
            Err(error) => return Err(self.refused(&error)),
        };
        self.service.count_ids(namespace, count);
        self.since_yield += ids.len() as u64;
        self.more = (pieces.left() > 0).then_some(pieces);
        Ok(ids)
    }

    /// Adds the next piece of the response. Returns `false` if no more IDs can be generated. The
    /// connection then ends, because the reply cannot be completed.
    pub(crate) async fn next_piece(&mut self) -> bool {
        let Some(pieces) = &mut self.more else { return true };
        if let Some(turn) = self.service.turns().next(Instant::now()) {
            pieces.wait_until(turn);
        }
        let ids = poll_fn(|context| pieces.poll_next(context).map(owned)).await;
        let is_last = pieces.left() == 0;
        if is_last {
            self.more = None;
        }
        match ids {
            Some(Ok(ids)) => self.replies.ids(&ids),
            Some(Err(_)) => return false,
            None => {}
        }
        true
    }

    fn wrong(&mut self, text: &str) -> &'static str {
        self.replies.error("ERR", text);
        "ERR"
    }

    fn refused(&mut self, error: &Error) -> &'static str {
        self.replies.library_error(error);
        error.code()
    }

    fn answer_without_ids(&mut self, command: &[u8], arguments: &[&[u8]]) -> Result<(), Refusal> {
        match (command, arguments) {
            (b"PING", []) => self.replies.simple("PONG"),
            (b"PING" | b"ECHO", [text]) => self.replies.bulk(text),
            (b"AUTH", [token] | [_, token]) => {
                self.admit(token)?;
                self.replies.simple("OK");
            }
            (b"HELLO", arguments) => self.hello(arguments)?,
            (b"SELECT", [b"0"]) | (b"QUIT", _) => self.replies.simple("OK"),
            (b"SELECT", _) => {
                return Err(("ERR", "this server has only one database: SELECT 0".to_owned()));
            }
            (b"RESET", []) => {
                self.is_admitted = !self.service.requires_tokens();
                self.name.clear();
                self.replies.has_maps = false;
                self.replies.simple("RESET");
            }
            (b"CLIENT", [name, arguments @ ..]) => {
                self.client(&name.to_ascii_uppercase(), arguments)?;
            }
            (b"COMMAND", []) => self.replies.array(0),
            (b"COMMAND", [name, ..]) if name.eq_ignore_ascii_case(b"DOCS") => self.replies.map(0),
            (b"COMMAND", [name]) if name.eq_ignore_ascii_case(b"COUNT") => {
                self.replies.integer(COMMANDS.len() as i64);
            }
            (b"INFO", _) => {
                let version = env!("CARGO_PKG_VERSION");
                let text =
                    format!("# Server\r\nflakeid_version:{version}\r\nredis_mode:standalone\r\n");
                self.replies.bulk(text.as_bytes());
            }
            _ => return Err(unknown(command)),
        }
        Ok(())
    }

    fn hello(&mut self, arguments: &[&[u8]]) -> Result<(), Refusal> {
        let mut has_maps = self.replies.has_maps;
        let mut rest = arguments;
        if let [version, others @ ..] = rest {
            has_maps = match *version {
                b"2" => false,
                b"3" => true,
                _ => return Err(("NOPROTO", "write HELLO 2 or HELLO 3".to_owned())),
            };
            rest = others;
        }
        let mut name = None;
        while !rest.is_empty() {
            rest = match rest {
                [name, _, token, others @ ..] if name.eq_ignore_ascii_case(b"AUTH") => {
                    self.admit(token)?;
                    others
                }
                [option, given, others @ ..] if option.eq_ignore_ascii_case(b"SETNAME") => {
                    name = Some(given.to_vec());
                    others
                }
                _ => {
                    let text = "write HELLO [2|3 [AUTH default TOKEN] [SETNAME NAME]]";
                    return Err(("ERR", text.to_owned()));
                }
            };
        }
        if !self.is_admitted {
            let text = "send a token that this server accepts: HELLO 3 AUTH default TOKEN";
            return Err(("NOAUTH", text.to_owned()));
        }
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        let replies = &mut self.replies;
        replies.has_maps = has_maps;
        replies.map(7);
        for (key, value) in [
            ("server", "flakeid"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("mode", "standalone"),
            ("role", "master"),
        ] {
            replies.bulk(key.as_bytes());
            replies.bulk(value.as_bytes());
        }
        replies.bulk(b"proto");
        replies.integer(if has_maps { 3 } else { 2 });
        replies.bulk(b"id");
        replies.integer(0);
        replies.bulk(b"modules");
        replies.array(0);
        Ok(())
    }

    fn client(&mut self, subcommand: &[u8], arguments: &[&[u8]]) -> Result<(), Refusal> {
        match (subcommand, arguments) {
            (b"SETNAME", [name]) => {
                self.name = name.to_vec();
                self.replies.simple("OK");
            }
            // The client's library does not affect the replies.
            (b"SETINFO", [_, _]) => self.replies.simple("OK"),
            (b"GETNAME", []) if self.name.is_empty() => self.replies.null(),
            (b"GETNAME", []) => self.replies.bulk(&self.name),
            (b"ID", []) => self.replies.integer(0),
            _ => {
                let text = "CLIENT supports SETNAME NAME, GETNAME, SETINFO NAME VALUE and ID";
                return Err(("ERR", text.to_owned()));
            }
        }
        Ok(())
    }

    fn admit(&mut self, token: &[u8]) -> Result<(), Refusal> {
        if !self.service.requires_tokens() {
            let text = "this server does not require a token: connect without a password";
            return Err(("ERR", text.to_owned()));
        }
        // A client that sends a wrong token loses its earlier admission.
        self.is_admitted = self.service.admits_token(token);
        if self.is_admitted {
            return Ok(());
        }
        Err(("WRONGPASS", "this server does not accept the token".to_owned()))
    }
}

fn owned(
    piece: Option<Result<&[flakeid_core::Id], Error>>,
) -> Option<Result<Vec<flakeid_core::Id>, Error>> {
    piece.map(|ids| ids.map(<[_]>::to_vec))
}

/// Returns the error for an unsupported command or wrong arguments. Only the beginning of a long
/// name is shown.
fn unknown(command: &[u8]) -> Refusal {
    let known = COMMANDS.iter().any(|known| known.as_bytes() == command);
    let shown: String = String::from_utf8_lossy(command).chars().take(40).collect();
    let text = if known {
        format!("wrong number or type of arguments for '{shown}'")
    } else {
        format!(
            "unknown command '{shown}': for IDs, use INCR NAMESPACE or FLAKEID.NEXT NAMESPACE COUNT N"
        )
    };
    ("ERR", text)
}
