//! The standard gRPC health service (`grpc.health.v1.Health`), which reports whether the server is ready.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tonic::codegen::tokio_stream::wrappers::ReceiverStream;
use tonic::server::NamedService;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::ids::IdCalls;
use super::messages::IdsServer;
use crate::connection::{Phase, Phases, reached};
use crate::service::Service;

/// The maximum delay before a watching client is notified of a change in readiness.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The implementation of the health service. The path `/readyz` reports the same readiness over HTTP.
pub(super) struct Readiness {
    service: Arc<Service>,
    phases: Phases,
}

impl Readiness {
    pub(super) const fn new(service: Arc<Service>, phases: Phases) -> Self {
        Self { service, phases }
    }
}

#[tonic::async_trait]
impl Health for Readiness {
    type WatchStream = ReceiverStream<Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let HealthCheckRequest { service } = request.into_inner();
        if !is_known(&service) {
            return Err(Status::not_found("this service is not known"));
        }
        Ok(Response::new(response(status(&self.service))))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let HealthCheckRequest { service } = request.into_inner();
        let (sender, receiver) = mpsc::channel(1);
        let (watched, mut phases) = (Arc::clone(&self.service), self.phases.clone());
        let watching = async move {
            let mut sent = None;
            loop {
                // For an unknown service, the protocol requires the status `SERVICE_UNKNOWN` instead of an error,
                // because the service may become available later.
                let unknown = ServingStatus::ServiceUnknown;
                let now = if is_known(&service) { status(&watched) } else { unknown };
                if sent.replace(now) != Some(now) && sender.send(Ok(response(now))).await.is_err() {
                    return;
                }
                tokio::select! {
                    () = sleep(CHECK_INTERVAL) => {}
                    () = sender.closed() => return,
                    () = reached(&mut phases, Phase::Closing) => return,
                }
            }
        };
        tokio::spawn(watching);
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

/// Whether health checks support the given service name. The empty name refers to the whole server.
fn is_known(service: &str) -> bool {
    service.is_empty() || service == IdsServer::<IdCalls>::NAME
}

fn status(service: &Service) -> ServingStatus {
    if service.is_ready() { ServingStatus::Serving } else { ServingStatus::NotServing }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
