//! What servers complain of, and in how many shapes: objects inside a 200 or a stream, pages, quotas, windows.

use serde_json::json;

use super::super::super::setup::KEY;
use super::super::row::{Billed, Expect, Row, open, response};
use super::super::speech::{Place, Protocol, Say, before, through};
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = inside(protocol);
    rows.extend(shapes(protocol));
    rows.extend(quotas(protocol));
    rows.extend(windows(protocol));
    rows
}

/// Errors that come with a status of success. What was made before may be billed.
fn inside(protocol: &dyn Protocol) -> Vec<Row> {
    let server = Expect::Retried(Kind::Server, Billed::Unknown);
    let half = through(protocol, &Say::fine(), Place::Text);
    let start = before(protocol, &Say::fine(), Place::Text);
    let error = protocol.overloaded();
    let nameless = format!("data: {}\n\n", error.data);
    let body = protocol.error(503, "busy").to_string();
    let numeric = json!({"error": {"message": "busy", "code": 503, "type": null, "param": 7}}).to_string();
    vec![
        Row::new("an error inside a 200", response(200, "", &body), server.clone()),
        Row::new("an error with a numeric code inside a 200", response(200, "", numeric), server.clone()),
        Row::new("an error as the first event", open(&error.written()), server.clone()),
        Row::new("an error before the text", open(&format!("{start}{}", error.written())), server.clone()),
        Row::new(
            "an error in the midst of the text",
            open(&format!("{half}{}", error.written())),
            server.clone(),
        ),
        Row::new("an error without its event's name", open(&format!("{half}{nameless}")), server.clone()),
        Row::new(
            "an error in words",
            open(&format!("{half}data: {{\"error\": \"overloaded\"}}\n\n")),
            server,
        ),
    ]
}

/// The same complaint in the shapes that servers and proxies write.
fn shapes(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = Vec::new();
    let bodies = [
        ("in words", json!({"error": "busy"})),
        ("with a numeric code", json!({"error": {"message": "busy", "code": 503, "type": 7, "param": [1]}})),
        ("of null", json!({"error": null})),
        ("with null fields", json!({"error": {"message": null, "code": null, "type": null, "param": null}})),
        ("as a detail", json!({"detail": "busy"})),
        ("as a list of details", json!({"detail": [{"loc": ["body"], "msg": "busy", "type": "x"}]})),
        ("as a message", json!({"message": "busy", "object": "error", "code": 40303})),
        ("of lists", json!({"error": [["busy"]]})),
        (
            "of a list of errors",
            json!([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]),
        ),
        ("of nested errors", json!({"error": {"error": {"error": {"message": "busy"}}}})),
        ("that is long", json!({"error": {"message": "busy ".repeat(20_000)}})),
    ];
    for (name, body) in bodies {
        let body = body.to_string();
        let busy = Expect::Retried(Kind::Server, Billed::No);
        rows.push(Row::new(format!("a 503 {name}"), response(503, "", &body), busy));
        rows.push(Row::new(format!("a 400 {name}"), response(400, "", &body), Expect::Refused));
    }
    let echo = protocol.error(401, &format!("Incorrect key provided: {KEY}")).to_string();
    rows.push(Row::new(
        "a 401 that shows the key",
        response(401, "", &echo),
        Expect::Ends(Kind::Auth, Billed::No),
    ));
    let echo = protocol.error(400, &format!("bad header: {KEY}")).to_string();
    rows.push(Row::new("a 400 that shows the key", response(400, "", &echo), Expect::Refused));
    let page = format!("<html><body><h1>400</h1>{KEY}</body></html>");
    rows.push(Row::new("a page that shows the key", response(400, "", page), Expect::Refused));
    let bad = protocol.error(400, "temperature must be at most 2").to_string();
    rows.push(Row::new("a bad value", response(400, "", bad), Expect::Refused));
    let endless = format!("HTTP/1.1 500 X\r\ncontent-length: {}\r\n\r\n", 100_000_000_u64);
    let act = super::super::super::server::Act::Endless(endless.into_bytes(), vec![b'x'; 1 << 16]);
    rows.push(Row::new("an error of 100 MB", act, Expect::Retried(Kind::Server, Billed::No)));
    rows
}

/// A used up quota ends the chat; a limit for the minute is waited out, whatever words it uses.
fn quotas(protocol: &dyn Protocol) -> Vec<Row> {
    let limited = Expect::Retried(Kind::RateLimited, Billed::No);
    let quota = Expect::Ends(Kind::Quota, Billed::No);
    let mut rows = Vec::new();
    let openai = |message: &str, kind: &str, code: &str| {
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}}).to_string()
    };
    let per_minute =
        "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.";
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let table = match protocol.name() {
        "anthropic" => vec![
            ("a limit for the minute", 429, protocol.error(429, "This request would exceed your organization's rate limit of 50 requests per minute").to_string(), limited),
            ("credit that is used up", 400, protocol.error(400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.").to_string(), quota),
        ],
        "gemini" => {
            let failure = |id: &str| json!({"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]}]}});
            let minute = failure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
            vec![("a limit for the minute in a quota's words", 429, minute.to_string(), limited)]
        }
        _ => vec![
            ("a limit for the minute", 429, openai(per_minute, "tokens", "rate_limit_exceeded"), limited.clone()),
            ("a limit for the minute in a quota's words", 429, openai(words, "tokens", "rate_limit_exceeded"), limited),
            ("a used up quota by its code", 429, openai("no", "x", "insufficient_quota"), quota.clone()),
            ("a used up quota by its type", 429, json!({"error": {"message": "no", "type": "insufficient_quota", "code": null}}).to_string(), quota.clone()),
            ("a used up quota in words", 429, json!({"error": {"message": words}}).to_string(), quota.clone()),
            ("a billing limit", 400, openai("Billing hard limit has been reached", "invalid_request_error", "billing_hard_limit_reached"), quota),
        ],
    };
    for (name, status, body, expect) in table {
        rows.push(Row::new(name, response(status, "", body), expect));
    }
    if !matches!(protocol.name(), "anthropic" | "gemini") {
        let message = "Request too large for gpt-x on tokens per min (TPM): Limit 8192, Requested 9000. The input or output tokens must be reduced in order to run successfully.";
        let body = openai(message, "tokens", "rate_limit_exceeded");
        rows.push(Row::new(
            "a request beyond the limit for the minute",
            response(429, "", body),
            Expect::TooLong(9000, 8192),
        ));
    }
    rows
}

/// A prompt that is too long comes back with the server's own counts.
fn windows(protocol: &dyn Protocol) -> Vec<Row> {
    let table = [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
            9000,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
            9000,
        ),
        (
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 9500 tokens (9000 of text input, 500 in the output). Please reduce the length of either one.",
            9000,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 9000 input tokens (4096 > 8192 - 9000).",
            9000,
        ),
        ("prompt is too long: 9000 tokens > 8192 maximum", 9000),
        (
            "input length and `max_tokens` exceed context limit: 9000 + 4096 > 8192, decrease input length or `max_tokens` and try again",
            9000,
        ),
        ("The input token count (9000) exceeds the maximum number of tokens allowed (8192).", 9000),
        ("the request exceeds the available context size (8192 tokens): request (9000 tokens)", 9000),
        ("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 9000),
        ("This model's maximum prompt length is 8192 but the request contains 9000 tokens.", 9000),
        (
            "litellm.ContextWindowExceededError: gpt-4-32768: This model's maximum context length is 8,192 tokens. However, your messages resulted in 9,000 tokens.",
            9000,
        ),
    ];
    let rows = table.into_iter().enumerate().map(|(number, (message, prompt))| {
        let body = protocol.error(400, message).to_string();
        Row::new(
            format!("a prompt too long, in words {number}"),
            response(400, "", body),
            Expect::TooLong(prompt, 8192),
        )
    });
    let mut rows: Vec<Row> = rows.collect();
    if protocol.name() != "gemini" && protocol.name() != "anthropic" {
        let fields = json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192}});
        let expect = Expect::TooLong(9000, 8192);
        rows.push(Row::new(
            "a prompt too long, in fields",
            response(400, "", fields.to_string()),
            expect.clone(),
        ));
        let told = json!({"error": {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}});
        rows.push(Row::new(
            "a prompt too long, by its code",
            response(400, "", told.to_string()),
            expect.clone(),
        ));
        rows.push(Row::new("a prompt too long, inside a 200", response(200, "", told.to_string()), expect));
    }
    rows
}
