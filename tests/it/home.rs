//! The live home workspace behind the run context: executions, sessions and file tools side by side in one folder, what
//! changed kept, and the folder made again when it is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use podium::assets::Assets;
use podium::run::clock::Clock;
use podium::run::driver::{Performed, Report, World as _};
use podium::run::folder::RunFolder;
use podium::run::grants::Asked;
use podium::run::journal::{HomeFiles, Intent, Journal, Record, Stamp};
use podium::run::order::Order;
use podium::run::site::Site;
use podium::run::spending::Spending;
use podium::run::wording::Wording;
use podium::run::world::{LiveWorld, Recipe, Sitting};
use podium_sandbox::SandboxKind;
use podium_scaffold::{Effect, EffectResult};
use podium_types::execution::{Collected, Execution, ExecutionRequest, Program, Workspace};
use podium_types::files::{FileFault, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::key::EffectKey;
use podium_types::session::{
    SessionAct, SessionAnswer, SessionFault, SessionKind, SessionRequest, SessionState,
};
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use tokio::sync::mpsc;

use crate::support::place::{python, toy_assets};
use crate::support::{Place, need};

/// Waits that a test on a loaded machine does not reach.
const LONG: u64 = 60_000;

/// One sitting in a run's folder.
struct House {
    world: LiveWorld,
    reports: mpsc::UnboundedReceiver<Report>,
    files: HomeFiles,
    ended: Vec<Record>,
    next: u32,
}

impl House {
    fn open(place: &Place, folder: &RunFolder, kind: SandboxKind, files: HomeFiles) -> Self {
        let site = Site {
            assets: Assets::load(Some(&toy_assets())).unwrap(),
            data_dir: place.data(),
            cache_dir: place.path().join("cache"),
            variables: BTreeMap::new(),
            own_models: None,
            stall_timeout: None,
            max_tries: None,
            python: Some(python().to_owned()),
            mounts: BTreeMap::new(),
            pacing: podium_llm::Pacing::default(),
            recordings: BTreeMap::new(),
        };
        let order = Order {
            preview: podium::run::config::PreviewMode::Full,
            scaffold: "aide".to_owned(),
            overrides: Vec::new(),
            competition: "toy".to_owned(),
            model: Some("playbook/default".to_owned()),
            roles: BTreeMap::new(),
            seed: None,
            steps: None,
            run_ms: None,
            execution_ms: Some(20_000),
            tokens: None,
            cost: None,
            sandbox: Asked {
                kind: Some(kind),
                memory_bytes: Some(512 << 20),
                cpus: Some(1),
                ..Asked::default()
            },
            description: Wording::Original,
            mle_bench: None,
        };
        let config = order.resolve(&site, Vec::new()).unwrap().config;
        let equipment = site.equip(&config, folder.path(), &mut |_| {}).unwrap();
        let (reporter, reports) = mpsc::unbounded_channel();
        let sitting = Sitting {
            folder: folder.clone(),
            journal: Journal::open(folder).unwrap().journal,
            spending: Spending::resume(config.limits, Usage::NOTHING),
            clock: Clock::resume(Stamp::default()),
            limits: config.limits,
            reporter,
            submission: "submission/submission.csv".into(),
            recipe: Recipe::of(&config),
            training_table: None,
            home: files.clone(),
        };
        let world = LiveWorld::new(equipment, sitting);
        Self { world, reports, files, ended: Vec::new(), next: 0 }
    }

    async fn perform(&mut self, effect: Effect) -> EffectResult {
        self.next += 1;
        let key = EffectKey::step(self.next, "act");
        let hash = podium_types::canonical::hash(&effect).unwrap();
        let performed = self.world.perform(key, effect, hash).await;
        self.take_reports();
        match performed {
            Performed::Done { result, .. } => *result,
            Performed::Parked(stop) => panic!("{stop:?}"),
        }
    }

    fn take_reports(&mut self) {
        while let Ok(report) = self.reports.try_recv() {
            match report {
                Report::Changed(change) => self.files.apply(&change),
                Report::Record(record) => self.ended.push(*record),
                _ => {}
            }
        }
    }

    async fn run(&mut self, argv: &[&str]) -> Execution {
        let effect = Effect::Execute(Box::new(ExecutionRequest {
            workspace: Workspace::Home,
            program: Program::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() },
            timeout_ms: LONG,
            env: BTreeMap::new(),
            collect: Vec::new(),
            agent: None,
        }));
        match self.perform(effect).await {
            EffectResult::Execution(execution) => *execution,
            other => panic!("{other:?}"),
        }
    }

    async fn act(&mut self, request: FilesRequest) -> Result<FilesAnswer, FileFault> {
        match self.perform(Effect::Files(Box::new(request))).await {
            EffectResult::Files(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    async fn session(
        &mut self,
        kind: SessionKind,
        act: SessionAct,
        soft_ms: u64,
    ) -> Result<SessionAnswer, SessionFault> {
        let request = SessionRequest { name: kind.name().to_owned(), kind, act, soft_ms };
        match self.perform(Effect::Session(Box::new(request))).await {
            EffectResult::Session(answer) => answer.map(|answer| *answer),
            other => panic!("{other:?}"),
        }
    }

    async fn send(&mut self, kind: SessionKind, input: &str) -> SessionAnswer {
        self.session(kind, SessionAct::Send { input: input.to_owned() }, LONG).await.unwrap()
    }

    async fn close(mut self) -> (HomeFiles, Vec<Record>) {
        let closed = self.world.close().await;
        self.take_reports();
        self.ended.extend(closed);
        (self.files, self.ended)
    }
}

fn write(path: &str, content: &str, when: WriteWhen) -> FilesRequest {
    FilesRequest::Write { path: path.to_owned(), content: content.to_owned(), when }
}

fn read(path: &str, max_bytes: u64, beginning: bool) -> FilesRequest {
    FilesRequest::Read { path: path.to_owned(), max_bytes, beginning }
}

/// The kinds of sandbox that work here, but containers, whose workspace has tests of its own.
fn kinds(test: &str) -> Vec<SandboxKind> {
    let mut kinds = vec![SandboxKind::Process];
    if need::jail(test) {
        kinds.push(SandboxKind::Jail);
    }
    kinds
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_sessions_and_tools_share_one_folder_that_stays() {
    for kind in kinds("programs_sessions_and_tools_share_one_folder_that_stays") {
        let place = Place::new();
        let folder = RunFolder::create(&place.runs(), "run").unwrap();
        let mut house = House::open(&place, &folder, kind, HomeFiles::default());
        let script = "open('log', 'a').write('once\\n'); import os; os.makedirs('submission', exist_ok=True); \
                      open('submission/submission.csv', 'w').write('id,y\\n'); print(len(os.listdir('input')) > 0)";
        house.act(write("work/a.py", script, WriteWhen::Absent)).await.unwrap();
        for _ in 0..2 {
            let ran = house.run(&["python", "work/a.py"]).await;
            assert_eq!((ran.output.text().as_str(), ran.succeeded()), ("True\n", true), "{kind}: {ran:?}");
        }
        let seen = house.send(SessionKind::Shell, "cd work; x=1; cat ../log; ls ../submission").await;
        assert_eq!((seen.observation.text().as_str(), seen.opened), ("once\nonce\nsubmission.csv\n", true));
        let seen = house.send(SessionKind::Shell, "echo $x $PWD | sed 's,.*/,/,'").await;
        assert!(seen.observation.text().ends_with("/work\n") && !seen.opened, "{seen:?}");
        let seen = house.send(SessionKind::Kernel, "open('log').read().count('once')").await;
        assert_eq!((seen.observation.text().as_str(), seen.opened), ("2", true), "{kind}");
        // An execution beside open sessions takes nothing from them.
        assert!(
            house.run(&["sh", "-c", "echo more >> log; test -s submission/submission.csv"]).await.succeeded()
        );
        let collect = Effect::Collect { path: "./submission/submission.csv".to_owned() };
        let file = Collected::File { sha256: Sha256::of(b"id,y\n"), bytes: 5 };
        assert_eq!(house.perform(collect).await, EffectResult::Collected(file));
        for (path, found) in
            [("nothing", "nothing"), ("../x", "leaves"), ("/etc/passwd", "leaves"), ("work", "a directory")]
        {
            let result = house.perform(Effect::Collect { path: path.to_owned() }).await;
            let EffectResult::Collected(Collected::Missing { found: told }) = result else {
                panic!("{path}")
            };
            assert!(told.contains(found), "{path}: {told}");
        }
        let names = |files: &HomeFiles| files.kept.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&house.files), ["log", "submission/submission.csv", "work/a.py"], "{kind}");
        let (files, ended) = house.close().await;
        assert_eq!(ended.len(), 2, "a shell and a kernel: {ended:?}");

        // The next sitting finds the folder, and new sessions.
        let mut house = House::open(&place, &folder, kind, files);
        let seen = house.send(SessionKind::Shell, "echo [$x]; wc -l < log").await;
        assert_eq!((seen.observation.text().trim_end(), seen.opened), ("[]\n3", true), "{seen:?}");
        let (files, _) = house.close().await;
        std::fs::remove_dir_all(folder.home_path()).unwrap();
        let mut house = House::open(&place, &folder, kind, files);
        let ran = house.run(&["cat", "log", "work/a.py"]).await;
        assert_eq!(ran.output.text(), format!("once\nonce\nmore\n{script}"), "made again from what was kept");
        house.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_in_the_background_and_a_dead_session_is_new() {
    let test = "a_call_goes_on_in_the_background_and_a_dead_session_is_new";
    for kind in kinds(test) {
        let place = Place::new();
        let folder = RunFolder::create(&place.runs(), "run").unwrap();
        let mut house = House::open(&place, &folder, kind, HomeFiles::default());
        let shell = SessionKind::Shell;
        let send = |input: &str| SessionAct::Send { input: input.to_owned() };
        let gate = "while [ ! -e gate ]; do sleep 0.05; done; echo through";
        let seen = house.session(shell, send(gate), 50).await.unwrap();
        assert_eq!(seen.observation.state, SessionState::Running, "{kind}: {seen:?}");
        let busy = house.session(shell, send("true"), 50).await;
        assert_eq!(busy, Err(SessionFault::Busy { kind: shell }));
        house.act(write("gate", "", WriteWhen::Always)).await.unwrap();
        let seen = house.session(shell, SessionAct::Wait, LONG).await.unwrap();
        assert_eq!((seen.observation.text().as_str(), seen.opened), ("through\n", false), "{kind}");

        house.session(shell, send("read line; echo got $line; sleep 1000"), 50).await.unwrap();
        let input = SessionAct::Input { text: "word\n".to_owned(), end: false };
        let mut text = house.session(shell, input, 50).await.unwrap().observation.text();
        while text != "got word\n" {
            text.push_str(&house.session(shell, SessionAct::Wait, 50).await.unwrap().observation.text());
        }
        let seen = house.session(shell, SessionAct::Interrupt, LONG).await.unwrap();
        assert!(seen.observation.interrupted && seen.observation.has_ended(), "{kind}: {seen:?}");

        let seen = house.send(shell, "x=1; echo last; exit 7").await;
        assert!(seen.observation.is_over() && seen.observation.text() == "last\n", "{kind}: {seen:?}");
        let seen = house.send(shell, "echo [$x]").await;
        assert_eq!((seen.observation.text().as_str(), seen.opened), ("[]\n", true), "{kind}");
        let seen = house.session(shell, SessionAct::Restart, LONG).await.unwrap();
        assert!(seen.opened && seen.observation.state == SessionState::Idle, "{kind}: {seen:?}");
        // One that dies unobserved is told by the act that finds it.
        house.session(shell, send("echo dying; sleep 0.3; exit 3"), 10).await.unwrap();
        let mut seen;
        loop {
            seen = house.session(shell, send("echo next"), LONG).await;
            match &seen {
                Err(SessionFault::Busy { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
                _ => break,
            }
        }
        let seen = seen.unwrap();
        assert_eq!((seen.observation.text().as_str(), seen.opened), ("next\n", true), "{kind}: {seen:?}");
        assert!(seen.before.is_some_and(|before| before.is_over()), "{kind}");
        let wrong = SessionRequest {
            name: "shell".to_owned(),
            kind: SessionKind::Kernel,
            act: SessionAct::Wait,
            soft_ms: 1,
        };
        let refused = house.perform(Effect::Session(Box::new(wrong))).await;
        assert!(matches!(refused, EffectResult::Session(Err(SessionFault::Refused { .. }))), "{refused:?}");
        let (_, ended) = house.close().await;
        assert_eq!(ended.len(), 4, "{kind}: one for each shell");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_tools_tell_what_stood_in_their_way() {
    for kind in kinds("file_tools_tell_what_stood_in_their_way") {
        let place = Place::new();
        let folder = RunFolder::create(&place.runs(), "run").unwrap();
        let mut house = House::open(&place, &folder, kind, HomeFiles::default());
        let written = house.act(write("a", "one", WriteWhen::Absent)).await.unwrap();
        assert_eq!(
            house.act(write("a", "one", WriteWhen::Absent)).await.unwrap(),
            written,
            "twice is as once"
        );
        let path = || "a".to_owned();
        assert_eq!(
            house.act(write("a", "two", WriteWhen::Absent)).await,
            Err(FileFault::Exists { path: path() })
        );
        let unchanged = |text: &str| WriteWhen::Unchanged { sha256: Sha256::of(text.as_bytes()) };
        assert_eq!(
            house.act(write("a", "two", unchanged("no"))).await,
            Err(FileFault::Changed { path: path() })
        );
        house.act(write("a", "two", unchanged("one"))).await.unwrap();
        house.act(write("a", "two", unchanged("one"))).await.unwrap();
        let plant = "ln -s /etc/passwd link; mkfifo fifo; printf 'a\\000b' > binary; printf 'caf\\351' > latin; \
                     printf 'h\\303\\251llo' > utf8; mkdir folder; ln a hard";
        assert!(house.run(&["sh", "-c", plant]).await.succeeded());
        let fault = |answer: Result<FilesAnswer, FileFault>| answer.unwrap_err().to_string();
        let mut told: Vec<String> = Vec::new();
        for path in
            ["link", "fifo", "binary", "folder", "nothing", "../x", "/etc/passwd", "a/b", "", "input/../../x"]
        {
            told.push(format!("read: {}", fault(house.act(read(path, 100, false)).await)));
        }
        for path in ["link", "fifo", "folder", "input/train.csv", "input/new", "../x", "."] {
            told.push(format!("write: {}", fault(house.act(write(path, "x", WriteWhen::Always)).await)));
        }
        for path in ["folder", "input/train.csv", "../x"] {
            let remove = FilesRequest::Remove { path: path.to_owned() };
            told.push(format!("remove: {}", fault(house.act(remove).await)));
        }
        told.push(format!("large: {}", fault(house.act(read("a", 2, false)).await)));
        insta::with_settings!({snapshot_path => "snapshots"}, { insta::assert_snapshot!("home_file_faults", told.join("\n")) });
        let text = |answer| match answer {
            Ok(FilesAnswer::Read(text)) => text,
            other => panic!("{other:?}"),
        };
        let found = text(house.act(read("utf8", 2, true)).await);
        assert_eq!((found.text.as_str(), found.bytes, found.lossy), ("h", 6, false), "no half character");
        assert!(found.is_beginning());
        let found = text(house.act(read("latin", 100, false)).await);
        assert_eq!((found.text.as_str(), found.lossy), ("caf\u{fffd}", true));
        // What has another name is left alone, and a copy is a file of its own.
        house.act(write("a", "three", WriteWhen::Always)).await.unwrap();
        assert_eq!(text(house.act(read("hard", 100, false)).await).text, "two");
        let copy = FilesRequest::Copy { from: "input/train.csv".to_owned(), to: "deep/er/copy".to_owned() };
        let copied = house.act(copy).await.unwrap();
        assert!(matches!(copied, FilesAnswer::Written { bytes: 1.., .. }), "{copied:?}");
        let listed = house.act(FilesRequest::List { path: "deep".to_owned() }).await.unwrap();
        assert!(matches!(listed, FilesAnswer::Listed { ref entries, more: false } if entries.len() == 1));
        for existed in [true, false] {
            let remove = FilesRequest::Remove { path: "link".to_owned() };
            assert_eq!(house.act(remove).await, Ok(FilesAnswer::Removed { existed }));
        }
        house.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_is_intended_before_it_is_begun_and_reading_is_not() {
    let place = Place::new();
    let folder = RunFolder::create(&place.runs(), "run").unwrap();
    let mut house = House::open(&place, &folder, SandboxKind::Process, HomeFiles::default());
    house.act(write("a", "one", WriteWhen::Always)).await.unwrap();
    house.act(read("a", 9, false)).await.unwrap();
    house.run(&["true"]).await;
    house.session(SessionKind::Shell, SessionAct::Wait, 1).await.unwrap();
    house.send(SessionKind::Shell, "true").await;
    house.close().await;
    let open = Journal::open(&folder).unwrap().open_intents;
    let keys: Vec<&str> = open
        .iter()
        .map(|intent| match intent {
            Intent::Act { key, .. } => key.as_str(),
            Intent::Try { .. } => panic!("no model was asked"),
        })
        .collect();
    assert_eq!(keys, ["step/3/act", "step/5/act"], "no result was journaled, so both are open");
}
