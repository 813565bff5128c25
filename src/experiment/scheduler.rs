//! The loop over all runs: begins those that the queue names, and takes their ends. One that fails stops no other.
//! Only failures of services and of the harness are tried again, as a resume: nothing committed is repeated.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::experiment::error::ExperimentError;
use crate::experiment::executor::{Executor, Job, Told};
use crate::experiment::queue::{Next, Queue, Room};
use crate::experiment::standing::Standing;
use crate::experiment::stored::{Experiment, State, ended};
use crate::run::driver::Interrupt;
use crate::run::error::{Class, RunError};
use crate::run::stop::StoppedBy;
use crate::run::summary::RunReport;

/// How long the loop waits before it looks around: for a wish to stop, for a run that may be tried again.
const TICK: Duration = Duration::from_millis(100);

/// How long runs that should stop at once are waited for: one may be building an environment. A run that is left
/// behind then is one that was killed.
const LAST_WAIT: Duration = Duration::from_secs(5);

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
    /// How far it has come.
    Standing(usize, &'a Standing),
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
    stop: &dyn Fn() -> Interrupt,
    see: &mut dyn FnMut(&Event<'_>),
) -> Ended {
    let (sender, told) = channel();
    let mut sitting = Sitting::new(experiment, executor, room, retries, sender);
    let mut at_once: Option<Instant> = None;
    loop {
        let urgency = stop();
        if urgency != Interrupt::None {
            sitting.stop(see);
        }
        if urgency == Interrupt::AtOnce {
            let asked = at_once.get_or_insert_with(Instant::now);
            if asked.elapsed() > LAST_WAIT {
                return sitting.end;
            }
        }
        sitting.begin_more(see);
        if sitting.is_over() {
            return sitting.end;
        }
        match told.recv_timeout(TICK) {
            Ok(Told::Standing(place, standing)) => see(&Event::Standing(place, &standing)),
            Ok(Told::Ended(place, result)) => sitting.ended(place, &result, see),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => see(&Event::Tick),
        }
    }
}

/// One sitting of an experiment.
struct Sitting<'a> {
    experiment: &'a Experiment,
    executor: &'a dyn Executor,
    retries: Retries,
    sender: Sender<Told>,
    queue: Queue,
    tries: BTreeMap<usize, u32>,
    /// Runs that are tried again, with the time from which on.
    later: BTreeMap<usize, Instant>,
    going: usize,
    end: Ended,
}

impl<'a> Sitting<'a> {
    fn new(
        experiment: &'a Experiment,
        executor: &'a dyn Executor,
        room: Room,
        retries: Retries,
        sender: Sender<Told>,
    ) -> Self {
        let runs = &experiment.stored.plan.runs;
        let states: Vec<State> = runs.iter().map(|run| experiment.state(run)).collect();
        let places = |which: fn(&State) -> bool| -> Vec<usize> {
            states.iter().enumerate().filter(|(_, state)| which(state)).map(|(place, _)| place).collect()
        };
        let begun = places(|state| !state.is_ended() && *state != State::Absent);
        let waiting = places(|state| !state.is_ended());
        let queue = Queue::new(runs, &waiting, room, experiment.purse(&states)).with_begun(begun);
        let (tries, later) = (BTreeMap::new(), BTreeMap::new());
        Self { experiment, executor, retries, sender, queue, tries, later, going: 0, end: Ended::default() }
    }

    /// Nothing new begins from now on.
    fn stop(&mut self, see: &mut dyn FnMut(&Event<'_>)) {
        if !self.end.interrupted {
            self.end.interrupted = true;
            self.later.clear();
            see(&Event::Draining("stopping: what goes on is waited for; once more stops at once"));
        }
    }

    fn is_over(&self) -> bool {
        let nothing_begins = self.end.interrupted || self.end.capped || self.queue.waiting() == 0;
        self.going == 0 && self.later.is_empty() && nothing_begins
    }

    /// Begins all that there is room for.
    fn begin_more(&mut self, see: &mut dyn FnMut(&Event<'_>)) {
        if self.end.interrupted {
            return;
        }
        let now = Instant::now();
        let due: Vec<usize> =
            self.later.iter().filter(|(_, at)| **at <= now).map(|(place, _)| *place).collect();
        for place in due {
            self.later.remove(&place);
            self.queue.put_back(place);
        }
        loop {
            match self.queue.take_next() {
                Next::Run(place) => {
                    let Some(run) = self.experiment.stored.plan.runs.get(place) else { continue };
                    let job = Job { place, run: run.clone(), folder: self.experiment.path(run) };
                    see(&Event::Started(&job));
                    self.going += 1;
                    self.executor.start(job, self.sender.clone());
                }
                Next::Capped if self.later.is_empty() => {
                    if !self.end.capped {
                        see(&Event::Draining("the cap of the experiment leaves room for no further run"));
                    }
                    self.end.capped = true;
                    return;
                }
                Next::Capped | Next::Wait | Next::Empty => return,
            }
        }
    }

    /// A run has ended, or its try has.
    fn ended(
        &mut self,
        place: usize,
        result: &Result<RunReport, ExperimentError>,
        see: &mut dyn FnMut(&Event<'_>),
    ) {
        self.going -= 1;
        let Some(run) = self.experiment.stored.plan.runs.get(place) else { return };
        let spent = self.experiment.spent(run);
        self.queue.give_back(place, spent);
        let (failure, again) = match result {
            Ok(report) => {
                see(&Event::Reported(place, report));
                let ours = is_ours(report.stopped_by);
                let failed = ours || report.stopped_by.is_of_program();
                (failed.then(|| format!("{}: {}", report.stopped_by.word(), report.detail)), ours)
            }
            Err(error) => {
                see(&Event::Failed(place, error));
                (Some(error.in_words()), is_worth_trying(error))
            }
        };
        let Some(failure) = failure else { return };
        self.experiment.note_failure(run, &failure);
        let tried = self.tries.entry(place).or_insert(0);
        if again && *tried < self.retries.number && !self.end.interrupted {
            let wait = self.retries.wait.saturating_mul(1 << (*tried).min(8));
            *tried += 1;
            see(&Event::Again(place, wait));
            self.later.insert(place, Instant::now() + wait);
        } else {
            self.end.failed += 1;
        }
    }
}

/// Whether a service or the harness stopped it, rather than the agent, the strategy's own program (told the same it would
/// only fail again), a limit or a user.
const fn is_ours(stop: StoppedBy) -> bool {
    !ended(stop) && !matches!(stop, StoppedBy::Interrupted) && !stop.is_of_program()
}

/// Whether another try may go better: not where the command, the plan or a damaged folder is at fault.
fn is_worth_trying(error: &ExperimentError) -> bool {
    let of = |error: &RunError| {
        !error.is_damage() && !error.is_disk_full() && !matches!(error.class(), Class::Usage)
    };
    match error {
        ExperimentError::Run { source, .. } | ExperimentError::Other(source) => of(source),
        ExperimentError::Folder(_) | ExperimentError::Broke => true,
        _ => false,
    }
}
