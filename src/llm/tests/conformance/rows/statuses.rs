//! Statuses: which are waited out, which are final, and which may have been billed.

use super::super::row::{Billed, Expect, Row, response};
use super::super::speech::Protocol;
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = Vec::new();
    let passing = |kind, billed| Expect::Retried(kind, billed);
    let table = [
        // The server gave up on a request that it had taken, or a gateway on a server that may have gone on.
        (408, passing(Kind::Server, Billed::Unknown)),
        (502, passing(Kind::Server, Billed::Unknown)),
        (504, passing(Kind::Server, Billed::Unknown)),
        (520, passing(Kind::Server, Billed::Unknown)),
        (524, passing(Kind::Server, Billed::Unknown)),
        (409, passing(Kind::Server, Billed::No)),
        (425, passing(Kind::Server, Billed::No)),
        (429, passing(Kind::RateLimited, Billed::No)),
        (500, passing(Kind::Server, Billed::No)),
        (501, passing(Kind::Server, Billed::No)),
        (503, passing(Kind::Server, Billed::No)),
        (529, passing(Kind::Server, Billed::No)),
        (599, passing(Kind::Server, Billed::No)),
        (999, passing(Kind::Server, Billed::No)),
        // A redirect may be a page of maintenance; it is never followed, for a key must not go elsewhere.
        (301, passing(Kind::BadAnswer, Billed::No)),
        (302, passing(Kind::BadAnswer, Billed::No)),
        (307, passing(Kind::BadAnswer, Billed::No)),
        (308, passing(Kind::BadAnswer, Billed::No)),
        (304, passing(Kind::BadAnswer, Billed::No)),
        (401, Expect::Ends(Kind::Auth, Billed::No)),
        (403, Expect::Ends(Kind::Auth, Billed::No)),
        (402, Expect::Ends(Kind::Quota, Billed::No)),
        (404, Expect::Ends(Kind::NotFound, Billed::No)),
        (405, Expect::Ends(Kind::NotFound, Billed::No)),
        (410, Expect::Ends(Kind::NotFound, Billed::No)),
        (400, Expect::Refused),
        (413, Expect::Refused),
        (418, Expect::Refused),
        (422, Expect::Refused),
        (451, Expect::Refused),
    ];
    for (status, expect) in table {
        let location = if status < 400 { "location: http://127.0.0.1:1/\r\n" } else { "" };
        let body = if status == 304 { String::new() } else { protocol.error(status, "no").to_string() };
        rows.push(Row::new(format!("status {status}"), response(status, location, &body), expect.clone()));
        let page = "<html><head><title>Oops</title></head><body>no</body></html>";
        for (kind, body) in
            [("no body", ""), ("a page", page), ("null", "null"), ("a list", "[]"), ("a number", "7")]
        {
            // A status without a body has none by definition.
            if status != 304 {
                let name = format!("status {status} with {kind}");
                rows.push(Row::new(name, response(status, location, body), expect.clone()));
            }
        }
    }
    let empty = Expect::Retried(Kind::BadAnswer, Billed::Unknown);
    rows.push(Row::new("status 204", response(204, "", ""), empty.clone()));
    rows.push(Row::new("status 205 without a body", response(205, "", ""), empty));
    rows
}
