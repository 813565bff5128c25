//! What is known about providers and models: addresses, windows, limits, prices, abilities. Data, from
//! `benchmark/models.toml` and the user.
//!
//! An entry is found by its exact name, then by an alias, then by `provider/*`; anything else gets defaults that
//! are safe with any server, and an unknown (never zero) price.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use podium_types::chat::Effort;
use podium_types::money::Usd;
use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::catalog_check;
use crate::catalog_error::CatalogError;
use crate::endpoint::ProviderFacts;
use crate::model::ModelName;
use crate::pace::Limits;
use crate::same_as;
use crate::toml_fault;

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Prompt tokens.
    pub input: f64,
    /// Prompt tokens read from the provider's cache; the full input price where absent.
    pub cached_input: Option<f64>,
    /// Prompt tokens written to the provider's cache; the input price where absent.
    pub cache_write: Option<f64>,
    /// Generated tokens.
    pub output: f64,
    /// Generated tokens that were hidden reasoning; the output price where absent.
    pub reasoning: Option<f64>,
    /// What a call costs more when its prompt is long.
    pub long_prompt: Option<LongPrompt>,
}

/// A surcharge on the whole of a call whose prompt is longer than so many tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrompt {
    /// Prompts of up to this many tokens cost no more.
    pub above: u64,
    /// By how much the prices of prompt tokens, cached or not, are multiplied.
    pub input: f64,
    /// By how much the prices of generated tokens are multiplied.
    pub output: f64,
}

impl Prices {
    /// What `usage` costs.
    pub fn cost(&self, usage: &Usage) -> Usd {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let reasoning = usage.reasoning_tokens.min(usage.output_tokens);
        let (more_in, more_out) = self.surcharge(usage.input_tokens);
        Usd::of_tokens(usage.input_tokens - cached - written, self.input * more_in)
            + Usd::of_tokens(cached, self.cached_input.unwrap_or(self.input) * more_in)
            + Usd::of_tokens(written, self.cache_write.unwrap_or(self.input) * more_in)
            + Usd::of_tokens(usage.output_tokens - reasoning, self.output * more_out)
            + Usd::of_tokens(reasoning, self.reasoning.unwrap_or(self.output) * more_out)
    }

    pub(crate) fn are_amounts(&self) -> bool {
        let rest = [self.cached_input, self.cache_write, self.reasoning];
        let all = [self.input, self.output].into_iter().chain(rest.into_iter().flatten());
        all.into_iter().all(|price| price.is_finite() && price >= 0.0)
    }

    /// The most that so many tokens cost, whatever kind they turn out to be.
    pub fn most(&self, input_tokens: u64, output_tokens: u64) -> Usd {
        let (more_in, more_out) = self.surcharge(input_tokens);
        Usd::of_tokens(input_tokens, self.input.max(self.cache_write.unwrap_or_default()) * more_in)
            + Usd::of_tokens(output_tokens, self.output.max(self.reasoning.unwrap_or_default()) * more_out)
    }

    /// By how much the prices of a prompt of so many tokens, and of its answer, are multiplied.
    fn surcharge(&self, input_tokens: u64) -> (f64, f64) {
        let long = self.long_prompt.filter(|long| input_tokens > long.above);
        long.map_or((1.0, 1.0), |long| (long.input, long.output))
    }
}

/// Which of OpenAI's two interfaces a model is reached by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Chat completions.
    #[default]
    ChatCompletions,
    /// The Responses API, which some models need.
    Responses,
}

/// How a model of Anthropic's is told to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// By a budget of tokens; without one it does not think.
    Budget,
    /// By an effort; how much it thinks is its own affair, and it can be told not to think.
    #[default]
    Adaptive,
    /// By an effort, and it cannot be told not to think. So it refuses the demand that a tool be called.
    Always,
}

/// What is known about one model. Absent abilities count as present: a server that lacks one says so with a 400,
/// and the client then does without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent abilities")]
pub struct ModelFacts {
    /// Tokens of prompt and answer together; `None` when unknown, and then not checked before sending.
    pub context_window: Option<u64>,
    /// The output limit sent when the request names none.
    pub max_output_tokens: u32,
    /// The largest output limit the model takes; a request's own limit is cut to it.
    pub output_limit: Option<u32>,
    /// Prices; `None` when unknown.
    pub prices: Option<Prices>,
    /// The day on which the prices were read, `YYYY-MM-DD` or `YYYY-MM`.
    pub prices_as_of: Option<String>,
    /// The last day or month of the training data.
    pub knowledge_cutoff: Option<String>,
    /// How it is reached, where the provider speaks OpenAI's protocol.
    pub api: Api,
    /// The entry whose facts it has, but for the keys of its own.
    pub same_as: Option<ModelName>,
    /// How it is told to think, where the provider speaks Anthropic's protocol.
    pub thinking: Thinking,
    /// Other names of the same model at the same price, such as dated snapshots.
    pub aliases: Vec<String>,
    /// Takes a sampling temperature.
    pub temperature: bool,
    /// Takes a sampling seed.
    pub seed: bool,
    /// Takes stop sequences; where it does not, the client cuts the answer itself.
    pub stop: bool,
    /// Takes system messages; where it does not, they go into the first user message.
    pub system_role: bool,
    /// Enforces a JSON Schema while decoding.
    pub strict_schema: bool,
    /// Takes tools.
    pub tools: bool,
    /// Takes the demand that a tool be called, or a certain one, or none.
    pub tool_choice: bool,
    /// Takes the demand for at most one tool call, where it would make several.
    pub parallel_tool_calls: bool,
    /// Thinks before it answers, and takes a reasoning effort.
    pub reasoning: bool,
    /// Gives log probabilities.
    pub logprobs: bool,
    /// A limit of its own, beside its provider's: requests in any minute.
    pub requests_per_minute: Option<NonZeroU32>,
    /// A limit of its own: tokens, of prompts and answers, in any minute.
    pub tokens_per_minute: Option<NonZeroU64>,
    /// A limit of its own: calls at the same time.
    pub concurrency: Option<NonZeroU32>,
    /// The least reasoning effort it takes; less becomes this.
    pub least_effort: Effort,
    /// The least and the most tokens of thought it takes, where the provider speaks Gemini's protocol and an effort is
    /// told as a number of tokens.
    pub thinking_budget: Option<(u32, u32)>,
}

/// The output limit of a model about which nothing is known.
const DEFAULT_OUTPUT_TOKENS: u32 = 4096;

impl ModelFacts {
    const UNKNOWN: Self = Self {
        context_window: None,
        max_output_tokens: DEFAULT_OUTPUT_TOKENS,
        output_limit: None,
        prices: None,
        prices_as_of: None,
        knowledge_cutoff: None,
        api: Api::ChatCompletions,
        same_as: None,
        thinking: Thinking::Adaptive,
        aliases: Vec::new(),
        temperature: true,
        seed: true,
        stop: true,
        system_role: true,
        strict_schema: true,
        tools: true,
        tool_choice: true,
        parallel_tool_calls: true,
        reasoning: true,
        logprobs: true,
        requests_per_minute: None,
        tokens_per_minute: None,
        concurrency: None,
        least_effort: Effort::Minimal,
        thinking_budget: None,
    };

    /// The limits of its own.
    pub(crate) const fn limits(&self) -> Limits {
        Limits {
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            concurrency: self.concurrency,
        }
    }
}

impl Default for ModelFacts {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    providers: BTreeMap<String, ProviderFacts>,
    #[serde(default)]
    models: BTreeMap<ModelName, ModelFacts>,
}

const SHIPPED_FILE: &str = "benchmark/models.toml";

/// All models we know something about.
#[derive(Clone, Debug)]
pub struct Catalog {
    providers: BTreeMap<String, ProviderFacts>,
    entries: BTreeMap<ModelName, ModelFacts>,
    aliases: BTreeMap<ModelName, ModelName>,
    unknown: ModelFacts,
}

impl Default for Catalog {
    fn default() -> Self {
        Self {
            providers: BTreeMap::new(),
            entries: BTreeMap::new(),
            aliases: BTreeMap::new(),
            unknown: ModelFacts::UNKNOWN,
        }
    }
}

impl Catalog {
    /// Reads the text of `benchmark/models.toml`.
    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        Self::default().with(SHIPPED_FILE, text)
    }

    /// This catalog and the entries of `text`, which stands in `file`; they replace entries of the same name whole.
    pub fn with(mut self, file: &str, text: &str) -> Result<Self, CatalogError> {
        if let Some(key) = catalog_check::key_in(file, text) {
            return Err(key);
        }
        let mut read: File = toml_fault::read(file, text).map_err(CatalogError::Toml)?;
        same_as::inherit(file, text, &self.entries, &mut read.models).map_err(CatalogError::Toml)?;
        self.providers.extend(read.providers.clone());
        for (name, facts) in &read.providers {
            catalog_check::provider(name, facts).map_err(|fault| fault.at(file, text))?;
        }
        let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
        for (name, facts) in &read.models {
            catalog_check::model(name, facts, &known).map_err(|fault| fault.at(file, text))?;
        }
        for (name, facts) in read.models {
            for alias in &facts.aliases {
                let alias = ModelName { provider: name.provider.clone(), model: alias.clone() };
                self.aliases.insert(alias, name.clone());
            }
            self.entries.insert(name, facts);
        }
        Ok(self)
    }

    /// What is known about `model`.
    pub fn facts(&self, model: &ModelName) -> &ModelFacts {
        let any = ModelName { provider: model.provider.clone(), model: "*".to_owned() };
        self.entries
            .get(model)
            .or_else(|| self.aliases.get(model).and_then(|name| self.entries.get(name)))
            .or_else(|| self.entries.get(&any))
            .unwrap_or(&self.unknown)
    }

    /// All providers, by name.
    pub fn providers(&self) -> impl Iterator<Item = (&String, &ProviderFacts)> {
        self.providers.iter()
    }

    /// All entries, for a list of models.
    pub fn entries(&self) -> impl Iterator<Item = (&ModelName, &ModelFacts)> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../benchmark/models.toml");

    fn name(text: &str) -> ModelName {
        text.parse().unwrap()
    }

    #[test]
    fn the_shipped_catalog_is_complete() {
        let catalog = Catalog::parse(SHIPPED).unwrap();
        assert!(catalog.entries().count() >= 12);
        for (name, facts) in catalog
            .entries()
            .filter(|(name, _)| matches!(name.provider.as_str(), "openai" | "anthropic" | "google"))
        {
            assert!(facts.prices.is_some() && facts.prices_as_of.is_some(), "{name} has no dated price");
            assert!(facts.context_window.is_some() && facts.output_limit.is_some(), "{name} has no limits");
            assert!(facts.output_limit >= Some(facts.max_output_tokens), "{name} sends more than its limit");
        }
    }

    #[test]
    fn exact_name_then_alias_then_wildcard_then_defaults() {
        let catalog = Catalog::parse(SHIPPED).unwrap();
        assert_eq!(catalog.facts(&name("openai/gpt-4o-2024-08-06")), catalog.facts(&name("openai/gpt-4o")));
        assert!(catalog.facts(&name("openai/nobody-knows-it")).prices.is_none());
        assert!(!catalog.facts(&name("ollama/any")).reasoning);
        assert_eq!(catalog.facts(&name("playbook/default")).prices.unwrap().cost(&Usage::NOTHING), Usd::ZERO);
        let own = catalog.with("own.toml", "[models.\"openai/gpt-4o\"]\nmax_output_tokens = 7").unwrap();
        assert_eq!(own.facts(&name("openai/gpt-4o")).max_output_tokens, 7);
    }

    #[test]
    fn unknown_keys_are_errors() {
        let told = |text: &str| Catalog::default().with("own.toml", text).unwrap_err().to_string();
        let head = "the model catalog cannot be read: `own.toml`, line";
        assert_eq!(
            told("# mine\n[models.\"a/b\"]\ncontext_windw = 3"),
            format!("{head} 3: unknown key `context_windw`; did you mean `context_window`?")
        );
        assert!(
            told("[providers.b]\nprotocol = \"opnai\"")
                .contains("line 2: unknown variant `opnai`; did you mean `openai`?")
        );
        assert_eq!(told("\n[models.b]"), format!("{head} 2: `b` is no model name"));
        assert!(
            Catalog::parse("[model]").unwrap_err().to_string().contains("`benchmark/models.toml`, line 1")
        );
    }

    #[test]
    fn a_long_prompt_makes_the_whole_call_dearer() {
        let text = "[models.\"a/b\"]\nprices = { input = 1.0, output = 10.0, long_prompt = { above = 1000, input = 2.0, output = 1.5 } }";
        let prices = Catalog::parse(text).unwrap().facts(&name("a/b")).prices.unwrap();
        for (input_tokens, dollars) in [(1_000, 0.001 + 0.01), (1_001, 0.002_002 + 0.015)] {
            let usage = Usage { input_tokens, output_tokens: 1_000, ..Usage::NOTHING };
            assert_eq!(prices.cost(&usage), Usd::from_dollars(dollars));
            assert_eq!(prices.most(input_tokens, 1_000), Usd::from_dollars(dollars));
        }
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let prices = Prices {
            input: 2.0,
            cached_input: Some(0.5),
            cache_write: None,
            output: 8.0,
            reasoning: None,
            long_prompt: None,
        };
        let usage = Usage {
            input_tokens: 1_000_000,
            cached_input_tokens: 500_000,
            output_tokens: 100_000,
            ..Usage::NOTHING
        };
        assert_eq!(prices.cost(&usage), Usd::from_dollars(1.0 + 0.25 + 0.8));
    }
}
