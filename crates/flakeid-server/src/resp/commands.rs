//! Executes commands from Redis clients.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use flakeid_core::Error;

use super::reply::Replies;
use crate::admission::{Caller, Rejected, delay};
use crate::answer::{BAD_REQUEST, FORBIDDEN, NOT_FOUND, TOO_MANY, UNAUTHORIZED};
use crate::id_pieces::{IdPieces, PIECE};
use crate::namespace::NoIds;
use crate::query::number;
use crate::rate::{Peer, TooMany};
use crate::service::Service;
use crate::tokens::{Client, Denied, Tokens};

/// The supported commands. `COMMAND COUNT` returns the number of supported commands.
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

/// The state of a Redis client's connection.
pub(crate) struct Session<'a> {
    service: &'a Service,
    peer: Option<Peer>,
    /// The names in the client's certificate.
    names: Arc<[String]>,
    pub(crate) replies: Replies,
    /// The last token that the client sent. This token takes precedence over the client's certificate.
    token: Option<Box<[u8]>>,
    /// The tokens that the server accepted when it last identified the client.
    tokens: Tokens,
    client: Option<Arc<Client>>,
    /// The sender of the current command.
    caller: Caller,
    /// Whether the client has sent a wrong token on this connection.
    has_guessed: bool,
    name: Vec<u8>,
    /// The pieces of IDs that remain to be sent in the current response.
    more: Option<IdPieces>,
    /// The number of IDs generated since this session last yielded to other tasks.
    since_yield: u64,
}

/// The code and the message of an error reply.
type Refusal = (&'static str, String);

impl<'a> Session<'a> {
    pub(crate) fn new(service: &'a Service, peer: Option<Peer>, names: Arc<[String]>) -> Self {
        let tokens = service.current_tokens();
        let client = tokens.by_certificate(&names);
        Self {
            service,
            peer,
            names,
            replies: Replies::default(),
            token: None,
            tokens,
            client,
            caller: Caller::default(),
            has_guessed: false,
            name: Vec::new(),
            more: None,
            since_yield: 0,
        }
    }

    /// Whether the client is authenticated, or the server does not require authentication.
    pub(crate) fn is_admitted(&self) -> bool {
        self.client.is_some() || !self.tokens.are_required()
    }

    /// Identifies the client again if the server has loaded new tokens.
    fn follow_tokens(&mut self) {
        let current = self.service.current_tokens();
        if current.is_copy_of(&self.tokens) {
            return;
        }
        self.tokens = current;
        self.identify();
    }

    fn identify(&mut self) {
        self.client = match &self.token {
            Some(token) => self.tokens.by_token(token).ok(),
            None => self.tokens.by_certificate(&self.names),
        };
    }

    /// Whether the current response has further pieces.
    pub(crate) const fn has_more(&self) -> bool {
        self.more.is_some()
    }

    /// Adds an error reply for input that is not a valid command.
    pub(crate) fn refuse(&mut self, malformed: &impl fmt::Display) {
        self.service.count_request("none", BAD_REQUEST, Instant::now());
        self.replies.error("ERR", &format!("Protocol error: {malformed}"));
    }

    /// Adds the reply to a command, or the first piece of a long reply. Returns `false` if the connection must end.
    pub(crate) async fn answer(&mut self, arguments: &[&[u8]]) -> bool {
        let Some((command, arguments)) = arguments.split_first() else { return true };
        let began = Instant::now();
        let command = command.to_ascii_uppercase();
        let is_open = matches!(command.as_slice(), b"AUTH" | b"HELLO" | b"QUIT" | b"RESET");
        self.follow_tokens();
        if !is_open {
            let client =
                if self.is_admitted() { Ok(self.client.clone()) } else { Err(Denied::Missing) };
            match self.service.admit(self.peer, client, None, false) {
                Ok(caller) => self.caller = caller,
                Err(rejected) => {
                    let code = self.reject(&rejected);
                    self.service.count_request("none", code, began);
                    return true;
                }
            }
        }
        let is_for_ids = matches!(command.as_slice(), b"INCR" | b"FLAKEID.NEXT");
        let code = match command.as_slice() {
            b"INCR" => self.incr(arguments).await,
            b"FLAKEID.NEXT" => self.next(arguments).await,
            _ => match self.answer_without_ids(&command, arguments).await {
                Ok(()) => "OK",
                Err((prefix, text)) => {
                    self.replies.error(prefix, &text);
                    code_of(prefix)
                }
            },
        };
        // These commands change the client, so they count afterwards. A reply has been added already.
        if matches!(command.as_slice(), b"AUTH" | b"HELLO") && !self.has_guessed {
            let client =
                if self.is_admitted() { Ok(self.client.clone()) } else { Err(Denied::Missing) };
            drop(self.service.admit(self.peer, client, None, false));
        }
        if is_for_ids && self.more.is_none() {
            self.service.pacing().record_short(Instant::now());
        }
        let operation = if is_for_ids { "ids" } else { "connection" };
        self.service.count_request(operation, code, began);
        if self.since_yield >= PIECE {
            self.since_yield = 0;
            tokio::task::yield_now().await;
        }
        command != b"QUIT" && !self.has_guessed
    }

    /// Adds the error reply to a command that is not admitted. Returns the error code, which is the same in all
    /// protocols.
    fn reject(&mut self, rejected: &Rejected) -> &'static str {
        let (prefix, text) = match rejected {
            Rejected::TooMany(TooMany { message, .. })
            | Rejected::Guess(TooMany { message, .. }) => ("TRYAGAIN", message.clone()),
            Rejected::Denied(denied @ Denied::Forbidden { .. }) => ("NOPERM", denied.to_string()),
            Rejected::Denied(Denied::Wrong) => {
                ("WRONGPASS", "this server does not accept the token".to_owned())
            }
            Rejected::Denied(Denied::Missing) => (
                "NOAUTH",
                "send a token that this server accepts, with the command `AUTH TOKEN`".to_owned(),
            ),
        };
        self.replies.error(prefix, &text);
        code_of(prefix)
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
        let max_count = self.service.largest_count();
        let parsed =
            count.map(|text| number("count", &String::from_utf8_lossy(text), 1, max_count));
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

    /// Generates the first piece before the reply begins, so that a failure can be reported as an error reply.
    /// [`next_piece`](Self::next_piece) generates the remaining pieces.
    async fn begin(
        &mut self,
        namespace: &str,
        count: u64,
    ) -> Result<Vec<flakeid_core::Id>, &'static str> {
        let mut pieces = match self.service.pieces(namespace, count, &self.caller) {
            Ok(pieces) => pieces,
            Err(NoIds::Refused(error)) => return Err(self.refused(&error)),
            Err(NoIds::Unknown(message)) => {
                self.replies.error("ERR", &message);
                return Err(NOT_FOUND);
            }
            Err(NoIds::Denied(denied)) => return Err(self.reject(&Rejected::Denied(denied))),
            Err(NoIds::TooMany(limit)) => return Err(self.reject(&Rejected::TooMany(limit))),
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

    /// Adds the next piece of the response. Returns `false` if the generator fails. The connection must then end,
    /// because the reply cannot be completed.
    pub(crate) async fn next_piece(&mut self) -> bool {
        let Some(pieces) = &mut self.more else { return true };
        if let Some(turn) = self.service.pacing().next(Instant::now()) {
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
        BAD_REQUEST
    }

    fn refused(&mut self, error: &Error) -> &'static str {
        self.replies.library_error(error);
        error.code()
    }

    async fn answer_without_ids(
        &mut self,
        command: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(), Refusal> {
        match (command, arguments) {
            (b"PING", []) => self.replies.simple("PONG"),
            (b"PING" | b"ECHO", [text]) => self.replies.bulk(text),
            (b"AUTH", [token] | [_, token]) => {
                self.admit(token).await?;
                self.replies.simple("OK");
            }
            (b"HELLO", arguments) => self.hello(arguments).await?,
            (b"SELECT", [b"0"]) | (b"QUIT", _) => self.replies.simple("OK"),
            (b"SELECT", _) => {
                return Err(("ERR", "this server has only database 0: use SELECT 0".to_owned()));
            }
            (b"RESET", []) => {
                self.token = None;
                self.identify();
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

    async fn hello(&mut self, arguments: &[&[u8]]) -> Result<(), Refusal> {
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
                    self.admit(token).await?;
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
        if !self.is_admitted() {
            let text = "send a token that this server accepts, with the command `HELLO 3 AUTH default TOKEN`";
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
            // This command reports the name and version of the client's library, which do not affect the replies.
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

    async fn admit(&mut self, token: &[u8]) -> Result<(), Refusal> {
        self.follow_tokens();
        if !self.tokens.are_required() {
            let text = "this server does not require a token: connect without a password";
            return Err(("ERR", text.to_owned()));
        }
        // A client that sends a wrong token is no longer admitted, even if the client was admitted
        // before.
        self.token = Some(token.into());
        self.identify();
        if self.client.is_some() {
            return Ok(());
        }
        // The connection ends, so that a client cannot try many tokens on it.
        self.has_guessed = true;
        let Err(rejected) = self.service.admit(self.peer, Err(Denied::Wrong), None, false) else {
            return Ok(());
        };
        delay(&rejected).await;
        Err(match rejected {
            Rejected::TooMany(TooMany { message, .. })
            | Rejected::Guess(TooMany { message, .. }) => ("TRYAGAIN", message),
            Rejected::Denied(_) => {
                ("WRONGPASS", "this server does not accept the token".to_owned())
            }
        })
    }
}

fn owned(
    piece: Option<Result<&[flakeid_core::Id], Error>>,
) -> Option<Result<Vec<flakeid_core::Id>, Error>> {
    piece.map(|ids| ids.map(<[_]>::to_vec))
}

/// Returns the error code in metrics and logs for the prefix of an error reply. It is the code of the same error over
/// HTTP.
fn code_of(prefix: &str) -> &'static str {
    match prefix {
        "NOAUTH" | "WRONGPASS" => UNAUTHORIZED,
        "NOPERM" => FORBIDDEN,
        "TRYAGAIN" => TOO_MANY,
        _ => BAD_REQUEST,
    }
}

/// Returns the error for an unsupported command or wrong arguments. The message shows only the beginning of a long
/// command name.
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
