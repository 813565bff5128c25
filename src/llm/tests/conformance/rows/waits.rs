//! How long a service asks us to wait, in every way it may say so. The longest wait allowed here is 50 ms.

use std::time::Duration;

use super::super::row::{Billed, Expect, Row, response};
use super::super::speech::Protocol;
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let body = protocol.error(429, "slow down").to_string();
    let limited = |headers: &str| response(429, headers, &body);
    let mut rows = Vec::new();
    let ms = Duration::from_millis;
    let table = [
        ("retry-after in fractions of a second", "retry-after: 0.04", ms(40)),
        ("retry-after-ms", "retry-after-ms: 40", ms(40)),
        ("retry-after-ms beside retry-after", "retry-after: 3600\r\nretry-after-ms: 30", ms(30)),
        ("retry-after of zero", "retry-after: 0", ms(0)),
        ("retry-after as a date gone by", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT", ms(0)),
        ("retry-after in words", "retry-after: soon", ms(0)),
        ("a negative retry-after", "retry-after: -5", ms(0)),
        ("an empty retry-after", "retry-after: ", ms(0)),
        ("retry-after of NaN", "retry-after: NaN", ms(0)),
        ("retry-after that is no text", "retry-after: \u{fc}\u{fffd}", ms(0)),
        (
            "a used up limit of requests",
            "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 40ms",
            ms(40),
        ),
        (
            "a used up limit of tokens",
            "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 0.03s",
            ms(30),
        ),
        (
            "a limit that is not used up",
            "x-ratelimit-remaining-requests: 7\r\nx-ratelimit-reset-requests: 6m0s",
            ms(0),
        ),
        (
            "a reset in no known unit",
            "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 3 moons",
            ms(0),
        ),
    ];
    for (name, headers, least) in table {
        let expect = Expect::Waited(Kind::RateLimited, least);
        rows.push(Row::new(name, limited(&format!("{headers}\r\n")), expect));
    }
    let ends = Expect::Ends(Kind::RateLimited, Billed::No);
    for (name, headers) in [
        ("retry-after beyond the longest wait", "retry-after: 3600"),
        ("retry-after beyond all numbers", "retry-after: 99999999999999999999999999"),
        ("retry-after as a date far ahead", "retry-after: Tue, 31 Dec 2999 23:59:59 GMT"),
        (
            "a used up limit that resets late",
            "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1h2m3.5s",
        ),
        (
            "a used up limit that resets at a date far ahead",
            "anthropic-ratelimit-requests-remaining: 0\r\nanthropic-ratelimit-requests-reset: 2999-12-31T23:59:59Z",
        ),
    ] {
        rows.push(Row::new(name, limited(&format!("{headers}\r\n")), ends.clone()));
    }
    let busy = response(503, "retry-after: 0.04\r\n", protocol.error(503, "busy").to_string());
    rows.push(Row::new("retry-after with 503", busy, Expect::Waited(Kind::Server, ms(40))));
    rows
}
