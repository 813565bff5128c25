//! Whatever is wrong, a user gets one clear sentence, the next step and the right exit code; nothing panics. The
//! tables are whole transcripts, kept beside this file. And the other side: `--json` is one document, `--help` has
//! an example.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::service::toy_script;
use crate::support::{Finished, Place, Podium, Run, place};

/// What a user sees, as text that does not depend on the machine.
struct Transcript<'a> {
    place: &'a Place,
    text: String,
}

impl<'a> Transcript<'a> {
    const fn new(place: &'a Place) -> Self {
        Self { place, text: String::new() }
    }

    /// Runs a command with the toy competition's assets and writes down what it said.
    fn case(&mut self, line: &str) {
        self.with(line, |podium| podium);
    }

    fn with(&mut self, line: &str, change: impl FnOnce(Podium) -> Podium) {
        let podium = Podium::new(self.place).env("PODIUM_ASSETS", place::toy_assets());
        let ended = change(podium.args(self.arguments(line))).output();
        self.record(line, &ended);
    }

    /// Words of a line; `[place]`, `[assets]` and `[python]` stand for paths.
    fn arguments(&self, line: &str) -> Vec<String> {
        line.split(' ')
            .map(|word| {
                word.replace("[place]", &self.place.path().display().to_string())
                    .replace("[python]", &place::python().display().to_string())
            })
            .collect()
    }

    fn record(&mut self, line: &str, ended: &Finished) {
        let said = ended
            .stderr
            .replace(&self.place.path().display().to_string(), "[place]")
            .replace(&place::toy_assets().display().to_string(), "[assets]")
            .replace(&place::python().display().to_string(), "[python]");
        // Which one that is depends on the machine.
        let found = |line: &str| match line.split_once("is not built; using ") {
            Some((note, _)) => format!("{note}is not built; using [python] without its packages"),
            None => line.to_owned(),
        };
        let said: Vec<String> =
            said.lines().filter(|line| !line.starts_with("note: from ")).map(found).collect();
        let errors = said.iter().filter(|line| line.starts_with("error: ")).count();
        let code = ended.code.unwrap_or_else(|| panic!("podium {line}: {ended:?}"));
        assert!(errors == 1 && matches!(code, 2 | 3), "podium {line}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "podium {line}: {ended:?}");
        assert_eq!(ended.stdout, "", "podium {line} prints data beside its error");
        writeln!(self.text, "$ podium {line}\n{}\n[exit {code}]\n", said.join("\n")).unwrap();
    }

    fn end(self, name: &str) {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, self.text) });
    }
}

const RUN: &str = "run -s aide -c toy -m playbook --python [python] --runs-dir [place]/runs";

#[test]
fn names_and_values_that_are_wrong() {
    let place = Place::new();
    let mut transcript = Transcript::new(&place);
    for line in [
        "run -s aide -c toi -m playbook",
        "run -s aidd -c toy -m playbook",
        "run -s aide -c toy",
        "run -s aide -c toy -m opnai/x",
        "run -s aide -c toy -m anthropocene/x",
        "run -s aide -c toy -m gpt",
        "run -s aide -c toy -m openai/gpt-4.1",
        "run -s aide -c toy -m playbook --environment nope",
        "competitions show toyy",
        "competitions list --split lowest",
        "scaffolds show adie",
        "environments build nope",
        "frobnicate",
    ] {
        transcript.case(line);
    }
    for options in [
        "--set policy.rule.debg.probability=1",
        "--set policy.rule.debug.probability=lots",
        "--set limits.steps=-1",
        "--set nonsense",
        "--role cook=playbook",
        "--time-limit soon",
        "--time-limit 0s",
        "--memory 8bananas",
        "--max-cost free",
        "--max-cost -1",
        "--steps many",
        "--steps -1",
        "--cpus 0",
        "--sandbox dokcer",
        "--require-sandbox strong",
    ] {
        transcript.case(&format!("{RUN} {options}"));
    }
    transcript.with(&format!("{RUN} --steps 1"), |podium| podium.env("PODIUM_STALL_TIMEOUT", "soon"));
    transcript.end("names_and_values");
    assert!(Run::all(&place.runs()).is_empty(), "nothing was begun");
}

#[test]
fn files_and_folders_that_are_wrong() {
    let place = Place::new();
    place.write("work/garbage.csv", [0x80, 0xFF, 0x00, 0x1B].repeat(500));
    place.write("full/something", "");
    let mut transcript = Transcript::new(&place);
    for line in [
        "scaffolds parse aide none.md",
        "scaffolds parse aide [place]/full",
        "sandbox exec --workspace none -- true",
        "sandbox exec --kind process --input garbage.csv -- true",
        "--assets [place]/full competitions list",
        "--data-dir garbage.csv validate -c toy garbage.csv",
        "resume [place]/none",
        "resume [place]/full",
        "show [place]/full",
        "replay [place]/full",
        "run -s aide -c toy -m playbook --python [python] --runs-dir garbage.csv",
        "run -s aide -c toy -m playbook --python [python] --into [place]/full",
        "run -s aide -c toy -m playbook --python [python] --into [place]/into --events [place]/none/events",
    ] {
        transcript.case(line);
    }
    for schema in ["none.json", "garbage.csv"] {
        transcript.with(&format!("model chat -m openai/x --schema {schema} hello"), |podium| {
            podium.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        });
    }
    transcript.with("model chat -m openai/x hello", |podium| podium.env("OPENAI_BASE_URL", "localhost:80"));
    transcript.with("model chat -m openai/x hello", |podium| podium.env("OPENAI_API_KEY", "sk-\nx"));
    transcript.end("files_and_folders");
}

#[test]
fn assets_that_are_wrong() {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let aide = read(root.join("scaffolds/aide.toml"));
    let toy = read(place::toy_assets().join("benchmark/offline/toy/competition.toml"));
    let mut transcript = Transcript::new(&place);
    for (number, (file, text)) in [
        ("scaffolds/aide.toml", aide.replace("steps = 20", "stepz = 20")),
        ("scaffolds/aide.toml", aide.replace("probability = 0.5", "probability = 1.5")),
        ("scaffolds/aide.toml", "id = ".to_owned()),
        ("prompts/aide/draft.md.tera", "{{ nothing_like_it }}".to_owned()),
        ("prompts/aide/draft.md.tera", "{{ broken".to_owned()),
        ("benchmark/offline/toy/competition.toml", toy.replace("name = \"Toy\"", "nome = \"Toy\"")),
        ("benchmark/offline/toy/competition.toml", toy.replace("\"accuracy\"", "\"acuracy\"")),
        ("benchmark/offline/toy/board.csv", "name,score\nx,high\n".to_owned()),
        ("benchmark/models.toml", "[models.\"openai/x\"]\nwindoww = 3\n".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        // An assets folder of its own for each: the toy competition and one wrong file over it.
        let folder = format!("assets{number}");
        for name in ["competition.toml", "board.csv", "description.md"] {
            let path = format!("benchmark/offline/toy/{name}");
            place.write(&format!("{folder}/{path}"), read(place::toy_assets().join(&path)));
        }
        place.write(&format!("{folder}/podium.toml"), "");
        place.write(&format!("{folder}/{file}"), text);
        transcript.with(&format!("run -s aide -c toy -m openai/x --assets [place]/{folder}"), |podium| {
            podium.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        });
    }
    transcript.end("assets");
}

/// A folder of links to the commands in `names`, to be a `PATH` without all others.
fn path_of(place: &Place, names: &[&str]) -> PathBuf {
    let folder = place.path().join(format!("bin-{}", names.join("-")));
    std::fs::create_dir(&folder).unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    for name in names {
        if let Some(found) =
            std::env::split_paths(&paths).map(|path| path.join(name)).find(|path| path.is_file())
        {
            std::os::unix::fs::symlink(found, folder.join(name)).unwrap();
        }
    }
    folder
}

#[test]
fn a_machine_that_lacks_something() {
    let place = Place::new();
    let (nothing, bubblewrap) = (path_of(&place, &[]), path_of(&place, &["bwrap"]));
    let mut transcript = Transcript::new(&place);
    transcript.with(RUN, |podium| podium.env("PATH", &nothing));
    transcript.with("sandbox exec -- true", |podium| podium.env("PATH", &nothing));
    let no_python = "run -s aide -c toy -m playbook --sandbox process --runs-dir [place]/runs";
    transcript.with(no_python, |podium| podium.env("PATH", &bubblewrap));
    transcript.with("sandbox exec --kind process -- true", |podium| podium.env("PATH", &bubblewrap));
    transcript.with("environments build", |podium| podium.env("PATH", &bubblewrap));
    transcript.case("run -s aide -c toy -m playbook --sandbox process --python [place]/none/python");
    transcript.case(&format!("{RUN} --sandbox process --require-sandbox full"));
    transcript.case("sandbox exec --kind process --require-sandbox namespaces -- true");
    transcript.end("machine");
    assert!(Run::all(&place.runs()).is_empty(), "nothing was begun");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn run_folders_that_are_damaged() {
    let place = Place::new();
    let run = Podium::toy_run(&place, 1, 1).args(["--sandbox", "process"]).output().expect(0);
    let whole = Run::only(&place.runs()).path;
    assert_eq!(run.json()["run"], whole.display().to_string());
    let mut transcript = Transcript::new(&place);
    for (name, file, bytes) in [
        ("cut", "config.json", &b"{\"format\": 1,"[..]),
        ("other", "config.json", b"{\"format\": 1}"),
        (
            "late",
            "config.json",
            &std::fs::read_to_string(whole.join("config.json"))
                .unwrap()
                .replacen("\"format\": 1", "\"format\": 99", 1)
                .into_bytes(),
        ),
        ("journal", "journal.db", &b"not a database ".repeat(200)),
        ("report", "run.json", b"{"),
    ] {
        let folder = place.path().join(name);
        copy(&whole, &folder);
        std::fs::write(folder.join(file), bytes).unwrap();
        transcript.case(&format!("show [place]/{name}"));
        if file != "run.json" {
            transcript.case(&format!("replay [place]/{name}"));
        }
    }
    // A resume says what it resumes on this machine first; only its last lines are compared.
    let lower = Podium::resume(&place, &whole).args(["--steps", "0"]).output().expect(2);
    assert!(
        lower.stderr.contains("error: a resume can only raise limits, and the step limit is already 1\n")
    );
    let resumed = Podium::resume(&place, &place.path().join("journal")).output().expect(3);
    let said: Vec<&str> = resumed.stderr.lines().rev().take(2).collect();
    assert!(said[1].starts_with("error: ") && said[0].contains("put a copy"), "{}", resumed.stderr);
    transcript.end("run_folders");
}

#[test]
fn json_is_one_document() {
    let place = Place::new();
    let ended = Podium::toy_run(&place, 1, 1).args(["--sandbox", "process"]).output().expect(0);
    let run = ended.json()["run"].as_str().unwrap().to_owned();
    let submission = place.write("work/submission.csv", "id,class\np120,red\n");
    let script = toy_script("playbook.toml");
    let (submission, script) = (submission.to_str().unwrap(), script.to_str().unwrap());
    let dry = ["run", "-s", "aide", "-c", "toy", "-m", "playbook", "--dry-run"];
    for (code, arguments) in [
        (0, &["competitions", "list"][..]),
        (0, &["competitions", "show", "toy"]),
        (0, &["competitions", "prepare", "toy"]),
        (0, &["scaffolds", "list"]),
        (0, &["scaffolds", "show", "aide"]),
        (0, &["scaffolds", "parse", "aide", script]),
        (1, &["grade", "-c", "toy", submission]),
        (1, &["validate", "-c", "toy", submission]),
        (0, &["show", &run]),
        (0, &["replay", &run]),
        (0, &["resume", &run]),
        (0, &dry),
    ] {
        let ended = Podium::new(&place)
            .env("PODIUM_ASSETS", place::toy_assets())
            .args(arguments)
            .arg("--json")
            .output();
        let document = ended.expect(code).json();
        assert!(document.is_object() || document.is_array(), "{arguments:?}: {document}");
    }
    let lists = ["competitions", "scaffolds"];
    for list in lists {
        let rows = Podium::new(&place).args([list, "list", "--json"]).output().expect(0).json();
        let named = |row: &serde_json::Value| row["id"].is_string() && row["name"].is_string();
        assert!(rows.as_array().unwrap().iter().all(named), "{rows}");
    }
}

/// All commands without subcommands, by their words.
fn commands(place: &Place, words: &[String], found: &mut Vec<Vec<String>>) {
    let help = Podium::new(place).args(words).arg("--help").output().expect(0).stdout;
    let Some(list) = help.split("\nCommands:\n").nth(1) else {
        found.push(words.to_vec());
        return;
    };
    for line in list.lines().take_while(|line| line.starts_with("  ")) {
        let name = line.trim_start().split(' ').next().unwrap();
        // A wrapped description is indented further.
        if name != "help" && !line.starts_with("   ") {
            commands(place, &[words, &[name.to_owned()]].concat(), found);
        }
    }
}

#[test]
fn each_command_has_an_example() {
    let place = Place::new();
    let mut found = Vec::new();
    commands(&place, &[], &mut found);
    assert!(found.len() >= 15, "{found:?}");
    for words in found.iter().chain([&Vec::new()]) {
        let help = Podium::new(&place).args(words).arg("--help").output().expect(0).stdout;
        let example = help.split_once("Example").map(|(_, text)| text).unwrap_or_default();
        assert!(example.contains(&format!("podium {}", words.join(" "))), "{words:?}:\n{help}");
    }
}
