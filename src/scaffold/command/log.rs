//! A call of the agent as people read it: what came last in its conversation, and what the model answered.

use podium_types::chat::{ChatRequest, ChatResult, Message, Speaker};
use podium_types::log::{Line, LineKind};

/// Characters of a message that the log keeps at each end; all of it is in the journal.
const ENDS: usize = 2000;

/// What the model was shown after its last turn, and what it said.
pub(super) fn lines(request: &ChatRequest, answer: &ChatResult) -> Vec<Line> {
    let is_answer = |message: &Message| message.role == Speaker::Assistant;
    let from = request.messages.iter().rposition(is_answer).map_or(0, |place| place + 1);
    let news = request.messages.get(from..).unwrap_or_default();
    let mut lines: Vec<Line> = news.iter().map(seen).collect();
    match answer {
        Ok(answer) => {
            if !answer.content.trim().is_empty() {
                lines.push(Line::new(LineKind::Said, "answer", answer.content.trim()));
            }
            let calls = answer.tool_calls.iter();
            lines.extend(calls.map(|call| Line::new(LineKind::Act, &call.name, &call.arguments)));
        }
        Err(error) => lines.push(Line::new(LineKind::Refused, "no answer", error.to_string()).failed(true)),
    }
    lines
}

fn seen(message: &Message) -> Line {
    let (kind, title) = match message.role {
        Speaker::System => (LineKind::Told, "instructions"),
        Speaker::Tool => (LineKind::Seen, "result"),
        Speaker::User | Speaker::Assistant => (LineKind::Seen, "message"),
    };
    Line::new(kind, title, both_ends(message.content.trim()))
}

fn both_ends(text: &str) -> String {
    let characters = text.chars().count();
    let dropped = characters.saturating_sub(2 * ENDS);
    if dropped == 0 {
        return text.to_owned();
    }
    let head: String = text.chars().take(ENDS).collect();
    let tail: String = text.chars().skip(characters - ENDS).collect();
    format!("{head}\n[... {dropped} characters are in the journal only ...]\n{tail}")
}
