//! What the protocol of strategies in other languages costs: remarks of a program, one after another, each answered at
//! once by a world that does nothing. What is left is the protocol: two lines, two pipes, two processes.
//!
//! `cargo bench --bench external` prints a table; the bar is 1 ms for an effect.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints, and tells its failure by its panic"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use podium::run::external::{self, Agent, Stage};
use podium_sandbox::{Environment, SandboxKind, Settings};
use podium_scaffold::context::EffectFuture;
use podium_scaffold::{
    Budget, Effect, EffectResult, Registry, RunContext, Scaffold, Strategy as _, Task, sample_task,
};
use podium_types::key::EffectKey;
use podium_types::rng::Rng;

/// Remarks of one program.
const EFFECTS: u32 = 5_000;

/// With the client that comes with Podium, and by hand.
const PROGRAMS: [(&str, &str); 2] = [
    (
        "podium_client.py",
        "from podium_client import Podium\n\
         podium = Podium()\n\
         for number in range(podium.settings['effects']):\n    podium.note('a remark')\n\
         podium.finish('done')\n",
    ),
    (
        "by hand",
        "import json, sys\n\
         def ask(id, method, **params):\n    \
             print(json.dumps({'jsonrpc': '2.0', 'id': id, 'method': method, 'params': params}), flush=True)\n    \
             return json.loads(sys.stdin.readline())\n\
         told = ask(0, 'initialize', protocol=[1])['result']\n\
         for number in range(told['settings']['effects']):\n    ask(number + 1, 'note', text='a remark')\n\
         ask(-1, 'finish', reason='done')\n",
    ),
];

/// Records whatever it is told.
struct Nothing(Task, Budget);

impl RunContext for Nothing {
    fn task(&self) -> &Task {
        &self.0
    }

    fn perform(&self, _: EffectKey, _: Effect) -> EffectFuture<'_> {
        Box::pin(std::future::ready(Ok(EffectResult::Recorded)))
    }

    fn budget(&self) -> Budget {
        self.1
    }

    fn rng(&self, key: &EffectKey) -> Rng {
        Rng::new(key.seed(1))
    }
}

fn world() -> Nothing {
    let budget = Budget {
        steps: 0,
        step_limit: None,
        run_ms: 0,
        run_limit_ms: None,
        waiting_ms: 0,
        execution_limit_ms: 1_000,
        tokens: 0,
        token_limit: None,
        cost: None,
        cost_limit: None,
    };
    Nothing(sample_task(), budget)
}

/// Microseconds for one effect of a program, its start left out by running it with none as well.
async fn per_effect(program: &str, stage: &Stage) -> f64 {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external");
    let toml = std::fs::read_to_string(examples.join("greedy.toml")).unwrap();
    let client = std::fs::read_to_string(examples.join("podium_client.py")).unwrap();
    let files = BTreeMap::from([
        ("greedy.py".to_owned(), program.to_owned()),
        ("podium_client.py".to_owned(), client),
    ]);
    let prompts = BTreeMap::from([("common/benchmark.md.tera".to_owned(), String::new())]);
    let mut seconds = Vec::new();
    for effects in [0, EFFECTS] {
        let toml = toml.replace("drafts = 3", &format!("effects = {effects}"));
        let registry = external::with(Registry::shipped());
        let scaffold = Scaffold::load_with(&registry, &toml, prompts.clone(), &[]).unwrap();
        let world = world();
        let agent = Agent::of(&scaffold, &files, world.1, 1, Some(stage.clone())).unwrap();
        let begun = Instant::now();
        let finished = agent.run(&world).await.unwrap();
        seconds.push(begun.elapsed().as_secs_f64());
        assert_eq!(finished.reason, "done");
        agent.close().await;
    }
    (seconds.pop().unwrap() - seconds.pop().unwrap()) * 1e6 / f64::from(EFFECTS)
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    println!("{EFFECTS} effects, one after another\n{:<10}{:<20}µs per effect", "sandbox", "program");
    for kind in [SandboxKind::Process, SandboxKind::Jail] {
        let sandbox = match podium_sandbox::open(kind, &Settings::default()) {
            Ok(sandbox) => sandbox.into(),
            Err(error) => {
                println!("{:<10}{error}", kind.name());
                continue;
            }
        };
        let environment = Environment::of_user(Path::new("python3")).unwrap();
        let stage = Stage::new(sandbox, environment);
        for (name, program) in PROGRAMS {
            println!("{:<10}{name:<20}{:.0}", kind.name(), runtime.block_on(per_effect(program, &stage)));
        }
    }
}
