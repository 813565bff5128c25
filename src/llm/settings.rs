//! How the client talks to services: where, with which key, how long, how often.
//!
//! The caller gives the environment and the `.env` file as a map; this package reads neither. Keys are never part
//! of a model name, a command line or a TOML file.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::endpoint::{Endpoint, ProviderFacts};
use crate::secret::Secret;
use crate::wording::ToolWording;

/// All settings of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where each provider is, by its name.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// Keys and passwords of other services, by the names of their variables: taken out of texts like our own.
    pub other_secrets: Vec<Secret>,
    /// `NO_PROXY` holds `*`: no host is reached through a proxy. What else it and its companions say, the HTTP client
    /// reads itself.
    pub no_proxy: bool,
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
    /// What is said in place of tools.
    pub tool_wording: ToolWording,
}

impl Default for Settings {
    /// No providers, all else as usual.
    fn default() -> Self {
        Self {
            endpoints: BTreeMap::new(),
            other_secrets: Vec::new(),
            no_proxy: false,
            call_timeout: Duration::from_mins(30),
            stall_timeout: Duration::from_mins(5),
            connect_timeout: Duration::from_secs(15),
            // As often as MLE-bench's agents try.
            max_tries: 10,
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_mins(2),
            total_retry_time: Duration::from_hours(1),
            max_body_bytes: 32 << 20,
            default_max_output_tokens: None,
            schema_instruction: include_str!("../../prompts/common/schema_instruction.md.tera").to_owned(),
            repair_instruction: include_str!("../../prompts/common/schema_repair.md.tera").to_owned(),
            tool_wording: ToolWording::default(),
        }
    }
}

impl Settings {
    /// The providers of `catalog`, their addresses and keys from `variables` (the environment and a `.env` file,
    /// merged by the caller), all else as usual.
    pub fn new(catalog: &Catalog, variables: &BTreeMap<String, String>) -> Self {
        let endpoint =
            |(name, facts): (&String, &ProviderFacts)| (name.clone(), facts.endpoint(name, variables));
        let no_proxy = ["NO_PROXY", "no_proxy"].iter().filter_map(|name| variables.get(*name));
        Self {
            endpoints: catalog.providers().map(endpoint).collect(),
            other_secrets: variables.iter().filter_map(|(name, value)| other_secret(name, value)).collect(),
            no_proxy: no_proxy.into_iter().any(|hosts| hosts.split(',').any(|host| host.trim() == "*")),
            ..Self::default()
        }
    }

    /// All keys, to take them out of messages.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.endpoints.values().filter_map(|endpoint| endpoint.key.as_ref()).chain(&self.other_secrets)
    }
}

/// The value of a variable that is called like a key, unless it may be an ordinary word or a path.
fn other_secret(name: &str, value: &str) -> Option<Secret> {
    const ENDS: [&str; 5] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS"];
    let value = value.trim();
    let called = ENDS.iter().any(|end| name.to_uppercase().ends_with(end));
    let secret = Secret::new(value);
    let plain = !value.starts_with(['/', '.', '~']) && !value.contains(char::is_whitespace);
    (called && plain && secret.is_distinctive()).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_other_services_are_known_by_their_names() {
        for (name, value, secret) in [
            ("GITHUB_TOKEN", "ghp_0123456789", true),
            ("KAGGLE_KEY", "0123456789abcdef", true),
            ("SIGNING_KEY", "/home/me/.ssh/id_rsa_2048", false),
            ("MY_PASSWORD", "none", false),
            ("MODEL_NAME", "gpt-4.1-mini-2025", false),
        ] {
            assert_eq!(other_secret(name, value).is_some(), secret, "{name}");
        }
    }

    #[test]
    fn a_star_keeps_all_hosts_from_the_proxy() {
        let settings = |hosts: &str| {
            let variables = BTreeMap::from([("NO_PROXY".to_owned(), hosts.to_owned())]);
            Settings::new(&Catalog::default(), &variables)
        };
        assert!(
            settings("a.example, *").no_proxy && !settings("*.example").no_proxy && !settings("").no_proxy
        );
    }
}
