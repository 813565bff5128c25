//! Prompts that a server cut without a word: it tells far fewer prompt tokens than were sent.
//!
//! Local servers do so when a prompt exceeds the context they were started with: Ollama keeps half of its default of
//! 4,096 tokens. The estimate alone cannot tell, being twice the count for many texts, so the prompt is counted where it
//! makes a cut likely. Other vocabularies than ours differ by a fifth, seldom by more; a cut prompt by half.

use podium_types::chat::ChatRequest;
use podium_types::usage::Usage;

use crate::observer::{CallEvent, Observer};
use crate::tokens;

/// Shorter prompts fit everywhere, and there the frames of messages make up the difference.
const SMALLEST: u64 = 1_000;

/// Tells `observer` when the server that was sent `request` saw far less of it. Tokens read from its cache are among
/// those it counted.
pub(crate) async fn check(request: &ChatRequest, used: &Usage, observer: &dyn Observer) {
    let told = used.input_tokens;
    let mut seen = request.clone();
    for message in &mut seen.messages {
        // Signatures and encrypted reasoning are bytes, not prompt.
        message.provider_state = None;
    }
    let estimate = tokens::estimate(&seen);
    if used.estimated || told == 0 || estimate < SMALLEST || told.saturating_mul(2) > estimate {
        return;
    }
    let counted = tokio::task::spawn_blocking(move || tokens::exact(&seen)).await.unwrap_or_default();
    if counted >= SMALLEST && told.saturating_mul(10) < counted.saturating_mul(7) {
        observer.event(CallEvent::Truncated { counted, told });
    }
}
