//! Lanes on a clock of their own: whole schedules, to the millisecond, in no time.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::lane::{Allowance, Lane, TooLong};
use super::limits::{Limits, Told, ToldLimits};
use super::place::{Need, Place};
use crate::observer::WaitReason;

const PATIENT: Allowance = Allowance { cap: Duration::from_hours(9), left: Duration::from_hours(9) };

fn need(model: &str, estimate: u64, output_limit: u32) -> Need {
    Need { model: model.into(), estimate, output_limit }
}

fn usage(input_tokens: u64, output_tokens: u64) -> podium_types::usage::Usage {
    podium_types::usage::Usage { input_tokens, output_tokens, ..Default::default() }
}

fn limits(requests: Option<u32>, tokens: Option<u64>, concurrency: Option<u32>) -> Limits {
    Limits {
        requests_per_minute: requests.and_then(NonZeroU32::new),
        tokens_per_minute: tokens.and_then(NonZeroU64::new),
        concurrency: concurrency.and_then(NonZeroU32::new),
    }
}

async fn pass(lane: &Arc<Lane>, need: Need, limits: Limits) -> Place {
    let (mut place, _) = lane.pass(&need, limits, PATIENT, |_, _| ()).await.unwrap();
    place.sent();
    place
}

/// Lets everything that is ready happen.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Sends `calls` calls in this order, each of which takes `took`, and returns when each one started, in milliseconds.
async fn starts(lane: &Arc<Lane>, limits: Limits, calls: Vec<Need>, took: Duration) -> Vec<(usize, u128)> {
    let (log, begun) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let mut tasks = Vec::new();
    for (number, need) in calls.into_iter().enumerate() {
        let (lane, log) = (Arc::clone(lane), Arc::clone(&log));
        tasks.push(tokio::spawn(async move {
            let place = pass(&lane, need, limits).await;
            log.lock().unwrap().push((number, begun.elapsed().as_millis()));
            tokio::time::sleep(took).await;
            place.answered(&usage(1, 1));
        }));
        settle().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    std::mem::take(&mut *log.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_minute_go_in_order_and_the_rest_in_later_minutes() {
    let lane = Arc::new(Lane::default());
    let calls = vec![need("m", 1, 1); 12];
    let starts = starts(&lane, limits(Some(5), None, None), calls, Duration::from_secs(1)).await;
    let expected: Vec<(usize, u128)> = (0..12).map(|call| (call, (call as u128 / 5) * 60_000)).collect();
    assert_eq!(starts, expected);
}

#[tokio::test(start_paused = true)]
async fn as_many_as_may_be_are_under_way_and_each_end_lets_the_next_go() {
    let lane = Arc::new(Lane::default());
    let calls = vec![need("m", 1, 1); 8];
    let starts = starts(&lane, limits(None, None, Some(3)), calls, Duration::from_secs(2)).await;
    let expected: Vec<(usize, u128)> = (0..8).map(|call| (call, (call as u128 / 3) * 2_000)).collect();
    assert_eq!(starts, expected);
}

#[tokio::test(start_paused = true)]
async fn a_call_above_the_whole_limit_goes_through_alone() {
    let lane = Arc::new(Lane::default());
    let calls = vec![need("m", 50, 0), need("m", 5_000, 0), need("m", 50, 0)];
    let lane_limits = limits(None, Some(100), None);
    let starts = starts(&lane, lane_limits, calls, Duration::from_hours(1)).await;
    assert_eq!(starts, [(0, 0), (1, 60_000), (2, 120_000)]);
}

/// Estimates lie at twice the count and output limits far above answers; the limit is used all the same.
#[tokio::test(start_paused = true)]
async fn a_limit_of_tokens_is_used_well_once_answers_have_come() {
    let lane = Arc::new(Lane::default());
    let lane_limits = limits(None, Some(10_000), None);
    let place = pass(&lane, need("m", 200, 5_000), lane_limits).await;
    place.answered(&usage(100, 100));
    drop(place);
    let mut started = 1;
    let mut places = Vec::new();
    while let Ok(place) =
        tokio::time::timeout(Duration::from_millis(1), pass(&lane, need("m", 200, 5_000), lane_limits)).await
    {
        places.push(place);
        started += 1;
    }
    assert_eq!(started, 50, "calls of 200 tokens in a minute");
}

#[tokio::test(start_paused = true)]
async fn what_was_never_sent_and_what_was_turned_away_give_back_what_they_took() {
    let lane = Arc::new(Lane::default());
    let all = limits(Some(1), Some(100), Some(1));
    let begun = Instant::now();
    // A refused reservation: the place is dropped unsent.
    drop(lane.pass(&need("m", 100, 0), all, PATIENT, |_, _| ()).await.unwrap());
    let place = pass(&lane, need("m", 100, 0), all).await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // A chat that is dropped while it waits leaves the queue, and one that is under way leaves its place.
    let waiting = tokio::time::timeout(Duration::from_secs(1), pass(&lane, need("m", 1, 0), all)).await;
    assert!(waiting.is_err());
    place.refused();
    drop(place);
    drop(pass(&lane, need("m", 100, 0), limits(None, Some(100), Some(1))).await);
    assert_eq!(begun.elapsed(), Duration::from_secs(1), "its tokens were not used");
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_all_and_then_calls_start_gently() {
    let lane = Arc::new(Lane::default());
    lane.hold(Duration::from_secs(5));
    let calls = vec![need("m", 1, 1); 8];
    let starts = starts(&lane, Limits::default(), calls, Duration::from_secs(1)).await;
    // One, then two, then four: each answer lets one more join.
    let expected = [(0, 5), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7), (6, 7), (7, 8)];
    assert_eq!(starts, expected.map(|(call, second)| (call, second * 1_000)));
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_too_long_is_not_waited_for_also_when_it_comes_later() {
    let lane = Arc::new(Lane::default());
    let allowance = Allowance { cap: Duration::from_secs(10), left: Duration::from_mins(1) };
    lane.hold(Duration::from_secs(11));
    let refused = lane.pass(&need("m", 1, 1), Limits::default(), allowance, |_, _| ()).await;
    assert_eq!(refused.unwrap_err(), TooLong(Duration::from_secs(11)));
    let lane = Arc::new(Lane::default());
    lane.hold(Duration::from_secs(5));
    let waiting = tokio::spawn({
        let lane = Arc::clone(&lane);
        async move { lane.pass(&need("m", 1, 1), Limits::default(), allowance, |_, _| ()).await.map(drop) }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    lane.hold(Duration::from_hours(1));
    assert_eq!(waiting.await.unwrap().unwrap_err(), TooLong(Duration::from_hours(1)));
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_the_service_told_holds_its_model_up_and_no_other() {
    let lane = Arc::new(Lane::default());
    let told = Told { limit: 60, remaining: 0, reset: Some(Duration::from_mins(1)) };
    lane.tell(&"slow".into(), &ToldLimits { requests: Some(told), ..ToldLimits::default() });
    let calls = vec![need("slow", 1, 1), need("quick", 1, 1), need("slow", 1, 1), need("quick", 1, 1)];
    let starts = starts(&lane, Limits::default(), calls, Duration::from_millis(1)).await;
    assert_eq!(starts, [(1, 0), (3, 0), (0, 1_000), (2, 2_000)]);
}

#[tokio::test(start_paused = true)]
async fn waits_are_told_once_with_their_reason_and_short_ones_not_at_all() {
    let told = |limits: Limits, hold: Duration| async move {
        let lane = Arc::new(Lane::default());
        let first = pass(&lane, need("m", 60, 0), limits).await;
        if !hold.is_zero() {
            lane.hold(hold);
        }
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(first);
        });
        let mut waits = Vec::new();
        drop(
            lane.pass(&need("m", 60, 0), limits, PATIENT, |why, left| waits.push((why, left))).await.unwrap(),
        );
        waits
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let none = Duration::ZERO;
    let requests = told(limits(Some(1), None, None), none).await;
    assert_eq!(requests, [(WaitReason::RequestsPerMinute, seconds(60))]);
    let tokens = told(limits(None, Some(100), None), none).await;
    assert_eq!(tokens, [(WaitReason::TokensPerMinute, seconds(60))]);
    assert_eq!(told(limits(None, None, Some(1)), none).await, [(WaitReason::Concurrency, None)]);
    let paused = told(Limits::default(), Duration::from_secs(7)).await;
    assert_eq!(paused, [(WaitReason::Pause, seconds(7))]);
    assert_eq!(told(Limits::default(), Duration::from_millis(249)).await, []);
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

proptest! {
    /// Whatever is declared, told, held and dropped: nobody passes during a pause, never more are under way than may
    /// be, no minute has more than it may, pauses stay within what was allowed, and everybody gets through or is told.
    #[test]
    fn whole_schedules_keep_all_bounds(
        requests in 1u32..20,
        concurrency in 1u32..6,
        calls in proptest::collection::vec((0u64..20_000, 1u64..30_000, 0u8..8, 0u64..40_000), 1..40),
    ) {
        run(async move {
            let lane = Arc::new(Lane::default());
            let lane_limits = limits(Some(requests), None, Some(concurrency));
            let allowance = Allowance { cap: Duration::from_secs(25), left: Duration::from_mins(1) };
            let held: Arc<Mutex<Instant>> = Arc::new(Mutex::new(Instant::now()));
            let log = Arc::new(Mutex::new((Vec::new(), 0u32)));
            let mut tasks = Vec::new();
            for (before, took, fate, pause) in calls {
                tokio::time::sleep(Duration::from_millis(before)).await;
                let (lane, log, held) = (Arc::clone(&lane), Arc::clone(&log), Arc::clone(&held));
                tasks.push(tokio::spawn(async move {
                    let need = need("m", 10, 10);
                    let wait = lane.pass(&need, lane_limits, allowance, |_, _| ());
                    let passed = if fate == 0 {
                        let Ok(passed) = tokio::time::timeout(Duration::from_millis(took), wait).await else { return };
                        passed
                    } else {
                        wait.await
                    };
                    let (mut place, paused) = match passed {
                        Ok(passed) => passed,
                        Err(TooLong(pause)) => {
                            assert!(pause > Duration::ZERO);
                            return;
                        }
                    };
                    assert!(paused <= allowance.left + Duration::from_millis(1), "{paused:?}");
                    if fate == 1 {
                        return;
                    }
                    place.sent();
                    let now = Instant::now();
                    assert!(now >= *held.lock().unwrap(), "passed during a pause");
                    {
                        let mut log = log.lock().unwrap();
                        log.0.push(now);
                        log.1 += 1;
                        assert!(log.1 <= concurrency, "{} under way", log.1);
                    }
                    tokio::time::sleep(Duration::from_millis(took)).await;
                    log.lock().unwrap().1 -= 1;
                    if fate == 2 {
                        let pause = Duration::from_millis(pause);
                        let until = Instant::now() + pause;
                        let mut held = held.lock().unwrap();
                        *held = until.max(*held);
                        lane.hold(pause);
                        place.refused();
                    } else {
                        place.answered(&usage(5, 5));
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            let starts = log.lock().unwrap().0.clone();
            for start in &starts {
                let minute = starts.iter().filter(|other| *other >= start && **other < *start + Duration::from_mins(1));
                assert!(minute.count() <= requests as usize);
            }
            // The lane is as good as new.
            let place = tokio::time::timeout(Duration::from_mins(2), pass(&lane, need("m", 10, 10), lane_limits));
            assert!(place.await.is_ok());
        });
    }
}
