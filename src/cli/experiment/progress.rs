//! Live progress of an experiment on standard error: a line where a run begins, ends or is tried again, and a total
//! with an estimate.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::cli::failure::with_causes;
use crate::cli::terminal::{Terminal, dollars, one_line};
use crate::experiment::plan::Plan;
use crate::experiment::scheduler::Event;
use crate::run::summary::RunReport;

/// The progress of one sitting.
pub(super) struct Progress<'a> {
    terminal: &'a Terminal,
    plan: &'a Plan,
    begun: Instant,
    /// Runs that had ended before.
    before: usize,
    ended: usize,
    failed: usize,
    going: BTreeSet<usize>,
    cost: Option<f64>,
}

impl<'a> Progress<'a> {
    /// Of a plan of which `before` runs have ended.
    pub(super) fn new(terminal: &'a Terminal, plan: &'a Plan, before: usize) -> Self {
        let (begun, going, cost) = (Instant::now(), BTreeSet::new(), Some(0.0));
        Self { terminal, plan, begun, before, ended: 0, failed: 0, going, cost }
    }

    /// Takes one event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started(job) => {
                self.going.insert(job.place);
                self.say("begins", job.place, "");
            }
            Event::Reported(place, report) => {
                self.end(*place, report.stopped_by.resumes_as_it_is());
                self.cost = self.cost.zip(report.usage.cost_usd).map(|(sum, cost)| sum + cost);
                self.say("ended", *place, &told(report));
                self.total();
            }
            Event::Failed(place, error) => {
                self.end(*place, true);
                self.say("failed", *place, &one_line(&with_causes(*error), 200));
                self.total();
            }
            Event::Again(place, wait) => {
                self.say("again", *place, &format!("in {:.0} s, from where it stands", wait.as_secs_f64()));
            }
            Event::Draining(why) => self.terminal.error_line(why),
            Event::Steps(..) | Event::Tick => {}
        }
    }

    fn end(&mut self, place: usize, failed: bool) {
        self.going.remove(&place);
        self.ended += usize::from(!failed);
        self.failed += usize::from(failed);
    }

    fn say(&self, what: &str, place: usize, note: &str) {
        let folder = self.plan.runs.get(place).map(|run| run.folder.as_str()).unwrap_or_default();
        self.terminal.error_line(format!("{what:<8}{folder}  {note}").trim_end());
    }

    fn total(&self) {
        let (all, done) = (self.plan.runs.len(), self.before + self.ended);
        let took = self.begun.elapsed().as_secs_f64();
        let left = all.saturating_sub(done) as f64 * took / self.ended.max(1) as f64;
        let cost = self.cost.map_or_else(|| "cost unknown".to_owned(), dollars);
        let failed =
            if self.failed == 0 { String::new() } else { format!(" · {} failed tries", self.failed) };
        let left = if self.ended == 0 || done == all {
            String::new()
        } else {
            format!(" · about {} left", clock(left))
        };
        self.terminal.error_line(&format!(
            "{done}/{all} runs · {} going on{failed} · {cost} · {}{left}",
            self.going.len(),
            clock(took)
        ));
    }
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
