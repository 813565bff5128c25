//! What code tried on its sandbox while it ran: the network it does not have, checks of its submission, and the place of
//! the answers, as far as its text names it. Shells and kernels count like executions, when they have ended.
//!
//! A function of the journal. The names were asked for by hostile code: whoever shows them escapes them.

use std::collections::BTreeMap;

use podium_competition::Competition;
use podium_scaffold::{Effect, EffectResult};
use podium_types::execution::Execution;
use podium_types::key::EffectKey;
use serde::{Deserialize, Serialize};

use crate::run::journal::{Entry, Record};
use crate::run::sessions;

/// What one execution, or one shell or kernel, tried of the network. Nothing of it left the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkAttempts {
    /// The execution, by its effect's key; of a shell or kernel, the last act on it.
    pub execution: EffectKey,
    /// The node or step that it was made for.
    pub number: Option<u32>,
    /// Connections, packets and lookups of names that were refused; a retry counts again.
    pub count: u64,
    /// Host names that were asked for, and how often; the first few.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, u64>,
}

/// An act whose text names the place of the answers. They are not there to be found; that it looked is disclosed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerProbe {
    /// The act, by its effect's key.
    pub act: EffectKey,
    /// The node or step that it was made for.
    pub number: Option<u32>,
    /// What it names.
    pub named: String,
}

/// Names of the place of the answers that no honest script has a use for. The answers' own file is one where the public
/// data have none of that name.
fn places(competition: &Competition) -> Vec<String> {
    let mut places = vec!["prepared/private".to_owned(), "/private/".to_owned()];
    let (data, file) = (&competition.data, &competition.answers.file);
    let public = data.public.iter().chain(&data.train).chain(&data.test).chain([&data.sample_submission]);
    if !public.into_iter().any(|name| name.ends_with(file.as_str())) {
        places.push(file.clone());
    }
    places
}

/// The acts that name the place of the answers, in the order in which they finished. A search in texts: it finds who looked
/// openly, and proves nothing of others.
pub fn answers_named(entries: &[Entry], competition: &Competition) -> Vec<AnswerProbe> {
    let places = places(competition);
    let probe = |entry: &Entry| {
        let Record::Result { key, effect, .. } = &entry.record else { return None };
        if !matches!(**effect, Effect::Execute(_) | Effect::Session(_) | Effect::Files(_)) {
            return None;
        }
        let text = match &**effect {
            // What an agent of its own is told of its task is not its own word.
            Effect::Execute(request) => serde_json::to_string(&(&request.program, &request.env)),
            effect => serde_json::to_string(effect),
        };
        let text = text.ok()?;
        let named = places.iter().find(|place| text.contains(place.as_str()))?;
        Some(AnswerProbe { act: key.clone(), number: key.number(), named: named.clone() })
    };
    entries.iter().filter_map(probe).collect()
}

/// The executions that tried, in the order in which they finished, and the shells and kernels.
pub fn network(entries: &[Entry]) -> Vec<NetworkAttempts> {
    let sessions = sessions::ends(entries).into_iter().filter_map(|(key, end)| {
        let (key, count) = (key?, *end.blocked.get("network")?);
        let (number, names) = (key.number(), end.names_asked.clone());
        Some(NetworkAttempts { execution: key.clone(), number, count, names })
    });
    executions(entries)
        .filter_map(|(key, execution)| {
            let count = *execution.blocked.get("network")?;
            let (number, names) = (key.number(), execution.names_asked.clone());
            Some(NetworkAttempts { execution: key.clone(), number, count, names })
        })
        .chain(sessions)
        .collect()
}

/// Format verdicts that were given: after executions, and to programs while they ran.
pub fn verdicts(entries: &[Entry]) -> (u64, u64) {
    let after = entries.iter().filter(|entry| match &entry.record {
        Record::Result { result, .. } => matches!(**result, EffectResult::Verdict(_)),
        _ => false,
    });
    let sessions = sessions::ends(entries).into_iter().map(|(_, end)| end.submission_checks);
    let inside = executions(entries).map(|(_, execution)| execution.submission_checks).chain(sessions);
    (after.count() as u64, inside.sum())
}

fn executions(entries: &[Entry]) -> impl Iterator<Item = (&EffectKey, &Execution)> {
    entries.iter().filter_map(|entry| match &entry.record {
        Record::Result { key, result, .. } => match &**result {
            EffectResult::Execution(execution) => Some((key, &**execution)),
            _ => None,
        },
        _ => None,
    })
}
