//! The loop over all runs: begins those that the queue names, and takes their ends. One that fails stops no other.
//! Only failures of services and of the harness are tried again, as a resume: nothing committed is repeated.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use podium_types::money::Usd;

use crate::experiment::error::ExperimentError;
use crate::experiment::executor::{Executor, Job, Told};
use crate::experiment::queue::{Next, Purse, Queue, Room};
use crate::experiment::stored::{Experiment, State, ended};
use crate::run::error::{Class, RunError};
use crate::run::stop::StoppedBy;
use crate::run::summary::RunReport;

/// How long the loop waits before it looks around: for a wish to stop, for a run that may be tried again.
const TICK: Duration = Duration::from_millis(100);

/// How often, and after how long, a run that failed outside the agent is tried again.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Tries after the first.
    pub number: u32,
    /// Before the first of them; doubled for each further one.
    pub wait: Duration,
}

/// What happens, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// A run begins or goes on.
    Started(&'a Job),
    /// It has taken so many steps.
    Steps(usize, u32),
    /// It has a report.
    Reported(usize, &'a RunReport),
    /// It failed without one.
    Failed(usize, &'a ExperimentError),
    /// It will be tried again after this long.
    Again(usize, Duration),
    /// Nothing new begins, for this reason; what goes on is waited for.
    Draining(&'static str),
    /// Time passes.
    Tick,
}

/// How a sitting of an experiment ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// A cap kept runs from beginning.
    pub capped: bool,
    /// Somebody wished it to stop.
    pub interrupted: bool,
    /// Runs that failed, all tries taken.
    pub failed: usize,
}

/// Runs what is left of an experiment. `stop` is asked often whether nothing new may begin.
pub fn run(
    experiment: &Experiment,
    executor: &dyn Executor,
    room: Room,
    retries: Retries,
    stop: &dyn Fn() -> bool,
    see: &mut dyn FnMut(&Event<'_>),
) -> Ended {
    let runs = &experiment.stored.plan.runs;
    let states: Vec<State> = runs.iter().map(|run| experiment.state(run)).collect();
    let waiting: Vec<usize> =
        states.iter().enumerate().filter(|(_, state)| !state.is_ended()).map(|(place, _)| place).collect();
    let mut queue = Queue::new(runs, &waiting, room, purse(experiment, &states));
    let (sender, told) = channel();
    let mut tries: BTreeMap<usize, u32> = BTreeMap::new();
    let mut later: BTreeMap<usize, Instant> = BTreeMap::new();
    let mut going = 0_usize;
    let mut end = Ended::default();
    let mut draining = false;
    loop {
        if stop() && !end.interrupted {
            end.interrupted = true;
            later.clear();
            see(&Event::Draining("stopping: what goes on is waited for; once more stops at once"));
        }
        let due: Vec<usize> =
            later.iter().filter(|(_, at)| **at <= Instant::now()).map(|(place, _)| *place).collect();
        for place in due {
            later.remove(&place);
            queue.put_back(place);
        }
        while !end.interrupted {
            match queue.take_next() {
                Next::Run(place) => {
                    let Some(run) = runs.get(place) else { continue };
                    let job = Job { place, run: run.clone(), folder: experiment.path(run) };
                    see(&Event::Started(&job));
                    going += 1;
                    executor.start(job, sender.clone());
                }
                Next::Capped => {
                    if !draining {
                        draining = true;
                        see(&Event::Draining("the cap of the experiment leaves room for no further run"));
                    }
                    end.capped = true;
                    break;
                }
                Next::Wait | Next::Empty => break,
            }
        }
        let over = end.interrupted || end.capped || queue.waiting() == 0;
        if going == 0 && over && (later.is_empty() || end.interrupted) {
            return end;
        }
        match told.recv_timeout(TICK) {
            Ok(Told::Steps(place, steps)) => see(&Event::Steps(place, steps)),
            Ok(Told::Ended(place, result)) => {
                going -= 1;
                let (cost, tokens) = match &result {
                    Ok(report) => used(report),
                    // Unknown: its worst case stays spent.
                    Err(_) => (None, u64::MAX),
                };
                queue.give_back(place, cost, tokens);
                let again = match &result {
                    Ok(report) => {
                        see(&Event::Reported(place, report));
                        is_ours(report.stopped_by)
                    }
                    Err(error) => {
                        see(&Event::Failed(place, error));
                        is_worth_trying(error)
                    }
                };
                let tried = tries.entry(place).or_insert(0);
                if again && *tried < retries.number && !end.interrupted {
                    let wait = retries.wait.saturating_mul(1 << (*tried).min(8));
                    *tried += 1;
                    see(&Event::Again(place, wait));
                    queue.forget_spent(cost, if tokens == u64::MAX { 0 } else { tokens });
                    later.insert(place, Instant::now() + wait);
                } else if again || result.is_err() {
                    end.failed += 1;
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => see(&Event::Tick),
        }
    }
}

/// What the caps leave after what has been spent. A run that goes on is paid from its worst case, so what it has spent
/// is not counted beside it.
fn purse(experiment: &Experiment, states: &[State]) -> Purse {
    let spec = &experiment.stored.spec;
    let reports = || states.iter().filter(|state| state.is_ended()).filter_map(State::report);
    let spent: Usd = reports().filter_map(|report| used(report).0).sum();
    let tokens: u64 = reports().map(|report| used(report).1).sum();
    Purse {
        cost: spec.cap_cost.map(|cap| Usd::from_dollars(cap) - spent),
        tokens: spec.cap_tokens.map(|cap| cap.saturating_sub(tokens)),
    }
}

/// What a run has used so far.
fn used(report: &RunReport) -> (Option<Usd>, u64) {
    let usage = &report.usage;
    (usage.cost_usd.map(Usd::from_dollars), usage.input_tokens.saturating_add(usage.output_tokens))
}

/// Whether a service or the harness stopped it, rather than the agent, a limit or a user.
const fn is_ours(stop: StoppedBy) -> bool {
    !ended(stop) && !matches!(stop, StoppedBy::Interrupted)
}

/// Whether another try may go better: not where the command, the plan or a damaged folder is at fault.
fn is_worth_trying(error: &ExperimentError) -> bool {
    let of = |error: &RunError| {
        !error.is_damage() && !error.is_disk_full() && !matches!(error.class(), Class::Usage)
    };
    match error {
        ExperimentError::Run { source, .. } | ExperimentError::Other(source) => of(source),
        ExperimentError::Folder(_) => true,
        _ => false,
    }
}
