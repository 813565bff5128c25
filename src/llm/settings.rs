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
        Self { endpoints: catalog.providers().map(endpoint).collect(), ..Self::default() }
    }

    /// All keys, to take them out of messages.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.endpoints.values().filter_map(|endpoint| endpoint.key.as_ref())
    }
}
