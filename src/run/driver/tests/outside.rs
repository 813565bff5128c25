//! A strategy that thinks outside: what is recorded waits for it, a run is not over while it thinks, and one that comes to
//! something else is told so once it only waits.

use std::cell::Cell;

use podium_scaffold::Quiet;

use super::*;

/// Three remarks, each after a while of thinking that no effect tells of; `says` is what it comes to.
struct Thinker {
    says: &'static str,
    quiet: Cell<Quiet>,
}

impl Thinker {
    fn new(says: &'static str) -> Self {
        Self { says, quiet: Cell::new(Quiet::Waiting) }
    }
}

impl Strategy for Thinker {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            for step in 0..3 {
                self.quiet.set(Quiet::Busy);
                let thought = tokio::spawn(async {
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                });
                thought.await.unwrap();
                let remark = context.note(EffectKey::step(step, self.says), String::new());
                self.quiet.set(Quiet::Waiting);
                remark.await?;
            }
            Ok(Finished { reason: "thought".to_owned() })
        })
    }

    fn quiet(&self) -> Quiet {
        self.quiet.get()
    }
}

#[tokio::test]
async fn what_is_recorded_waits_for_a_strategy_that_thinks() {
    let whole = sit_with(&Thinker::new("note"), &[], Unruly::default(), None).await;
    assert_eq!((whole.stop.by, results(&whole.entries).len()), (StoppedBy::Finished, 3));
    assert_eq!(replay_with(&Thinker::new("note"), whole.entries.clone()).await.unwrap(), whole.stop);
    for kept in 0..whole.entries.len() {
        let prefix = &whole.entries[..kept];
        let again = sit_with(&Thinker::new("note"), prefix, Unruly::default(), None).await;
        assert_eq!((again.stop.by, results(&again.entries).len()), (StoppedBy::Finished, 3), "{kept}");
        assert!(begins_with(&again.entries, prefix), "{kept}");
    }
    let differs = replay_with(&Thinker::new("other"), whole.entries).await.unwrap_err().to_string();
    assert!(
        differs.contains("note `step/0/note`") && differs.contains("waits for [step/0/other]"),
        "{differs}"
    );
}

/// Two requests at a time; its program is silent from the first of them on.
struct Pair {
    first: &'static str,
    quiet: Cell<Quiet>,
}

impl Strategy for Pair {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            self.quiet.set(Quiet::Silent);
            for step in 0..2 {
                let one = context.note(EffectKey::step(step, self.first), String::new());
                let other = context.note(EffectKey::step(step, "other"), String::new());
                let (one, other) = futures_util::future::join(one, other).await;
                one.and(other)?;
            }
            Ok(Finished { reason: "both".to_owned() })
        })
    }

    fn quiet(&self) -> Quiet {
        self.quiet.get()
    }
}

#[tokio::test]
async fn one_that_waits_for_what_the_journal_never_answers_is_told_without_its_whole_silence() {
    let pair = |first| Pair { first, quiet: Cell::new(Quiet::Busy) };
    let whole = sit_with(&pair("one"), &[], Unruly::default(), None).await.entries;
    assert_eq!(replay_with(&pair("one"), whole.clone()).await.unwrap().by, StoppedBy::Finished);
    // A run that was cut may have been waiting for more than its journal answers: that is told a little later.
    let cut = whole[..whole.len() - 1].to_vec();
    for journal in [whole, cut] {
        let told = replay_with(&pair("another"), journal).await.unwrap_err().to_string();
        assert!(told.contains("note `step/0/one`") && told.contains("step/0/another"), "{told}");
    }
}
