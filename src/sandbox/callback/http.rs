//! Just enough of HTTP/1.1 to take a file or a request from a hostile client and to answer it.
//!
//! A head is bounded, a length must be told, and what is ambiguous is refused rather than guessed at. Headers other than
//! the few that are needed are not looked at: no address, host or name in them is believed.

use std::fmt::Write as _;

use serde_json::json;

use super::ServiceAnswer;

/// Bytes of a request's head.
pub(super) const HEAD: usize = 16 << 10;
/// Headers of a request.
const HEADERS: usize = 64;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// Without a query.
    pub(super) path: String,
    /// Bytes of the body; `None` when they were not told, or come in chunks.
    pub(super) length: Option<u64>,
    pub(super) content_type: String,
    /// The client waits for a word before it sends the body.
    pub(super) expects: bool,
    /// The client would use the connection again.
    pub(super) keep_alive: bool,
    /// A body in chunks, whose length nobody knows.
    pub(super) chunked: bool,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    status: u16,
    body: String,
    retry_after: Option<u64>,
    kind: &'static str,
    header: Option<(&'static str, &'static str)>,
}

impl Answer {
    fn json(status: u16, body: String) -> Self {
        Self { status, body, retry_after: None, kind: "application/json", header: None }
    }

    /// What a service says.
    pub(super) fn of_service(answer: ServiceAnswer) -> Self {
        let ServiceAnswer { status, kind, header, body } = answer;
        Self { status, body, retry_after: None, kind, header }
    }

    /// A verdict, as MLE-bench's server gives it.
    pub(super) fn result(text: &str) -> Self {
        Self::json(200, json!({ "result": text }).to_string())
    }

    /// The service is there.
    pub(super) fn running() -> Self {
        Self::json(200, json!({ "status": "running" }).to_string())
    }

    /// There is no verdict, and why.
    pub(super) fn error(status: u16, why: &str) -> Self {
        Self::json(status, json!({ "error": why }).to_string())
    }

    /// With the seconds after which to come again.
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// As it is sent.
    pub(super) fn bytes(&self, keep_alive: bool) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        if let Some(seconds) = self.retry_after {
            // Writing to a string cannot fail.
            let _ = write!(text, "Retry-After: {seconds}\r\n");
        }
        if let Some((name, value)) = self.header {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let kind = self.kind;
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let length = self.body.len() + 1;
        let _ = write!(
            text,
            "Content-Type: {kind}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n{}\n",
            self.body
        );
        text.into_bytes()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        _ => "Service Unavailable",
    }
}

/// Reads a head and tells its size, `None` while it is not whole.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let size = match request.parse(bytes) {
        Ok(httparse::Status::Complete(size)) => size,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD => return Ok(None),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Answer::error(431, "the head of the request is too long"));
        }
        Err(_) => return Err(Answer::error(400, "this is no HTTP request")),
    };
    let path = request.path.unwrap_or_default();
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: path.split('?').next().unwrap_or_default().to_owned(),
        length: None,
        content_type: String::new(),
        expects: false,
        keep_alive: request.version == Some(1),
        chunked: false,
    };
    for header in request.headers.iter() {
        let value = String::from_utf8_lossy(header.value);
        head.read(header.name, value.trim())?;
    }
    if head.chunked && head.length.is_some() {
        return Err(Answer::error(400, "the request tells two lengths"));
    }
    Ok(Some((head, size)))
}

impl Head {
    fn read(&mut self, name: &str, value: &str) -> Result<(), Answer> {
        if name.eq_ignore_ascii_case("content-length") {
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let length = value.parse().ok().filter(|_| is_number && self.length.is_none());
            let wrong = || Answer::error(400, "the length of the request is no number, or told twice");
            self.length = Some(length.ok_or_else(wrong)?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.chunked = true;
        } else if name.eq_ignore_ascii_case("content-type") {
            value.clone_into(&mut self.content_type);
        } else if name.eq_ignore_ascii_case("expect") {
            self.expects = value.eq_ignore_ascii_case("100-continue");
        } else if name.eq_ignore_ascii_case("connection") {
            self.keep_alive &= !value.split(',').any(|word| word.trim().eq_ignore_ascii_case("close"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> u16 {
        parse(text.as_bytes()).unwrap_err().status
    }

    #[test]
    fn a_request_of_curl_is_read() {
        let text = "POST /validate?x=1 HTTP/1.1\r\nHost: localhost:5000\r\nUser-Agent: curl/8.0\r\nAccept: */*\r\n\
                    Content-Length: 187\r\nContent-Type: multipart/form-data; boundary=--a\r\nExpect: 100-continue\r\n\r\nbody";
        let (head, size) = parse(text.as_bytes()).unwrap().unwrap();
        let want = Head {
            method: "POST".to_owned(),
            path: "/validate".to_owned(),
            length: Some(187),
            content_type: "multipart/form-data; boundary=--a".to_owned(),
            expects: true,
            keep_alive: true,
            chunked: false,
        };
        assert_eq!((head, size), (want, text.len() - 4));
        for end in 0..size {
            assert_eq!(parse(&text.as_bytes()[..end]), Ok(None), "{end} bytes");
        }
    }

    #[test]
    fn what_is_ambiguous_is_refused() {
        let head = |headers: &str| format!("POST /validate HTTP/1.1\r\n{headers}\r\n");
        let cases = [
            ("\x16\x03\x01\x02".to_owned(), 400),
            ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400),
            ("GET /\r\n\r\n".to_owned(), 400),
            (head("Content-Length: +5\r\n"), 400),
            (head("Content-Length: -1\r\n"), 400),
            (head("Content-Length: \r\n"), 400),
            (head("Content-Length: 99999999999999999999999\r\n"), 400),
            (head("Content-Length: 5\r\nContent-Length: 5\r\n"), 400),
            (head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400),
            (head("No colon\r\n"), 400),
            (head(&"a: b\r\n".repeat(HEADERS + 1)), 431),
            (format!("GET /{}", "x".repeat(HEAD)), 431),
        ];
        for (text, want) in cases {
            assert_eq!(status(&text), want, "{text:.80}");
        }
        let old = parse(b"GET /health HTTP/1.0\r\n\r\n").unwrap().unwrap().0;
        let closing = parse(b"GET /health HTTP/1.1\r\nConnection: TE, Close\r\n\r\n").unwrap().unwrap().0;
        assert!(!old.keep_alive && !closing.keep_alive);
    }

    #[test]
    fn an_answer_cannot_be_split() {
        let answer = Answer::result("column `a\r\nSet-Cookie: x`").bytes(false);
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains("Set-Cookie"), "{text}");
        assert_eq!(body, "{\"result\":\"column `a\\r\\nSet-Cookie: x`\"}\n");
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{text}");
    }
}
