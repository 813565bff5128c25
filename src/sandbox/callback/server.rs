//! Serves the check to code inside, from outside.
//!
//! The client is hostile: everything it sends has a size, every wait has an end, few connections and fewer uploads are
//! served at one time, and what it may ask is counted. It can hold up nobody but itself, since each execution has a
//! server of its own.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};

use super::{
    SubmissionCheck,
    connection::Connection,
    http::{Answer, Head},
    pace::{Brake, Exceeded, Quota},
    upload,
};

/// Connections served at one time; others wait in the kernel.
const CONNECTIONS: usize = 32;
/// Uploads and checks at one time.
const UPLOADS: usize = 2;
/// Until a request's head is whole; as long may a connection be idle.
const HEAD: Duration = Duration::from_secs(10);
/// Until an upload is whole.
const UPLOAD: Duration = Duration::from_mins(2);

/// The check of one execution.
#[derive(Debug)]
pub(super) struct Server {
    check: SubmissionCheck,
    quota: Mutex<Quota>,
    brake: Mutex<Brake>,
    uploads: Semaphore,
    verdicts: Arc<AtomicU64>,
}

impl Server {
    /// `verdicts` counts those that were given.
    pub(super) fn new(check: SubmissionCheck, verdicts: Arc<AtomicU64>) -> Self {
        let quota = Mutex::new(Quota::new(check.per_minute, check.per_execution));
        let uploads = Semaphore::new(UPLOADS);
        Self { check, quota, brake: Mutex::default(), uploads, verdicts }
    }

    /// Serves until it is dropped, and with it all connections.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let server = Arc::clone(&self);
                    connections.spawn(async move {
                        // A client that breaks off concerns nobody.
                        let _ = server.converse(stream).await;
                        drop(place);
                    });
                }
                // Out of descriptors, say.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            while connections.try_join_next().is_some() {}
        }
    }

    /// One connection to its end.
    async fn converse(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream);
        loop {
            let (answer, keep_alive) = match timeout(HEAD, connection.head()).await {
                Err(_) | Ok(Ok(None)) => return Ok(()),
                Ok(Err(broken)) => (broken?, false),
                Ok(Ok(Some(head))) => {
                    self.slow_down().await;
                    let answer = self.answer(&head, &mut connection).await?;
                    // What was not read would be taken for the next request.
                    (answer, head.keep_alive && connection.is_at_request())
                }
            };
            connection.send(&answer.bytes(keep_alive)).await?;
            if !keep_alive {
                connection.leave().await;
                return Ok(());
            }
        }
    }

    async fn slow_down(&self) {
        let wait = self.brake.lock().unwrap_or_else(PoisonError::into_inner).next_wait();
        if let Some(wait) = wait {
            tokio::time::sleep(wait).await;
        }
    }

    /// The answer to one request.
    async fn answer(&self, head: &Head, connection: &mut Connection) -> io::Result<Answer> {
        connection.expect_body(if head.chunked { u64::MAX } else { head.length.unwrap_or(0) });
        match (head.method.as_str(), head.path.as_str()) {
            ("GET", "/health") => Ok(Answer::running()),
            ("POST", "/validate") => self.validate(head, connection).await,
            (_, "/health" | "/validate") => Ok(Answer::error(405, "it is GET /health and POST /validate")),
            _ => Ok(Answer::error(404, "there is only GET /health and POST /validate")),
        }
    }

    async fn validate(&self, head: &Head, connection: &mut Connection) -> io::Result<Answer> {
        let max_bytes = self.check.max_bytes;
        let Some(length) = head.length else {
            return Ok(Answer::error(411, "the request must tell its length (Content-Length)"));
        };
        if length > max_bytes.saturating_add(upload::AROUND) {
            return Ok(upload::too_large(max_bytes));
        }
        let Some(shape) = upload::Shape::of(&head.content_type) else {
            return Ok(Answer::error(
                415,
                "send the file as a form's part named `file` (curl -F \"file=@FILE\"), or as text/csv",
            ));
        };
        let taken = self.quota.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
        if let Err(exceeded) = taken {
            return Ok(too_many(exceeded));
        }
        let received = async {
            let place = self.uploads.acquire().await.map_err(io::Error::other)?;
            if head.expects {
                connection.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let copy = upload::receive(connection, shape, &self.check).await?;
            io::Result::Ok((place, copy))
        };
        let Ok(received) = timeout(UPLOAD, received).await else {
            return Ok(Answer::error(408, "the file did not arrive in time"));
        };
        let (_place, copy) = received?;
        let copy = match copy {
            Ok(copy) => copy,
            Err(refused) => return Ok(refused),
        };
        let checker = Arc::clone(&self.check.checker);
        let verdict = tokio::task::spawn_blocking(move || checker(&copy)).await.ok().flatten();
        Ok(match verdict {
            Some(text) => {
                self.verdicts.fetch_add(1, Ordering::Relaxed);
                Answer::result(&text)
            }
            None => Answer::error(503, upload::UNAVAILABLE),
        })
    }
}

fn too_many(exceeded: Exceeded) -> Answer {
    match exceeded {
        Exceeded::Minute { limit, seconds } => {
            let why = format!("at most {limit} files are checked in a minute; try again in {seconds} s");
            Answer::error(429, &why).retry_after(seconds)
        }
        Exceeded::Execution { limit } => {
            Answer::error(429, &format!("at most {limit} files are checked in one execution, and they were"))
        }
    }
}
