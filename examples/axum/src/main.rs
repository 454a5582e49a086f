//! A service for orders whose primary keys are IDs of flakeid, with leases in the same PostgreSQL.

use std::error::Error;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use flakeid::{Generator, Id, Layout};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

#[derive(Clone)]
struct App {
    ids: Arc<Generator>,
    database: PgPool,
}

#[derive(Deserialize)]
struct NewOrder {
    item: String,
    /// The order that this order repeats. Numbers are rejected, because browsers round them.
    again: Option<Id>,
}

#[derive(Serialize)]
struct Order {
    /// The ID, which is a string in JSON, because JavaScript rounds 64-bit numbers.
    id: Id,
    item: String,
    again: Option<Id>,
}

type Failure = (StatusCode, String);

fn failed(error: impl Error) -> Failure {
    (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

async fn create(
    State(app): State<App>,
    Json(new): Json<NewOrder>,
) -> Result<(StatusCode, Json<Order>), Failure> {
    let id = next_id(&app.ids).await?;
    let insert =
        "INSERT INTO orders (id, item, again) VALUES ($1, $2, $3) RETURNING id, item, again";
    let (id, item, again) = sqlx::query_as(insert)
        .bind(id)
        .bind(&new.item)
        .bind(new.again)
        .fetch_one(&app.database)
        .await
        .map_err(failed)?;
    Ok((StatusCode::CREATED, Json(Order { id, item, again })))
}

/// Returns an ID at once if one is available, and otherwise waits for it on another thread.
async fn next_id(ids: &Arc<Generator>) -> Result<Id, Failure> {
    if let Ok(id) = ids.try_next_id() {
        return Ok(id);
    }
    let ids = Arc::clone(ids);
    let waiting = tokio::task::spawn_blocking(move || ids.next_id());
    waiting.await.map_err(failed)?.map_err(failed)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("DATABASE_URL")?;
    let database = PgPool::connect(&url).await?;
    let table = "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, item text NOT NULL, again bigint)";
    sqlx::query(table).execute(&database).await?;
    // `flakeid leases init --store URL --namespace orders` creates the namespace. Opening a lease
    // waits for the store, so it must not block a thread of the runtime.
    let builder = flakeid::lease(&url, Layout::TWITTER)?.namespace("orders");
    let ids = Arc::new(tokio::task::spawn_blocking(move || builder.open()).await??);

    let app = App { ids: Arc::clone(&ids), database };
    let router = Router::new().route("/orders", post(create)).with_state(app);
    let port = std::env::var("PORT").unwrap_or_else(|_| "3000".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, router).with_graceful_shutdown(end()).await?;
    tokio::task::spawn_blocking(move || ids.close()).await?; // releases the node
    Ok(())
}

/// Waits for SIGTERM, with which Kubernetes and systemd stop a service.
async fn end() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut terminated) = signal(SignalKind::terminate()) {
        terminated.recv().await;
    }
}
