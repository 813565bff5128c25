//! The run context as a strategy sees it: requests go into a queue, results come out of slots.
//!
//! It decides nothing. The driver takes the requests, journals and performs them, and puts the results back one at a
//! time. All of it is on one thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use podium_scaffold::context::EffectFuture;
use podium_scaffold::{Budget, ContextError, Effect, EffectResult, RunContext, Task};
use podium_types::key::EffectKey;
use podium_types::rng::Rng;

#[derive(Debug)]
enum Slot {
    Asked(Option<Waker>),
    Ready(Box<EffectResult>),
    Taken,
}

#[derive(Debug)]
struct Desk {
    slots: BTreeMap<EffectKey, Slot>,
    asked: Vec<(EffectKey, Effect)>,
    dropped: Vec<EffectKey>,
    budget: Budget,
}

/// The context of one run. Cloning gives another handle to the same one.
#[derive(Clone, Debug)]
pub struct Handle {
    task: Rc<Task>,
    seed: u64,
    desk: Rc<RefCell<Desk>>,
}

impl Handle {
    /// A context for `task` with the run's seed.
    pub fn new(task: Task, seed: u64, budget: Budget) -> Self {
        let desk = Desk { slots: BTreeMap::new(), asked: Vec::new(), dropped: Vec::new(), budget };
        Self { task: Rc::new(task), seed, desk: Rc::new(RefCell::new(desk)) }
    }

    /// What was asked for since the last call, in order.
    pub(super) fn take_asked(&self) -> Vec<(EffectKey, Effect)> {
        std::mem::take(&mut self.desk.borrow_mut().asked)
    }

    /// Effects whose futures were dropped since the last call.
    pub(super) fn take_dropped(&self) -> Vec<EffectKey> {
        std::mem::take(&mut self.desk.borrow_mut().dropped)
    }

    /// Releases a result; nobody may be waiting for it any more.
    pub(super) fn release(&self, key: &EffectKey, result: EffectResult) {
        let waker = {
            let mut desk = self.desk.borrow_mut();
            match desk.slots.get_mut(key) {
                Some(slot @ Slot::Asked(_)) => match std::mem::replace(slot, Slot::Ready(Box::new(result))) {
                    Slot::Asked(waker) => waker,
                    Slot::Ready(_) | Slot::Taken => None,
                },
                _ => None,
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Sets what [`RunContext::budget`] tells from now on.
    pub(super) fn set_budget(&self, budget: Budget) {
        self.desk.borrow_mut().budget = budget;
    }
}

impl RunContext for Handle {
    fn task(&self) -> &Task {
        &self.task
    }

    fn perform(&self, key: EffectKey, mut effect: Effect) -> EffectFuture<'_> {
        if let Effect::Chat { request, .. } = &mut effect {
            request.seed = Some(key.seed(self.seed));
        }
        let mut desk = self.desk.borrow_mut();
        if desk.slots.contains_key(&key) {
            return Box::pin(std::future::ready(Err(ContextError::DuplicateKey { key })));
        }
        desk.slots.insert(key.clone(), Slot::Asked(None));
        desk.asked.push((key.clone(), effect));
        Box::pin(Waiting { desk: &self.desk, key, done: false })
    }

    fn budget(&self) -> Budget {
        self.desk.borrow().budget
    }

    fn rng(&self, key: &EffectKey) -> Rng {
        Rng::new(key.seed(self.seed))
    }
}

struct Waiting<'a> {
    desk: &'a RefCell<Desk>,
    key: EffectKey,
    done: bool,
}

impl Future for Waiting<'_> {
    type Output = Result<EffectResult, ContextError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut desk = self.desk.borrow_mut();
        let Some(slot) = desk.slots.get_mut(&self.key) else { return Poll::Pending };
        match std::mem::replace(slot, Slot::Taken) {
            Slot::Ready(result) => {
                drop(desk);
                self.done = true;
                Poll::Ready(Ok(*result))
            }
            Slot::Asked(_) | Slot::Taken => {
                *slot = Slot::Asked(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.done
            && let Ok(mut desk) = self.desk.try_borrow_mut()
        {
            desk.dropped.push(self.key.clone());
        }
    }
}
