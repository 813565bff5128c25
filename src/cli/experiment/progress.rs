//! Live progress of an experiment on standard error: a line where a run begins, ends or is tried again, and a total
//! with an estimate. On a terminal the runs that go on and the total stand at its foot and are drawn again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cli::live::Foot;
use crate::cli::terminal::{Terminal, dollars, one_line};
use crate::experiment::estimate::Estimate;
use crate::experiment::plan::Plan;
use crate::experiment::scheduler::Event;
use crate::experiment::standing::Standing;
use crate::experiment::stored::State;
use crate::run::stop::StoppedBy;
use crate::run::summary::RunReport;

/// How often the foot is drawn again at most.
const REDRAW: Duration = Duration::from_millis(250);
/// Runs that have a line of their own at most; a terminal has 24 lines.
const LINES: usize = 16;
/// Width of the bar, in characters.
const BAR: usize = 24;

/// The progress of one sitting.
pub(super) struct Progress<'a> {
    terminal: &'a Terminal,
    foot: Foot<'a>,
    plan: &'a Plan,
    begun: Instant,
    drawn: Option<Instant>,
    /// Runs that have ended, by their places.
    ended: Vec<bool>,
    failed: usize,
    going: BTreeMap<usize, Going>,
    /// Most runs at the same time so far.
    at_once: usize,
    /// Dollars of this sitting, of the runs that have ended in it.
    cost: Option<f64>,
    estimate: Estimate,
}

/// A run that goes on.
struct Going {
    since: Instant,
    standing: Standing,
}

impl<'a> Progress<'a> {
    /// Of a plan whose runs are as far as `states` say.
    pub(super) fn new(terminal: &'a Terminal, plan: &'a Plan, states: &[State]) -> Self {
        let mut estimate = Estimate::default();
        for (run, state) in plan.runs.iter().zip(states).filter(|(_, state)| state.is_ended()) {
            if let Some(report) = state.report() {
                estimate.took(&run.arm, report.time.run_s + report.time.waiting_s);
            }
        }
        Self {
            terminal,
            foot: Foot::new(terminal),
            plan,
            begun: Instant::now(),
            drawn: None,
            ended: states.iter().map(State::is_ended).collect(),
            failed: 0,
            going: BTreeMap::new(),
            at_once: 1,
            cost: Some(0.0),
            estimate,
        }
    }

    /// Takes one event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started(job) => {
                let standing = Standing { step_limit: job.run.steps, ..Standing::default() };
                self.going.insert(job.place, Going { since: Instant::now(), standing });
                self.at_once = self.at_once.max(self.going.len());
                self.say("begins", job.place, "");
            }
            Event::Standing(place, standing) => {
                if let Some(going) = self.going.get_mut(place) {
                    going.standing = (*standing).clone();
                }
            }
            Event::Reported(place, report) => {
                let whole = !report.stopped_by.resumes_as_it_is();
                self.end(*place, whole);
                self.failed += usize::from(!whole && report.stopped_by != StoppedBy::Interrupted);
                if whole && let Some(run) = self.plan.runs.get(*place) {
                    self.estimate.took(&run.arm, report.time.run_s + report.time.waiting_s);
                }
                self.cost = self.cost.zip(report.usage.cost_usd).map(|(sum, cost)| sum + cost);
                self.say("ended", *place, &told(report));
                self.plain_total();
            }
            Event::Failed(place, error) => {
                self.end(*place, false);
                self.failed += 1;
                self.say("failed", *place, &one_line(&error.in_words(), 200));
                self.plain_total();
            }
            Event::Again(place, wait) => {
                self.say("again", *place, &format!("in {:.0} s, from where it stands", wait.as_secs_f64()));
            }
            Event::Draining(why) => self.foot.say(why),
            Event::Tick => {}
        }
        self.redraw();
    }

    /// Takes the foot away, for what is printed at the end.
    pub(super) fn close(&mut self) {
        self.foot.clear();
    }

    fn end(&mut self, place: usize, whole: bool) {
        self.going.remove(&place);
        if let Some(ended) = self.ended.get_mut(place) {
            *ended = whole;
        }
    }

    fn say(&mut self, what: &str, place: usize, note: &str) {
        let folder = self.plan.runs.get(place).map(|run| run.folder.as_str()).unwrap_or_default();
        self.foot.say(format!("{what:<8}{folder}  {note}").trim_end());
        self.drawn = None;
    }

    /// The total as a line that stays, where there is no foot.
    fn plain_total(&mut self) {
        if !self.foot.is_live() {
            self.terminal.error_line(&self.total());
        }
    }

    fn redraw(&mut self) {
        if !self.foot.is_live() || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return;
        }
        self.drawn = Some(Instant::now());
        let mut lines: Vec<String> = self
            .going
            .iter()
            .take(LINES)
            .map(|(place, going)| {
                let run = self.plan.runs.get(*place).map(|run| run.folder.as_str()).unwrap_or_default();
                format!("  {run:<46}  {}", standing(going))
            })
            .collect();
        if let Some(more @ 1..) = self.going.len().checked_sub(LINES) {
            lines.push(format!("  and {more} more"));
        }
        lines.push(format!("{} {}", self.terminal.cyan(&bar(self.done())), self.total()));
        self.foot.draw(&lines);
    }

    /// The part of the plan that is done, runs that go on by their steps.
    fn done(&self) -> f64 {
        let steps = |going: &Going| {
            let limit = going.standing.step_limit.filter(|limit| *limit > 0)?;
            Some((f64::from(going.standing.steps) / f64::from(limit)).min(1.0))
        };
        let going: f64 = self.going.values().filter_map(steps).sum();
        (self.whole() as f64 + going) / self.plan.runs.len().max(1) as f64
    }

    /// Runs that have ended.
    fn whole(&self) -> usize {
        self.ended.iter().filter(|ended| **ended).count()
    }

    fn left(&self) -> Option<f64> {
        let runs = || self.plan.runs.iter().enumerate();
        let waits = |place: &usize| !self.going.contains_key(place) && self.ended.get(*place) == Some(&false);
        let waiting = runs().filter(|(place, _)| waits(place)).map(|(_, run)| &run.arm);
        let going = self.going.iter().filter_map(|(place, going)| {
            Some((&self.plan.runs.get(*place)?.arm, going.since.elapsed().as_secs_f64()))
        });
        self.estimate.left(waiting, going, self.at_once)
    }

    fn total(&self) -> String {
        let (all, done) = (self.plan.runs.len(), self.whole());
        let cost = self.cost.map_or_else(|| "cost unknown".to_owned(), dollars);
        let failed =
            if self.failed == 0 { String::new() } else { format!(" · {} failed tries", self.failed) };
        let left = self.left().filter(|_| done < all);
        let left = left.map(|left| format!(" · about {} left", clock(left))).unwrap_or_default();
        format!(
            "{done}/{all} runs · {} going on{failed} · {cost} · {}{left}",
            self.going.len(),
            clock(self.begun.elapsed().as_secs_f64())
        )
    }
}

fn standing(going: &Going) -> String {
    let standing = &going.standing;
    let steps = match standing.step_limit {
        Some(limit) => format!("step {}/{limit}", standing.steps),
        None => format!("step {}", standing.steps),
    };
    let cost = standing.cost.filter(|cost| cost.nanos() > 0).map(|cost| format!(" · {cost}"));
    let waiting = standing.waiting.as_ref().map(|why| format!(" · waiting: {}", one_line(why, 60)));
    let taken = clock(going.since.elapsed().as_secs_f64());
    format!("{steps} · {taken}{}{}", cost.unwrap_or_default(), waiting.unwrap_or_default())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a few characters")]
fn bar(done: f64) -> String {
    let full = ((done.clamp(0.0, 1.0) * BAR as f64) as usize).min(BAR);
    format!("{}{}", "━".repeat(full), "─".repeat(BAR - full))
}

fn told(report: &RunReport) -> String {
    let score = report.report.as_ref().and_then(|graded| graded.score);
    let score = score.map(|score| format!(" · score {score}")).unwrap_or_default();
    format!("{} · stopped by {}{score}", report.outcome.word(), report.stopped_by.word())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a progress line")]
fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_full_as_the_plan() {
        for (done, full) in [(-1.0, 0), (0.0, 0), (0.5, BAR / 2), (1.0, BAR), (7.0, BAR), (f64::NAN, 0)] {
            let bar = bar(done);
            assert_eq!((bar.chars().count(), bar.matches('━').count()), (BAR, full), "{done}");
        }
    }
}
