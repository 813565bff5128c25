//! Carries a plan out, several competitions at a time. Each is for itself: what one fails by is told beside it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use podium_competition::Folders;
use tokio::runtime::Handle;

use crate::provision::error::ProvisionError;
use crate::provision::event::Tell;
use crate::provision::plan::{Order, Plan};
use crate::provision::space::Promised;
use crate::provision::work::{Means, provide};

/// What became of one competition.
#[derive(Debug)]
pub struct Outcome {
    /// The competition.
    pub id: String,
    /// Where its data are, or why not.
    pub folders: Result<Folders, ProvisionError>,
}

/// Does all of it; the outcomes stand in the order of the plan. `ended` hears of each as soon as it is known.
pub fn carry_out(
    plan: &Plan<'_>,
    order: &Order<'_>,
    runtime: &Handle,
    tell: Tell<'_>,
    ended: &(dyn Fn(&Outcome) + Sync),
) -> Vec<Outcome> {
    let promised = Promised::new(order.data_dir, order.leave_free);
    let means = Means { order, service: plan.service.as_ref(), runtime, promised: &promised, tell };
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::with_capacity(plan.items.len()));
    let worker = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = plan.items.get(place) else { return };
            let folders = catch_unwind(AssertUnwindSafe(|| provide(item, &means)));
            let folders = folders.unwrap_or(Err(ProvisionError::Bug));
            let outcome = Outcome { id: item.competition.id.clone(), folders };
            ended(&outcome);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..order.jobs.min(plan.items.len()) {
            // What one that cannot be had would have done, the others do.
            let _ = std::thread::Builder::new().name("podium-prepare".to_owned()).spawn_scoped(scope, worker);
        }
        worker();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
