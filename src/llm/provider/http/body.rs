//! An answer's body on its way from the server to the event parser: capped in bytes, watched for
//! silence, mended, and with a plain JSON body turned into the one event it stands for.
//!
//! Bytes are handed on in whole lines, so a character or an escape that a packet boundary cuts is seen whole.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, Stream};

use super::exchange::{Connection, Exchange};
use super::mend::lone_surrogates;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::Failed;

/// What a body turned out to be, told by its first bytes: content types lie.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Unknown,
    Events,
    Whole,
}

struct Body {
    response: reqwest::Response,
    exchange: Arc<Exchange>,
    limits: Connection,
    form: Form,
    buffer: Vec<u8>,
    seen: u64,
    ended: bool,
}

/// The body of `response` as events. Why it broke off, if it does, is left in `exchange`.
pub(super) fn events(
    response: reqwest::Response,
    exchange: Arc<Exchange>,
    limits: Connection,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    let body =
        Body { response, exchange, limits, form: Form::Unknown, buffer: Vec::new(), seen: 0, ended: false };
    stream::unfold(body, |mut body| async move {
        if body.ended {
            return None;
        }
        match body.next().await {
            Ok(piece) => Some((Ok(piece), body)),
            Err(failed) => {
                body.ended = true;
                let error = std::io::Error::other(failed.message.clone());
                body.exchange.fail(failed);
                Some((Err(error), body))
            }
        }
    })
}

impl Body {
    /// The next whole lines; the rest and an empty line at the end.
    async fn next(&mut self) -> Result<Bytes, Failed> {
        loop {
            if self.form == Form::Events
                && let Some(end) = self.buffer.iter().rposition(|byte| *byte == b'\n')
            {
                let rest = self.buffer.split_off(end + 1);
                let lines = std::mem::replace(&mut self.buffer, rest);
                return Ok(mended(&lines).into());
            }
            let Some(chunk) = self.read().await? else {
                self.ended = true;
                return Ok(self.last());
            };
            self.buffer.extend_from_slice(&chunk);
            if self.form == Form::Unknown {
                self.form = form(&self.buffer);
            }
        }
    }

    async fn read(&mut self) -> Result<Option<Bytes>, Failed> {
        let stall = self.limits.stall_timeout;
        let Ok(chunk) = tokio::time::timeout(stall, self.response.chunk()).await else {
            let message = format!("no byte for longer than the stall time-out of {stall:?}");
            return Err(Failed::service(ServiceFailure::Stalled, Settled::Unknown, message));
        };
        let chunk = chunk.map_err(|error| {
            let message = format!("the answer was cut: {}", error.without_url());
            Failed::service(ServiceFailure::Network, Settled::Unknown, message)
        })?;
        self.seen += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.seen > self.limits.max_body_bytes {
            let message = format!("the answer is longer than {} bytes", self.limits.max_body_bytes);
            return Err(Failed::service(ServiceFailure::BadAnswer, Settled::Unknown, message));
        }
        Ok(chunk)
    }

    fn last(&mut self) -> Bytes {
        let text = mended(&std::mem::take(&mut self.buffer));
        if self.form == Form::Events {
            return format!("{text}\n\n").into();
        }
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Bytes::new();
        }
        // Line ends inside a JSON text are white space; inside an event they would end the line.
        format!("data: {}\n\n", text.replace(['\r', '\n'], " ")).into()
    }
}

fn mended(bytes: &[u8]) -> String {
    lone_surrogates(&String::from_utf8_lossy(bytes)).into_owned()
}

fn form(head: &[u8]) -> Form {
    const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if FIELDS.iter().any(|field| head.starts_with(field)) {
        Form::Events
    } else if FIELDS.iter().any(|field| field.starts_with(head)) {
        Form::Unknown
    } else {
        Form::Whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_form() {
        for (head, expected) in [
            (&b""[..], "unknown"),
            (b"\xEF\xBB\xBF\r\ndat", "unknown"),
            (b"\n\ndata: {", "events"),
            (b": keep-alive", "events"),
            (b"data", "unknown"),
            (b"{\"choices\"", "whole"),
            (b"<html>", "whole"),
            (b"database", "whole"),
        ] {
            let form = match form(head) {
                Form::Unknown => "unknown",
                Form::Events => "events",
                Form::Whole => "whole",
            };
            assert_eq!(form, expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
