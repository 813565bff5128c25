//! All that is wrong with a scaffold at once, for people who write one.
//!
//! Reading stops at its first fault. A name that is nearly right is therefore put right in a copy, a key that is not known
//! is left out of it, and the copy is read on; the file itself is never touched. Then come the values, the prompts as
//! compiled, and the prompts as they render against a made-up task.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::blueprint::Blueprint;
use crate::common::Common;
use crate::prompts::{Prompts, variables};
use crate::registry::Registry;
use crate::samples;
use crate::spec::check::{invalid, refers_to};
use crate::spec::load::{Read, read};
use crate::spec::source::Source;
use crate::spec::{Head, SpecError, check};
use crate::strategy::StrategyError;

/// More faults than these are told by the next look.
const MOST: usize = 40;

/// What is wrong with a scaffold file and its prompts; empty: nothing is.
pub fn faults(registry: &Registry, text: &str, prompts: &BTreeMap<String, String>) -> Vec<SpecError> {
    let mut found = Vec::new();
    let read = read_on(registry, text, &mut found);
    let prompts = Prompts::new(prompts.clone()).map_err(|error| found.push(error)).ok();
    if let Some(Read { head, blueprint, .. }) = read {
        values(&head, &*blueprint, &mut found);
        if let Some(prompts) = prompts {
            asked(&head, &*blueprint, &prompts, &mut found);
            rendered(head, blueprint, prompts, &mut found);
        }
    }
    let mut told: Vec<SpecError> = Vec::new();
    for fault in found {
        if !told.contains(&fault) {
            told.push(fault);
        }
    }
    told
}

/// Reads a file as far as it can be read; none: not to its end.
fn read_on(registry: &Registry, text: &str, found: &mut Vec<SpecError>) -> Option<Read> {
    let mut text = text.to_owned();
    for _ in 0..MOST {
        let error = match Source::new(&text).and_then(|source| read(registry, &source, true)) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let mended = mended(&text, &error);
        found.push(error);
        text = mended?;
    }
    None
}

/// The text without an unknown name: put right, or its line left out.
fn mended(text: &str, error: &SpecError) -> Option<String> {
    let SpecError::Unknown { line, name, nearest, .. } = error else { return None };
    let place = line.checked_sub(1)?;
    let with = |changed: &dyn Fn(&str) -> Option<String>| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let slot = lines.get_mut(place)?;
        *slot = changed(slot)?;
        let text = lines.join("\n");
        Source::new(&text).is_ok().then_some(text)
    };
    let renamed = nearest.as_ref().and_then(|nearest| {
        with(&|line| line.contains(name.as_str()).then(|| line.replacen(name.as_str(), nearest, 1)))
    });
    renamed.or_else(|| with(&|line| (line.split('=').next()?.trim() == name).then(String::new)))
}

/// Values that are well formed but cannot be, or make no sense together.
fn values(head: &Head, blueprint: &dyn Blueprint, found: &mut Vec<SpecError>) {
    found.extend(check::head(head).err());
    let limits = &head.limits;
    if limits.execution_timeout > limits.time_limit {
        found.push(invalid(
            "limits.execution_timeout",
            "is longer than limits.time_limit, the time of the whole run",
        ));
    }
    let roles = blueprint.roles();
    for role in &roles {
        found.extend(refers_to(&role.path, "role under [models]", role.name, &head.models).err());
    }
    let is_asked = |name: &String| roles.iter().any(|role| role.name == name);
    for name in head.models.keys().filter(|name| !is_asked(name)) {
        found.push(invalid(&format!("models.{name}"), "is a role that nothing asks"));
    }
    found.extend(blueprint.check(head).err());
}

/// Templates that are not there or do not compile, and variables that nobody sets.
fn asked(head: &Head, blueprint: &dyn Blueprint, prompts: &Prompts, found: &mut Vec<SpecError>) {
    found.extend(prompts.faults(&head.benchmark.prompt, "benchmark.prompt", variables::BENCHMARK));
    for prompt in blueprint.prompts() {
        found.extend(prompts.faults(prompt.template, &prompt.path, prompt.variables));
    }
}

/// Templates that do not render, where no fault of theirs is known yet.
fn rendered(head: Head, blueprint: Arc<dyn Blueprint>, prompts: Prompts, found: &mut Vec<SpecError>) {
    let mut told: Vec<String> = Vec::new();
    for fault in found.iter() {
        match fault {
            SpecError::Prompt { template, .. } => told.push(template.clone()),
            SpecError::Missing { what: "prompt", name, .. } => told.push(name.clone()),
            _ => {}
        }
    }
    let common = Common { head: Arc::new(head), prompts: Arc::new(prompts) };
    let mut add = |error: StrategyError| {
        if let StrategyError::Prompt { template, message } = error
            && !told.contains(&template)
        {
            told.push(template.clone());
            found.push(SpecError::Prompt { template, message });
        }
    };
    let (task, budget) = (samples::sample_task(), samples::budget());
    if let Err(error) = common.rules(&task, &budget) {
        add(error);
    }
    for sample in blueprint.samples() {
        if let Err(error) = common.prompts.render(&sample.template, &sample.variables) {
            add(error);
        }
    }
    if let Err(error) = blueprint.first_call(common, &task, &budget, samples::PREVIEW) {
        add(error);
    }
}
