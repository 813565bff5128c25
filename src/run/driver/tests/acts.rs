//! Acts that are begun once at most: one that a crash or a stop cut is told as interrupted, and never begun again.

use std::collections::BTreeMap;

use podium_scaffold::Acted;
use podium_types::canonical;
use podium_types::execution::{Ended, Execution, ExecutionRequest, Output, Program, Workspace};
use podium_types::files::{FilesAnswer, FilesRequest, WriteWhen};
use podium_types::session::{SessionAct, SessionFault, SessionKind, SessionRequest};

use super::*;
use crate::run::journal::{HomeChange, HomeFiles, Kept};

/// Runs a program, sends a command and writes a file, three times over, and notes what came of each.
struct Dweller;

impl Strategy for Dweller {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            for step in 0..3 {
                let key = |call: &str| EffectKey::step(step, call);
                let ran = context.execute_at_home(key("run"), program()).await?;
                let sent = context.session(key("send"), command()).await?;
                context.files(key("write"), writing(step)).await?.unwrap();
                let cut = |cut| if cut { "cut" } else { "done" };
                let (ran, sent) = (ran == Acted::Interrupted, sent == Acted::Interrupted);
                context.note(key("note"), format!("{} {}", cut(ran), cut(sent))).await?;
            }
            Ok(Finished { reason: "done".to_owned() })
        })
    }
}

fn program() -> ExecutionRequest {
    ExecutionRequest {
        workspace: Workspace::Home,
        program: Program::Command { argv: vec!["true".to_owned()] },
        timeout_ms: 1,
        env: BTreeMap::new(),
        collect: Vec::new(),
        agent: None,
    }
}

fn command() -> SessionRequest {
    let act = SessionAct::Send { input: "true".to_owned() };
    SessionRequest { name: "main".to_owned(), kind: SessionKind::Shell, act, soft_ms: 1 }
}

fn writing(step: u32) -> FilesRequest {
    FilesRequest::Write { path: format!("{step}.py"), content: String::new(), when: WriteWhen::Always }
}

/// Does what it is asked at once, and remembers it. `parks_at`: that one cannot be done.
#[derive(Default)]
struct House {
    asked: Mutex<Vec<EffectKey>>,
    parks_at: Option<&'static str>,
}

impl World for House {
    fn perform(&self, key: EffectKey, effect: Effect, _: String) -> BoxFuture<'static, Performed> {
        self.asked.lock().unwrap().push(key.clone());
        if self.parks_at == Some(key.as_str()) {
            return Box::pin(async { Performed::Parked(Stop::new(StoppedBy::Time, "no time")) });
        }
        let result = match effect {
            Effect::Execute(_) => EffectResult::Execution(Box::new(Execution {
                ended: Ended::Exit(0),
                limit: None,
                output: Output::default(),
                exception: None,
                submission: podium_types::execution::Collected::Missing { found: "nothing".to_owned() },
                collected: BTreeMap::new(),
                wall_ms: 0,
                cpu_ms: None,
                peak_memory_bytes: None,
                blocked: BTreeMap::new(),
                names_asked: BTreeMap::new(),
                requests_refused: BTreeMap::new(),
                submission_checks: 0,
                interrupted: false,
                warm: false,
            })),
            Effect::Session(_) => EffectResult::Session(Err(SessionFault::Busy { kind: SessionKind::Shell })),
            _ => EffectResult::Files(Ok(FilesAnswer::Written { bytes: 0, sha256: None })),
        };
        Box::pin(async move { Performed::Done { result: Box::new(result), waited: Duration::ZERO } })
    }

    fn materialise(&self, _: &Entry) -> Result<(), String> {
        Ok(())
    }
}

fn notes(entries: &[Entry]) -> Vec<String> {
    let note = |entry: &Entry| match &entry.record {
        Record::Result { effect, .. } => match &**effect {
            Effect::Note { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    entries.iter().filter_map(note).collect()
}

/// The act that a crash after `prefix` would have cut, had it been begun.
fn next_act(whole: &[Entry], cut: usize) -> Option<Intent> {
    match &whole.get(cut)?.record {
        Record::Result { key, hash, effect, .. } if effect.is_at_most_once() => {
            Some(Intent::Act { key: key.clone(), hash: hash.clone() })
        }
        _ => None,
    }
}

#[tokio::test]
async fn an_act_that_was_cut_is_told_and_never_begun_again() {
    let whole = sit_in(&Dweller, &[], Arc::new(House::default()), LIMITS, None).await;
    assert_eq!(notes(&whole.entries), ["done done"; 3]);
    let mut acts = 0;
    for cut in 1..whole.entries.len() {
        let prefix = &whole.entries[..cut];
        let open: Vec<Intent> = next_act(&whole.entries, cut).into_iter().collect();
        acts += open.len();
        let house = Arc::new(House::default());
        let resumed = sit_after(&Dweller, prefix, Arc::clone(&house) as _, LIMITS, None, open.clone()).await;
        assert_eq!(resumed.stop.by, StoppedBy::Finished, "after {cut}");
        assert!(begins_with(&resumed.entries, prefix), "the prefix of {cut} changed");
        let asked = std::mem::take(&mut *house.asked.lock().unwrap());
        assert!(asked.iter().all(|key| !results(prefix).contains(&key)), "asked again after {cut}");
        for intent in &open {
            assert!(!asked.contains(intent.place().0), "{intent:?} was begun again");
        }
        let told = notes(&resumed.entries).iter().filter(|note| note.contains("cut")).count();
        assert_eq!(told, open.len(), "after {cut}");
        replay_with(&Dweller, resumed.entries).await.unwrap();
    }
    assert_eq!(acts, 6);
}

#[tokio::test]
async fn an_act_of_another_content_than_the_one_that_was_begun_is_told() {
    let key = EffectKey::step(0, "run");
    let open = vec![Intent::Act { key, hash: "0".repeat(64) }];
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(place.path(), "run").unwrap();
    let (reporter, reports) = mpsc::unbounded_channel();
    let (_keep, interrupt) = watch::channel(Interrupt::None);
    let live = Live {
        journal: Journal::open(&folder).unwrap().journal,
        world: Arc::new(House::default()),
        reports,
        reporter,
        clock: Clock::resume(last_stamp(&[])),
        spending: Spending::resume(LIMITS, Usage::NOTHING),
        interrupt: interrupt.into(),
        started: Record::Started {
            program: "test".to_owned(),
            sandbox: "none".to_owned(),
            config: None,
            files: None,
        },
        limits: None,
        open_intents: open,
    };
    let mut sink = |_: &RunEvent| {};
    let driven = Driver::new(handle(), LIMITS, Vec::new(), Some(live), &mut sink).drive(&Dweller).await;
    assert!(matches!(driven, Err(DriveError::Diverged { .. })), "{driven:?}");
}

#[tokio::test]
async fn a_stop_in_the_middle_of_an_act_leaves_it_open() {
    for parks_at in ["step/1/run", "step/1/send"] {
        let house = House { parks_at: Some(parks_at), ..House::default() };
        let stopped = sit_in(&Dweller, &[], Arc::new(house), LIMITS, None).await;
        assert_eq!(stopped.stop.by, StoppedBy::Time);
        let key = EffectKey::from_journal(parks_at.to_owned());
        let effect = if parks_at.ends_with("run") {
            Effect::Execute(Box::new(program()))
        } else {
            Effect::Session(Box::new(command()))
        };
        let open = vec![Intent::Act { key, hash: canonical::hash(&effect).unwrap() }];
        let world = Arc::new(House::default());
        let resumed = sit_after(&Dweller, &stopped.entries, world, LIMITS, None, open).await;
        assert_eq!(resumed.stop.by, StoppedBy::Finished);
        assert_eq!(notes(&resumed.entries).iter().filter(|note| note.contains("cut")).count(), 1);
    }
}

#[test]
fn changes_laid_one_over_the_other_are_as_their_sum() {
    let kept = |text: &str| Kept { sha256: podium_types::sha256::Sha256::of(text.as_bytes()), bytes: 3 };
    let change = |files: &[(&str, &str)], removed: &[&str]| HomeChange {
        kept: files.iter().map(|(path, text)| ((*path).to_owned(), kept(text))).collect(),
        removed: removed.iter().map(|path| (*path).to_owned()).collect(),
        ..HomeChange::default()
    };
    let steps = [
        change(&[("a", "one"), ("b", "two")], &[]),
        change(&[("a", "won")], &["b"]),
        change(&[("b", "too"), ("c", "sea")], &["a"]),
        change(&[("a", "own")], &["c", "b"]),
    ];
    for parts in 1..=steps.len() {
        let mut files = HomeFiles::default();
        let mut merged = HomeChange::default();
        for step in &steps[..parts] {
            files.apply(step);
            merged.merge(step.clone());
        }
        let mut at_once = HomeFiles::default();
        at_once.apply(&merged);
        assert_eq!((at_once.kept, at_once.left_out), (files.kept, files.left_out), "{parts}");
    }
}
