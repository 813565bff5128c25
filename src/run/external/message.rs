//! JSON-RPC 2.0, one message a line: what a line of the program is, and how an answer is put.
//!
//! The program asks and Podium answers; nothing is asked of the program, so a line that is an answer is a fault. There are
//! no batches and no notifications. A fault of the program's that leaves open what comes next ends the run; one that
//! concerns a single request is its answer.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// No JSON.
pub const PARSE: i64 = -32_700;
/// No request.
pub const INVALID_REQUEST: i64 = -32_600;
/// No such method.
pub const UNKNOWN_METHOD: i64 = -32_601;
/// Parameters that the method does not have, or values that cannot be.
pub const INVALID_PARAMS: i64 = -32_602;
/// The model refused the request, or its service failed and the program asked to hear of that.
pub const CHAT_FAILED: i64 = -32_001;
/// A crash or a stop cut an act that is never done twice.
pub const INTERRUPTED: i64 = -32_002;
/// An act on a file or a session was not done.
pub const FAULT: i64 = -32_003;
/// The program cancelled the request.
pub const CANCELLED: i64 = -32_004;
/// The rule of keys was broken: without a key a request must be alone.
pub const NOT_ALONE: i64 = -32_010;
/// A key that is none, or was used before.
pub const BAD_KEY: i64 = -32_011;
/// Too many requests are outstanding.
pub const TOO_MANY: i64 = -32_012;
/// No version in common, or no handshake.
pub const NO_VERSION: i64 = -32_013;

/// Of a line that cannot be read so many bytes are shown.
const SHOWN: usize = 120;

/// A request that was not done as asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its code.
    pub code: i64,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// More about it.
    pub data: Option<Value>,
}

impl Fault {
    /// A fault without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// With data.
    pub fn with(code: i64, message: impl Into<String>, data: Value) -> Self {
        Self { code, message: message.into(), data: Some(data) }
    }
}

/// A request's own name, which its answer bears.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl From<&Id> for Value {
    fn from(id: &Id) -> Self {
        match id {
            Id::Number(number) => json!(number),
            Id::Text(text) => json!(text),
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its name.
    pub id: Id,
    /// What is asked for.
    pub method: String,
    /// Its parameters, by name.
    pub params: Map<String, Value>,
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// The fault, and the id where one can be made out.
    pub fn read(line: &[u8]) -> Result<Self, (Option<Id>, Fault)> {
        let value: Value =
            serde_json::from_slice(line).map_err(|error| (None, Fault::new(PARSE, no_json(line, &error))))?;
        let id = value.get("id").and_then(|id| Id::deserialize(id).ok());
        let invalid = |why: &str| (id.clone(), Fault::new(INVALID_REQUEST, why));
        let Value::Object(mut fields) = value else { return Err(invalid("the message is no object")) };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("`jsonrpc` is not \"2.0\""));
        }
        if fields.contains_key("result") || fields.contains_key("error") {
            return Err(invalid("the message is an answer, and nothing was asked"));
        }
        let Some(Value::String(method)) = fields.remove("method") else {
            return Err(invalid("`method` is no text"));
        };
        let params = match fields.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid("`params` is no object")),
        };
        let Some(named) = id.clone() else { return Err(invalid("`id` is no number and no text")) };
        fields.remove("id");
        fields.remove("jsonrpc");
        match fields.keys().next() {
            Some(name) => Err(invalid(&format!("a request has no `{name}`"))),
            None => Ok(Self { id: named, method, params }),
        }
    }
}

/// What a line is that is no JSON: mostly something that was printed.
fn no_json(line: &[u8], error: &serde_json::Error) -> String {
    let text = String::from_utf8_lossy(line.get(..SHOWN).unwrap_or(line));
    let text: String = text.trim_end().chars().flat_map(char::escape_debug).collect();
    let more = if line.len() > SHOWN { "..." } else { "" };
    format!(
        "the line is no JSON: `{text}{more}` ({error}); standard output carries the protocol: print to standard error \
         (podium_client sees to that from `Podium()` on)"
    )
}

/// The line of an answer, its line break included.
pub fn answer(id: Option<&Id>, outcome: Result<Value, Fault>) -> Vec<u8> {
    let id = id.map_or(Value::Null, Value::from);
    let message = match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Fault { code, message, data }) => {
            let mut error = json!({ "code": code, "message": message });
            if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
                error.insert("data".to_owned(), data);
            }
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    };
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_requests_or_faults() {
        let read = |line: &str| Request::read(line.as_bytes()).map_err(|(id, fault)| (id, fault.code));
        let request = read(r#"{"jsonrpc":"2.0","id":3,"method":"note","params":{"text":"a"}}"#).unwrap();
        assert_eq!((request.id, request.method.as_str()), (Id::Number(3), "note"));
        assert_eq!(request.params["text"], "a");
        let three = Some(Id::Number(3));
        let cases: [(&str, (Option<Id>, i64)); 10] = [
            ("{", (None, PARSE)),
            ("", (None, PARSE)),
            ("\u{0}", (None, PARSE)),
            ("[]", (None, INVALID_REQUEST)),
            (r#"{"id":3,"method":"note"}"#, (three.clone(), INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"result":1}"#, (three.clone(), INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","method":"note"}"#, (None, INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"note"}"#, (None, INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"note","params":[1]}"#, (three.clone(), INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"note","key":"a"}"#, (three, INVALID_REQUEST)),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), Err(expected), "{line}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&deep), Err((None, PARSE)));
    }

    #[test]
    fn an_answer_is_one_line() {
        let fault = Fault::with(FAULT, "a\nb", json!({"path": "x"}));
        let line = String::from_utf8(answer(Some(&Id::Text("q".to_owned())), Err(fault))).unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["id"], &read["error"]["data"]["path"]), (&json!("q"), &json!("x")));
        assert_eq!(
            String::from_utf8(answer(None, Ok(json!({})))).unwrap(),
            "{\"id\":null,\"jsonrpc\":\"2.0\",\"result\":{}}\n"
        );
    }
}
