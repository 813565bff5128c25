//! Prompts that a server cut without a word: said once for each model of a sitting, whichever call met it first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use podium_llm::ModelName;

/// The models of which it was said. Clones share them.
#[derive(Clone, Default)]
pub(super) struct TruncationWarnings(Arc<Mutex<BTreeSet<ModelName>>>);

impl TruncationWarnings {
    /// Warns of `model`, whose server saw `told` of `counted` prompt tokens, unless that is known.
    pub(super) fn warn(&self, model: &ModelName, counted: u64, told: u64) {
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone()) {
            tracing::warn!(
                %model,
                counted,
                told,
                "the server cut the prompt without saying so; start it with a larger context (for Ollama set \
                 OLLAMA_CONTEXT_LENGTH)"
            );
        }
    }
}
