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
    /// Take these steps, then close in good order.
    Steps(Vec<Step>),
    /// Take these steps as soon as the head of the request is read, while its body is still on the way.
    Early(Vec<Step>),
    /// Write what stands here when the request comes, and close in good order.
    Shared(Arc<Mutex<Vec<u8>>>),
}

/// One step of an answer.
#[derive(Clone)]
pub(super) enum Step {
    Write(Vec<u8>),
    /// Write in pieces of so many bytes, with a pause after each.
    Drip(Vec<u8>, usize, Duration),
    /// Write this piece so many times, or until the client goes away.
    Repeat(Vec<u8>, u64),
    /// Read what the client still sends, until it goes away.
    Drain,
    /// Drop the connection without the usual farewell (RST).
    Reset,
    /// Keep the connection: the next request may come on it.
    Next,
}

pub(super) struct Server {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    /// Connections accepted, and those that are over.
    connections: tokio::sync::watch::Receiver<(usize, usize)>,
}

impl Server {
    /// Serves the acts in order, one request each; the last one for all further requests.
    pub(super) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let (count, connections) = tokio::sync::watch::channel((0, 0));
        let count = Arc::new(count);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acts, seen, count) = (acts.clone(), Arc::clone(&seen), Arc::clone(&count));
                count.send_modify(|(accepted, _)| *accepted += 1);
                tokio::spawn(async move {
                    serve(stream, acts, seen).await;
                    count.send_modify(|(_, over)| *over += 1);
                });
            }
        });
        Self { url, requests, connections }
    }

    /// Connections so far.
    pub(super) fn connections(&self) -> usize {
        self.connections.borrow().0
    }

    /// Waits until the server has closed all connections.
    pub(super) async fn closed(&self) {
        let mut connections = self.connections.clone();
        connections.wait_for(|(accepted, over)| accepted == over).await.unwrap();
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
    let _ = stream.set_nodelay(true);
    let pick = |number: usize| acts[number.min(acts.len() - 1)].clone();
    loop {
        let Some((head, body)) = read_head(&mut stream).await else { return };
        let early = match pick(seen.lock().unwrap().len()) {
            Act::Early(steps) => Some(steps),
            _ => None,
        };
        if let Some(steps) = early {
            seen.lock().unwrap().push((head, Value::Null));
            if !take(&mut stream, steps).await {
                return;
            }
            continue;
        }
        let Some(body) = read_body(&mut stream, &head, body).await else { return };
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push((head, body));
            seen.len() - 1
        };
        let steps = match pick(number) {
            Act::Write(bytes) => vec![Step::Write(bytes)],
            Act::After(delay, bytes) => {
                tokio::time::sleep(delay).await;
                vec![Step::Write(bytes)]
            }
            Act::Stall(bytes) => vec![Step::Write(bytes), Step::Drain],
            Act::Endless(head, piece) => vec![Step::Write(head), Step::Repeat(piece, u64::MAX)],
            Act::Shared(bytes) => vec![Step::Write(bytes.lock().unwrap().clone())],
            Act::Steps(steps) | Act::Early(steps) => steps,
        };
        if !take(&mut stream, steps).await {
            return;
        }
    }
}

/// Whether the connection is kept.
async fn take(stream: &mut TcpStream, steps: Vec<Step>) -> bool {
    for step in steps {
        match step {
            Step::Write(bytes) => drop(stream.write_all(&bytes).await),
            Step::Drip(bytes, size, pause) => {
                for piece in bytes.chunks(size) {
                    if stream.write_all(piece).await.is_err() {
                        return false;
                    }
                    tokio::time::sleep(pause).await;
                }
            }
            Step::Repeat(piece, times) => {
                for _ in 0..times {
                    if stream.write_all(&piece).await.is_err() {
                        return false;
                    }
                }
            }
            Step::Drain => while matches!(stream.read(&mut [0; 4096]).await, Ok(1..)) {},
            Step::Reset => {
                let _ = stream.set_zero_linger();
                return false;
            }
            Step::Next => return true,
        }
    }
    let _ = stream.shutdown().await;
    false
}

/// One request: its head and its body.
pub(super) async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let (head, body) = read_head(stream).await?;
    let body = read_body(stream, &head, body).await?;
    Some((head, body))
}

/// The head of the next request, and what came with it of its body.
async fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            return Some((String::from_utf8_lossy(&bytes[..end]).into_owned(), body));
        }
        read_more(stream, &mut bytes).await?;
    }
}

async fn read_body(stream: &mut TcpStream, head: &str, mut bytes: Vec<u8>) -> Option<Value> {
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    while bytes.len() < length {
        read_more(stream, &mut bytes).await?;
    }
    Some(serde_json::from_slice(&bytes).unwrap())
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = vec![0; 1 << 16];
    match stream.read(&mut buffer).await {
        Ok(0) | Err(_) => None,
        Ok(read) => {
            bytes.extend_from_slice(&buffer[..read]);
            Some(())
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
