//! The name of a model, `provider/model`, as it is written on the command line and in TOML.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model of a provider. The model part may hold slashes of its own (`vllm/Qwen/Qwen3-8B`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName {
    /// Who serves it: `openai`, `playbook`, ...
    pub provider: String,
    /// The provider's own name for it.
    pub model: String,
}

/// A text that is no model name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no model name")]
pub struct ModelNameError {
    /// What was given.
    pub text: String,
}

impl ModelNameError {
    /// What to write instead.
    pub fn hint(&self) -> String {
        let name = self.text.trim().trim_matches('/');
        if name.is_empty() {
            "a model is written `provider/model`, for example `openai/gpt-4o-mini` or `playbook/default`"
                .to_owned()
        } else {
            format!("a model is written `provider/model`; did you mean `openai/{name}`?")
        }
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ModelNameError { text: text.to_owned() };
        let (provider, model) = text.split_once('/').ok_or_else(error)?;
        let plain =
            |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
        // A recording is named by a folder, which may have blanks in its name.
        let folder = |part: &str| !part.trim().is_empty() && !part.chars().any(char::is_control);
        let named = if provider == crate::recording::PROVIDER { folder(model) } else { plain(model) };
        if plain(provider) && named {
            Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
        } else {
            Err(error())
        }
    }
}

impl TryFrom<String> for ModelName {
    type Error = ModelNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.to_string()
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slash_parts_provider_and_model() {
        let name: ModelName = "vllm/Qwen/Qwen3-8B".parse().unwrap();
        assert_eq!((name.provider.as_str(), name.model.as_str()), ("vllm", "Qwen/Qwen3-8B"));
        assert_eq!(name.to_string(), "vllm/Qwen/Qwen3-8B");
    }

    #[test]
    fn other_texts_are_refused_with_a_hint() {
        assert_eq!("replay//data/my run".parse::<ModelName>().unwrap().model, "/data/my run");
        let texts = [
            "",
            "/",
            "openai/",
            "/gpt-4o",
            "gpt-4o",
            "openai/gpt 4o",
            "openai/gpt\n",
            "replay/ ",
            "replay/\0",
        ];
        for text in texts {
            let error = text.parse::<ModelName>().unwrap_err();
            assert!(error.hint().contains("provider/model"), "{text}");
        }
        assert!("gpt-4o".parse::<ModelName>().unwrap_err().hint().contains("`openai/gpt-4o`"));
    }
}
