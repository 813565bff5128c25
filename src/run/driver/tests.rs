//! The driver against a world that answers out of order: whatever it does, a replay takes the same turns, a resume
//! from any prefix ends in the same tree, and nothing with a committed result is performed again.

mod acts;
mod outside;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Effect, EffectResult, Finished, NodeRecord, RunContext, Strategy, sample_task};
use podium_types::chat::{ChatAnswer, ChatRequest, FinishReason, Message, Speaker};
use podium_types::key::EffectKey;
use podium_types::usage::Usage;
use podium_types::verdict::Verdict;
use tokio::sync::{mpsc, watch};

use super::*;
use crate::run::clock::Clock;
use crate::run::context::Handle;
use crate::run::events::RunEvent;
use crate::run::folder::RunFolder;
use crate::run::journal::{Entry, Intent, Journal, Record};
use crate::run::limits::Limits;
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::tally::Tally;

const LIMITS: Limits = Limits { steps: Some(9), run_ms: None, execution_ms: 1000, tokens: None, cost: None };

/// Twelve nodes by several workers; each node's plan is what the model said, and its parent is whatever finished last.
struct Toy {
    workers: usize,
}

const TOY: Toy = Toy { workers: 3 };

impl Strategy for Toy {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            let mut flying = FuturesUnordered::new();
            let (mut next, mut last) = (0, None);
            loop {
                while flying.len() < self.workers && next < 12 {
                    let parents = last.into_iter().collect::<Vec<u32>>();
                    flying.push(grow(context, next, parents));
                    next += 1;
                }
                match flying.next().await {
                    Some(grown) => last = Some(grown?),
                    None => return Ok(Finished { reason: "done".to_owned() }),
                }
            }
        })
    }
}

async fn grow(
    context: &dyn RunContext,
    id: u32,
    parents: Vec<u32>,
) -> Result<u32, podium_scaffold::ContextError> {
    context.begin_step(EffectKey::node(id, "begin", 0)).await?;
    let request = ChatRequest {
        messages: vec![Message::text(Speaker::User, format!("{parents:?}"))],
        ..ChatRequest::default()
    };
    let answer = context.chat(EffectKey::node(id, "draft", 0), "code", request).await?;
    let plan = answer.map(|answer| answer.content).unwrap_or_default();
    let node = NodeRecord {
        id,
        parents,
        operator: "draft".to_owned(),
        plan,
        code: String::new(),
        code_sha256: String::new(),
        buggy: None,
        metric: Some(f64::NAN.into()),
        signals: Vec::new(),
        metric_source: None,
        flags: Vec::new(),
        summary: String::new(),
        predictions: std::collections::BTreeMap::new(),
        submission: Verdict::Missing { found: "nothing".to_owned() },
        execution_ms: 0,
        reason: String::new(),
    };
    context.node(EffectKey::node(id, "record", 0), node).await?;
    Ok(id)
}

/// Answers late calls first, and remembers what it was asked.
#[derive(Default)]
struct Unruly {
    asked: Mutex<Vec<EffectKey>>,
    fails: bool,
    panics: bool,
}

impl World for Unruly {
    fn perform(&self, key: EffectKey, effect: Effect, _hash: String) -> BoxFuture<'static, Performed> {
        let turns = 13_u32.saturating_sub(key.number().unwrap_or(0)) % 4;
        self.asked.lock().unwrap().push(key);
        let (fails, panics) = (self.fails, self.panics);
        Box::pin(async move {
            assert!(!panics, "a bug");
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            if fails {
                return Performed::Parked(Stop::new(StoppedBy::ModelService, "quota"));
            }
            let Effect::Chat { request, .. } = effect else { unreachable!() };
            let answer = ChatAnswer {
                logprobs: Vec::new(),
                content: format!("answer to {:?} with seed {:?}", request.messages, request.seed),
                reasoning: None,
                tool_calls: Vec::new(),
                document: None,
                finish: FinishReason::Stop,
                usage: Usage::NOTHING,
                model: "toy".to_owned(),
                provider_state: None,
            };
            Performed::Done { result: Box::new(EffectResult::Chat(Ok(answer))), waited: Duration::ZERO }
        })
    }

    fn materialise(&self, _entry: &Entry) -> Result<(), String> {
        Ok(())
    }
}

fn handle() -> Handle {
    Handle::new(sample_task(), 7, Tally::new(LIMITS).budget())
}

struct Sat {
    stop: Stop,
    entries: Vec<Entry>,
    asked: Vec<EffectKey>,
}

/// One sitting over the journal in `folder`, after `keep` entries of it.
async fn sit(recorded: &[Entry], world: Unruly, limits: Option<Limits>) -> Sat {
    sit_with(&TOY, recorded, world, limits).await
}

async fn sit_with(strategy: &dyn Strategy, recorded: &[Entry], world: Unruly, limits: Option<Limits>) -> Sat {
    let world = Arc::new(world);
    let sat = sit_in(strategy, recorded, Arc::clone(&world) as Arc<dyn World>, LIMITS, limits).await;
    let asked = std::mem::take(&mut *world.asked.lock().unwrap());
    Sat { asked, ..sat }
}

/// One sitting over the journal, in any world; a driver that waits for ever fails.
async fn sit_in(
    strategy: &dyn Strategy,
    recorded: &[Entry],
    world: Arc<dyn World>,
    begun_with: Limits,
    limits: Option<Limits>,
) -> Sat {
    sit_after(strategy, recorded, world, begun_with, limits, Vec::new()).await
}

/// The same after a sitting that left intents open.
async fn sit_after(
    strategy: &dyn Strategy,
    recorded: &[Entry],
    world: Arc<dyn World>,
    begun_with: Limits,
    limits: Option<Limits>,
    open_intents: Vec<Intent>,
) -> Sat {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(place.path(), "run").unwrap();
    let opened = Journal::open(&folder).unwrap();
    for entry in recorded {
        opened.journal.append(entry.stamp, entry.record.clone()).await.unwrap();
    }
    let (reporter, reports) = mpsc::unbounded_channel();
    let (_keep, interrupt) = watch::channel(Interrupt::None);
    let live = Live {
        journal: opened.journal,
        world,
        reports,
        reporter,
        clock: Clock::resume(last_stamp(recorded)),
        spending: Spending::resume(LIMITS, Usage::NOTHING),
        interrupt: interrupt.into(),
        started: Record::Started {
            program: "test".to_owned(),
            sandbox: "none".to_owned(),
            config: None,
            files: None,
        },
        limits,
        open_intents,
    };
    let mut sink = |_: &RunEvent| {};
    let driver = Driver::new(handle(), begun_with, recorded.to_vec(), Some(live), &mut sink);
    let driven = tokio::time::timeout(Duration::from_mins(1), driver.drive(strategy)).await;
    let (stop, _) = driven.expect("the driver waits for ever").unwrap();
    let entries = crate::run::journal::read_entries(
        &folder.journal_path(),
        &folder.content(),
        crate::run::journal::PATIENCE,
    )
    .unwrap();
    Sat { stop, entries, asked: Vec::new() }
}

async fn replay(recorded: Vec<Entry>) -> Result<Stop, DriveError> {
    replay_with(&TOY, recorded).await
}

async fn replay_with(strategy: &dyn Strategy, recorded: Vec<Entry>) -> Result<Stop, DriveError> {
    replay_within(LIMITS, strategy, recorded).await
}

async fn replay_within(
    limits: Limits,
    strategy: &dyn Strategy,
    recorded: Vec<Entry>,
) -> Result<Stop, DriveError> {
    let mut sink = |_: &RunEvent| {};
    Driver::new(handle(), limits, recorded, None, &mut sink).drive(strategy).await.map(|(stop, _)| stop)
}

/// The wall-clock time aside: the tests write the prefix anew.
fn begins_with(entries: &[Entry], prefix: &[Entry]) -> bool {
    entries
        .iter()
        .zip(prefix)
        .take_while(|(new, old)| (new.stamp, &new.record) == (old.stamp, &old.record))
        .count()
        == prefix.len()
}

fn results(entries: &[Entry]) -> Vec<&EffectKey> {
    entries
        .iter()
        .filter(|entry| matches!(entry.record, Record::Result { .. }))
        .filter_map(|e| e.record.key())
        .collect()
}

fn nodes(entries: &[Entry]) -> usize {
    results(entries).iter().filter(|key| key.as_str().ends_with("record/0")).count()
}

#[tokio::test]
async fn a_step_limit_is_exact_and_a_resume_raises_it() {
    let first = sit(&[], Unruly::default(), None).await;
    assert_eq!((first.stop.by, first.asked.len()), (StoppedBy::Steps, 9));
    assert_eq!(replay(first.entries.clone()).await.unwrap().by, StoppedBy::Steps);
    let second = sit(&first.entries, Unruly::default(), Some(Limits { steps: Some(50), ..LIMITS })).await;
    assert_eq!((second.stop.by, second.asked.len()), (StoppedBy::Finished, 3));
    assert!(begins_with(&second.entries, &first.entries));
    assert_eq!(replay(second.entries).await.unwrap().by, StoppedBy::Finished);
}

#[tokio::test]
async fn steps_are_exact_with_any_number_of_workers() {
    let within = |steps| Limits { steps: Some(steps), ..LIMITS };
    for workers in [1, 2, 4, 7] {
        let toy = Toy { workers };
        for (steps, more) in [(0, 1), (1, 2), (3, 5), (7, 11)] {
            let (world, again) = (Arc::new(Unruly::default()), Arc::new(Unruly::default()));
            let first = sit_in(&toy, &[], world, within(steps), None).await;
            let named = format!("{workers} workers, {steps} steps, then {more}");
            assert_eq!((first.stop.by, nodes(&first.entries)), (StoppedBy::Steps, steps as usize), "{named}");
            let second =
                sit_in(&toy, &first.entries, Arc::clone(&again) as _, within(steps), Some(within(more)))
                    .await;
            assert_eq!(
                (second.stop.by, nodes(&second.entries)),
                (StoppedBy::Steps, more as usize),
                "{named}"
            );
            assert!(begins_with(&second.entries, &first.entries), "{named}");
            assert_eq!(again.asked.lock().unwrap().len(), (more - steps) as usize, "{named}");
            let replayed = replay_within(within(steps), &toy, second.entries).await.unwrap();
            assert_eq!(replayed.by, StoppedBy::Steps, "{named}");
        }
        let all = sit_in(&toy, &[], Arc::new(Unruly::default()), within(50), None).await;
        assert_eq!((all.stop.by, nodes(&all.entries)), (StoppedBy::Finished, 12));
    }
}

/// The first node's work ends when all that the others may do has been done.
#[derive(Default)]
struct Slow {
    inner: Unruly,
    done: Arc<tokio::sync::Notify>,
    others: std::sync::atomic::AtomicUsize,
}

impl World for Slow {
    fn perform(&self, key: EffectKey, effect: Effect, hash: String) -> BoxFuture<'static, Performed> {
        let (first, done) = (key.number() == Some(0), Arc::clone(&self.done));
        let before = self.others.fetch_add(usize::from(!first), std::sync::atomic::Ordering::Relaxed);
        let last = !first && before + 2 == 9;
        let performed = self.inner.perform(key, effect, hash);
        Box::pin(async move {
            if first {
                done.notified().await;
            } else if last {
                done.notify_one();
            }
            performed.await
        })
    }

    fn materialise(&self, _entry: &Entry) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test]
async fn work_that_does_not_end_keeps_no_other_worker_from_going_on() {
    for workers in [2, 4, 7] {
        let slow = sit_in(&Toy { workers }, &[], Arc::new(Slow::default()), LIMITS, None).await;
        assert_eq!((slow.stop.by, nodes(&slow.entries)), (StoppedBy::Steps, 9), "{workers} workers");
        assert_eq!(replay_with(&Toy { workers }, slow.entries).await.unwrap().by, StoppedBy::Steps);
    }
}

#[tokio::test]
async fn from_every_prefix_a_resume_keeps_what_is_committed_and_repeats_nothing() {
    let whole = sit(&[], Unruly::default(), None).await;
    for cut in 1..whole.entries.len() {
        let prefix = &whole.entries[..cut];
        let resumed = sit(prefix, Unruly::default(), None).await;
        assert_eq!(resumed.stop.by, StoppedBy::Steps);
        assert!(begins_with(&resumed.entries, prefix), "the prefix of {cut} changed");
        assert!(resumed.asked.iter().all(|key| !results(prefix).contains(&key)), "asked again after {cut}");
        assert_eq!(nodes(&resumed.entries), 9);
        replay(resumed.entries).await.unwrap();
    }
}

#[tokio::test]
async fn a_service_that_fails_for_good_stops_the_run_and_the_call_is_asked_again() {
    let failed = sit(&[], Unruly { fails: true, ..Unruly::default() }, None).await;
    assert_eq!(failed.stop, Stop::new(StoppedBy::ModelService, "quota"));
    let resumed = sit(&failed.entries, Unruly::default(), None).await;
    assert_eq!((resumed.stop.by, resumed.asked.len()), (StoppedBy::Steps, 9));
}

#[tokio::test]
async fn a_changed_journal_is_told() {
    let mut entries = sit(&[], Unruly::default(), None).await.entries;
    let position = entries.iter().position(|entry| matches!(entry.record, Record::Result { .. })).unwrap();
    let missing: Vec<Entry> = entries[..position].iter().chain(&entries[position + 1..]).cloned().collect();
    assert!(matches!(replay(missing).await, Err(DriveError::Diverged { .. })));
    let chat = entries.iter_mut().find_map(|entry| match &mut entry.record {
        Record::Result { effect, result, .. } if matches!(**effect, Effect::Chat { .. }) => Some(result),
        _ => None,
    });
    if let EffectResult::Chat(Ok(answer)) = &mut **chat.unwrap() {
        answer.content.push('!');
    }
    assert!(matches!(replay(entries).await, Err(DriveError::Diverged { .. })));
}

/// Asks for two things at once and takes the first: the other is dropped, in flight or not.
struct Hasty {
    fails: bool,
}

impl Strategy for Hasty {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            for id in 0..3 {
                let ask =
                    |n: u32| context.chat(EffectKey::node(id, "draft", n), "code", ChatRequest::default());
                let first = futures_util::future::select(Box::pin(ask(0)), Box::pin(ask(1))).await;
                drop(first);
                context.note(EffectKey::node(id, "note", 0), "one of two".to_owned()).await?;
            }
            if self.fails {
                let last = context.chat(EffectKey::node(9, "draft", 0), "code", ChatRequest::default());
                let twice = context.note(EffectKey::node(0, "note", 0), String::new());
                let (_, twice) = futures_util::future::join(last, twice).await;
                twice?;
            }
            Ok(Finished { reason: "done".to_owned() })
        })
    }
}

#[tokio::test]
async fn a_dropped_call_is_accounted_for_and_never_sent_twice() {
    let hasty = Hasty { fails: false };
    let whole = sit_with(&hasty, &[], Unruly::default(), None).await;
    assert_eq!(whole.stop.by, StoppedBy::Finished);
    assert_eq!(replay_with(&hasty, whole.entries.clone()).await.unwrap().by, StoppedBy::Finished);
    for cut in 1..whole.entries.len() {
        let prefix = &whole.entries[..cut];
        let resumed = sit_with(&hasty, prefix, Unruly::default(), None).await;
        assert_eq!(resumed.stop.by, StoppedBy::Finished, "after {cut}");
        assert!(resumed.asked.iter().all(|key| !results(prefix).contains(&key)), "asked again after {cut}");
        replay_with(&hasty, resumed.entries).await.unwrap();
    }
}

#[tokio::test]
async fn a_strategy_that_fails_with_a_call_in_flight_can_be_replayed_and_resumed() {
    let hasty = Hasty { fails: true };
    let failed = sit_with(&hasty, &[], Unruly::default(), None).await;
    assert_eq!(failed.stop.by, StoppedBy::Internal);
    assert_eq!(replay_with(&hasty, failed.entries.clone()).await.unwrap().by, StoppedBy::Internal);
    let again = sit_with(&hasty, &failed.entries, Unruly::default(), None).await;
    assert_eq!((again.stop.by, again.asked.len()), (StoppedBy::Internal, 0));
}

#[tokio::test]
async fn a_panic_of_the_world_ends_the_run_by_name() {
    let panicked = sit(&[], Unruly { panics: true, ..Unruly::default() }, None).await;
    assert_eq!(panicked.stop.by, StoppedBy::Internal);
}
