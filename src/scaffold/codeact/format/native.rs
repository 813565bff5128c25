//! Native calls: the provider says which tools are called. The arguments are JSON text that may not parse.

use podium_types::chat::ToolCall;
use serde::Deserialize;

use super::{Call, Reading};
use crate::codeact::arguments::fit;

/// Reads an answer that came apart already.
pub fn read(text: &str, calls: &[ToolCall]) -> Reading {
    let call = |call: &ToolCall| Call {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: fit::parse(&call.arguments),
    };
    Reading { thought: text.to_owned(), calls: calls.iter().map(call).collect(), ..Reading::default() }
}

/// Reads an assistant's message in the usual JSON form: `{"content": …, "tool_calls": [{"id", "function": {"name",
/// "arguments"}}]}`.
pub fn read_json(text: &str) -> Result<Reading, String> {
    #[derive(Deserialize)]
    struct Written {
        content: Option<String>,
        tool_calls: Option<Vec<WrittenCall>>,
    }
    #[derive(Deserialize)]
    struct WrittenCall {
        #[serde(default)]
        id: Option<String>,
        function: Function,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        #[serde(default)]
        arguments: Option<String>,
    }
    let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let call = |call: WrittenCall| ToolCall {
        id: call.id.unwrap_or_default(),
        name: call.function.name,
        arguments: call.function.arguments.unwrap_or_else(|| "null".to_owned()),
    };
    let calls: Vec<ToolCall> = written.tool_calls.into_iter().flatten().map(call).collect();
    Ok(read(&written.content.unwrap_or_default(), &calls))
}
