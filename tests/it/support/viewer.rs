//! `podium view`, and requests that a browser would not send.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use super::wait::{self, PATIENCE};
use super::{Place, Podium, Running};

/// A viewer that goes on until it is dropped.
#[derive(Debug)]
pub(crate) struct Viewer {
    running: Option<Running>,
    /// Its host and port.
    pub(crate) host: String,
}

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// Headers, their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body.
    pub(crate) body: String,
}

impl Answer {
    /// The body as a document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Viewer {
    /// Serves `folder`.
    pub(crate) fn start(place: &Place, folder: &Path) -> Self {
        let running = Podium::new(place).arg("view").arg(folder).args(["--port", "0"]).start();
        let host = wait::until("the viewer to say where it is", || {
            let said = running.said();
            Some(said.strip_suffix("/\n")?.strip_prefix("http://")?.to_owned())
        });
        Self { running: Some(running), host }
    }

    /// Its address.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// One request as it stands, and the answer.
    #[track_caller]
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut connection = TcpStream::connect(&self.host).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Answer { status, headers, body: body.to_owned() }
    }

    /// GET.
    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.raw(&format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::TERM);
            let ended = running.wait();
            if !std::thread::panicking() {
                ended.expect(0);
            }
        }
    }
}
