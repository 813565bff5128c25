//! Lines 1 to 8: the answers, secrets, what is shared, and what the program was started with.

use std::path::PathBuf;

use podium_types::execution::Ended;
use serde_json::json;

use super::{all_held, attack, say};
use crate::common::{Place, attacked, skip};

/// Answers beside the workspace, as they lie beside it in a run.
fn answers(place: &Place) -> (PathBuf, String) {
    let folder = place.folder.path().join("private-4d7a");
    std::fs::create_dir(&folder).unwrap();
    let text = "id,answer\n1,0.123456\n2,0.654321\n".repeat(77);
    std::fs::write(folder.join("answers-4d7a.csv"), &text).unwrap();
    (folder.join("answers-4d7a.csv"), text)
}

#[tokio::test]
async fn line_01_a_walk_finds_no_answers() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let (path, text) = answers(&place);
    let given = json!({
        "names": ["private-4d7a", "answers-4d7a.csv"],
        "size": text.len(),
        "sha256": podium_types::sha256::Sha256::of(text.as_bytes()).as_str(),
    });
    let mut job = attack(&place, "01_walk", &given);
    job.hidden = vec![path.parent().unwrap().to_owned()];
    job.timeout = std::time::Duration::from_mins(3);
    let execution = sandbox.execute(&job).await.unwrap();
    all_held(&*sandbox, "1", &execution, 1);
    assert!(
        execution.output.text().lines().any(|line| line.starts_with("looked at ") && line.ends_with("True"))
    );

    // The same walk finds what is given to it, so it can find.
    let copy = place.folder.path().join("input/answers-4d7a.csv");
    std::fs::copy(&path, copy).unwrap();
    let execution = sandbox.execute(&job).await.unwrap();
    assert!(execution.output.text().contains("BROKEN walk"), "{}", execution.output.text());
}

#[tokio::test]
async fn line_02_no_path_leads_to_the_answers() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let (path, _) = answers(&place);
    let job = attack(&place, "02_paths", &json!({"path": path}));
    all_held(&*sandbox, "2", &sandbox.execute(&job).await.unwrap(), 14);
}

#[tokio::test]
async fn line_03_secrets_are_not_visible() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let home = place.folder.path().join("home");
    let paths: Vec<PathBuf> =
        [".env", ".ssh/id_ed25519", ".kaggle/kaggle.json", "runs/run/journal.db", "podium.toml"]
            .iter()
            .map(|name| {
                let path = home.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, "secret").unwrap();
                path
            })
            .collect();
    let job = attack(&place, "03_secrets", &json!({"home": home, "paths": paths}));
    all_held(&*sandbox, "3", &sandbox.execute(&job).await.unwrap(), 50);
}

#[tokio::test]
async fn line_04_the_environment_holds_nothing_of_ours() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = attack(&place, "04_environment", &json!({}));
    job.env.insert("EXTRA".to_owned(), "1".to_owned());
    let execution = sandbox.execute(&job).await.unwrap();
    all_held(&*sandbox, "4", &execution, 8);
    let want = "names BLIS_NUM_THREADS CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES EXTRA HOME KMP_BLOCKTIME LANG LOKY_MAX_CPU_COUNT MKL_NUM_THREADS MPLBACKEND MPLCONFIGDIR \
                NUMEXPR_NUM_THREADS OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS PATH POLARS_MAX_THREADS PWD \
                PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONNOUSERSITE PYTHONUNBUFFERED PYTHON_CPU_COUNT RAYON_NUM_THREADS TMPDIR TZ \
                USER VECLIB_MAXIMUM_NUM_THREADS";
    let text = execution.output.text();
    let names: Vec<&str> = text.lines().next().unwrap().split(' ').collect();
    let foreign: Vec<&&str> =
        names.iter().filter(|name| !want.split(' ').any(|allowed| allowed == **name)).collect();
    assert!(foreign.iter().all(|name| **name == "NVIDIA_VISIBLE_DEVICES"), "{foreign:?}");
    assert!(names.contains(&"EXTRA") && names.contains(&"PATH"), "{text}");
}

#[tokio::test]
async fn line_05_what_is_shared_cannot_be_written() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "05_write", &json!({}))).await.unwrap();
    all_held(&*sandbox, "5", &execution, 65);
    assert_eq!(execution.output.text().lines().filter(|line| *line == "own written").count(), 6);
    let data = place.folder.path().join("input");
    assert_eq!(std::fs::read_to_string(data.join("train.csv")).unwrap(), "id,x\n1,2\n");
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
}

#[tokio::test]
async fn line_06_planted_code_reaches_nobody() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let planted = sandbox.execute(&attack(&place, "06_plant", &json!({}))).await.unwrap();
    assert!(planted.output.text().starts_with("planted ") && !planted.output.text().contains("planted 0"));
    let next = Place::new();
    let shown = json!({"mounted": crate::common::environment().read_only()});
    let execution = sandbox.execute(&attack(&next, "06_look", &shown)).await.unwrap();
    assert_eq!(execution.output.text(), "clean False [] ['train.csv']\n");
    // The harness asks the same interpreter what it is; nothing of it may have changed.
    crate::common::environment().verify().unwrap();
    say(&*sandbox, "6", "the next program is clean");
}

#[tokio::test]
async fn line_07_proc_tells_of_nothing_outside() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let (path, _) = answers(&place);
    let words = json!(["private-4d7a", "answers-4d7a", "--ro-bind", "podium-probe", "/deps/", "nextest"]);
    let given = json!({"harness": std::process::id(), "words": words});
    let mut job = attack(&place, "07_processes", &given);
    job.hidden = vec![path.parent().unwrap().to_owned()];
    all_held(&*sandbox, "7", &sandbox.execute(&job).await.unwrap(), 25);
}

#[tokio::test]
async fn line_08_no_descriptor_is_inherited() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    // A descriptor of the harness that somebody forgot to mark.
    let open = std::fs::File::open(place.folder.path()).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    let execution = sandbox.execute(&attack(&place, "08_descriptors", &json!({}))).await.unwrap();
    all_held(&*sandbox, "8", &execution, 3);
}

#[test]
fn lines_36_to_38_need_a_graphics_card() {
    if !std::path::Path::new("/dev/nvidiactl").exists() {
        skip("lines 36 to 38 of the attack list need a graphics card");
    }
}

#[tokio::test]
async fn an_ordinary_program_is_not_disturbed() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let code = "import os\nprint(open('input/train.csv').read(), end='')\nopen('working/x', 'w').write('1')\nprint(os.getcwd())";
    let execution = sandbox.execute(&place.python(code)).await.unwrap();
    assert_eq!(
        (execution.ended, execution.output.text().as_str()),
        (Ended::Exit(0), "id,x\n1,2\n/workspace\n")
    );
}
