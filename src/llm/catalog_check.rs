//! What a file of models must not say, beyond its form: keys of services, values that mean nothing, and values that
//! would end in a message or a run's folder where they must not be.

use toml::de::{DeTable, DeValue};

use crate::catalog::ModelFacts;
use crate::catalog_error::CatalogError;
use crate::endpoint::{ProviderFacts, usual_key_variable};
use crate::model::ModelName;
use crate::playbook;
use crate::recording;
use crate::toml_fault::{line_at, meant};

/// A value that means nothing, and where in the file it stands.
pub(crate) struct Fault {
    path: Vec<String>,
    problem: String,
    hint: String,
}

impl Fault {
    fn new(path: &[&str], problem: String, hint: impl Into<String>) -> Self {
        Self { path: path.iter().map(|&part| part.to_owned()).collect(), problem, hint: hint.into() }
    }

    pub(crate) fn at(self, file: &str, text: &str) -> CatalogError {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let line = line_of(text, &path);
        CatalogError::Value { file: file.to_owned(), line, problem: self.problem, hint: self.hint }
    }
}

/// Whether a provider's values mean something.
pub(crate) fn provider(name: &str, facts: &ProviderFacts) -> Result<(), Fault> {
    let refused = |problem: String| Err(Fault::new(&["providers", name], problem, "give it another name"));
    if name == playbook::PROVIDER {
        return refused(format!("`{name}` is the stand-in and no provider of a file"));
    }
    if name == recording::PROVIDER {
        return refused(format!("`{name}` stands for recorded runs and is no provider of a file"));
    }
    // A model of it could not be named: the first slash ends the provider's part.
    if !format!("{name}/m").parse::<ModelName>().is_ok_and(|model| model.provider == name) {
        return refused(format!(
            "`{}` is no name of a provider: it is empty, or holds a slash or a blank",
            name.escape_debug()
        ));
    }
    for (key, variable) in [
        ("key_variable", &facts.key_variable),
        ("other_key_variable", &facts.other_key_variable),
        ("base_url_variable", &facts.base_url_variable),
    ] {
        if variable.as_deref().is_some_and(|variable| !is_variable(variable)) {
            let problem = format!("`{key}` of `{name}` is no name of an environment variable");
            let hint = format!(
                "write a name in capitals, such as {}; its value stands in the environment or in a `.env` file",
                usual_key_variable(name)
            );
            return Err(Fault::new(&["providers", name, key], problem, hint));
        }
    }
    if facts.base_url.as_deref().is_some_and(|url| !is_address(url)) {
        let problem =
            format!("`base_url` of `{name}` is no http or https address without a password or a query");
        let hint = "write it as `http://127.0.0.1:8080/v1`; a key stands in the environment";
        return Err(Fault::new(&["providers", name, "base_url"], problem, hint));
    }
    Ok(())
}

/// Whether a model's values mean something, where `providers` are known; without any the file is a part of a whole.
pub(crate) fn model(name: &ModelName, facts: &ModelFacts, providers: &[&str]) -> Result<(), Fault> {
    let (full, provider) = (name.to_string(), name.provider.as_str());
    let known = providers.is_empty() || provider == playbook::PROVIDER || providers.contains(&provider);
    if !known {
        let nearest = podium_types::nearest::nearest(provider, providers.iter().copied());
        let meant = meant(nearest.as_deref());
        let problem = format!("there is no provider `{provider}` for `{full}`{meant}");
        let hint = format!("describe it in a table [providers.{provider}]");
        return Err(Fault::new(&["models", &full], problem, hint));
    }
    if facts.prices.as_ref().is_some_and(|prices| !prices.are_amounts()) {
        let problem = format!("a price of `{full}` is no amount of dollars");
        let hint = "prices are dollars per million tokens; leave out what is unknown";
        return Err(Fault::new(&["models", &full, "prices"], problem, hint));
    }
    let limits = [
        ("context_window", facts.context_window),
        ("max_output_tokens", Some(u64::from(facts.max_output_tokens))),
        ("output_limit", facts.output_limit.map(u64::from)),
    ];
    if let Some((key, _)) = limits.into_iter().find(|(_, tokens)| *tokens == Some(0)) {
        let problem = format!("`{key}` of `{full}` leaves no room for an answer");
        return Err(Fault::new(&["models", &full, key], problem, "write tokens; leave out what is unknown"));
    }
    Ok(())
}

/// Capitals, digits and underscores: no key looks like that, and a key written here by mistake is not repeated.
fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// An address without a name and a password in it, and without a query, which often is a key: addresses are shown and
/// stored. A path could not be put behind a query either.
pub(crate) fn is_address(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

/// What people call a key.
const KEYS: [&str; 11] = [
    "key",
    "api_key",
    "apikey",
    "token",
    "api_token",
    "auth_token",
    "access_token",
    "secret",
    "password",
    "authorization",
    "bearer",
];

/// The first entry of `text` that is called like a key, wherever it stands; none where the text is no TOML.
pub(crate) fn key_in(file: &str, text: &str) -> Option<CatalogError> {
    let table = DeTable::parse(text).ok()?;
    let (path, start) = find(table.get_ref(), &mut Vec::new())?;
    let variable = match path.as_slice() {
        [kind, provider, _key] if kind == "providers" => {
            let said = text_at(table.get_ref(), &[kind, provider, "key_variable"]);
            Some(said.unwrap_or_else(|| usual_key_variable(provider)))
        }
        [kind, model, ..] if kind == "models" => {
            model.split_once('/').map(|(provider, _)| usual_key_variable(provider))
        }
        _ => None,
    };
    let key = path.last().cloned().unwrap_or_default();
    Some(CatalogError::Key { file: file.to_owned(), line: line_at(text, start), key, variable })
}

fn find(table: &DeTable<'_>, path: &mut Vec<String>) -> Option<(Vec<String>, usize)> {
    for (name, value) in table {
        path.push(name.get_ref().to_string());
        let called = name.get_ref().to_lowercase().replace('-', "_");
        // A table may be called so: a provider `bearer`, say.
        match value.get_ref() {
            DeValue::Table(inner) => {
                if let Some(found) = find(inner, path) {
                    return Some(found);
                }
            }
            _ if KEYS.contains(&called.as_str()) => return Some((path.clone(), name.span().start)),
            _ => {}
        }
        path.pop();
    }
    None
}

/// The table that holds the last part of `path`, and that part.
fn holder<'a, 'p>(table: &'a DeTable<'a>, path: &[&'p str]) -> Option<(&'a DeTable<'a>, &'p str)> {
    let (last, tables) = path.split_last()?;
    let table = tables.iter().try_fold(table, |table, name| match table.get(*name)?.get_ref() {
        DeValue::Table(inner) => Some(inner),
        _ => None,
    })?;
    Some((table, last))
}

fn text_at(table: &DeTable<'_>, path: &[&str]) -> Option<String> {
    let (table, last) = holder(table, path)?;
    match table.get(last)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The line of the entry at `path`, from 1; the first line where it is not found.
fn line_of(text: &str, path: &[&str]) -> usize {
    let start = || {
        let table = DeTable::parse(text).ok()?;
        let (table, last) = holder(table.get_ref(), path)?;
        table.get_key_value(last).map(|(name, _)| name.span().start)
    };
    line_at(text, start().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn shipped() -> Catalog {
        Catalog::parse(include_str!("../../benchmark/models.toml")).unwrap()
    }

    #[test]
    fn a_key_is_found_wherever_it_stands_and_never_repeated() {
        for (text, line, key, variable) in [
            (
                "[providers.my-lab]\nprotocol = \"openai\"\napi_key = \"sk-hunter2\"",
                3,
                "api_key",
                Some("MY_LAB_API_KEY"),
            ),
            ("[providers.lab]\nkey_variable = \"LAB\"\nkey = \"sk-hunter2\"", 3, "key", Some("LAB")),
            ("[models.\"lab/x\"]\nAPI-Key = \"sk-hunter2\"", 2, "API-Key", Some("LAB_API_KEY")),
            ("\n\ntoken = \"sk-hunter2\"", 3, "token", None),
        ] {
            let found = key_in("own.toml", text).unwrap();
            let expected = CatalogError::Key {
                file: "own.toml".to_owned(),
                line,
                key: key.to_owned(),
                variable: variable.map(str::to_owned),
            };
            assert_eq!(found, expected, "{text}");
            assert!(!format!("{found}{found:?}{:?}", found.hint()).contains("hunter2"));
        }
        assert_eq!(
            key_in("own.toml", "[providers.token]\nprotocol = \"openai\"\nkey_variable = \"X\""),
            None
        );
    }

    #[test]
    fn values_that_mean_nothing_are_refused_without_being_repeated() {
        let told = |text: &str| shipped().with("own.toml", text).unwrap_err().to_string();
        let head = "the model catalog cannot be used: `own.toml`, line";
        let lab = "[providers.lab]\nprotocol = \"openai\"\n";
        assert_eq!(
            told(&format!("{lab}key_variable = \"sk-hunter2\"")),
            format!("{head} 3: `key_variable` of `lab` is no name of an environment variable")
        );
        assert_eq!(
            told(&format!("{lab}base_url = \"https://me:hunter2@lab.example\"")),
            format!(
                "{head} 3: `base_url` of `lab` is no http or https address without a password or a query"
            )
        );
        assert_eq!(
            told(&format!("{lab}other_key_variable = \"sk-hunter2\"")),
            format!("{head} 3: `other_key_variable` of `lab` is no name of an environment variable")
        );
        for end in ["?key=hunter2", "#hunter2"] {
            assert_eq!(
                told(&format!("{lab}base_url = \"https://lab.example/v1{end}\"")),
                format!(
                    "{head} 3: `base_url` of `lab` is no http or https address without a password or a query"
                )
            );
        }
        for name in ["a/b", "a b", ""] {
            assert_eq!(
                told(&format!("[providers.\"{name}\"]\nprotocol = \"openai\"")),
                format!(
                    "{head} 1: `{name}` is no name of a provider: it is empty, or holds a slash or a blank"
                )
            );
        }
        assert_eq!(
            told("[providers.replay]\nprotocol = \"openai\""),
            format!("{head} 1: `replay` stands for recorded runs and is no provider of a file")
        );
        for key in ["context_window", "max_output_tokens", "output_limit"] {
            assert_eq!(
                told(&format!("[models.\"openai/x\"]\n{key} = 0")),
                format!("{head} 2: `{key}` of `openai/x` leaves no room for an answer")
            );
        }
        assert_eq!(
            told("[models.\"opnai/x\"]"),
            format!("{head} 1: there is no provider `opnai` for `opnai/x`; did you mean `openai`?")
        );
        assert_eq!(
            told("[models.\"openai/x\"]\nprices = { input = nan, output = 1.0 }"),
            format!("{head} 2: a price of `openai/x` is no amount of dollars")
        );
        assert_eq!(
            told("[providers.playbook]\nprotocol = \"openai\""),
            format!("{head} 1: `playbook` is the stand-in and no provider of a file")
        );
    }
}
