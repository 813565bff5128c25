//! How the client talks to services: where, with which key, how long, how often.
//!
//! The caller gives the environment and the `.env` file as a map; this package reads neither. Keys are never part
//! of a model name, a command line or a TOML file.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::secret::Secret;

/// Where a provider is and how it knows us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Address up to and without `/chat/completions`.
    pub base_url: String,
    /// The key; `None` sends no `Authorization`.
    pub key: Option<Secret>,
    /// `OpenAI-Organization`; empty sends none.
    pub organization: String,
    /// `OpenAI-Project`; empty sends none.
    pub project: String,
    /// The official service: a key is demanded, and the output limit has its newer name.
    pub official: bool,
}

/// A provider that speaks the OpenAI protocol: its name, its variables, its default address.
struct Known {
    provider: &'static str,
    base_url_variable: &'static str,
    key_variable: &'static str,
    base_url: &'static str,
}

const OPENAI_URL: &str = "https://api.openai.com/v1";

const KNOWN: [Known; 3] = [
    Known {
        provider: "openai",
        base_url_variable: "OPENAI_BASE_URL",
        key_variable: "OPENAI_API_KEY",
        base_url: OPENAI_URL,
    },
    Known {
        provider: "ollama",
        base_url_variable: "OLLAMA_BASE_URL",
        key_variable: "OLLAMA_API_KEY",
        base_url: "http://127.0.0.1:11434/v1",
    },
    Known {
        provider: "vllm",
        base_url_variable: "VLLM_BASE_URL",
        key_variable: "VLLM_API_KEY",
        base_url: "http://127.0.0.1:8000/v1",
    },
];

/// The variables that [`Settings::from_variables`] reads, for `doctor` and the reference page.
pub const VARIABLES: [&str; 8] = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "OLLAMA_API_KEY",
    "OLLAMA_BASE_URL",
    "VLLM_API_KEY",
    "VLLM_BASE_URL",
];

/// All settings of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where each provider of the OpenAI protocol is, by provider name.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// For one try, from sending to the whole answer.
    pub call_timeout: Duration,
    /// For silence: no byte of an answer, not even a keep-alive, for this long. It also bounds the wait for the
    /// first byte, and a reasoning model may think for minutes without one.
    pub stall_timeout: Duration,
    /// For making a connection.
    pub connect_timeout: Duration,
    /// Tries per turn, the first included.
    pub max_tries: u32,
    /// The upper bound of the first wait between tries; it doubles from there.
    pub first_delay: Duration,
    /// No single wait is longer. A service that asks for more ends the chat instead.
    pub max_delay: Duration,
    /// For all tries and waits of a turn: no wait begins that would end later.
    pub total_retry_time: Duration,
    /// Bytes of one answer's body, after decompression.
    pub max_body_bytes: u64,
    /// Replaces the catalog's output limit for requests that name none.
    pub default_max_output_tokens: Option<u32>,
    /// What is appended to a prompt when a model cannot enforce a schema; `{{ schema }}` is replaced.
    pub schema_instruction: String,
    /// The repair turn after an unfit document; `{{ problem }}` and `{{ schema }}` are replaced.
    pub repair_instruction: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_variables(&BTreeMap::new())
    }
}

impl Settings {
    /// Endpoints and keys from environment variables (and a `.env` file, merged by the caller), all else at default.
    pub fn from_variables(variables: &BTreeMap<String, String>) -> Self {
        Self {
            endpoints: endpoints(variables),
            call_timeout: Duration::from_mins(30),
            stall_timeout: Duration::from_mins(5),
            connect_timeout: Duration::from_secs(15),
            max_tries: 8,
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_mins(2),
            total_retry_time: Duration::from_hours(1),
            max_body_bytes: 32 << 20,
            default_max_output_tokens: None,
            schema_instruction: include_str!("../../prompts/common/schema_instruction.md.tera").to_owned(),
            repair_instruction: include_str!("../../prompts/common/schema_repair.md.tera").to_owned(),
        }
    }

    /// All keys, to take them out of messages.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.endpoints.values().filter_map(|endpoint| endpoint.key.as_ref())
    }
}

fn endpoints(variables: &BTreeMap<String, String>) -> BTreeMap<String, Endpoint> {
    let read = |name: &str| variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let endpoint = |known: &Known| {
        let base_url = read(known.base_url_variable).unwrap_or(known.base_url).trim_end_matches('/');
        let official = base_url == OPENAI_URL;
        let own =
            |name: &str| if official { read(name).unwrap_or_default().to_owned() } else { String::new() };
        let endpoint = Endpoint {
            base_url: base_url.to_owned(),
            key: read(known.key_variable).map(Secret::new),
            organization: own("OPENAI_ORG_ID"),
            project: own("OPENAI_PROJECT_ID"),
            official,
        };
        (known.provider.to_owned(), endpoint)
    };
    KNOWN.iter().map(endpoint).collect()
}

/// The variable that holds the key of `provider`.
pub(crate) fn key_variable(provider: &str) -> &'static str {
    KNOWN.iter().find(|known| known.provider == provider).map_or("OPENAI_API_KEY", |known| known.key_variable)
}

/// The variable that holds the base URL of `provider`.
pub(crate) fn url_variable(provider: &str) -> &'static str {
    KNOWN
        .iter()
        .find(|known| known.provider == provider)
        .map_or("OPENAI_BASE_URL", |known| known.base_url_variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_move_the_endpoint_and_blank_ones_do_not_count() {
        let variables = BTreeMap::from([
            ("OPENAI_BASE_URL".to_owned(), "http://127.0.0.1:8080/v1/".to_owned()),
            ("OPENAI_API_KEY".to_owned(), " ".to_owned()),
        ]);
        let settings = Settings::from_variables(&variables);
        let endpoint = &settings.endpoints["openai"];
        assert_eq!(endpoint.base_url, "http://127.0.0.1:8080/v1");
        assert_eq!((endpoint.key.as_ref(), endpoint.official), (None, false));
        assert!(Settings::default().endpoints["openai"].official);
    }

    #[test]
    fn debug_shows_no_key() {
        let variables = BTreeMap::from([("OPENAI_API_KEY".to_owned(), "sk-hunter2".to_owned())]);
        assert!(!format!("{:?}", Settings::from_variables(&variables)).contains("hunter2"));
    }
}
