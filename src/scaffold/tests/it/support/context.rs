//! A run context without a world: effects are answered by a function, one at a time and only while the strategy is
//! idle, in an order that a seed decides. Steps beyond the limit are never granted.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use podium_scaffold::context::EffectFuture;
use podium_scaffold::{
    Budget, ContextError, Effect, EffectResult, Finished, RunContext, Strategy, StrategyError, Task,
};
use podium_types::key::EffectKey;
use podium_types::rng::Rng;

use super::{budget, task};

/// What answers the effects.
pub(crate) type World = Box<dyn Fn(&str, &Effect) -> EffectResult>;
type Slot = Rc<RefCell<(Option<EffectResult>, Option<Waker>)>>;

/// Whether the strategy has something to do.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct FakeContext {
    pub(crate) task: Task,
    seed: u64,
    step_limit: u32,
    steps: Cell<u32>,
    pub(crate) world: World,
    waiting: RefCell<Vec<(EffectKey, Effect, Slot)>>,
    /// What was answered, in order.
    pub(crate) journal: RefCell<Vec<(String, Effect, EffectResult)>>,
}

impl FakeContext {
    pub(crate) fn new(seed: u64, step_limit: u32, world: World) -> Self {
        Self {
            task: task(),
            seed,
            step_limit,
            steps: Cell::new(0),
            world,
            waiting: RefCell::default(),
            journal: RefCell::default(),
        }
    }

    /// The same with another task.
    pub(crate) fn with_task(self, task: Task) -> Self {
        Self { task, ..self }
    }

    /// Runs a strategy until it is done (its word for it) or nothing can be answered any more (`None`).
    pub(crate) fn drive(&self, strategy: &dyn Strategy) -> Result<Option<Finished>, StrategyError> {
        let mut order = Rng::new(self.seed);
        let mut future = strategy.run(self);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        loop {
            while woken.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(end) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return end.map(Some);
                }
            }
            if !self.release_one(&mut order) {
                return Ok(None);
            }
        }
    }

    fn release_one(&self, order: &mut Rng) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let granted = self.steps.get() < self.step_limit;
        let possible: Vec<usize> = (0..waiting.len())
            .filter(|place| granted || !matches!(waiting[*place].1, Effect::BeginStep))
            .collect();
        let Some(place) = order.pick(&possible) else { return false };
        let (key, effect, slot) = waiting.remove(*place);
        let result = if effect == Effect::BeginStep {
            self.steps.set(self.steps.get() + 1);
            EffectResult::Granted
        } else {
            (self.world)(key.as_str(), &effect)
        };
        self.journal.borrow_mut().push((key.to_string(), effect, result.clone()));
        let waker = {
            let mut slot = slot.borrow_mut();
            slot.0 = Some(result);
            slot.1.take()
        };
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}

struct Waiting(Slot);

impl Future for Waiting {
    type Output = Result<EffectResult, ContextError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.borrow_mut();
        if let Some(result) = slot.0.take() {
            return Poll::Ready(Ok(result));
        }
        slot.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

impl RunContext for FakeContext {
    fn task(&self) -> &Task {
        &self.task
    }

    fn perform(&self, key: EffectKey, effect: Effect) -> EffectFuture<'_> {
        let twice = self.journal.borrow().iter().any(|(used, ..)| *used == key.as_str())
            || self.waiting.borrow().iter().any(|(used, ..)| *used == key);
        if twice {
            return Box::pin(std::future::ready(Err(ContextError::DuplicateKey { key })));
        }
        let slot = Slot::default();
        self.waiting.borrow_mut().push((key, effect, Rc::clone(&slot)));
        Box::pin(Waiting(slot))
    }

    fn budget(&self) -> Budget {
        Budget { steps: self.steps.get(), step_limit: Some(self.step_limit), ..budget() }
    }

    fn rng(&self, key: &EffectKey) -> Rng {
        Rng::new(key.seed(self.seed))
    }
}
