//! The gRPC calls that return IDs in one message or in a stream of messages.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use flakeid_core::{Error, Id};
use tonic::codegen::tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::messages::{Ids, NextRequest, NextResponse, StreamRequest, StreamResponse};
use super::refusal::{of_error, refusal};
use super::streams::{OfClients, Places};
use crate::admission::Caller;
use crate::id_pieces::{IdPieces, PIECE};
use crate::namespace::NoIds;
use crate::service::Service;

/// The implementation of the gRPC calls that return IDs.
pub(super) struct IdCalls {
    service: Arc<Service>,
    streams: OfClients,
}

#[tonic::async_trait]
impl Ids for IdCalls {
    type StreamStream = Messages;

    async fn next(&self, request: Request<NextRequest>) -> Result<Response<NextResponse>, Status> {
        let caller = caller_of(&request);
        let NextRequest { namespace, count } = request.into_inner();
        let count = u64::from(count.unwrap_or(1));
        let began = Instant::now();
        let found = if (1..=PIECE).contains(&count) {
            self.begin(&namespace, count, &caller).await.map(|(ids, _)| ids)
        } else {
            Err(NoIds::Refused(Error::field_out_of_range("count", &count, 1, PIECE)))
        };
        self.service.pacing().record_short(Instant::now());
        self.counted(began, found).map(|ids| Response::new(NextResponse { ids }))
    }

    async fn stream(&self, request: Request<StreamRequest>) -> Result<Response<Messages>, Status> {
        let caller = caller_of(&request);
        let connection = request.extensions().get().cloned().unwrap_or_default();
        let places = self.streams.enter(&connection, caller.sender()).await;
        let StreamRequest { namespace, count } = request.into_inner();
        let began = Instant::now();
        let found = match places {
            Ok(places) => {
                let first = self.begin(&namespace, count, &caller).await;
                first.map(|(ids, pieces)| (ids, pieces, places))
            }
            Err(limit) => Err(NoIds::TooMany(limit)),
        };
        let (ids, pieces, places) = self.counted(began, found)?;
        let service = Arc::clone(&self.service);
        Ok(Response::new(Messages {
            service,
            pieces,
            first: Some(ids),
            yields: false,
            _places: places,
        }))
    }
}

impl IdCalls {
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self { service, streams: OfClients::default() }
    }

    /// Generates the first piece of IDs before the response begins, so that a failure becomes the error of the call.
    /// Returns the first piece's IDs, and the generator of the remaining pieces.
    async fn begin(
        &self,
        namespace: &str,
        count: u64,
        caller: &Caller,
    ) -> Result<(Vec<u64>, IdPieces), NoIds> {
        let mut pieces = self.service.pieces(namespace, count, caller)?;
        let first = poll_fn(|context| pieces.poll_next(context).map(owned)).await;
        let ids = first.transpose().map_err(NoIds::Refused)?.unwrap_or_default();
        self.service.count_ids(namespace, count);
        Ok((ids, pieces))
    }

    fn counted<T>(&self, began: Instant, found: Result<T, NoIds>) -> Result<T, Status> {
        let found = found.map_err(refusal);
        let code = found.as_ref().err().map_or("OK", |(code, _)| code);
        self.service.count_request("ids", code, began);
        found.map_err(|(_, status)| status)
    }
}

/// The messages of a streamed response. Each message after the first is generated only when the connection can send
/// more data.
pub(super) struct Messages {
    service: Arc<Service>,
    pieces: IdPieces,
    first: Option<Vec<u64>>,
    /// Whether the response must yield to other tasks and responses before its next message.
    yields: bool,
    _places: Places,
}

impl Stream for Messages {
    type Item = Result<StreamResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let messages = &mut *self;
        if let Some(ids) = messages.first.take() {
            messages.yields = true;
            return Poll::Ready(Some(Ok(StreamResponse { ids })));
        }
        if std::mem::take(&mut messages.yields) && messages.pieces.left() > 0 {
            if let Some(turn) = messages.service.pacing().next(Instant::now()) {
                messages.pieces.wait_until(turn);
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let piece = ready!(messages.pieces.poll_next(context).map(owned));
        messages.yields = true;
        Poll::Ready(piece.map(|ids| match ids {
            Ok(ids) => Ok(StreamResponse { ids }),
            Err(error) => Err(of_error(&error)),
        }))
    }
}

fn caller_of<T>(request: &Request<T>) -> Caller {
    request.extensions().get().cloned().unwrap_or_default()
}

fn owned(piece: Option<Result<&[Id], Error>>) -> Option<Result<Vec<u64>, Error>> {
    piece.map(|ids| ids.map(|ids| ids.iter().map(|id| id.to_u64()).collect()))
}
