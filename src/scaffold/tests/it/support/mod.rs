//! The shipped files, a made-up competition, and nodes made by hand.

pub(crate) mod context;
pub(crate) mod home;
pub(crate) mod script;
pub(crate) mod shipped;

use podium_scaffold::Registry;
use podium_scaffold::context::{Direction, Grants};
use podium_scaffold::node::NodeRecord;
use podium_scaffold::spec::Source;
use podium_scaffold::tree_search::TreeSearchSpec;
use podium_scaffold::{Budget, Scaffold, Task};
use podium_types::money::Usd;
use podium_types::number::Number;
use podium_types::range::Range;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

pub(crate) use shipped::prompts;

pub(crate) const AIDE: &str = include_str!("../../../../../scaffolds/aide.toml");
pub(crate) const AIDE_HOLDOUT: &str = include_str!("../../../../../scaffolds/aide-holdout.toml");
pub(crate) const AIDE_MLEBENCH: &str = include_str!("../../../../../scaffolds/aide-mlebench.toml");

/// The shipped tree searches that any task will do for, by their ids. All are in [`shipped::scaffolds`].
pub(crate) const TREE_SEARCHES: &[(&str, &str)] = &[
    ("aide", AIDE),
    ("aide-mlebench", AIDE_MLEBENCH),
    ("aira-evo", include_str!("../../../../../scaffolds/aira-evo.toml")),
    ("aira-greedy", include_str!("../../../../../scaffolds/aira-greedy.toml")),
    ("aira-mcts", include_str!("../../../../../scaffolds/aira-mcts.toml")),
    ("best-first", include_str!("../../../../../scaffolds/best-first.toml")),
    ("ml-master", include_str!("../../../../../scaffolds/ml-master.toml")),
    ("mle-star", include_str!("../../../../../scaffolds/mle-star.toml")),
    ("random", include_str!("../../../../../scaffolds/random.toml")),
];

/// The one that needs a task with training labels, for which a world has to answer more.
pub(crate) const JUDGED: (&str, &str) = ("aide-holdout", AIDE_HOLDOUT);

/// AIDE with overrides.
pub(crate) fn aide(overrides: &[(&str, &str)]) -> Scaffold {
    scaffold("aide", overrides)
}

/// A shipped tree search with overrides.
pub(crate) fn scaffold(id: &str, overrides: &[(&str, &str)]) -> Scaffold {
    let (_, text) = TREE_SEARCHES.iter().chain([&JUDGED]).find(|(name, _)| *name == id).unwrap();
    load(text, overrides)
}

/// A scaffold file with overrides.
pub(crate) fn load(file: &str, overrides: &[(&str, &str)]) -> Scaffold {
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scaffold::load(file, prompts(), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// The tree search of a scaffold as its tables.
pub(crate) fn tables(scaffold: &Scaffold) -> TreeSearchSpec {
    let file = scaffold.to_toml();
    TreeSearchSpec::read(&Source::new(&file).unwrap(), &Registry::shipped()).unwrap()
}

pub(crate) fn task() -> Task {
    Task {
        competition: "segment".into(),
        description: "# Segments\n\nTell the seven kinds of segment apart.\n\n```\nid,label\n```\n".into(),
        metric: "log loss".into(),
        direction: Direction::Lower,
        metric_range: Range::NOT_NEGATIVE,
        submission_path: "./submission/submission.csv".into(),
        grants: Grants {
            cpus: 2,
            memory_bytes: Some(8 << 30),
            gpus: vec![],
            network: false,
            shm_bytes: None,
            disk_bytes: None,
            mounts: vec![],
        },
        packages: vec!["numpy 2.1.0".into(), "pandas 2.2.3".into(), "scikit-learn 1.5.2".into()],
        obfuscated: false,
        submission_check: false,
        validation: None,
    }
}

pub(crate) fn budget() -> Budget {
    Budget {
        steps: 3,
        step_limit: Some(20),
        run_ms: 600_000,
        run_limit_ms: Some(3_600_000),
        waiting_ms: 5_000,
        execution_limit_ms: 600_000,
        tokens: 0,
        token_limit: None,
        cost: Some(Usd::ZERO),
        cost_limit: None,
    }
}

/// A node: good with this metric, or buggy without one.
pub(crate) fn node(id: u32, parents: &[u32], metric: Option<f64>) -> NodeRecord {
    NodeRecord {
        id,
        parents: parents.to_vec(),
        operator: "draft".into(),
        plan: format!("Plan of node {id}."),
        code: format!("print({id})"),
        code_sha256: String::new(),
        buggy: metric.is_none().then(|| "exit code 1".to_owned()),
        metric: metric.map(Number),
        signals: Vec::new(),
        metric_source: None,
        flags: Vec::new(),
        summary: format!("Findings of node {id}."),
        predictions: std::collections::BTreeMap::new(),
        submission: Verdict::Valid {
            sha256: Sha256::of(format!("file-{id}").as_bytes()),
            copies_sample: false,
        },
        execution_ms: 1_000,
        reason: String::new(),
    }
}
