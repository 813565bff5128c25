//! A faulty HTTP server on a bare socket: it reads a request, writes the bytes it was told to, and may then stall
//! or cut the connection. It shares no code with the client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What to do with one request.
#[derive(Clone)]
pub(super) enum Act {
    /// Write these bytes and close in good order.
    Write(Vec<u8>),
    /// Write these bytes and keep the connection open in silence.
    Stall(Vec<u8>),
    /// Wait, write these bytes and close in good order.
    After(Duration, Vec<u8>),
    /// Write this head, then this piece again and again until the client goes away.
    Endless(Vec<u8>, Vec<u8>),
}

pub(super) struct Server {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    /// Serves the acts in order, one request each; the last one for all further requests.
    pub(super) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acts, seen) = (acts.clone(), Arc::clone(&seen));
                tokio::spawn(serve(stream, acts, seen));
            }
        });
        Self { url, requests }
    }

    /// Bodies of the requests so far.
    pub(super) fn bodies(&self) -> Vec<Value> {
        self.requests.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }

    /// Heads of the requests so far, in lower case.
    pub(super) fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(head, _)| head.to_lowercase()).collect()
    }
}

async fn serve(mut stream: TcpStream, acts: Vec<Act>, seen: Arc<Mutex<Vec<(String, Value)>>>) {
    let Some(request) = read_request(&mut stream).await else { return };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        seen.len() - 1
    };
    match &acts[number.min(acts.len() - 1)] {
        Act::Write(bytes) => {
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
        }
        Act::After(delay, bytes) => {
            tokio::time::sleep(*delay).await;
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
        }
        Act::Stall(bytes) => {
            let _ = stream.write_all(bytes).await;
            std::future::pending::<()>().await;
        }
        Act::Endless(head, piece) => {
            let _ = stream.write_all(head).await;
            while stream.write_all(piece).await.is_ok() {}
        }
    }
}

/// One request: its head and its body.
pub(super) async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or_default() {
                return Some((head.to_owned(), serde_json::from_str(body).unwrap()));
            }
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// A response with a body of known length.
pub(super) fn response(status: u16, headers: &str, body: &str) -> Act {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    Act::Write([head.as_bytes(), body.as_bytes()].concat())
}

/// The head of a stream whose end is the end of the connection.
pub(super) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The head of a chunked stream, so that a cut is seen as one.
pub(super) const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// One chunk of a chunked body.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

pub(super) fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// A chunk of a stream in the protocol's shape.
pub(super) fn delta(delta: &Value, finish: Option<&str>) -> String {
    event(&json!({
        "id": "chatcmpl-1",
        "model": "served-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }))
}

pub(super) fn usage(input: u64, output: u64) -> String {
    event(&json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}}))
}

/// A stream of these events, with its end mark.
pub(super) fn stream(events: &[String]) -> Act {
    Act::Write(format!("{STREAM}{}data: [DONE]\n\n", events.concat()).into_bytes())
}

/// A whole answer of this text that used 10 + 5 tokens.
pub(super) fn says(text: &str) -> Act {
    stream(&[
        delta(&json!({"role": "assistant", "content": ""}), None),
        delta(&json!({"content": text}), None),
        delta(&json!({}), Some("stop")),
        usage(10, 5),
    ])
}

/// An error object as OpenAI writes it.
pub(super) fn error(status: u16, headers: &str, error: &Value) -> Act {
    response(status, headers, &json!({"error": error}).to_string())
}
