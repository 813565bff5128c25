//! What code tried on its sandbox while it ran: the network it does not have, and checks of its submission. Shells and
//! kernels count like executions, when they have ended.
//!
//! A function of the journal. The names were asked for by hostile code: whoever shows them escapes them.

use std::collections::BTreeMap;

use podium_scaffold::EffectResult;
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
