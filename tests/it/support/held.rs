//! A model service that answers when the test says so: what the program does meanwhile can be looked at.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// The service.
#[derive(Debug)]
pub(crate) struct HeldService {
    listener: TcpListener,
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Held {
    connection: TcpStream,
    /// What was asked.
    pub(crate) body: Value,
}

impl HeldService {
    /// Listens on a free port of this machine.
    pub(crate) fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    /// Its base URL.
    pub(crate) fn base(&self) -> String {
        format!("http://{}/v1", self.listener.local_addr().unwrap())
    }

    /// Waits for a request, the next one whose body is whole.
    pub(crate) fn request(&self) -> Held {
        loop {
            let (connection, _) = self.listener.accept().unwrap();
            if let Some(body) = read(&connection) {
                return Held { connection, body };
            }
        }
    }
}

impl Held {
    /// Answers with this text, as a whole stream.
    pub(crate) fn answer(mut self, text: &str) {
        let chunk = |delta: Value, finish: Value| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
            format!("data: {}\n\n", json!({"id": "1", "object": "chat.completion.chunk", "choices": choice}))
        };
        let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100});
        let events = [
            chunk(json!({"role": "assistant", "content": text}), Value::Null),
            chunk(json!({}), "stop".into()),
            format!("data: {}\n\n", json!({"id": "1", "choices": [], "usage": usage})),
            "data: [DONE]\n\n".to_owned(),
        ];
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        self.connection.write_all(head.as_bytes()).unwrap();
        self.connection.write_all(events.concat().as_bytes()).unwrap();
    }
}

fn read(connection: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
