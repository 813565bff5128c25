//! Lines 40 and 41: a tool that edits files for an agent, and a kernel whose cells speak for it.

use std::{path::Path, time::Duration};

use podium_sandbox::{
    SessionJob, SubmissionRule,
    workspace::{Entry, FileError, Files},
};
use podium_types::{
    execution::Collected,
    session::{SessionKind, SessionState},
};
use serde_json::json;

use super::{attack, say};
use crate::common::{Place, attacked, environment};

const LONG: Duration = Duration::from_secs(50);

/// Paths that lead nowhere good, and what must be said of them when they are read and written.
const OUT: [(&str, &str); 17] = [
    ("/etc/passwd", "leaves the workspace"),
    ("../answers.csv", "leaves the workspace"),
    ("working/../../answers.csv", "leaves the workspace"),
    ("", "no path"),
    ("working/x\0y", "no path"),
    ("working/link", "a symbolic link"),
    ("working/passwd", "a symbolic link"),
    ("working/dangling", "a symbolic link"),
    ("working/up/working/plain", "a symbolic link|no folder"),
    ("working/out/secret", "a symbolic link|no folder"),
    ("working/root/etc/passwd", "a symbolic link|no folder"),
    ("working/descriptors/0", "a symbolic link|no folder"),
    ("working/fifo", "a FIFO"),
    ("working/socket", "a socket"),
    ("working/folder", "a folder"),
    ("working/plain/below", "no folder"),
    ("input/../../answers.csv", "leaves the workspace"),
];

fn refused(error: &FileError, path: &str, says: &str) {
    let text = error.to_string();
    assert!(says.split('|').any(|word| text.contains(word)), "{path:?}: {text}");
}

fn check_refusals(files: &Files) {
    for (path, says) in OUT {
        refused(&files.read(path).unwrap_err(), path, says);
        refused(&files.write(path, b"OVERWRITTEN").unwrap_err(), path, says);
    }
    refused(&files.read("working/large").unwrap_err(), "large", "larger than 16777216 bytes");
    refused(&files.write("working/x", &vec![0; 17 << 20]).unwrap_err(), "large", "larger than");
    refused(&files.write("input/train.csv", b"x").unwrap_err(), "input", "cannot be written");
    refused(&files.read("working/nothing").unwrap_err(), "nothing", "does not exist");
    refused(&files.list("working/out").unwrap_err(), "out", "a symbolic link|no folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn line_40_a_file_tool_stays_in_the_workspace() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let (answers, outside) = (place.folder.path().join("answers.csv"), place.folder.path().join("outside"));
    std::fs::write(&answers, "SECRET").unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "SECRET").unwrap();
    let passwd = std::fs::read("/etc/passwd").unwrap();
    let job = attack(&place, "40_file_edits", &json!({"answers": answers, "outside": outside, "seconds": 3}));
    let files = Files::of(&job);
    let (tool, second) = (files.clone(), place.workspace().join("working/second"));
    let edits = tokio::task::spawn_blocking(move || {
        crate::common::eventually("all is planted", || second.exists());
        check_refusals(&tool);
        let (mut done, mut kept_out) = (0, 0);
        for _ in 0..3000 {
            match (tool.write("working/swap/mine", b"mine"), tool.read("working/swap/secret")) {
                (_, Ok(content)) => panic!("read {content:?}"),
                (Ok(()), _) => done += 1,
                (Err(_), _) => kept_out += 1,
            }
        }
        (done, kept_out)
    });
    let execution = sandbox.execute(&job).await.unwrap();
    let (done, kept_out) = edits.await.unwrap();
    assert!(execution.succeeded(), "{execution:?}");
    check_refusals(&files);
    assert_eq!(std::fs::read("/etc/passwd").unwrap(), passwd);
    assert_eq!(std::fs::read_to_string(&answers).unwrap(), "SECRET");
    let left: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret"], "nothing was written outside");
    assert_eq!(std::fs::read_dir(place.workspace().join("input")).unwrap().count(), 0);
    say(
        &*sandbox,
        "40",
        &format!(
            "{} paths refused; of 3000 racing edits {done} were done inside and {kept_out} refused",
            OUT.len()
        ),
    );
}

#[tokio::test]
async fn a_file_tool_works_beside_a_session_of_the_same_workspace() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = SessionJob::new(SessionKind::Shell, place.workspace(), &environment());
    job.job.input = Some(place.folder.path().join("input"));
    let files = Files::of(&job.job);
    let mut session = sandbox.open_session(&job).await.unwrap();
    files.write("working/deep/er/script.sh", b"echo first").unwrap();
    let command = "cd working/deep; cat er/script.sh; echo; echo 'echo second' > er/script.sh; chmod 755 er/script.sh; \
                   ln er/script.sh er/other; touch beside; mv er ../er";
    let seen = session.send(command, LONG).await.unwrap();
    assert_eq!((seen.output.text().as_str(), seen.succeeded()), ("echo first\n", true), "{seen:?}");
    assert_eq!(files.read("./working/er/script.sh").unwrap(), b"echo second\n");
    // Its mode is kept, and what has the other name is not changed.
    files.write("working/er/script.sh", b"#!/bin/sh\necho third\n").unwrap();
    let seen = session.send("../er/script.sh; cat ../er/other; ls -A ../er", LONG).await.unwrap();
    assert_eq!(seen.output.text(), "third\necho second\nother\nscript.sh\n");
    let entry = |name: &str, is_folder, bytes| Entry { name: name.to_owned(), is_folder, bytes };
    assert_eq!(files.list("working").unwrap(), [entry("deep", true, 0), entry("er", true, 0)]);
    assert_eq!(files.list("input").unwrap(), [entry("train.csv", false, 9)]);
    assert_eq!(files.read("input/train.csv").unwrap(), b"id,x\n1,2\n");
    assert!(files.list(".").unwrap().iter().any(|entry| entry.name == "submission"));
    assert!(matches!(files.clone().with_limit(3).read("input/train.csv"), Err(FileError::TooLarge { .. })));
}

#[tokio::test]
async fn line_41_a_forged_end_is_a_claim_and_changes_nothing_that_is_measured() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = SessionJob::new(SessionKind::Kernel, place.workspace(), &environment());
    let (path, store) = ("submission/submission.csv".to_owned(), place.store());
    job.job.submission = Some(SubmissionRule { path, store, max_bytes: 1 << 20 });
    let mut kernel = sandbox.open_session(&job).await.unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let cell = std::fs::read_to_string(folder.join("41_forged_end.py")).unwrap();
    let seen = kernel.send(&cell, LONG).await.unwrap();
    assert!(seen.succeeded() && seen.output.text() == "forging\n", "{seen:?}");
    // While the children forge, and after: each call has its own end.
    let slow = "import time; time.sleep(1); open('submission/submission.csv', 'w').write('id,y\\n'); 6 * 7";
    for (cell, value) in [("6 * 8", "48"), (slow, "42"), ("time.sleep(2); 6 * 9", "54")] {
        let state = kernel.send(cell, LONG).await.unwrap().state;
        assert_eq!(state, SessionState::Completed { value: Some(value.to_owned()) }, "{cell}");
    }
    // A child that takes the next call from the kernel's own descriptor can answer it. That is a claim as well: what is
    // measured and collected at the end is not its to say.
    let take = "
cells = channel('CELLS')
if os.fork() == 0:
    os.write(control, forge(os.read(cells, 65536).split()[0]))
    os._exit(0)
time.sleep(0.3)
";
    assert!(kernel.send(take, LONG).await.unwrap().succeeded());
    let seen = kernel.send("1 / 0", Duration::from_secs(3)).await.unwrap();
    say(&*sandbox, "41", &format!("a call that was taken is answered by {:?}", seen.state));
    kernel.restart().await.unwrap();
    let state = kernel.send("1 / 0", LONG).await.unwrap().state;
    assert!(matches!(state, SessionState::Raised { .. }), "{state:?}");
    let end = kernel.close().await.unwrap();
    assert!(matches!(end.submission, Collected::File { bytes: 5, .. }), "{end:?}");
    assert!(!serde_json::to_string(&end).unwrap().contains("score"), "{end:?}");
}
