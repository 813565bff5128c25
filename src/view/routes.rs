//! What is asked for: pages, their scripts and styles, and documents about runs. Files of a run are never handed out.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use podium_report::embed;
use podium_report::story::Detail;
use podium_report::view::{asset, shell};
use serde::{Deserialize, Serialize};

use super::root::Refusal;
use super::shelf::Shelf;

/// At most so many documents are made at the same time; each may read much.
const AT_ONCE: usize = 4;

/// What handlers share.
#[derive(Clone)]
struct Desk {
    shelf: Arc<Shelf>,
    room: Arc<tokio::sync::Semaphore>,
}

/// What may stand behind the `?` of an address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    at: String,
    n: u32,
    since: u64,
    q: String,
}

pub(super) fn routes(shelf: Arc<Shelf>) -> Router {
    let desk = Desk { shelf, room: Arc::new(tokio::sync::Semaphore::new(AT_ONCE)) };
    let mut router = Router::new();
    for (path, page) in
        [("/", "list"), ("/experiment", "experiment"), ("/compare", "compare"), ("/search", "search")]
    {
        router = router.route(path, get(move || async move { page_of(page) }));
    }
    router
        .route("/run", get(run_page))
        .route("/assets/{name}", get(|Path(name): Path<String>| async move { asset_of(&name) }))
        .route("/api/list", get(listing))
        .route("/api/experiment", get(experiment))
        .route("/api/report", get(report))
        .route("/api/run", get(run))
        .route("/api/item", get(item))
        .route("/api/search", get(search))
        .fallback(|| async { plain(StatusCode::NOT_FOUND, "there is nothing of that name here\n") })
        .with_state(desk)
}

fn page_of(page: &str) -> Response {
    match shell(page) {
        Some(text) => answer(StatusCode::OK, "text/html; charset=utf-8", text),
        None => plain(StatusCode::NOT_FOUND, "there is no such page\n"),
    }
}

/// The page of a run. Its journal is read while the browser gets the script that will ask for it; what cannot be read is
/// told then.
async fn run_page(State(desk): State<Desk>, asked: Result<Query<Asked>, QueryRejection>) -> Response {
    if let Ok(Query(asked)) = asked
        && let Ok(room) = Arc::clone(&desk.room).try_acquire_owned()
    {
        tokio::task::spawn_blocking(move || {
            desk.shelf.read_ahead(&asked.at);
            drop(room);
        });
    }
    page_of("run")
}

fn asset_of(name: &str) -> Response {
    match asset(name) {
        Some((kind, text)) => answer(StatusCode::OK, kind, text),
        None => plain(StatusCode::NOT_FOUND, "there is no such part of the viewer\n"),
    }
}

async fn listing(State(desk): State<Desk>) -> Response {
    desk.document(|shelf| Ok(shelf.listing())).await
}

async fn experiment(State(desk): State<Desk>, Query(asked): Query<Asked>) -> Response {
    desk.document(move |shelf| shelf.experiment(&asked.at)).await
}

async fn report(State(desk): State<Desk>, Query(asked): Query<Asked>) -> Response {
    desk.document(move |shelf| shelf.report(&asked.at)).await
}

async fn run(State(desk): State<Desk>, Query(asked): Query<Asked>) -> Response {
    desk.document(move |shelf| shelf.run(&asked.at, asked.since)).await
}

/// An item and, beside it, what belongs to it alone.
#[derive(Serialize)]
struct Opened {
    detail: Detail,
}

async fn item(State(desk): State<Desk>, Query(asked): Query<Asked>) -> Response {
    desk.document(move |shelf| shelf.item(&asked.at, asked.n).map(|item| Opened { detail: item.detail }))
        .await
}

async fn search(State(desk): State<Desk>, Query(asked): Query<Asked>) -> Response {
    desk.document(move |shelf| shelf.search(&asked.at, &asked.q)).await
}

impl Desk {
    /// Makes a document away from the threads that answer.
    async fn document<T, F>(&self, make: F) -> Response
    where
        T: Serialize,
        F: FnOnce(&Shelf) -> Result<T, Refusal> + Send + 'static,
    {
        let Ok(_room) = self.room.acquire().await else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "the viewer is about to end\n");
        };
        let shelf = Arc::clone(&self.shelf);
        let made = tokio::task::spawn_blocking(move || match make(&shelf) {
            Ok(document) => (StatusCode::OK, embed::json(&document)),
            Err(refusal) => {
                let status = match refusal {
                    Refusal::Name | Refusal::Absent(_) => StatusCode::NOT_FOUND,
                    Refusal::Link(_) => StatusCode::FORBIDDEN,
                    Refusal::Odd { .. } | Refusal::Damaged(_) => StatusCode::UNPROCESSABLE_ENTITY,
                };
                (status, embed::json(&serde_json::json!({ "error": refusal.to_string() })))
            }
        });
        match made.await {
            Ok((status, Ok(text))) => answer(status, "application/json", text),
            _ => plain(StatusCode::INTERNAL_SERVER_ERROR, "the document could not be made: a bug of ours\n"),
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    answer(status, "text/plain; charset=utf-8", text)
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
