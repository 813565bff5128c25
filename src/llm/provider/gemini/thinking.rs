//! How hard the model is asked to think: as a level, or as a budget of tokens, by what is known of the model.

use podium_types::chat::Effort;
use serde_json::{Map, Value, json};

use crate::catalog::ModelFacts;

/// The `thinkingConfig`, if any is needed. Thoughts are asked for wherever there are some: they are paid for whether
/// shown or not. A model with a budget may not think unless told to, and then must not be asked for thoughts.
pub(super) fn config(effort: Option<Effort>, facts: &ModelFacts, output_limit: u32) -> Option<Value> {
    let Some((least, most)) = facts.thinking_budget else {
        let mut config = Map::new();
        config.insert("includeThoughts".to_owned(), json!(true));
        if let Some(effort) = effort {
            config.insert("thinkingLevel".to_owned(), json!(level(effort.max(facts.least_effort))));
        }
        return Some(Value::Object(config));
    };
    // Thoughts count against the output limit: half of it is left for the answer.
    let budget = budget(effort?, least, most).min((output_limit / 2).max(least));
    Some(json!({"includeThoughts": budget > 0, "thinkingBudget": budget}))
}

/// Tokens of thought, as Google's own OpenAI-compatible interface translates efforts.
fn budget(effort: Effort, least: u32, most: u32) -> u32 {
    let budget = match effort {
        Effort::Minimal => least,
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
    };
    budget.max(least).min(most)
}

const fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_become_levels_or_budgets_within_what_the_model_takes() {
        use Effort::{High, Low, Medium, Minimal};
        let levels = ModelFacts { least_effort: Low, ..ModelFacts::default() };
        let budgets = ModelFacts { thinking_budget: Some((128, 20_000)), ..ModelFacts::default() };
        let shown = |key: &str, value: Value| Some(json!({"includeThoughts": true, key: value}));
        for (effort, level, tokens, in_little_room) in [
            (Minimal, "low", 128, 128),
            (Low, "low", 1_024, 500),
            (Medium, "medium", 8_192, 500),
            (High, "high", 20_000, 500),
        ] {
            assert_eq!(config(Some(effort), &levels, 1_000), shown("thinkingLevel", json!(level)));
            assert_eq!(config(Some(effort), &budgets, 60_000), shown("thinkingBudget", json!(tokens)));
            assert_eq!(config(Some(effort), &budgets, 1_000), shown("thinkingBudget", json!(in_little_room)));
        }
        assert_eq!(config(None, &levels, 1_000), Some(json!({"includeThoughts": true})));
        assert_eq!(config(None, &budgets, 1_000), None);
        let off = ModelFacts { thinking_budget: Some((0, 20_000)), ..ModelFacts::default() };
        let none = json!({"includeThoughts": false, "thinkingBudget": 0});
        assert_eq!(config(Some(Minimal), &off, 1_000), Some(none));
    }
}
