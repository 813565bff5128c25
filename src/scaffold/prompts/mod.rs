//! Prompt templates: text for models lives in `prompts/` as Tera 2 files and nowhere else.
//!
//! Every template has a fixed set of variables ([`variables`] documents them). A template that asks for another one
//! is refused when the scaffold is loaded, by name; nothing is ever silently empty. Text that Podium did not write
//! (a description, a program, its output) goes through the `fence` filter ([`filters`]), so that it cannot end its
//! own block.
//!
//! Of the templates of all scaffolds those are compiled that a scaffold uses, by itself or through another. One that
//! does not compile is its fault, and that of no scaffold that has nothing to do with it.

pub mod budget;
pub mod cut;
pub mod execution;
mod fault;
pub mod filters;
pub mod sections;
mod undefined;
pub mod variables;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tera::{Context, Tera};

use crate::prompts::fault::Fault;
use crate::spec::SpecError;
use crate::strategy::StrategyError;
use podium_types::nearest::nearest;

/// A set of compiled templates.
#[derive(Clone)]
pub struct Prompts {
    tera: Tera,
    sources: BTreeMap<String, String>,
    /// Templates that do not compile, and why; in `tera` they are empty.
    broken: BTreeMap<String, String>,
}

impl std::fmt::Debug for Prompts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prompts").field(&self.sources.keys()).finish()
    }
}

impl Prompts {
    /// Compiles templates; the names are paths below `prompts/`, for example `aide/draft.md.tera`. One that does not
    /// compile is told when it is asked for.
    ///
    /// # Errors
    /// A fault that is not that of one template.
    pub fn new(sources: BTreeMap<String, String>) -> Result<Self, SpecError> {
        let compiled = sources.clone();
        Self::compile(sources, compiled)
    }

    /// The same, of which these and those that they use can be rendered: a run uses a tenth of all.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of<'a>(
        sources: BTreeMap<String, String>,
        templates: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, SpecError> {
        let text = |name: String| Some((name.clone(), sources.get(&name)?.clone()));
        let compiled = reached(&sources, templates).into_iter().filter_map(text).collect();
        Self::compile(sources, compiled)
    }

    fn compile(
        sources: BTreeMap<String, String>,
        mut compiled: BTreeMap<String, String>,
    ) -> Result<Self, SpecError> {
        let mut broken = BTreeMap::new();
        loop {
            let mut tera = Tera::default();
            tera.autoescape_on(Vec::<String>::new());
            filters::register(&mut tera);
            let Err(error) = tera.add_raw_templates(&compiled) else {
                return Ok(Self { tera, sources, broken });
            };
            let Fault { template, message } = Fault::of(&error);
            let template = template.unwrap_or_default();
            // Each template is emptied once at most, so this ends.
            match compiled.get_mut(&template) {
                Some(text) if !broken.contains_key(&template) => text.clear(),
                _ => return Err(SpecError::Prompt { template, message }),
            }
            broken.insert(template, message);
        }
    }

    /// Keeps these templates and those that they use: what a run keeps, and is known by, are its own prompts, whatever else
    /// lies beside them. Others cannot be rendered from here on.
    pub fn keep<'a>(&mut self, templates: impl IntoIterator<Item = &'a str>) {
        let kept = reached(&self.sources, templates);
        self.sources.retain(|name, _| kept.contains(name));
    }

    /// Fails when there is no such template or when it asks for a variable outside `known`.
    pub fn check(&self, template: &str, path: &str, known: &[&str]) -> Result<(), SpecError> {
        self.faults(template, path, known).into_iter().next().map_or(Ok(()), Err)
    }

    /// All that [`Self::check`] would fail with, one after another.
    pub fn faults(&self, template: &str, path: &str, known: &[&str]) -> Vec<SpecError> {
        if !self.sources.contains_key(template) {
            return vec![SpecError::Missing {
                path: path.to_owned(),
                what: "prompt",
                name: template.to_owned(),
                nearest: nearest(template, self.sources.keys().map(String::as_str)),
            }];
        }
        let wrong: Vec<SpecError> = self
            .broken_in(template)
            .map(|(name, message)| SpecError::Prompt {
                template: name.to_owned(),
                message: message.to_owned(),
            })
            .collect();
        if !wrong.is_empty() {
            return wrong;
        }
        let fault = |message: String| SpecError::Prompt { template: template.to_owned(), message };
        let asked: BTreeSet<&str> = match self.tera.get_template_variables(template) {
            Ok(asked) => asked.into_iter().collect(),
            Err(error) => return vec![fault(Fault::of(&error).seen_from(template))],
        };
        let unknown = asked.into_iter().filter(|name| !known.contains(name));
        unknown.map(|name| fault(undefined::told(&self.sources, template, name, known))).collect()
    }

    /// Fills a template in.
    pub fn render<V: Serialize>(&self, template: &str, variables: &V) -> Result<String, StrategyError> {
        if !self.sources.contains_key(template) {
            let message = "it is not among the templates that the strategy says it renders".to_owned();
            return Err(StrategyError::Prompt { template: template.to_owned(), message });
        }
        if let Some((name, message)) = self.broken_in(template).next() {
            let (template, message) = (name.to_owned(), message.to_owned());
            return Err(StrategyError::Prompt { template, message });
        }
        let failed = |error: tera::Error| StrategyError::Prompt {
            template: template.to_owned(),
            message: Fault::of(&error).seen_from(template),
        };
        let context = Context::from_serialize(variables).map_err(failed)?;
        let text = self.tera.render(template, &context).map_err(failed)?;
        Ok(tidy(&text))
    }

    /// The templates that do not compile among one and those that it uses, and why.
    fn broken_in<'a>(&'a self, template: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let reached =
            if self.broken.is_empty() { Vec::new() } else { undefined::reached(&self.sources, template) };
        reached.into_iter().filter_map(|name| Some((name, self.broken.get(name)?.as_str())))
    }

    /// The sources, for the run folder.
    pub const fn sources(&self) -> &BTreeMap<String, String> {
        &self.sources
    }
}

/// These templates and those that they use.
fn reached<'a>(
    sources: &BTreeMap<String, String>,
    templates: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for template in templates {
        all.extend(undefined::reached(sources, template).into_iter().map(str::to_owned));
    }
    all
}

/// Without blank space at either end and with single blank lines, except inside fenced blocks, which stay as they
/// are; the text ends with one line feed.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut fence = 0;
    let mut blank = true;
    for line in text.lines() {
        let rest = line.trim_start_matches('`');
        let ticks = line.len() - rest.len();
        if fence == 0 {
            if line.trim().is_empty() && blank {
                continue;
            }
            fence = if ticks >= 3 && !rest.contains('`') { ticks } else { 0 };
        } else if ticks >= fence && rest.is_empty() {
            fence = 0;
        }
        blank = fence == 0 && line.trim().is_empty();
        tidied.push_str(line);
        tidied.push('\n');
    }
    tidied.truncate(tidied.trim_end().len());
    tidied.push('\n');
    tidied
}
