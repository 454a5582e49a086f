//! Issues the IDs of one namespace, and responds to requests about the namespace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid::Generator;
use flakeid_core::{Clock, Error, SystemClock};
use hyper::StatusCode;
use hyper::http::request::Parts;
use prometheus_client::metrics::counter::Counter;

use crate::admission::Caller;
use crate::answer::Answer;
use crate::body::{Body, IdStream};
use crate::forms::Form;
use crate::id_pieces::IdPieces;
use crate::pacing::Pacing;
use crate::query::{number, parameters};
use crate::rate::{RateLimiter, TooMany};
use crate::reads;
use crate::route::Resource;
use crate::tokens::Denied;
use flakeid_json::{IdJson, LayoutJson};

/// The limits that apply to each request for IDs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_count: u64,
    /// The maximum time to wait for each piece of a response. A piece contains up to 4,096 IDs.
    pub(crate) max_wait: Duration,
}

/// The state of a served namespace.
#[derive(Debug)]
pub(crate) struct ServedNamespace {
    pub(crate) generator: Generator,
    pub(crate) layout_name: String,
    pub(crate) ids: Counter,
    pub(crate) waits: Counter,
    pub(crate) pacing: Arc<Pacing>,
    /// The rate limiter for clients, or `None` if the rate is not limited.
    pub(crate) rates: Option<Arc<RateLimiter>>,
}

/// The reason why a request gets no IDs.
#[derive(Debug)]
pub(crate) enum NoIds {
    /// The server does not serve the namespace.
    Unknown(String),
    /// The client has exceeded its rate limit.
    TooMany(TooMany),
    /// The client does not have permission to request the IDs.
    Denied(Denied),
    Refused(Error),
}

impl ServedNamespace {
    pub(crate) async fn answer(
        &self,
        resource: Resource<'_>,
        request: &Parts,
        caller: &Caller,
        limits: Limits,
    ) -> Result<Answer, Error> {
        let (layout, name) = (self.generator.layout(), self.layout_name.as_str());
        let query = request.uri.query();
        match resource {
            Resource::Ids => self.issue(request, caller, limits).await,
            Resource::Id(id) => {
                let [] = parameters(query, [])?;
                Ok(Answer::json(StatusCode::OK, &IdJson::new(id.parse()?, layout, name)?))
            }
            Resource::Bounds => {
                Ok(Answer::json(StatusCode::OK, &reads::bounds(layout, name, query)?))
            }
            Resource::Layout => {
                let [] = parameters(query, [])?;
                let now = SystemClock.unix_ms();
                Ok(Answer::json(StatusCode::OK, &LayoutJson::new(layout, now)))
            }
            // Requests about leases and holders require a broker, which this namespace does not
            // have.
            Resource::Leases | Resource::Lease(_) | Resource::Holder(_) => Ok(Answer::not_found(
                "this server grants no leases of this namespace: send the request to its broker",
            )),
        }
    }

    /// Responds to a request for IDs. A response with few IDs is sent in one piece.
    async fn issue(
        &self,
        request: &Parts,
        caller: &Caller,
        limits: Limits,
    ) -> Result<Answer, Error> {
        let [count] = parameters(request.uri.query(), ["count"])?;
        let count = match count.as_deref() {
            None => 1,
            Some(text) => match number("count", text, 1, limits.max_count) {
                // Only a count above the server's limit gets the status 413. A count of zero is
                // invalid regardless of the limit.
                Err(error)
                    if error.field().is_some() && text.bytes().any(|digit| digit != b'0') =>
                {
                    return Ok(Answer::from_error(&error, StatusCode::PAYLOAD_TOO_LARGE));
                }
                count => count?,
            },
        };
        let Some(form) = Form::accepted(&request.headers) else {
            return Ok(Answer::http(
                StatusCode::NOT_ACCEPTABLE,
                "HTTP_NOT_ACCEPTABLE",
                "IDs are available as application/json, application/x-ndjson, text/plain and \
                 application/octet-stream; name one of them in the header Accept",
            ));
        };
        if let Err(TooMany { message, wait }) = self.take_from_rate_limit(count, caller) {
            return Ok(Answer::too_many(&message, wait));
        }
        // Most requests are for one ID that is available, and need no stream.
        let available = if count == 1 { self.generator.try_next_id().ok() } else { None };
        let body = if let Some(id) = available {
            Body::whole(form.whole(&[id]))
        } else {
            let pieces = self.pieces(count, limits);
            let mut stream = IdStream::new(pieces, form, Arc::clone(&self.pacing));
            match stream.begin().await? {
                Some(whole) => Body::whole(whole),
                None => Body::ids(stream),
            }
        };
        self.ids.inc_by(count);
        Ok(Answer::new(StatusCode::OK, form.media_type(), body))
    }

    /// Counts the given number of IDs against the client's rate limit. Returns an error if the
    /// limit is exceeded.
    pub(crate) fn take_from_rate_limit(&self, count: u64, caller: &Caller) -> Result<(), TooMany> {
        let Some(rates) = &self.rates else { return Ok(()) };
        rates.take(caller.sender(), count, Instant::now()).map_err(|wait| {
            let message = format!(
                "rate limit exceeded: retry in {} ms, or request fewer IDs",
                wait.as_millis()
            );
            TooMany { message, wait }
        })
    }

    pub(crate) fn pieces(&self, count: u64, limits: Limits) -> IdPieces {
        IdPieces::new(self.generator.clone(), count, limits.max_wait, self.waits.clone())
    }
}
