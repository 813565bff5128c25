//! The submission check that programs may ask for while they run, and what the report says of those who asked for more.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, Podium, Run, need, place};

/// Asks for a verdict on files of all kinds, as a program may; tells each as `told HEX TEXT`.
const ASK: &str = r"
import os as _os, random as _random, socket as _socket, subprocess as _subprocess, time as _time
_sample = open('input/sample_submission.csv', 'rb').read()
_lines = _sample.splitlines(keepends=True)
_classes = sorted({line.split(b',')[-1].strip() for line in open('input/train.csv', 'rb').readlines()[1:]})
_random.seed(7)
_files = [
    _sample, b'', _sample.replace(b'class', b'label', 1), b''.join(_lines[:-1]), b''.join(_lines + _lines[-1:]),
    b''.join(_lines[:1] + _lines[:0:-1]), _sample + b'99999,x\n', b'\xff\xfe' + _sample,
    _lines[0] + b''.join(line.split(b',')[0] + b',' + _random.choice(_classes) + b'\n' for line in _lines[1:]),
    _lines[0] + b''.join(line.split(b',')[0] + b',\n' for line in _lines[1:]),
]
for _file in _files:
    with open('asked.csv', 'wb') as _out: _out.write(_file)
    _done = _subprocess.run(['validate_submission.sh', 'asked.csv'], capture_output=True, text=True)
    print('told', _file.hex() or '-', (_done.stdout + _done.stderr).strip().replace('\n', '\\n'))
for _ in range(4):
    _done = _subprocess.run(['validate_submission.sh', 'asked.csv'], capture_output=True, text=True)
print('last', _done.returncode, _done.stderr.strip())
try: _socket.getaddrinfo('huggingface.co', 443)
except OSError: print('no such name')
";

/// The toy competition with a library whose every script does this first.
fn assets(place: &Place, first: &str) -> PathBuf {
    let assets = place.path().join("assets");
    let copied = std::process::Command::new("cp").arg("-r").arg(place::toy_assets()).arg(&assets).status();
    assert!(copied.unwrap().success());
    for script in std::fs::read_dir(assets.join("benchmark/offline/toy/playbook")).unwrap().flatten() {
        if script.path().extension().is_some_and(|end| end == "py") {
            let text = std::fs::read_to_string(script.path()).unwrap();
            std::fs::write(script.path(), format!("{first}{text}")).unwrap();
        }
    }
    assets
}

fn run(place: &Place, assets: &Path, options: &[&str]) -> Value {
    let run = Podium::new(place).args(["run", "-c", "toy", "-m", "playbook", "--steps", "1", "--json"]);
    let run = run.arg("--assets").arg(assets).arg("--python").arg(place::python()).args(options);
    run.args(["--memory", "512MiB", "--cpus", "1"])
        .arg("--runs-dir")
        .arg(place.runs())
        .output()
        .expect(0)
        .json()
}

fn printed(place: &Place) -> String {
    std::fs::read_to_string(Run::only(&place.runs()).path.join("nodes/0/output.txt")).unwrap_or_else(|_| {
        std::fs::read_to_string(Run::only(&place.runs()).path.join("nodes/1/output.txt")).unwrap()
    })
}

/// What a program must be told of a file, by the verdict outside.
fn in_words(verdict: &Value) -> String {
    match (verdict["verdict"].as_str().unwrap(), verdict["copies_sample"].as_bool()) {
        ("valid", Some(true)) => {
            "Submission is valid, but its predictions are those of the sample submission.".to_owned()
        }
        ("valid", _) => "Submission is valid.".to_owned(),
        ("invalid", _) => format!("Submission invalid! {}", verdict["reason"].as_str().unwrap()),
        other => panic!("{other:?}"),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim_matches('-').as_bytes();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

#[test]
fn a_program_is_told_the_verdict_and_nothing_else() {
    if !need::jail("a_program_is_told_the_verdict_and_nothing_else") {
        return;
    }
    let place = Place::new();
    let assets = assets(&place, ASK);
    let report = run(&place, &assets, &[]);
    let printed = printed(&place);
    let mut valid = 0;
    let told: Vec<_> =
        printed.lines().filter_map(|line| line.strip_prefix("told ")?.split_once(' ')).collect();
    assert_eq!(told.len(), 10, "{printed}");
    for (hex, text) in told {
        let file = place.path().join("outside.csv");
        std::fs::write(&file, bytes(hex)).unwrap();
        let verdict =
            Podium::new(&place).args(["validate", "-c", "toy", "--json"]).arg(&file).arg("--assets");
        let verdict = verdict.arg(&assets).output().json();
        assert_eq!(text, in_words(&verdict).replace('\n', "\\n"), "{verdict}");
        valid += u32::from(text.starts_with("Submission is valid"));
    }
    assert!((1..10).contains(&valid), "{printed}");
    assert!(
        printed.contains("\nlast 1 The file was not checked: at most 12 files are checked in a minute"),
        "{printed}"
    );

    let saw = &report["saw"];
    assert_eq!(
        (saw["verdicts_inside"].as_u64(), saw["scores"].as_bool()),
        (Some(12), Some(false)),
        "{report}"
    );
    assert!(saw["verdicts"].as_u64().is_some_and(|count| count >= 1), "{report}");
    let tried = &report["network_attempts"][0];
    assert!(tried["names"]["huggingface.co"].as_u64().is_some_and(|count| count >= 1), "{report}");
    assert_eq!(report["blocked"]["network"], tried["count"], "{report}");
    assert!(tried["execution"].as_str().unwrap().starts_with("node/"), "{report}");
}

#[test]
fn a_scaffold_can_switch_it_off() {
    if !need::jail("a_scaffold_can_switch_it_off") {
        return;
    }
    let place = Place::new();
    let look = "import os as _os\nprint('script', _os.path.lexists('/home/validate_submission.sh'))\n";
    let assets = assets(&place, look);
    let report = run(&place, &assets, &["--set", "benchmark.submission_check=false"]);
    assert!(printed(&place).contains("script False"), "{}", printed(&place));
    assert_eq!(report["saw"]["verdicts_inside"], 0);
    let shown = |options: &[&str]| {
        let dry = Podium::new(&place).args(["run", "-c", "toy", "-m", "playbook", "--dry-run"]).args(options);
        dry.arg("--assets").arg(&assets).output().expect(0).stdout
    };
    assert!(shown(&[]).contains("validate_submission.sh FILE"));
    assert!(!shown(&["--set", "benchmark.submission_check=false"]).contains("validate_submission.sh"));
}
