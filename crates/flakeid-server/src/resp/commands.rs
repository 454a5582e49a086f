//! What is answered to a command. It makes no IDs: the service does.

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

/// What `COMMAND COUNT` counts.
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

/// What a connection knows of its client.
pub(crate) struct Session<'a> {
    service: &'a Service,
    peer: Option<IpAddr>,
    pub(crate) replies: Replies,
    is_admitted: bool,
    name: Vec<u8>,
    /// Of an answer that has begun.
    more: Option<IdPieces>,
    /// IDs since others last had the thread.
    since_yield: u64,
}

/// The error of a command that is none of ours, or has the wrong words.
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

    /// Whether its client may ask for IDs.
    pub(crate) const fn is_admitted(&self) -> bool {
        self.is_admitted
    }

    /// Whether an answer goes on after what there is of it.
    pub(crate) const fn has_more(&self) -> bool {
        self.more.is_some()
    }

    /// The error of what is no command at all.
    pub(crate) fn refuse(&mut self, malformed: &impl fmt::Display) {
        self.service.count_request("none", "RESP_MALFORMED", Instant::now());
        self.replies.error("ERR", &format!("Protocol error: {malformed}"));
    }

    /// Answers a command, or begins to; false if the connection is to end.
    pub(crate) async fn answer(&mut self, words: &[&[u8]]) -> bool {
        let Some((command, words)) = words.split_first() else { return true };
        let began = Instant::now();
        let command = command.to_ascii_uppercase();
        let is_open = matches!(command.as_slice(), b"AUTH" | b"HELLO" | b"QUIT" | b"RESET");
        if !self.is_admitted && !is_open {
            self.replies.error("NOAUTH", "send a token that this server knows: AUTH TOKEN");
            self.service.count_request("none", "NOAUTH", began);
            return true;
        }
        let is_for_ids = matches!(command.as_slice(), b"INCR" | b"FLAKEID.NEXT");
        let code = match command.as_slice() {
            b"INCR" => self.incr(words).await,
            b"FLAKEID.NEXT" => self.next(words).await,
            _ => match self.answer_without_ids(&command, words) {
                Ok(()) => "OK",
                Err((code, text)) => {
                    self.replies.error(code, &text);
                    code
                }
            },
        };
        if is_for_ids && self.more.is_none() {
            self.service.turns().note_short(Instant::now());
        }
        let operation = if is_for_ids { "ids" } else { "connection" };
        self.service.count_request(operation, code, began);
        if self.since_yield >= PIECE {
            self.since_yield = 0;
            tokio::task::yield_now().await;
        }
        command != b"QUIT"
    }

    async fn incr(&mut self, words: &[&[u8]]) -> &'static str {
        let [namespace] = words else {
            return self.wrong("INCR has one word after it: INCR NAMESPACE");
        };
        let namespace = String::from_utf8_lossy(namespace);
        match self.begin(&namespace, 1).await {
            Err(code) => code,
            Ok(ids) => {
                let Some(number) = ids.first().map(|id| id.to_i64()).filter(|id| *id >= 0) else {
                    return self.wrong(
                        "the IDs of this layout have 64 bits, which an integer of this protocol has \
                         not: ask by FLAKEID.NEXT NAMESPACE",
                    );
                };
                self.replies.integer(number);
                "OK"
            }
        }
    }

    async fn next(&mut self, words: &[&[u8]]) -> &'static str {
        let (namespace, count) = match words {
            [namespace] => (namespace, None),
            [namespace, word, count] if word.eq_ignore_ascii_case(b"COUNT") => {
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

    /// The first piece, so that an answer that cannot begin is an error; the others are left for
    /// [`next_piece`](Self::next_piece).
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
                // In metrics it is what it is over HTTP.
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

    /// Adds the next piece of the answer; false if IDs have run out in the middle, which a client
    /// learns by the end of the connection.
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

    fn answer_without_ids(&mut self, command: &[u8], words: &[&[u8]]) -> Result<(), Refusal> {
        match (command, words) {
            (b"PING", []) => self.replies.simple("PONG"),
            (b"PING" | b"ECHO", [text]) => self.replies.bulk(text),
            (b"AUTH", [token] | [_, token]) => {
                self.admit(token)?;
                self.replies.simple("OK");
            }
            (b"HELLO", words) => self.hello(words)?,
            (b"SELECT", [b"0"]) | (b"QUIT", _) => self.replies.simple("OK"),
            (b"SELECT", _) => {
                return Err(("ERR", "there is one database only: SELECT 0".to_owned()));
            }
            (b"RESET", []) => {
                self.is_admitted = !self.service.requires_tokens();
                self.name.clear();
                self.replies.has_maps = false;
                self.replies.simple("RESET");
            }
            (b"CLIENT", [what, words @ ..]) => self.client(&what.to_ascii_uppercase(), words)?,
            (b"COMMAND", []) => self.replies.array(0),
            (b"COMMAND", [what, ..]) if what.eq_ignore_ascii_case(b"DOCS") => self.replies.map(0),
            (b"COMMAND", [what]) if what.eq_ignore_ascii_case(b"COUNT") => {
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

    fn hello(&mut self, words: &[&[u8]]) -> Result<(), Refusal> {
        let mut has_maps = self.replies.has_maps;
        let mut words = words;
        if let [version, rest @ ..] = words {
            has_maps = match *version {
                b"2" => false,
                b"3" => true,
                _ => return Err(("NOPROTO", "say HELLO 2 or HELLO 3".to_owned())),
            };
            words = rest;
        }
        let mut name = None;
        while !words.is_empty() {
            words = match words {
                [what, _, token, rest @ ..] if what.eq_ignore_ascii_case(b"AUTH") => {
                    self.admit(token)?;
                    rest
                }
                [what, given, rest @ ..] if what.eq_ignore_ascii_case(b"SETNAME") => {
                    name = Some(given.to_vec());
                    rest
                }
                _ => {
                    let text = "write HELLO [2|3 [AUTH default TOKEN] [SETNAME NAME]]";
                    return Err(("ERR", text.to_owned()));
                }
            };
        }
        if !self.is_admitted {
            let text = "send a token that this server knows: HELLO 3 AUTH default TOKEN";
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

    fn client(&mut self, what: &[u8], words: &[&[u8]]) -> Result<(), Refusal> {
        match (what, words) {
            (b"SETNAME", [name]) => {
                self.name = name.to_vec();
                self.replies.simple("OK");
            }
            // Which library a client is made with changes nothing.
            (b"SETINFO", [_, _]) => self.replies.simple("OK"),
            (b"GETNAME", []) if self.name.is_empty() => self.replies.null(),
            (b"GETNAME", []) => self.replies.bulk(&self.name),
            (b"ID", []) => self.replies.integer(0),
            _ => {
                let text = "of CLIENT there is SETNAME NAME, GETNAME, SETINFO NAME VALUE and ID";
                return Err(("ERR", text.to_owned()));
            }
        }
        Ok(())
    }

    fn admit(&mut self, token: &[u8]) -> Result<(), Refusal> {
        if !self.service.requires_tokens() {
            let text = "this server asks for no token: leave the password out";
            return Err(("ERR", text.to_owned()));
        }
        // Whoever shows a wrong token has shown none.
        self.is_admitted = self.service.admits_token(token);
        if self.is_admitted {
            return Ok(());
        }
        Err(("WRONGPASS", "this server does not know the token".to_owned()))
    }
}

fn owned(
    piece: Option<Result<&[flakeid_core::Id], Error>>,
) -> Option<Result<Vec<flakeid_core::Id>, Error>> {
    piece.map(|ids| ids.map(<[_]>::to_vec))
}

/// A name is shown only as far as one of ours would go.
fn unknown(command: &[u8]) -> Refusal {
    let known = COMMANDS.iter().any(|known| known.as_bytes() == command);
    let shown: String = String::from_utf8_lossy(command).chars().take(40).collect();
    let text = if known {
        format!("wrong number or kind of words after {shown}")
    } else {
        format!(
            "unknown command '{shown}': for IDs there are INCR NAMESPACE and FLAKEID.NEXT NAMESPACE COUNT N"
        )
    };
    ("ERR", text)
}
