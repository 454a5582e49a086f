//! The conversion of errors to gRPC statuses.

use std::time::Duration;

use flakeid_core::{Error, ErrorKind};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::admission::Rejected;
use crate::answer::{FORBIDDEN, NOT_FOUND, TOO_MANY, UNAUTHORIZED};
use crate::namespace::NoIds;
use crate::rate::TooMany;
use crate::tokens::Denied;

/// Returns the error code for the metrics and the gRPC status for a request that is not admitted.
pub(super) fn rejection(rejected: Rejected) -> (&'static str, Status) {
    match rejected {
        Rejected::TooMany(TooMany { message, wait })
        | Rejected::Guess(TooMany { message, wait }) => {
            (TOO_MANY, status(Code::ResourceExhausted, TOO_MANY, &message, Some(wait)))
        }
        Rejected::Denied(denied @ Denied::Forbidden { .. }) => {
            (FORBIDDEN, status(Code::PermissionDenied, FORBIDDEN, &denied.to_string(), None))
        }
        Rejected::Denied(denied) => {
            (UNAUTHORIZED, status(Code::Unauthenticated, UNAUTHORIZED, &denied.to_string(), None))
        }
    }
}

/// Returns the error code for the metrics and the gRPC status for the client.
pub(super) fn refusal(no_ids: NoIds) -> (&'static str, Status) {
    match no_ids {
        NoIds::Unknown(message) => (NOT_FOUND, status(Code::NotFound, NOT_FOUND, &message, None)),
        NoIds::TooMany(limit) => rejection(Rejected::TooMany(limit)),
        NoIds::Denied(denied) => rejection(Rejected::Denied(denied)),
        NoIds::Refused(error) => (error.code(), of_error(&error)),
    }
}

/// Converts a library error to a gRPC status. [`status_of`](crate::answer::status_of) is the equivalent for HTTP.
pub(super) fn of_error(error: &Error) -> Status {
    let code = match error.kind() {
        ErrorKind::InvalidLayout
        | ErrorKind::FieldOutOfRange
        | ErrorKind::InvalidId
        | ErrorKind::InvalidOption => Code::InvalidArgument,
        kind if kind.is_retryable() => Code::Unavailable,
        // The error is not retryable, so the status must not be `UNAVAILABLE`, which makes clients retry automatically.
        _ => Code::FailedPrecondition,
    };
    let retry_after = error.retry_after().filter(|_| error.kind().is_retryable());
    status(code, error.code(), &error.to_string(), retry_after)
}

pub(super) fn status(
    code: Code,
    name: &'static str,
    message: &str,
    retry_after: Option<Duration>,
) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert("flakeid-code", MetadataValue::from_static(name));
    if let Some(wait) = retry_after {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        // The metadata contains the time that gRPC clients wait before they retry the call. See
        // <https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback>.
        metadata.insert("grpc-retry-pushback-ms", MetadataValue::from(ms));
    }
    Status::with_metadata(code, message, metadata)
}
