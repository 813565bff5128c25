//! Progress as somebody at a terminal sees it: runs that go on and a total at its foot, drawn again; and plain lines in a
//! pipe.

use super::{experiment, python};
use crate::support::{Place, need};

#[test]
fn a_terminal_has_a_foot_and_a_pipe_has_lines() {
    if !need::jail("a_terminal_has_a_foot_and_a_pipe_has_lines") {
        return;
    }
    let (place, piped) = (Place::new(), Place::new());
    let options = ["--name", "ab", "--scaffolds", "dummy", "--competitions", "toy", "--seeds", "3"];
    let options = [&options[..], &["--memory", "512MiB", "--cpus", "1"]].concat();
    let plain = experiment(&piped, "run").args(&options).output().expect(0);
    assert!(!plain.stderr.contains('\u{1b}'), "{}", plain.stderr);
    assert_eq!(plain.stderr.matches("\nbegins  dummy-toy-").count(), 3, "{}", plain.stderr);
    assert!(plain.stderr.contains("3/3 runs · 0 going on"), "{}", plain.stderr);

    let line = format!(
        "exec {} experiment run {} --assets {} --python {} --runs-dir {}",
        env!("CARGO_BIN_EXE_podium"),
        options.join(" "),
        crate::support::place::toy_assets().display(),
        python().display(),
        place.runs().display()
    );
    let seen = std::process::Command::new("script")
        .args(["-qfec", &line, "/dev/null"])
        .env("HOME", place.home())
        .env("PODIUM_DATA_DIR", place.data())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .current_dir(place.work())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.status.success(), "{text}");
    for said in ["begins  dummy-toy-", "step 0", "━", "1/3 runs · ", "3 planned = 3 graded"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // Each time wrapping is switched off it is switched on again, and the foot is gone at the end.
    assert_eq!(text.matches("\u{1b}[?7l").count(), text.matches("\u{1b}[?7h").count());
    let (_, end) = text.rsplit_once("\u{1b}[J").unwrap();
    assert!(!end.contains("going on"), "{end}");
}
