//! What stops an experiment and how it goes on: a service that fails, Ctrl-C twice, SIGTERM, a cap in dollars; and that
//! nothing that was paid for is paid for twice.

use rustix::process::Signal;
use serde_json::json;

use super::{experiment, folders};
use crate::external::odd;
use crate::service::Service;
use crate::support::reference::Left;
use crate::support::{Place, Podium, Run, Running, need, wait};

/// AIDE for two steps with a model of the test's own, and the baseline.
fn matrix(place: &Place, service: &Service, options: &[&str]) -> Podium {
    let podium = experiment(place, "run").args(["--name", "ab", "--competitions", "toy", "--seeds", "1"]);
    let podium = podium.args(["--model", "openai/gpt-4.1-mini", "--steps", "2", "--memory", "512MiB"]);
    service.behind(podium.args(["--cpus", "1", "--retry-wait", "1s"]).args(options))
}

fn resume(place: &Place, service: &Service) -> Podium {
    service.behind(experiment(place, "resume").args(["ab", "--retry-wait", "1s"]))
}

fn status(place: &Place) -> Podium {
    Podium::new(place).args(["experiment", "status", "ab", "--runs-dir"]).arg(place.runs())
}

#[test]
fn what_a_service_failed_is_tried_again_and_stops_nothing_else() {
    if !need::jail("what_a_service_failed_is_tried_again_and_stops_nothing_else") {
        return;
    }
    let place = Place::new();
    // It answers once, so that there is something to go on from.
    let service = Service::toy(["ok", "quota", "unauthorised", "quota"]);
    let arms = ["--scaffolds", "aide,dummy", "--retries", "1"];
    let stopped = matrix(&place, &service, &arms).output().expect(1);
    assert_eq!(stopped.stderr.matches("\nagain ").count(), 1, "{}", stopped.stderr);
    assert!(stopped.stderr.contains("go on with: podium experiment resume"), "{}", stopped.stderr);
    let told = stopped.json();
    let row = |told: &serde_json::Value, scaffold: &str| {
        let rows = told["runs"].as_array().unwrap();
        rows.iter().find(|row| row["arm"]["scaffold"] == scaffold).unwrap().clone()
    };
    assert_eq!(row(&told, "dummy")["state"], "graded", "the other run went on");
    let failed = row(&told, "aide");
    assert_eq!((&failed["stopped_by"], &failed["failed_tries"]), (&"model_service".into(), &2.into()));
    let text = status(&place).output().expect(0).stdout;
    assert!(text.contains("2 failed tries, the last: model_service: "), "{text}");

    let ended = resume(&place, &service).output().expect(0).json();
    assert_eq!((&ended["ended"], &ended["states"]), (&2.into(), &json!({"graded": 2})));
    assert_eq!(
        (&row(&ended, "aide")["failed_tries"], &row(&ended, "dummy")["failed_tries"]),
        (&3.into(), &0.into())
    );
    for path in folders(&place) {
        Left::by(&Run { path }).accounts_for_every_try();
    }
}

#[test]
fn what_the_strategys_own_program_failed_is_not_tried_again_and_told_as_that() {
    if !need::jail("what_the_strategys_own_program_failed_is_not_tried_again_and_told_as_that") {
        return;
    }
    let place = Place::new();
    let scaffold = odd(&place, "not_there").display().to_string();
    let service = Service::toy(["ok"]);
    let options = ["--scaffolds", &scaffold, "--retries", "3", "--retry-wait", "60s"];
    let podium = experiment(&place, "run").args(["--name", "ab", "--competitions", "toy", "--seeds", "1"]);
    let podium =
        podium.args(["--model", "openai/gpt-4.1-mini", "--steps", "2", "--memory", "512MiB", "--cpus", "1"]);
    let ended = service.behind(podium.args(options)).output().expect(1);
    assert!(!ended.stderr.contains("\nagain "), "{}", ended.stderr);
    let told = ended.json();
    let row = &told["runs"][0];
    assert_eq!((&row["stopped_by"], &row["failed_tries"]), (&"strategy".into(), &1.into()), "{told}");
    let report = Podium::new(&place).args(["experiment", "report", "ab", "--runs-dir"]).arg(place.runs());
    let report = report.output().expect(0).stdout;
    assert!(report.contains("the strategy's own program failed in 1 of the runs"), "{report}");
    assert!(!report.contains("outside the agent"), "{report}");
}

#[test]
fn two_interrupts_stop_at_once_and_a_sigterm_drains() {
    if !need::jail("two_interrupts_stop_at_once_and_a_sigterm_drains") {
        return;
    }
    let place = Place::new();
    let service = Service::toy(["stall", "hold"]);
    let asked = |running: &Running, times: usize| {
        wait::until("a call is in flight", || {
            assert!(!running.has_ended(), "it ended before");
            (service.requests().len() == times).then_some(())
        });
    };
    let running = matrix(&place, &service, &["--scaffolds", "aide"]).start();
    asked(&running, 1);
    let going = status(&place).arg("--json").output().expect(0).json()["runs"][0].clone();
    assert_eq!((&going["state"], &going["steps"]), (&"begun".into(), &1.into()), "{going}");
    assert!(going["holder"][0].is_string(), "{going}");
    running.signal(Signal::INT);
    wait::until("it drains", || running.has_told("once more stops at once").then_some(()));
    assert!(!running.has_ended(), "a call in flight is waited for");
    running.signal(Signal::INT);
    let stopped = running.wait().expect(5);
    assert_eq!(stopped.json()["runs"][0]["stopped_by"], "interrupted", "{}", stopped.stderr);
    assert!(!stopped.stderr.contains("failed tries"), "nobody failed: {}", stopped.stderr);

    let running = resume(&place, &service).start();
    asked(&running, 2);
    running.signal(Signal::TERM);
    wait::until("it drains", || running.has_told("once more stops at once").then_some(()));
    service.release();
    let stopped = running.wait().expect(5);
    assert_eq!(stopped.json()["runs"][0]["stopped_by"], "interrupted", "{}", stopped.stderr);
    let run = Run { path: folders(&place).remove(0) };
    let drained = Left::by(&run);
    assert!(drained.open().is_empty(), "the answer was waited for: {:?}", drained.open());

    let ended = resume(&place, &service).output().expect(0).json();
    assert_eq!((&ended["ended"], &ended["runs"][0]["failed_tries"]), (&1.into(), &0.into()));
    let whole = Left::by(&run);
    assert!(whole.begins_with(&drained));
    whole.accounts_for_every_try();
}

#[test]
fn a_dollar_cap_is_dealt_out_stops_drains_and_goes_on_when_raised() {
    if !need::jail("a_dollar_cap_is_dealt_out_stops_drains_and_goes_on_when_raised") {
        return;
    }
    let place = Place::new();
    let service = Service::toy([]);
    let capped = ["--scaffolds", "aide", "--seeds", "2", "--max-cost", "1", "--cap-cost", "1"];
    matrix(&place, &service, &capped).arg("--only-plan").output().expect(0);
    // Other machines are handed what the cap can pay.
    let plan = || Podium::new(&place).args(["experiment", "plan", "ab", "--runs-dir"]).arg(place.runs());
    let dealt = plan().output().expect(0);
    assert_eq!(dealt.stdout.matches("--max-cost 1 ").count(), 1, "{}", dealt.stdout);
    assert!(dealt.stderr.contains("1 more runs are kept back"), "{}", dealt.stderr);
    // What was handed out keeps its allotment, and is not handed out twice unasked.
    let twice = plan().output().expect(0);
    assert!(twice.stdout.is_empty() && twice.stderr.contains("1 runs were printed before"), "{twice:?}");
    assert_eq!(plan().arg("--again").output().expect(0).stdout, dealt.stdout);

    let stopped = matrix(&place, &service, &capped).output().expect(4);
    assert!(stopped.stderr.contains("leaves room for no further run"), "{}", stopped.stderr);
    assert_eq!(stopped.json()["states"], json!({"graded": 1, "not_begun": 1}));
    assert!(plan().output().expect(0).stdout.is_empty(), "what was spent is gone from the cap");
    // As it is, it can do no more.
    let asked = service.requests().len();
    assert_eq!(resume(&place, &service).output().expect(4).json()["ended"], 1);
    let ended = resume(&place, &service).args(["--cap-cost", "2.5"]).output().expect(0).json();
    assert_eq!(ended["states"], json!({"graded": 2}));
    assert!(service.requests().len() > asked, "the other one alone asked");
    assert_eq!(folders(&place).len(), 2);
}
