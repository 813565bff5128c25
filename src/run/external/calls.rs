//! From a request to what it asks for: an effect of the run context, or one of the few things that need none.
//!
//! Whatever the world would stop a run for, because it takes a strategy's word, is refused here and told to the program:
//! roles that are not declared, files that were never collected, nodes that are not there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use podium_scaffold::effect::PreviewRequest;
use podium_scaffold::spec::ModelSettings;
use podium_scaffold::{Effect, NodeRecord, StepRecord};
use podium_types::canonical::hash_bytes;
use podium_types::chat::ChatRequest;
use podium_types::execution::{ExecutionRequest, Program};
use podium_types::files::FilesRequest;
use podium_types::session::SessionRequest;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::message::{Fault, INVALID_PARAMS, UNKNOWN_METHOD};
use super::params;
use super::spec::is_inside;

/// A preview is no longer.
const MOST_PREVIEW_CHARS: usize = 1_000_000;
/// Files that one execution may have collected besides the submission.
const MOST_COLLECTED: usize = 16;
/// Random numbers of one answer.
const MOST_NUMBERS: usize = 100_000;
/// The name of a script that has none.
const SCRIPT: &str = "solution.py";

/// All methods, and whether a request is an effect of its own in the journal.
pub const METHODS: [(&str, bool); 18] = [
    ("initialize", false),
    ("begin_step", true),
    ("chat", true),
    ("execute", true),
    ("session", true),
    ("files", true),
    ("collect", true),
    ("validate", true),
    ("evaluate", true),
    ("preview", true),
    ("node", true),
    ("step", true),
    ("note", true),
    ("select", true),
    ("cancel", true),
    ("budget", false),
    ("rng", false),
    ("finish", false),
];

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Call {
    /// The handshake, with the versions that the program speaks.
    Initialize(Vec<u32>),
    /// An effect.
    Effect(Effect),
    /// That the request under this key is given up.
    Cancel(String),
    /// What is left.
    Budget,
    /// Random numbers for a purpose, so many.
    Rng(String, usize),
    /// The end, and why.
    Finish(String),
}

/// What requests are measured by.
#[derive(Debug)]
pub(super) struct Terms {
    /// The roles whose models may be asked.
    pub(super) roles: BTreeSet<String>,
    /// Settings of models by role.
    pub(super) models: BTreeMap<String, ModelSettings>,
    /// The limit of one execution in milliseconds.
    pub(super) execution_ms: u64,
    /// Nodes that were recorded.
    pub(super) nodes: BTreeSet<u32>,
    /// Files that were collected.
    pub(super) collected: BTreeSet<Sha256>,
}

fn wrong(message: impl Into<String>) -> Fault {
    Fault::new(INVALID_PARAMS, message)
}

fn read<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(params)).map_err(|error| wrong(error.to_string()))
}

impl Terms {
    /// Reads what is asked for. `params` have no `key` any more.
    pub(super) fn call(&mut self, method: &str, params: Map<String, Value>) -> Result<Call, Fault> {
        let effect = match method {
            "initialize" => return Ok(Call::Initialize(read::<params::Initialize>(params)?.protocol)),
            "budget" => return read::<params::Nothing>(params).map(|_| Call::Budget),
            "finish" => return Ok(Call::Finish(read::<params::Finish>(params)?.reason)),
            "cancel" => return Ok(Call::Cancel(read::<params::Cancel>(params)?.target)),
            "rng" => {
                let params::Rng { purpose, count } = read(params)?;
                if count > MOST_NUMBERS {
                    return Err(wrong(format!("`count` is more than {MOST_NUMBERS}")));
                }
                return Ok(Call::Rng(purpose, count));
            }
            "begin_step" => read::<params::Nothing>(params).map(|_| Effect::BeginStep)?,
            "chat" => self.chat(read(params)?)?,
            "execute" => self.execute(read(params)?)?,
            "session" => {
                let params::Session { name, kind, act, soft_ms } = read(params)?;
                Effect::Session(Box::new(SessionRequest { name, kind, act, soft_ms }))
            }
            "files" => Effect::Files(Box::new(read::<FilesRequest>(params)?)),
            "collect" => Effect::Collect { path: read::<params::Collect>(params)?.path },
            "validate" => Effect::Validate { sha256: self.known(read::<params::Validate>(params)?.sha256)? },
            "evaluate" => {
                let params::Evaluate { labels, sha256 } = read(params)?;
                Effect::Evaluate { labels, sha256: self.known(sha256)? }
            }
            "preview" => {
                let max_chars = read::<params::Preview>(params)?.max_chars.min(MOST_PREVIEW_CHARS);
                Effect::Preview(PreviewRequest { max_chars })
            }
            "node" => self.node(read(params)?)?,
            "step" => {
                let params::Step { number, lines } = read(params)?;
                Effect::Step(Box::new(StepRecord { number, lines }))
            }
            "note" => Effect::Note { text: read::<params::Note>(params)?.text },
            "select" => {
                let params::Select { node, sha256 } = read(params)?;
                if let Some(node) = node.filter(|node| !self.nodes.contains(node)) {
                    return Err(wrong(format!("there is no node {node}")));
                }
                Effect::SelectFinal { node, sha256: self.known(sha256)? }
            }
            other => {
                let nearest = podium_types::nearest::nearest(other, METHODS.iter().map(|(name, _)| *name));
                let hint = nearest.map_or_else(String::new, |name| format!("; nearest: `{name}`"));
                let message = format!("there is no method `{}`{hint}", cut(other));
                return Err(Fault::new(UNKNOWN_METHOD, message));
            }
        };
        Ok(Call::Effect(effect))
    }

    fn chat(&self, asked: params::Chat) -> Result<Effect, Fault> {
        if !self.roles.contains(&asked.role) {
            let known: Vec<&str> = self.roles.iter().map(String::as_str).collect();
            let message = format!(
                "no model `{}` here; names are {}; see external.roles",
                cut(&asked.role),
                known.join(", ")
            );
            return Err(wrong(message));
        }
        if asked.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Err(wrong("`temperature` is no number from 0"));
        }
        let settings = self.models.get(&asked.role);
        let request = ChatRequest {
            messages: asked.messages,
            tools: asked.tools,
            tool_choice: asked.tool_choice,
            one_tool_call: asked.one_tool_call,
            output: asked.output,
            stop: asked.stop,
            temperature: asked.temperature.or_else(|| settings?.temperature),
            max_output_tokens: asked.max_output_tokens.or_else(|| settings?.max_output_tokens),
            effort: asked.effort,
            seed: None,
            top_logprobs: asked.top_logprobs,
        };
        let hears_failures = asked.hears_failures;
        Ok(Effect::Chat { role: asked.role, request: Box::new(request), hears_failures })
    }

    fn execute(&self, asked: params::Execute) -> Result<Effect, Fault> {
        let program = match (asked.code, asked.argv) {
            (Some(code), None) => {
                let file = asked.file.unwrap_or_else(|| SCRIPT.to_owned());
                let mut parts = Path::new(&file).components();
                let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
                if !is_name || file.contains(['/', '\0']) {
                    return Err(wrong("`file` is no name of a file"));
                }
                Program::Python { file, code }
            }
            (None, Some(argv)) if asked.file.is_none() => {
                if argv.is_empty() || argv.iter().any(|word| word.contains('\0')) {
                    return Err(wrong("`argv` is no command"));
                }
                Program::Command { argv }
            }
            _ => return Err(wrong("either `code`, with or without `file`, or `argv` is needed")),
        };
        let is_variable = |name: &str, value: &str| {
            !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
        };
        if !asked.env.iter().all(|(name, value)| is_variable(name, value)) {
            return Err(wrong("`env` has a name or a value that no environment can hold"));
        }
        if asked.collect.len() > MOST_COLLECTED || !asked.collect.iter().all(|path| is_inside(path)) {
            return Err(wrong(format!(
                "`collect` is no list of at most {MOST_COLLECTED} paths inside the workspace"
            )));
        }
        Ok(Effect::Execute(Box::new(ExecutionRequest {
            program,
            workspace: asked.workspace,
            timeout_ms: asked.timeout_ms.unwrap_or(self.execution_ms).min(self.execution_ms),
            env: asked.env,
            collect: asked.collect,
            agent: None,
        })))
    }

    fn node(&mut self, asked: params::Node) -> Result<Effect, Fault> {
        if let Some(parent) = asked.parents.iter().find(|parent| !self.nodes.contains(parent)) {
            return Err(wrong(format!("there is no node {parent} that could be a parent")));
        }
        if !self.nodes.insert(asked.id) {
            return Err(wrong(format!("node {} was recorded before", asked.id)));
        }
        let source = asked.signals.first().map(|signal| signal.source.clone());
        Ok(Effect::Node(Box::new(NodeRecord {
            id: asked.id,
            parents: asked.parents,
            operator: asked.operator,
            plan: asked.plan,
            code_sha256: hash_bytes(asked.code.as_bytes()),
            code: asked.code,
            buggy: asked.buggy,
            metric: asked.metric,
            signals: asked.signals,
            metric_source: source,
            flags: asked.flags,
            summary: asked.summary,
            submission: asked.submission.unwrap_or(Verdict::Missing { found: "nothing".to_owned() }),
            predictions: BTreeMap::new(),
            execution_ms: asked.execution_ms,
            reason: asked.reason,
        })))
    }

    fn known(&self, sha256: Sha256) -> Result<Sha256, Fault> {
        if self.collected.contains(&sha256) {
            return Ok(sha256);
        }
        Err(wrong(format!("no file with the hash {sha256} was collected")))
    }
}

/// A name of the program's own, for a message.
fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
