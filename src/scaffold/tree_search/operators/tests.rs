//! The prompts of all operators of all shipped scaffolds on long journals: they stay inside a window.

use std::collections::BTreeMap;
use std::path::Path;

use podium_types::chat::{ChatError, ChatRequest};
use podium_types::execution::LimitHit;
use podium_types::number::Number;
use podium_types::range::Range;
use podium_types::sha256::Sha256;
use podium_types::tokens::estimate;
use podium_types::verdict::Verdict;

use crate::common::Common;
use crate::context::{Budget, Direction, Grants, Task};
use crate::node::NodeRecord;
use crate::prompts::Prompts;
use crate::prompts::variables::RunVariables;
use crate::registry::Registry;
use crate::spec::{Source, resolve};
use crate::tree_search::memory::Memory;
use crate::tree_search::operators::WriteSpec;
use crate::tree_search::operators::bench::Parent;
use crate::tree_search::operators::parts::Sources;
use crate::tree_search::operators::request::{Attempt, Situation, build};
use crate::tree_search::variables::StudyVariables;
use crate::tree_search::view::Tree;
use crate::tree_search::{TreeSearch, TreeSearchSpec};

#[expect(clippy::disallowed_methods, reason = "a test looks at the repository, not at a run")]
fn files(folder: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "tera" || ending == "toml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "a test looks at the repository, not at a run")]
fn prompts() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prompts");
    let folders =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let of = |folder: String| {
        let files = files(&format!("prompts/{folder}"));
        files.into_iter().map(move |(name, text)| (format!("{folder}/{name}"), text)).collect::<Vec<_>>()
    };
    folders.flat_map(of).collect()
}

/// The shipped scaffolds that are tree searches.
fn searches() -> Vec<(String, TreeSearch)> {
    let mut searches = Vec::new();
    for (name, text) in files("scaffolds") {
        let resolved = resolve(&Registry::shipped(), &text, &[]).unwrap();
        if resolved.head.strategy != "tree_search" {
            continue;
        }
        let spec = TreeSearchSpec::read(&Source::new(&text).unwrap(), &Registry::shipped()).unwrap();
        let prompts = Prompts::new(prompts()).unwrap();
        let common = Common { head: resolved.head.into(), prompts: prompts.into() };
        searches.push((name, TreeSearch { common, spec: spec.into() }));
    }
    assert!(searches.len() >= 3);
    searches
}

fn task(description: String) -> Task {
    Task {
        competition: "segment".into(),
        description,
        metric: "log loss".into(),
        direction: Direction::Lower,
        metric_range: Range::NOT_NEGATIVE,
        submission_path: "./submission/submission.csv".into(),
        grants: Grants {
            cpus: 8,
            memory_bytes: Some(64 << 30),
            gpus: vec!["NVIDIA A10".into()],
            network: false,
            shm_bytes: Some(4 << 30),
            disk_bytes: Some(4095 << 30),
            mounts: vec!["/mounts/hf".into()],
        },
        packages: (0..200).map(|number| format!("package-{number} {number}.0.1")).collect(),
        obfuscated: false,
        submission_check: true,
        validation: None,
    }
}

const BUDGET: Budget = Budget {
    steps: 499,
    step_limit: Some(500),
    run_ms: 1_000,
    run_limit_ms: Some(86_400_000),
    waiting_ms: 0,
    execution_limit_ms: 3_600_000,
    tokens: 0,
    token_limit: None,
    cost: None,
    cost_limit: None,
};

/// How long texts are: one for usual lengths.
#[derive(Clone, Copy)]
struct Lengths(usize);

impl Lengths {
    fn prose(self, number: u32) -> String {
        format!("We fit gradient boosting on features of kind {number}. ").repeat(4 * self.0)
    }

    fn node(self, id: u32, parents: &[u32]) -> NodeRecord {
        let good = id % 7 != 3;
        NodeRecord {
            id,
            parents: parents.to_vec(),
            operator: "draft".into(),
            plan: self.prose(id),
            code: "frame['ratio'] = frame['first'] / frame['second'].clip(lower=1e-6)\n".repeat(60 * self.0),
            code_sha256: String::new(),
            buggy: (!good).then(|| "KeyError: 'centroid' in line 31".to_owned()),
            metric: good.then(|| Number(1.0 / f64::from(id + 1))),
            signals: Vec::new(),
            metric_source: None,
            flags: Vec::new(),
            summary: self.prose(id),
            submission: Verdict::Valid { sha256: Sha256::of(b"file"), copies_sample: false },
            predictions: BTreeMap::new(),
            execution_ms: 1_000,
            reason: String::new(),
        }
    }

    fn run(self) -> RunVariables {
        RunVariables {
            output_head: "fold 1: log loss 0.5123, 12 s\n".repeat(80 * self.0),
            output_tail: String::new(),
            dropped_chars: 0,
            lost_bytes: 0,
            wall_ms: 61_000,
            exit_code: Some(1),
            signal: None,
            limit: Some(LimitHit::WallClock { limit_ms: 60_000 }),
            submission: "missing",
            submission_problem: "nothing".into(),
            remarks: Vec::new(),
        }
    }
}

/// A journal in which every scope has as much to tell as there are nodes: half are drafts, a quarter children of node
/// 0, a quarter one chain of failed mends.
fn journal(nodes: u32, lengths: Lengths) -> (Tree, u32) {
    let mut tree = Tree::default();
    let mut last = 3;
    for id in 0..nodes {
        let mut node = lengths.node(id, if id % 4 == 1 { &[0] } else { &[] });
        if id % 4 == 2 && id > 3 {
            node =
                NodeRecord { buggy: Some("exit code 1".into()), metric: None, ..lengths.node(id, &[last]) };
            last = id;
        }
        tree.push(node);
    }
    (tree, last)
}

/// The requests that an operator sends until one fits, and the program's share of it: the service counts what the
/// estimate says, the most that any can.
fn until_it_fits(
    search: &TreeSearch,
    spec: &WriteSpec,
    sources: Sources<'_>,
    window: u64,
) -> Vec<(ChatRequest, bool)> {
    let mut attempt = Attempt::first(search.spec.prompt_budget.limits());
    let mut sent = Vec::new();
    for _ in 0..spec.tries.min(2) {
        let situation = Situation { budget: BUDGET, siblings: 499 };
        let built = build(search, spec, sources, situation, &attempt).unwrap();
        let prompt_tokens = estimate(&built.request);
        let output_tokens = u64::from(built.request.max_output_tokens.unwrap());
        let fits = prompt_tokens + output_tokens <= window;
        sent.push((built.request.clone(), fits));
        if fits {
            break;
        }
        attempt.after_error(&built, &ChatError::ContextTooLong { prompt_tokens, output_tokens, window });
    }
    sent
}

fn programs(request: &ChatRequest) -> usize {
    request.messages.iter().map(|message| message.content.matches("clip(lower=1e-6)").count()).sum()
}

/// All prompts of all shipped scaffolds for a journal, in a window. Returns how many fitted at once.
fn check(nodes: u32, lengths: Lengths, window: u64) -> (usize, usize) {
    let (tree, chain) = journal(nodes, lengths);
    let task = task(format!("# Segments\n\n{}\n## Evaluation\n\nLog loss.\n", lengths.prose(1).repeat(12)));
    let run = lengths.run();
    let parent = |id: u32| Parent { node: tree.get(id).unwrap().clone(), run: Some(run.clone()) };
    let study = StudyVariables { plan: "Switch parts off.".into(), run: Some(run.clone()) };
    let preview = "input/\n    train.csv (90 rows): id, label, first, second, centroid\n".repeat(80);
    let preview: String = preview.chars().take(6_000).collect();
    let (mut prompts, mut at_once) = (0, 0);
    for (name, search) in searches() {
        for (operator, spec) in &search.spec.operators {
            for write in spec.asks().into_iter().map(|ask| ask.write) {
                for parents in [vec![], vec![0], vec![chain], vec![0, 1]] {
                    let memory = write.memory.as_ref().map_or_else(Memory::default, |memory| {
                        let tokens = search.spec.prompt_budget.memory;
                        Memory::gather(&tree, &task, &search.common.prompts, memory, &parents, tokens)
                            .unwrap()
                    });
                    let parents: Vec<Parent> = parents.into_iter().map(parent).collect();
                    let sources = Sources {
                        task: &task,
                        preview: &preview,
                        memory: &memory,
                        parents: &parents,
                        study: Some(&study),
                    };
                    let sent = until_it_fits(&search, write, sources, window);
                    let (last, fits) = sent.last().unwrap();
                    let tokens = estimate(last);
                    assert!(fits, "{name} {operator}: {tokens} tokens of prompt in a window of {window}");
                    assert!(programs(last) * 2 >= programs(&sent[0].0), "{name} {operator}: cut below half");
                    prompts += 1;
                    at_once += usize::from(sent.len() == 1);
                }
            }
        }
    }
    (prompts, at_once)
}

#[test]
fn with_usual_texts_a_long_journal_fits_a_window_of_32k() {
    for nodes in [500, 5_000] {
        let (prompts, at_once) = check(nodes, Lengths(1), 32_768);
        assert!(at_once * 4 >= prompts, "{at_once} of {prompts} fit at once");
    }
}

#[test]
fn with_every_part_too_long_it_fits_a_window_of_64k() {
    let (prompts, _) = check(500, Lengths(40), 65_536);
    assert!(prompts > 20);
}
