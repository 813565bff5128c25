//! Serves the check, and a job's service, to code inside, from outside.
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
    Offered, Service, ServiceRequest, SubmissionCheck,
    connection::Connection,
    http::{Answer, Head},
    pace::{Brake, Exceeded, Quota},
    upload,
};

/// Connections served at one time; others wait in the kernel.
const CONNECTIONS: usize = 32;
/// The same where a service may take long to answer.
const CONNECTIONS_OF_SERVICE: usize = 128;
/// The bytes of bodies at work are counted in this unit.
const UNIT: u64 = 1 << 10;
/// Uploads and checks at one time.
const UPLOADS: usize = 2;
/// Until a request's head is whole; as long may a connection be idle.
const HEAD: Duration = Duration::from_secs(10);
/// Until an upload is whole.
const UPLOAD: Duration = Duration::from_mins(2);

/// What is offered to one execution.
#[derive(Debug)]
pub(super) struct Server {
    offered: Offered,
    quota: Mutex<Quota>,
    brake: Mutex<Brake>,
    uploads: Semaphore,
    at_work: Semaphore,
    verdicts: Arc<AtomicU64>,
}

impl Server {
    /// `verdicts` counts those that were given.
    pub(super) fn new(offered: Offered, verdicts: Arc<AtomicU64>) -> Self {
        let (minute, execution) =
            offered.check.as_ref().map_or((0, 0), |check| (check.per_minute, check.per_execution));
        let quota = Mutex::new(Quota::new(minute, execution));
        let units = offered.service.as_ref().map_or(0, |service| u64::from(service.max_bytes_at_work) / UNIT);
        let at_work = Semaphore::new(usize::try_from(units).unwrap_or(Semaphore::MAX_PERMITS));
        let uploads = Semaphore::new(UPLOADS);
        Self { offered, quota, brake: Mutex::default(), uploads, at_work, verdicts }
    }

    /// Serves until it is dropped, and with it all connections.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener) {
        let connections = if self.offered.service.is_some() { CONNECTIONS_OF_SERVICE } else { CONNECTIONS };
        let places = Arc::new(Semaphore::new(connections));
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
        if let Some(service) = self.offered.service.as_ref().filter(|own| head.path.starts_with(own.prefix)) {
            return self.serve_request(service, head, connection).await;
        }
        let Some(check) = &self.offered.check else {
            return Ok(Answer::error(404, "nothing is served at this path"));
        };
        match (head.method.as_str(), head.path.as_str()) {
            ("GET", "/health") => Ok(Answer::running()),
            ("POST", "/validate") => self.validate(check, head, connection).await,
            (_, "/health" | "/validate") => Ok(Answer::error(405, "it is GET /health and POST /validate")),
            _ => Ok(Answer::error(404, "there is only GET /health and POST /validate")),
        }
    }

    /// A request of the job's service, from its body to its answer.
    async fn serve_request(
        &self,
        service: &Service,
        head: &Head,
        connection: &mut Connection,
    ) -> io::Result<Answer> {
        let refused = |status, why: &str| Ok(Answer::of_service((service.refusing)(status, why)));
        let length = match (head.length, head.method.as_str()) {
            (Some(length), _) => length,
            (None, "GET" | "HEAD" | "OPTIONS" | "DELETE") if !head.chunked => 0,
            (None, _) => return refused(411, "the request must tell its length (Content-Length)"),
        };
        if length > service.max_bytes {
            let most = service.max_bytes;
            return refused(
                413,
                &format!("the request is larger than {most} bytes, the largest that is read"),
            );
        }
        let most = u64::from(service.max_bytes_at_work) / UNIT;
        let units = u32::try_from(length.div_ceil(UNIT).min(most)).unwrap_or(u32::MAX);
        // Held until the answer, for as long is the request kept.
        let _room = self.at_work.acquire_many(units).await.map_err(io::Error::other)?;
        let received = async {
            if head.expects {
                connection.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let mut body = Vec::new();
            loop {
                let piece = connection.piece().await?;
                if piece.is_empty() {
                    return io::Result::Ok(body);
                }
                body.extend_from_slice(&piece);
            }
        };
        let Ok(received) = timeout(UPLOAD, received).await else {
            return refused(408, "the request did not arrive in time");
        };
        let (method, path) = (head.method.clone(), head.path.clone());
        let request = ServiceRequest { method, path, body: received? };
        Ok(Answer::of_service((service.answering)(request).await))
    }

    async fn validate(
        &self,
        check: &SubmissionCheck,
        head: &Head,
        connection: &mut Connection,
    ) -> io::Result<Answer> {
        let max_bytes = check.max_bytes;
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
            let copy = upload::receive(connection, shape, check).await?;
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
        let checker = Arc::clone(&check.checker);
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
