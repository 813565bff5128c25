//! What a server's error means: the status, the error object (which every server writes differently) and, for want
//! of codes, the words of the message.

use std::time::Duration;

use podium_types::chat::ChatError;
use serde_json::Value;

use super::exchange::Refusal;
use super::window::Counts;
use crate::catalog::ModelFacts;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::{Cause, Failed, Parameter};

/// What the complaint is about.
pub(super) struct Sent<'a> {
    /// The body as sent.
    pub(super) body: &'a Value,
    pub(super) dialect: &'static ErrorDialect,
    pub(super) facts: &'a ModelFacts,
    pub(super) input_estimate: u64,
    pub(super) output_limit: u32,
}

/// How one protocol complains, where it differs.
pub(crate) struct ErrorDialect {
    /// Where each parameter stands in a body (keys joined by dots), and the words by which servers complain of it.
    pub(crate) parameters: &'static [(Parameter, &'static str, &'static [&'static str])],
    /// The error inside a piece of a successful response, if it is one.
    pub(crate) inside: fn(&Value) -> Option<&Value>,
    /// What a status and a complaint mean, where it is not what they mean to all.
    pub(crate) cause: fn(u16, &Complaint) -> Option<ServiceFailure>,
    /// The wait that an error's body asks for.
    pub(crate) retry_after: fn(&Value) -> Option<Duration>,
}

/// An error object, read tolerantly: every field may be missing or of another type.
pub(crate) struct Complaint {
    /// In words, on one line, cut short.
    pub(crate) message: String,
    /// Its code, type and status, in lower case.
    pub(crate) code: String,
    parameter: String,
    /// A filter's doing: the request stays refused whatever the status.
    filtered: bool,
    /// As it came, for what only some servers tell.
    pub(crate) error: Value,
}

/// Characters kept of a message.
const MESSAGE: usize = 400;

/// The failure that a refusal means.
pub(super) fn read(refusal: &Refusal, sent: &Sent<'_>) -> Failed {
    let body = serde_json::from_str(&refusal.body).unwrap_or_else(|_| Value::String(plain(&refusal.body)));
    let complaint = Complaint::new(&body);
    let status = refusal.status;
    let settled = match status {
        // A gateway gave up on a server that may have gone on.
        408 | 499 | 502 | 504 | 520 | 524 => Settled::Unknown,
        _ => Settled::NotBilled,
    };
    Failed {
        cause: complaint.cause(status, sent),
        status: Some(status),
        settled,
        message: complaint.text(status),
        retry_after: refusal.retry_after.or_else(|| (sent.dialect.retry_after)(&body)),
        hopeless: refusal.hopeless,
    }
}

/// The failure that an error object inside a stream or a 200 means; `None` when `body` is no error.
pub(super) fn inside(body: &Value, sent: &Sent<'_>) -> Option<Failed> {
    let error = (sent.dialect.inside)(body).filter(|error| !error.is_null())?;
    let code = error.get("code").or_else(|| error.get("status"));
    let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let complaint = Complaint::new(error);
    let status = number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let status = status.or_else(|| complaint.is_context().then_some(400)).unwrap_or(500);
    Some(Failed {
        cause: complaint.cause(status, sent),
        status: Some(status),
        settled: Settled::Unknown,
        message: complaint.text(status),
        retry_after: (sent.dialect.retry_after)(body),
        hopeless: false,
    })
}

impl Complaint {
    fn new(body: &Value) -> Self {
        // Where chunks of an answer come in an array, so does an error.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let field =
            |names: &[&str]| names.iter().find_map(|name| error.get(name)).map(text).unwrap_or_default();
        let message = match error {
            Value::Object(_) => field(&["message", "detail", "error", "msg"]),
            other => text(other),
        };
        let code = format!("{} {} {}", field(&["code"]), field(&["type"]), field(&["status"]));
        let code = code.to_lowercase();
        let inner = error.get("innererror").and_then(|inner| inner.get("code")).and_then(Value::as_str);
        let filtered =
            ["content_filter", "content_policy", "invalid_prompt"].iter().any(|name| code.contains(name))
                || inner == Some("ResponsibleAIPolicyViolation")
                || error.get("metadata").is_some_and(|metadata| metadata.get("flagged_input").is_some());
        Self { message: cut(&message), code, parameter: field(&["param"]), filtered, error: error.clone() }
    }

    fn text(&self, status: u16) -> String {
        if self.message.is_empty() {
            format!("HTTP {status}")
        } else {
            format!("HTTP {status}: {}", self.message)
        }
    }

    fn cause(&self, status: u16, sent: &Sent<'_>) -> Cause {
        // A limit per minute that a single request exceeds is a window: waiting does not help.
        if status == 429 && self.says(&["must be reduced in order to run"]) {
            return Cause::Request(Box::new(self.context_too_long(sent)));
        }
        if let Some(kind) = (sent.dialect.cause)(status, self) {
            return Cause::Service(kind);
        }
        match status {
            _ if self.filtered => Cause::Request(Box::new(self.refused())),
            400 | 413 | 422 => self.request_cause(sent),
            401 | 403 => Cause::Service(ServiceFailure::Auth),
            402 => Cause::Service(ServiceFailure::Quota),
            // A router that has the model, but not with all that was asked for.
            404 if self.says(&["no endpoints found that support"]) => self.request_cause(sent),
            404 | 405 | 410 => Cause::Service(ServiceFailure::NotFound),
            429 if self.is_quota() => Cause::Service(ServiceFailure::Quota),
            429 => Cause::Service(ServiceFailure::RateLimited),
            500 | 501 if self.message.contains("--jinja") => match self.unsupported(sent) {
                Some(parameter) => Cause::Unsupported(parameter),
                None => Cause::Service(ServiceFailure::Server),
            },
            407 => Cause::Service(ServiceFailure::Proxy),
            408 | 409 | 425 | 500.. => Cause::Service(ServiceFailure::Server),
            400.. => Cause::Request(Box::new(self.refused())),
            _ => Cause::Service(ServiceFailure::BadAnswer),
        }
    }

    fn request_cause(&self, sent: &Sent<'_>) -> Cause {
        if self.is_context() {
            return Cause::Request(Box::new(self.context_too_long(sent)));
        }
        match self.unsupported(sent) {
            Some(parameter) => Cause::Unsupported(parameter),
            None if self.is_schema(sent) => Cause::Unsupported(Parameter::StrictSchema),
            None => Cause::Request(Box::new(self.refused())),
        }
    }

    /// It takes schemas, but not this one: strict modes know a part of JSON Schema only.
    fn is_schema(&self, sent: &Sent<'_>) -> bool {
        let schema_was_sent = sent.dialect.parameters.iter().any(|(parameter, path, _)| {
            *parameter == Parameter::Schema
                && path.split('.').try_fold(sent.body, |value, key| value.get(key)).is_some()
        });
        schema_was_sent
            && !self.says(&["for function", "for tool"])
            && self.says(&[
                "invalid schema",
                "invalid json schema",
                "json schema is invalid",
                "json schema conversion failed",
                "schema is too complex",
                "too many states",
                "failed to parse grammar",
                "compile the grammar",
            ])
    }

    fn refused(&self) -> ChatError {
        ChatError::Refused { message: self.message.clone() }
    }

    /// Whether the message holds one of these phrases, which are in lower case.
    pub(crate) fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    fn is_quota(&self) -> bool {
        ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]
            .iter()
            .any(|code| self.code.contains(code))
            || self.says(&["exceeded your current quota", "insufficient credits", "insufficient balance"])
    }

    fn is_context(&self) -> bool {
        ["context_length_exceeded", "exceed_context_size", "string_above_max_length"]
            .iter()
            .any(|code| self.code.contains(code))
            || self.says(&[
                "maximum context length",
                "context length exceeded",
                "exceeds the context window",
                "exceeds the available context size",
                "exceeds context window",
                "exceed context limit",
                "maximum prompt length",
                "maximum number of tokens allowed",
                "prompt is too long",
                "input is too long",
                "exceeds the maximum number of tokens",
            ])
    }

    fn context_too_long(&self, sent: &Sent<'_>) -> ChatError {
        let counts = Counts::read(&self.error, &self.message, sent.facts.context_window);
        ChatError::ContextTooLong {
            prompt_tokens: counts.prompt.unwrap_or(sent.input_estimate),
            output_tokens: u64::from(sent.output_limit),
            window: counts.window.unwrap_or_default(),
        }
    }

    /// The parameter that the complaint names as not taken, if the request had it.
    fn unsupported(&self, sent: &Sent<'_>) -> Option<Parameter> {
        const PHRASES: &[&str] = &[
            "unsupported",
            "not support",
            "unrecognized",
            "unknown",
            "unexpected",
            "not permitted",
            "not allowed",
            "not available",
            "not enabled",
            "corrupted thought",
            "signature is not valid",
            "missing a thought",
            "not implemented",
            "invalid parameter",
            "extra inputs",
            "only the default",
            "requires --",
            "no endpoints found",
            "deprecated",
            "may not be",
            "must be explicitly",
            "invalid `signature`",
            "cannot be modified",
        ];
        if !self.code.contains("unsupported") && !self.says(PHRASES) {
            return None;
        }
        let there = |path: &str| path.split('.').try_fold(sent.body, |value, key| value.get(key)).is_some();
        let known = sent.dialect.parameters.iter().filter(|(_, path, _)| there(path));
        let strength = |names: &[&str]| names.iter().map(|name| self.names(name)).max().unwrap_or_default();
        known
            .map(|(parameter, _, names)| (strength(names), *parameter))
            .filter(|(strength, _)| *strength > 0)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, parameter)| parameter)
    }

    /// How plainly the complaint names `name`: 2 as the parameter, 1 as a word of the message.
    fn names(&self, name: &str) -> u8 {
        if self.parameter.split(['.', '[']).next() == Some(name) {
            return 2;
        }
        let message = self.message.to_lowercase();
        let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let whole_word = message.match_indices(name).any(|(at, found)| {
            let before = message.get(..at).and_then(|head| head.chars().next_back());
            let behind = message.get(at + found.len()..).and_then(|tail| tail.chars().next());
            !part_of_word(before) && !part_of_word(behind)
        });
        u8::from(whole_word)
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The first characters of `text`, on one line.
pub(crate) fn cut(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MESSAGE).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The words of an HTML page, or the text itself.
fn plain(body: &str) -> String {
    if !body.trim_start().starts_with('<') {
        return body.to_owned();
    }
    let mut inside = false;
    let keep = |c: char| {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                return ' ';
            }
            _ => {}
        }
        if inside { ' ' } else { c }
    };
    body.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(status: u16, body: &str) -> Failed {
        let body_sent = json!({"temperature": 1, "max_tokens": 5, "response_format": {}, "tools": [], "seed": 1, "stop": []});
        let facts = ModelFacts::default();
        let dialect = &crate::provider::openai::ERRORS;
        let sent = Sent { body: &body_sent, dialect, facts: &facts, input_estimate: 7, output_limit: 5 };
        read(&Refusal { status, retry_after: None, hopeless: false, body: body.to_owned() }, &sent)
    }

    #[test]
    fn statuses_and_codes_sort_failures() {
        use ServiceFailure as Kind;
        for (status, body, kind) in [
            (429, "", Kind::RateLimited),
            (429, r#"{"error":{"message":"slow down","code":429}}"#, Kind::RateLimited),
            (429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, Kind::Quota),
            (429, r#"{"error":{"message":"x","type":"insufficient_quota","code":null}}"#, Kind::Quota),
            (402, "", Kind::Quota),
            (401, r#"{"error":"no"}"#, Kind::Auth),
            (403, "", Kind::Auth),
            (404, r#"{"detail":"no such model"}"#, Kind::NotFound),
            (408, "", Kind::Server),
            (409, "", Kind::Server),
            (425, "", Kind::Server),
            (500, "<html><h1>Oops</h1></html>", Kind::Server),
            (503, "[]", Kind::Server),
            (302, "", Kind::BadAnswer),
        ] {
            assert_eq!(failed(status, body).cause, Cause::Service(kind), "{status} {body}");
        }
        assert_eq!(failed(500, "<html><h1>Oops</h1></html>").message, "HTTP 500: Oops");
    }

    #[test]
    fn unsupported_parameters_are_told_from_bad_values() {
        for (message, parameter) in [
            (
                "Unsupported value: 'temperature' does not support 0.5 with this model.",
                Some(Parameter::Temperature),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(Parameter::OutputLimitName),
            ),
            ("registry/library/x does not support tools", Some(Parameter::Tools)),
            ("\"auto\" tool choice requires --enable-auto-tool-choice to be set", Some(Parameter::Tools)),
            ("This model does not support json_schema output", Some(Parameter::Schema)),
            ("Unrecognized request argument supplied: seed", Some(Parameter::Seed)),
            ("temperature must be at most 2", None),
            ("Unknown model family stopgap", None),
        ] {
            let body = json!({"error": {"message": message, "code": 400}}).to_string();
            let expected = match parameter {
                Some(parameter) => Cause::Unsupported(parameter),
                None => Cause::Request(Box::new(ChatError::Refused { message: message.into() })),
            };
            assert_eq!(failed(400, &body).cause, expected, "{message}");
        }
    }

    #[test]
    fn context_errors_carry_their_numbers() {
        for message in [
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "the request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        ] {
            let body = json!({"error": {"message": message}}).to_string();
            let expected = ChatError::ContextTooLong { prompt_tokens: 9000, output_tokens: 5, window: 8192 };
            assert_eq!(failed(400, &body).cause, Cause::Request(Box::new(expected)));
        }
    }

    #[test]
    fn messages_are_cut_to_one_line() {
        let failed = failed(500, &"long\n".repeat(5_000));
        assert!(failed.message.chars().count() <= MESSAGE + 12 && !failed.message.contains('\n'));
    }
}
