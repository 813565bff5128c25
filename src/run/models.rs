//! What a run knows of models and their services, as texts: the built-in catalog, and the user's own over it. Both
//! are stored with a run, so a resume does not look at files that may have changed since.

use serde::{Deserialize, Serialize};

/// The user's own file of models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnModels {
    /// Where it was read.
    pub file: String,
    /// What it said.
    pub text: String,
}

/// All that is known of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTexts {
    /// The built-in catalog.
    pub shipped: String,
    /// The user's own over it.
    pub own: Option<OwnModels>,
}

impl ModelTexts {
    /// The catalog that both make.
    ///
    /// # Errors
    /// When one of them is wrong.
    pub fn catalog(&self) -> Result<podium_llm::Catalog, podium_llm::CatalogError> {
        let catalog = podium_llm::Catalog::parse(&self.shipped)?;
        match &self.own {
            Some(own) => catalog.with(&own.file, &own.text),
            None => Ok(catalog),
        }
    }
}
