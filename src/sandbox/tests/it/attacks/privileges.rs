//! Lines 25, 27, 28 and 35: power over other processes, and more of it for oneself.

use podium_types::execution::Ended;
use serde_json::json;

use super::{all_held, attack, held, say};
use crate::common::{Place, attacked};

#[tokio::test]
async fn line_25_signals_reach_nobody_else() {
    let Some(sandbox) = attacked() else { return };
    let (place, beside) = (Place::new(), Place::new());
    let job = attack(&place, "25_kill_all", &json!({"harness": std::process::id()}));
    let neighbour = beside.python("import time\nprint('begun', flush=True)\ntime.sleep(2)\nprint('ended')");
    let (attacker, neighbour) = tokio::join!(sandbox.execute(&job), sandbox.execute(&neighbour));
    let attacker = attacker.unwrap();
    assert_eq!(held(&*sandbox, "25", &attacker).len(), 2, "{attacker:?}");
    if sandbox.facts().kind == podium_sandbox::SandboxKind::Docker {
        // It kills the shell that waits for it. The container ends for that, and with it the attacker, which may
        // come to its last line before or may not. Which of its signals the shell dies of is the kernel's choice.
        assert!(matches!(attacker.ended, Ended::Signal(9 | 15)), "{attacker:?}");
    } else {
        assert!(attacker.output.text().ends_with("still here\n"), "{attacker:?}");
        assert_eq!(attacker.ended, Ended::Exit(0), "{attacker:?}");
    }
    assert_eq!(neighbour.unwrap().output.text(), "begun\nended\n");
    say(&*sandbox, "25", "the harness and the neighbour live");
}

#[tokio::test]
async fn line_27_no_process_can_be_traced() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let first = sandbox.facts().kind == podium_sandbox::SandboxKind::Jail;
    let job = attack(&place, "27_trace", &json!({"harness": std::process::id(), "first": first}));
    all_held(&*sandbox, "27", &sandbox.execute(&job).await.unwrap(), 1);
}

#[tokio::test]
async fn line_28_no_privilege_can_be_gained() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "28_privileges", &json!({}))).await.unwrap();
    let names = all_held(&*sandbox, "28", &execution, 25);
    assert!(execution.output.text().contains("plain modes work"));
    for name in names.iter().filter(|name| name.starts_with("clone3") || name.starts_with("openat2")) {
        assert!(name.ends_with("38"), "{name}: the older call is not tried");
    }
    // Nothing in the workspace, as the host sees it, runs as its owner.
    for entry in std::fs::read_dir(place.workspace()).unwrap().flatten() {
        let mode = std::os::unix::fs::PermissionsExt::mode(&entry.metadata().unwrap().permissions());
        assert_eq!(mode & 0o6000, 0, "{}", entry.path().display());
    }
}

#[tokio::test]
async fn line_35_limits_cannot_be_raised() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "35_limits", &json!({}))).await.unwrap();
    all_held(&*sandbox, "35", &execution, 15);
}
