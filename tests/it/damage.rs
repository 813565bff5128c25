//! Files of a run that somebody removed or spoiled, and folders that a user would rather keep: told, never run over.

use crate::support::{Place, Podium, Run, need, place};

#[test]
fn a_lost_journal_is_told_and_nothing_is_paid_for_again() {
    if !need::jail("a_lost_journal_is_told_and_nothing_is_paid_for_again") {
        return;
    }
    let place = Place::new();
    Podium::toy_run(&place, 2, 1).output().expect(0);
    let run = Run::only(&place.runs());
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(run.path.join(name));
    }
    let resumed = Podium::resume(&place, &run.path).args(["--steps", "5"]).output().expect(3);
    assert!(resumed.stderr.contains("journal") && resumed.stderr.contains("hint: "), "{}", resumed.stderr);
    for command in ["show", "replay"] {
        Podium::new(&place).arg(command).arg(&run.path).output().expect(3);
    }
    // One that is empty is as lost.
    std::fs::write(run.path.join("journal.db"), "").unwrap();
    let resumed = Podium::resume(&place, &run.path).args(["--steps", "5"]).output().expect(3);
    assert!(resumed.stderr.contains("journal") && resumed.stderr.contains("hint: "), "{}", resumed.stderr);
    Podium::new(&place).arg("show").arg(&run.path).output().expect(3);
}

#[test]
fn a_spoiled_report_and_a_spoiled_lock_do_not_keep_a_run_from_going_on() {
    if !need::jail("a_spoiled_report_and_a_spoiled_lock_do_not_keep_a_run_from_going_on") {
        return;
    }
    let place = Place::new();
    Podium::toy_run(&place, 2, 1).output().expect(0);
    let run = Run::only(&place.runs());
    std::fs::write(run.path.join("run.json"), "[").unwrap();
    std::fs::write(run.path.join("lock"), b"\xff\xfe garbage").unwrap();
    let report = Podium::resume(&place, &run.path).args(["--steps", "3"]).output().expect(0).json();
    assert_eq!(report["nodes"]["total"], 3);
    // A configuration is fixed, also where nothing has been asked for yet that was changed in it.
    let config = std::fs::read_to_string(run.path.join("config.json")).unwrap();
    let improve = "Exactly one change";
    assert!(config.contains(improve));
    std::fs::write(run.path.join("config.json"), config.replace(improve, "Many changes")).unwrap();
    let resumed = Podium::resume(&place, &run.path).args(["--steps", "4"]).output().expect(3);
    assert!(
        resumed.stderr.contains("was changed") && resumed.stderr.contains("hint: "),
        "{}",
        resumed.stderr
    );
    std::fs::write(run.path.join("config.json"), config).unwrap();
    let report = Podium::resume(&place, &run.path).args(["--steps", "4"]).output().expect(0).json();
    assert_eq!(report["nodes"]["total"], 4);
}

#[test]
fn a_workspace_by_hand_loses_none_of_its_files() {
    if !need::jail("a_workspace_by_hand_loses_none_of_its_files") {
        return;
    }
    let place = Place::new();
    let mine = place.write("workspace/submission", "precious");
    let exec = |workspace: &std::path::Path| {
        let podium = Podium::new(&place).args(["sandbox", "exec", "--python"]).arg(place::python());
        podium.arg("--workspace").arg(workspace).args(["--", "true"]).output()
    };
    let refused = exec(mine.parent().unwrap()).expect(2);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "precious");
    exec(std::path::Path::new("/")).expect(2);
}

#[test]
fn a_document_that_is_lost_is_a_failure() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_podium"))
        .args(["competitions", "list", "--json"])
        .env("HOME", place.home())
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_told_at_once() {
    if !need::jail("a_pipe_in_the_place_of_a_file_is_told_at_once") {
        return;
    }
    let place = Place::new();
    Podium::toy_run(&place, 1, 1).output().expect(0);
    let run = Run::only(&place.runs());
    for name in ["place.json", "config.json"] {
        std::fs::remove_file(run.path.join(name)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(run.path.join(name)).status().unwrap();
        assert!(made.success());
        let shown = Podium::new(&place).arg("show").arg(&run.path).output().expect(3);
        assert!(shown.stderr.contains("no regular file"), "{}", shown.stderr);
    }
}
