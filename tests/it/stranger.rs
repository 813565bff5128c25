//! A bundle on a machine that has never seen the experiment: a container of nothing but libc, the program and what the
//! stranger has of the competition. No network, no home, no cache, no repository, and nothing can be written but `/tmp`.
//!
//! It needs a container engine and belongs to nextest's profile `docker`.

#[path = "../../src/sandbox/tests/docker/engine.rs"]
mod engine;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::bundle::{Files, unpacked};
use crate::support::place::toy_assets;
use crate::support::{Place, Podium, need};

const PROGRAM: &str = env!("CARGO_BIN_EXE_podium");

/// Another machine.
struct Machine {
    host: Option<String>,
    image: String,
}

impl Machine {
    /// With the libraries that the program is linked with, and nothing else; `None`: there is no engine, which is told.
    fn new(test: &str, place: &Place) -> Option<Self> {
        let host = match engine::address() {
            Ok(host) => host,
            Err(why) => {
                need::skip(test, &why);
                return None;
            }
        };
        if Command::new("docker").arg("--version").output().is_err() {
            need::skip(test, "the engine's command line, `docker`, is not installed");
            return None;
        }
        let image = format!("podium-test-stranger-{}", std::process::id());
        let machine = Self { host, image };
        let root = place.write("root.tar", root());
        let told =
            machine.docker().args(["import", "-"]).arg(&machine.image).stdin(open(&root)).output().unwrap();
        assert!(told.status.success(), "{told:?}");
        Some(machine)
    }

    fn docker(&self) -> Command {
        let mut command = Command::new("docker");
        if let Some(host) = &self.host {
            command.args(["--host", host]);
        }
        command.stdin(Stdio::null());
        command
    }

    /// `podium experiment verify` there: its exit code and what it says.
    fn verify(&self, bundle: &Path, knows: bool) -> (Option<i32>, Value, String) {
        let mut command = self.docker();
        command.args([
            "run",
            "--rm",
            "--network",
            "none",
            "--read-only",
            "--tmpfs",
            "/tmp",
            "--env",
            "HOME=/nowhere",
            "--env",
            "PODIUM_DATA_DIR=/tmp/data",
        ]);
        command.arg("--volume").arg(format!("{PROGRAM}:/podium:ro"));
        command.arg("--volume").arg(format!("{}:/ab.tar.gz:ro", bundle.display()));
        if knows {
            command.arg("--volume").arg(format!("{}:/competitions:ro", toy_assets().display()));
        }
        command.args([&self.image, "/podium", "experiment", "verify", "/ab.tar.gz", "--json"]);
        if knows {
            command.args(["--assets", "/competitions"]);
        }
        let told = command.output().unwrap();
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        (told.status.code(), serde_json::from_slice(&told.stdout).unwrap_or_default(), said)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.docker().args(["image", "rm", "--force", &self.image]).output();
    }
}

fn open(path: &Path) -> std::fs::File {
    std::fs::File::open(path).unwrap()
}

/// A root folder of the libraries that the program names, where it looks for them.
fn root() -> Vec<u8> {
    let told = Command::new("ldd").arg(PROGRAM).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let paths = told.split_whitespace().filter(|word| word.starts_with('/'));
    let paths: Vec<PathBuf> = paths.map(PathBuf::from).collect();
    assert!(paths.len() > 1, "{told}");
    let mut archive = tar::Builder::new(Vec::new());
    for path in paths {
        let mut file = open(&path);
        archive.append_file(path.strip_prefix("/").unwrap(), &mut file).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A short experiment, packed.
fn bundle(place: &Place) -> PathBuf {
    let made = |words: &[&str]| Podium::new(place).args(words).arg("--runs-dir").arg(place.runs());
    let plan = ["--name", "ab", "--scaffolds", "aide,dummy", "--competitions", "toy", "--model", "playbook"];
    let run = made(&["experiment", "run"])
        .toy()
        .args(plan)
        .args(["--steps", "1", "--memory", "512MiB", "--cpus", "1"]);
    run.output().expect(0);
    let bundle = place.work().join("ab.tar.gz");
    let packed =
        made(&["experiment", "bundle", "ab"]).arg("--assets").arg(toy_assets()).arg("--into").arg(&bundle);
    packed.output().expect(0);
    bundle
}

#[test]
fn a_bundle_is_verified_on_a_clean_machine_and_a_changed_byte_is_found() {
    let test = "a_bundle_is_verified_on_a_clean_machine_and_a_changed_byte_is_found";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let Some(machine) = Machine::new(test, &place) else { return };
    let packed = bundle(&place);
    let (code, found, said) = machine.verify(&packed, true);
    assert_eq!((code, &found["problems"], &found["not_graded"]), (Some(0), &json!([]), &json!({})), "{said}");
    assert_eq!((&found["runs"], found["graded"].as_u64().unwrap_or(0) >= 2), (&json!(2), true), "{found}");
    // Whoever has no answers verifies the rest, and is told of what is open.
    let (code, found, said) = machine.verify(&packed, false);
    assert_eq!((code, &found["problems"]), (Some(3), &json!([])), "{said}");
    assert_eq!(found["not_graded"].as_object().map(serde_json::Map::len), Some(2), "{found}");
    let original = unpacked(&std::fs::read(&packed).unwrap());
    for file in ["/submission.csv", "report.json", "/provenance.json"] {
        let (name, changed) = with_a_changed_byte(&original, file);
        let (code, found, said) = machine.verify(&place.write("work/changed.tar.gz", changed), true);
        assert_eq!(code, Some(1), "{name}: {said}");
        let names: Vec<&Value> =
            found["problems"].as_array().unwrap().iter().map(|problem| &problem["file"]).collect();
        assert!(names.contains(&&json!(name)), "{name}: {found}");
    }
}

/// One digit of a file is another.
fn with_a_changed_byte(original: &Files, end: &str) -> (String, Vec<u8>) {
    let mut files = original.clone();
    let name = files.change(end, |bytes| {
        let digit = bytes.iter().rposition(u8::is_ascii_digit).unwrap();
        bytes[digit] ^= 1;
    });
    (name, files.packed())
}
