//! Request Help: off by default, for a run has nobody who could help; on, it says so.

use super::{Action, ActionFuture, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct RequestHelp;

impl Action for RequestHelp {
    fn name(&self) -> &'static str {
        "Request Help"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["request"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, _: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move { seen(bench, &Words { say: "no_help", ..Words::default() }) })
    }
}
