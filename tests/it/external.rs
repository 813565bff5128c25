//! Strategies in other languages, from outside: the examples end graded, twenty kills lose nothing, what is asked for in
//! parallel replays, and a program sees nothing of what it must not see.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::loops::kills::Kept;
use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need};

/// Kills of one run.
const KILLS: usize = 20;
/// Where a sitting is killed, in turn, and how many entries behind those that it found: its own is the first of them.
const INSTANTS: [(&str, u64); 3] = [("before_commit", 3), ("after_commit", 2), ("after_intent", 2)];

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external").join(name)
}

fn run(place: &Place, runs: &Path, scaffold: &Path, steps: u32) -> Podium {
    Podium::new(place)
        .arg("run")
        .toy()
        .args(["--json", "--competition", "toy", "--model", "playbook", "--memory", "512MiB", "--cpus", "1"])
        .args(["--seed", "4", "--steps", &steps.to_string()])
        .arg("--scaffold")
        .arg(scaffold)
        .arg("--runs-dir")
        .arg(runs)
}

/// `odd.py` in this mode as a scaffold of its own.
pub(crate) fn odd(place: &Place, mode: &str) -> PathBuf {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/external/odd.py");
    let folder = place.path().join("odd").join(mode);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(fixture, folder.join("odd.py")).unwrap();
    std::fs::copy(example("podium_client.py"), folder.join("podium_client.py")).unwrap();
    let toml = std::fs::read_to_string(example("greedy.toml")).unwrap();
    let toml = toml
        .replace("\"greedy.py\"]", &format!("\"odd.py\", \"{mode}\"]"))
        .replace("[\"greedy.py\",", "[\"odd.py\",")
        .replace("executions = 1", "executions = 4")
        .replace("id = \"greedy\"", &format!("id = \"{mode}\""));
    let file = folder.join(format!("{mode}.toml"));
    std::fs::write(&file, toml).unwrap();
    file
}

#[track_caller]
fn replays(place: &Place, run: &Run) {
    let replay = Podium::new(place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
    assert_eq!(replay["agrees"], true, "{replay}");
}

#[test]
fn the_examples_end_graded_and_twenty_kills_of_one_lose_nothing() {
    let test = "the_examples_end_graded_and_twenty_kills_of_one_lose_nothing";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let kills = need::failpoints(test);
    let cases: [(&str, bool); 2] = [("greedy", true), ("wrap", false)];
    in_parallel(&cases, |(name, killed)| {
        let runs = place.path().join("cases").join(name);
        let start = || run(&place, &runs, &example(&format!("{name}.toml")), 10);
        let mut kept: Vec<Kept> = Vec::new();
        for kill in 0..if *killed && kills { KILLS } else { 0 } {
            let (instant, behind) = INSTANTS[kill % INSTANTS.len()];
            let named = format!("{instant}:{}", kept.last().map_or(0, Kept::entries) + behind);
            let sitting = match kill {
                0 => start(),
                _ => Podium::resume(&place, &Run::only(&runs).path),
            };
            let killed = sitting.failpoint(&named).output();
            assert!(killed.was_killed(), "{name}, kill {kill}, {named} was not reached: {killed:?}");
            kept.push(Kept::by(&Run::only(&runs)));
        }
        let last = if kept.is_empty() { start() } else { Podium::resume(&place, &Run::only(&runs).path) };
        let report = last.output().expect(0).json();
        assert_eq!(report["outcome"], "graded", "{name}: {report}");
        let run = Run::only(&runs);
        for kept in &kept {
            kept.stands(&run);
        }
        // Every call was sent once, and once more for each kill that cut it.
        let cuts = |key: &String| kept.iter().filter(|kept| kept.open().contains(key)).count() as u64;
        for (key, tries) in run.intents() {
            assert!(tries <= 1 + cuts(&key), "{name}: {key} was sent {tries} times");
        }
        replays(&place, &run);
        if *killed {
            let tree = run.tree(&place);
            assert_eq!((tree.len(), &report["stopped_by"]), (10, &Value::from("steps")));
            assert!(run.path.join("best/solution.py").is_file());
        } else {
            assert_eq!(report["stopped_by"], "finished");
        }
    });
}

#[test]
fn what_is_asked_for_at_the_same_time_replays_and_one_that_throws_dice_is_told() {
    let test = "what_is_asked_for_at_the_same_time_replays_and_one_that_throws_dice_is_told";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    let cases = [("threads", "after_commit:14"), ("dice", "after_commit:4")];
    in_parallel(&cases, |(mode, instant)| {
        let runs = place.path().join("cases").join(mode);
        let killed = run(&place, &runs, &odd(&place, mode), 9);
        let killed = killed.failpoint(instant);
        assert!(killed.output().was_killed(), "{mode}");
        let stored = Run::only(&runs);
        let before = stored.rows();
        let resumed = Podium::resume(&place, &stored.path).output();
        if *mode == "threads" {
            let report = resumed.expect(0).json();
            assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"finished".into()));
            assert!(stored.rows().starts_with(&before));
            assert!(stored.intents().values().sum::<u64>() <= 8 + 4, "no answered call was sent again");
            return replays(&place, &stored);
        }
        let error = resumed.expect(2).json();
        let message = error["error"]["message"].as_str().unwrap().to_owned();
        let differs =
            "the journal has note `step/0/note-1`, the strategy asks for it with another content: `text` was";
        assert!(message.contains(differs), "{message}");
        let hint = error["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("docs/protocol.md") && !hint.contains("podium resume"), "{error}");
        assert_eq!(stored.rows(), before, "the journal is untouched");
        // A check would have told it beforehand.
        let check = Podium::new(&place).args(["scaffolds", "check", "-c", "toy", "--memory", "512MiB"]).toy();
        let told = check.args(["--cpus", "1"]).arg(odd(&place, mode)).output().expect(2).stdout;
        assert!(told.contains("it went another way: ") && told.contains("`text` was"), "{told}");
    });
}

#[test]
fn a_program_sees_no_data_no_answers_no_key_and_no_network_and_its_forks_end() {
    let test = "a_program_sees_no_data_no_answers_no_key_and_no_network_and_its_forks_end";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let scaffold = odd(&place, "hunts");
    let report = run(&place, &place.runs(), &scaffold, 3).env("OPENAI_API_KEY", "sk-hunted").output();
    let report = report.expect(0).json();
    assert_eq!(report["outcome"], "no_submission", "{report}");
    assert_eq!(report["detail"], "found [], children fewer than 64: True", "{report}");
    replays(&place, &Run::only(&place.runs()));
}

#[test]
fn a_mended_program_goes_on_where_it_asks_for_what_it_asked_before() {
    if !need::jail("a_mended_program_goes_on_where_it_asks_for_what_it_asked_before") {
        return;
    }
    let place = Place::new();
    let scaffold = odd(&place, "mended");
    let folder = scaffold.parent().unwrap().to_owned();
    let program = |remark: &str, end: &str| {
        let text = format!(
            "from podium_client import Podium\npodium = Podium()\npodium.begin_step()\npodium.note('{remark}')\n{end}\n"
        );
        std::fs::write(folder.join("odd.py"), text).unwrap();
    };
    let check = |options: &[&str], code| {
        let check = Podium::new(&place).args(["scaffolds", "check", "-c", "toy", "--memory", "512MiB"]).toy();
        check.args(["--cpus", "1"]).args(options).arg(&scaffold).output().expect(code).stdout
    };
    // What a check tells before anything runs, and of one that runs: a slip, a print, a refusal, an end without anything.
    program("a remark", "podium.finish('mended'");
    let told = check(&["--no-run"], 2);
    assert!(told.starts_with("odd.py, line 5: '(' was never closed"), "{told}");
    std::fs::write(folder.join("odd.py"), "print('\u{1b}Hello')\n").unwrap();
    let told = check(&[], 2);
    assert!(told.contains("line 1: the line is no JSON: `\\u{1b}Hello` ("), "{told}");
    assert!(told.contains("standard output carries the protocol: print to standard error"), "{told}");
    program("a remark", "podium.chat('gpt-4o', [{'role': 'user', 'content': 'x'}])");
    let told = check(&[], 2);
    let refused = "1 request refused: no model `gpt-4o` here; names are code; see external.roles";
    assert!(
        told.contains("ended (exit code 1) without `finish`; it said last: ") && told.contains(refused),
        "{told}"
    );
    program("a remark", "podium.finish('nothing to do')");
    let told = check(&[], 2);
    assert!(told.contains("no model answered in all of its steps: nothing to do"), "{told}");
    let told = "podium.chat('code', [{'role': 'user', 'content': 'x'}])\npodium.finish('nothing to hand in')";
    program("a remark", told);
    let told = check(&[], 0);
    let verdict =
        "no fault, 1 warning: the dry run ended without a submission; the dry run on toy ended no_submission";
    assert!(told.contains(verdict), "{told}");

    program("a remark", "raise SystemExit('a mistake')");
    let broken = run(&place, &place.runs(), &scaffold, 3).output();
    assert!(broken.stderr.contains("--scaffold-files FOLDER"), "{}", broken.stderr);
    assert_eq!(broken.expect(70).json()["stopped_by"], "strategy");
    let stored = Run::only(&place.runs());
    let before = stored.rows();
    let resume = || Podium::resume(&place, &stored.path).arg("--scaffold-files").arg(&folder).output();
    // Another one than it was: nothing of the run is touched.
    program("another remark", "podium.finish('mended')");
    let error = resume().expect(2).json();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains(r#"`text` was "a remark", and is "another remark" now"#), "{message}");
    assert_eq!(stored.rows(), before);
    program("a remark", "podium.finish('mended')");
    let report = resume().expect(0).json();
    assert_eq!(
        (&report["stopped_by"], &report["detail"]),
        (&"finished".into(), &"mended".into()),
        "{report}"
    );
    assert_eq!(report["changed_files"], serde_json::json!(["odd.py"]));
    replays(&place, &stored);
}
