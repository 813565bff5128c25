//! Programs to begin from, for a strategy or an agent of the user's own: the greedy search in Python with the client that
//! it needs, as the scaffold `external`; and the agent of docs/command.md for a copy of the scaffold `command`. Both run
//! as they are.
//!
//! Must not know: where the files go.

use std::collections::BTreeMap;

/// What `--from` names for a strategy that is a program. No scaffold has this id.
pub const EXTERNAL: &str = "external";
/// The strategy whose scaffolds are given an agent to begin from.
pub const COMMAND: &str = "command";
/// The client of the protocol, which all such strategies of a folder share.
pub const CLIENT: &str = "scaffolds/podium_client.py";

const GREEDY: &str = include_str!("../../examples/external/greedy.py");
const GREEDY_TOML: &str = include_str!("../../examples/external/greedy.toml");
const CLIENT_TEXT: &str = include_str!("../../examples/external/podium_client.py");
const AGENT: &str = include_str!("../../examples/command/agent.py");

/// The files of a strategy in Python, by their paths in an assets folder; and the text of its scaffold, which still has
/// the example's id.
pub fn strategy(name: &str) -> (BTreeMap<String, String>, String) {
    let program = format!("{name}.py");
    let files = BTreeMap::from([
        (format!("scaffolds/{program}"), GREEDY.to_owned()),
        (CLIENT.to_owned(), CLIENT_TEXT.to_owned()),
    ]);
    // What the example says of itself stands above its first key.
    let text: Vec<&str> = GREEDY_TOML.lines().skip_while(|line| line.starts_with('#')).collect();
    (files, text.join("\n").replace("\"greedy.py\"", &format!("\"{program}\"")))
}

/// The folder of the agent that a scaffold of the strategy `command` begins with, below an assets folder.
pub fn agent_folder(name: &str) -> String {
    format!("agents/{name}")
}

/// That agent.
pub fn agent(name: &str) -> (String, String) {
    (format!("{}/agent.py", agent_folder(name)), AGENT.to_owned())
}
