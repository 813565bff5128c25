//! Providers as data: which protocol each speaks, where it is, which variables hold its address and its key.
//!
//! The shipped ones stand in `benchmark/models.toml` under `[providers]`; users add their own in the same form. A
//! provider's entry holds the *name* of the variable with its key, never a key.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use crate::pace::Limits;
use crate::secret::Secret;

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI's: chat completions, and for models with `api = "responses"` the Responses API.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's as Azure serves it: a deployment in the address, an API version, a key in a header of its own.
    Azure,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

/// The reasoning that a server of chat completions wants back with an assistant's turn, by the name of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningBack {
    /// A list of blocks, some of them signed or encrypted, just as they came.
    ReasoningDetails,
    /// The text. A turn that calls tools is refused without it, so there it is sent even where it is empty.
    ReasoningContent,
}

impl ReasoningBack {
    /// The field's name on the wire.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::ReasoningDetails => "reasoning_details",
            Self::ReasoningContent => "reasoning_content",
        }
    }
}

/// A provider as its TOML entry describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent traits")]
pub struct ProviderFacts {
    /// What it speaks.
    pub protocol: Protocol,
    /// Its address; `None` where every user has one of their own.
    pub base_url: Option<String>,
    /// The variable that moves it elsewhere; `NAME_BASE_URL` where absent.
    pub base_url_variable: Option<String>,
    /// The variable that holds its key; `NAME_API_KEY` where absent.
    pub key_variable: Option<String>,
    /// A second name of that variable, read where the first is not set: some keys are known by two.
    pub other_key_variable: Option<String>,
    /// A call to `base_url` without a key is refused before it is sent.
    #[serde(default)]
    pub key_required: bool,
    /// It calls the output limit `max_completion_tokens`, as newer servers of OpenAI's chat completions do. A server
    /// that wants the other name says so, and gets it.
    #[serde(default)]
    pub max_completion_tokens: bool,
    /// Requests that are sent to it in any minute, by all runs of a process together.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens, of prompts and answers, in any minute.
    pub tokens_per_minute: Option<NonZeroU64>,
    /// Calls at the same time.
    pub concurrency: Option<NonZeroU32>,
    /// It takes the reasoning effort inside an object, `reasoning`.
    #[serde(default)]
    pub reasoning_object: bool,
    /// The reasoning it wants back; none where absent.
    pub reasoning_back: Option<ReasoningBack>,
    /// It knows a JSON mode in the place of schemas: the schema goes into the prompt.
    #[serde(default)]
    pub json_mode: bool,
    /// Its usage tells what the call cost, in dollars, and that is believed over the catalog's prices.
    #[serde(default)]
    pub tells_cost: bool,
}

/// Where a provider is and how it knows us.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent traits")]
pub struct Endpoint {
    /// What it speaks.
    pub protocol: Protocol,
    /// Address up to and without the protocol's own path; `None` when neither entry nor variable tells it.
    pub base_url: Option<String>,
    /// The variable that tells or moves the address.
    pub base_url_variable: String,
    /// The key; `None` sends none.
    pub key: Option<Secret>,
    /// The variable that holds the key.
    pub key_variable: String,
    /// The key must be there.
    pub key_required: bool,
    /// It calls the output limit `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// How fast and how many at once it may be called.
    pub limits: Limits,
    /// It takes the reasoning effort inside an object.
    pub reasoning_object: bool,
    /// The reasoning it wants back.
    pub reasoning_back: Option<ReasoningBack>,
    /// It knows a JSON mode in the place of schemas.
    pub json_mode: bool,
    /// Its usage tells what the call cost.
    pub tells_cost: bool,
    /// Further values of the protocol, by the name of their variable: organisation, project, API version.
    pub extra: BTreeMap<&'static str, String>,
}

/// Variables of a protocol beside address and key.
const fn extra_variables(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::OpenAi => &["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"],
        Protocol::Azure => &["AZURE_OPENAI_API_VERSION"],
        Protocol::Anthropic | Protocol::Gemini => &[],
    }
}

impl ProviderFacts {
    /// The variables it is read from, those of its protocol included.
    pub fn variables(&self, name: &str) -> Vec<String> {
        let extra = extra_variables(self.protocol).iter().map(|variable| (*variable).to_owned());
        let own = [self.key_variable(name), self.base_url_variable(name)].into_iter();
        own.chain(self.other_key_variable.clone()).chain(extra).collect()
    }

    fn base_url_variable(&self, name: &str) -> String {
        self.base_url_variable.clone().unwrap_or_else(|| format!("{}_BASE_URL", upper(name)))
    }

    fn key_variable(&self, name: &str) -> String {
        self.key_variable.clone().unwrap_or_else(|| usual_key_variable(name))
    }

    /// Where provider `name` is, by its entry and `variables`. Blank variables do not count.
    pub fn endpoint(&self, name: &str, variables: &BTreeMap<String, String>) -> Endpoint {
        let read =
            |name: &str| variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let (base_url_variable, key_variable) = (self.base_url_variable(name), self.key_variable(name));
        let moved = read(&base_url_variable).map(|url| url.trim_end_matches('/').to_owned());
        let home = self.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
        // Where every user has an address of their own, that is its home.
        let at_home = home.is_none() || moved.is_none() || moved == home;
        // An organisation is told to its own service only.
        let extra =
            extra_variables(self.protocol).iter().filter(|_| self.protocol == Protocol::Azure || at_home);
        let extra = extra.filter_map(|name| Some((*name, read(name)?.to_owned()))).collect();
        Endpoint {
            protocol: self.protocol,
            base_url: moved.or(home),
            base_url_variable,
            key: read(&key_variable).or_else(|| read(self.other_key_variable.as_ref()?)).map(Secret::new),
            key_variable,
            key_required: self.key_required && at_home,
            max_completion_tokens: self.max_completion_tokens && at_home,
            limits: Limits {
                requests_per_minute: self.requests_per_minute,
                tokens_per_minute: self.tokens_per_minute,
                concurrency: self.concurrency,
            },
            reasoning_object: self.reasoning_object,
            reasoning_back: self.reasoning_back,
            json_mode: self.json_mode,
            tells_cost: self.tells_cost,
            extra,
        }
    }
}

/// The variable that holds the key of provider `name` where its entry names none.
pub(crate) fn usual_key_variable(name: &str) -> String {
    format!("{}_API_KEY", upper(name))
}

fn upper(name: &str) -> String {
    name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openai() -> ProviderFacts {
        ProviderFacts {
            protocol: Protocol::OpenAi,
            base_url: Some("https://api.example.org/v1".to_owned()),
            base_url_variable: None,
            key_variable: None,
            other_key_variable: None,
            key_required: true,
            max_completion_tokens: true,
            requests_per_minute: None,
            tokens_per_minute: None,
            concurrency: None,
            reasoning_object: false,
            reasoning_back: None,
            json_mode: false,
            tells_cost: false,
        }
    }

    #[test]
    fn variables_move_the_endpoint_and_blank_ones_do_not_count() {
        let variables = BTreeMap::from([
            ("MY_LAB_BASE_URL".to_owned(), "http://127.0.0.1:8080/v1/".to_owned()),
            ("MY_LAB_API_KEY".to_owned(), " ".to_owned()),
            ("OPENAI_ORG_ID".to_owned(), "org".to_owned()),
        ]);
        let endpoint = openai().endpoint("my-lab", &variables);
        assert_eq!(endpoint.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
        assert_eq!(
            (endpoint.key.as_ref(), endpoint.key_required, endpoint.max_completion_tokens),
            (None, false, false)
        );
        assert!(endpoint.extra.is_empty(), "an organisation is not told to another server");
        let home = openai().endpoint("my-lab", &BTreeMap::new());
        assert!(home.max_completion_tokens && home.key_required);
        let homeless = ProviderFacts { base_url: None, ..openai() }.endpoint("my-lab", &variables);
        assert!(homeless.max_completion_tokens && homeless.key_required, "its address is its home");
    }

    #[test]
    fn a_key_may_be_known_by_a_second_name() {
        let facts = ProviderFacts { other_key_variable: Some("OTHER_KEY".to_owned()), ..openai() };
        let key = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            facts.endpoint("lab", &variables.collect()).key.map(|key| key.expose().to_owned())
        };
        assert_eq!(key(&[("OTHER_KEY", "b")]).as_deref(), Some("b"));
        assert_eq!(key(&[("LAB_API_KEY", " "), ("OTHER_KEY", "b")]).as_deref(), Some("b"));
        assert_eq!(key(&[("LAB_API_KEY", "a"), ("OTHER_KEY", "b")]).as_deref(), Some("a"));
        assert_eq!(key(&[]), None);
        assert!(facts.variables("lab").contains(&"OTHER_KEY".to_owned()));
    }

    #[test]
    fn debug_shows_no_key() {
        let variables = BTreeMap::from([("LAB_API_KEY".to_owned(), "sk-hunter2".to_owned())]);
        assert!(!format!("{:?}", openai().endpoint("lab", &variables)).contains("hunter2"));
    }
}
