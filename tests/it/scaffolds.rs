//! `podium scaffolds new` and `check`: a copy of every shipped scaffold is good as it is, nothing is ever overwritten, and
//! a wrong one is told all its faults at once.

use std::path::Path;

use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, need, place};

fn podium(place: &Place) -> Podium {
    Podium::new(place).arg("scaffolds")
}

fn shipped() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scaffolds");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_copy_of_each_is_good_and_stands_on_its_own() {
    let place = Place::new();
    in_parallel(&shipped(), |from: &String| {
        podium(&place).args(["new", &format!("my-{from}"), "--from", from]).output().expect(0);
    });
    let listed = podium(&place).args(["list", "--json"]).output().expect(0).json();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    for from in shipped() {
        assert!(ids.contains(&format!("my-{from}").as_str()), "{from}: {ids:?}");
        // Of the templates that are not common to all, only its own are named.
        let text = std::fs::read_to_string(place.work().join(format!("scaffolds/my-{from}.toml"))).unwrap();
        for (number, name) in text.split('"').filter(|word| word.ends_with(".md.tera")).enumerate() {
            let own = name.starts_with("common/") || name.starts_with(&format!("my-{from}/"));
            assert!(own, "{from}, template {number}: {name}");
        }
    }

    // A strategy in Python; a second one leaves the client as its author has changed it.
    podium(&place).args(["new", "one", "--from", "external"]).output().expect(0);
    place.write("work/scaffolds/podium_client.py", "# mine");
    podium(&place).args(["new", "two", "--from", "external"]).output().expect(0);
    podium(&place).args(["check", "two", "--no-run"]).output().expect(0);
    let client = std::fs::read_to_string(place.work().join("scaffolds/podium_client.py")).unwrap();
    assert_eq!(client, "# mine");
    for file in ["scaffolds/one.py", "scaffolds/two.py", "agents/my-command/agent.py"] {
        assert!(place.work().join(file).is_file(), "{file}");
    }

    let taken = [
        (vec!["new", "my-aide"], "there is a scaffold `my-aide` already"),
        (vec!["new", "aide"], "there is a scaffold `aide` already"),
        (vec!["new", "../x"], "`../x` is no name for a scaffold"),
        (vec!["new", "x", "--from", "aid"], "nearest: aide"),
    ];
    for (arguments, words) in taken {
        let told = podium(&place).args(&arguments).output().expect(2);
        assert!(told.stderr.contains(words), "{arguments:?}: {}", told.stderr);
    }
    place.write("work/prompts/in-the-way/mine.txt", "mine");
    let told = podium(&place).args(["new", "in-the-way"]).output().expect(2);
    assert!(told.stderr.contains("in-the-way is there already"), "{}", told.stderr);
    assert!(!place.work().join("scaffolds/in-the-way.toml").exists());
}

#[test]
fn a_check_tells_all_faults_and_tries_what_has_none() {
    let place = Place::new();
    podium(&place).args(["new", "mine", "--from", "aide"]).output().expect(0);
    let file = place.work().join("scaffolds/mine.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    let wrong = good
        .replace(
            "tries = 3\ndata_preview = true\npackages = true",
            "tirs = 3\ndata_preview = true\npackages = true",
        )
        .replace("workers = 1", "wrokers = 1\nfancy = 2")
        .replace("execution_timeout = \"1h\"", "execution_timeout = \"30h\"")
        .replace("operator = \"improve\"", "operator = \"imporve\"");
    let wrong = format!("{wrong}\n[models.spare]\ntemperature = 1.0\n");
    let template = place.work().join("prompts/mine/draft.md.tera");
    let draft = std::fs::read_to_string(&template).unwrap();
    std::fs::write(&template, format!("{draft}\n{{{{ metrc }}}}\n{{{{ preveiw }}}}\n")).unwrap();
    let improve = place.work().join("prompts/mine/improve.md.tera");
    let text = std::fs::read_to_string(&improve).unwrap();
    std::fs::write(&improve, text.replace("{{ parent.code", "{{ parent.cod")).unwrap();
    std::fs::write(&file, &wrong).unwrap();
    let line = |of: &str, word: &str| of.lines().position(|line| line.contains(word)).unwrap() + 1;
    let lines = draft.lines().count();
    let told = podium(&place).args(["check", "mine", "--no-run"]).output().expect(2);
    for words in [
        format!("line {}: unknown key or word `tirs`; nearest: `tries`", line(&wrong, "tirs")),
        format!("line {}: unknown key or word `wrokers`; nearest: `workers`", line(&wrong, "wrokers")),
        format!("line {}: unknown key or word `fancy`", line(&wrong, "fancy")),
        "limits.execution_timeout: is longer than limits.time_limit".to_owned(),
        "models.spare: is a role that nothing asks".to_owned(),
        "policy.rule.improve.operator: there is no operator `imporve`; nearest: `improve`".to_owned(),
        format!("prompt `mine/draft.md.tera`: line {}: nothing sets the variable `metrc`", lines + 2),
        format!("prompt `mine/draft.md.tera`: line {}: nothing sets the variable `preveiw`", lines + 3),
        format!("prompt `mine/improve.md.tera`: line {}: ", line(&text, "parent.code")),
        "mine: 9 faults".to_owned(),
    ] {
        assert!(told.stdout.contains(&words), "no `{words}` in:\n{}", told.stdout);
    }
    let json = podium(&place).args(["check", "--json", "scaffolds/mine.toml"]).output().expect(2).json();
    assert_eq!((json["faults"].as_array().unwrap().len(), json["dry_run"].is_null()), (9, true), "{json}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), wrong, "a check changes nothing");

    std::fs::write(&file, good).unwrap();
    std::fs::write(&template, draft).unwrap();
    std::fs::write(&improve, text).unwrap();
    let models =
        ["-m", "openia/gpt-4.1-mini", "--role", "feedback=openai/gpt-4.1-mni", "--role", "judge=playbook"];
    let told = podium(&place).args(["check", "mine", "--no-run"]).args(models).output().expect(2).stdout;
    for words in
        ["there is no provider `openia`; nearest: `openai`", "nearest: `openai/gpt-4.1-mini`", "no such role"]
    {
        assert!(told.contains(words), "no `{words}` in:\n{told}");
    }
    if !need::jail("a_check_tells_all_faults_and_tries_what_has_none") {
        return;
    }
    std::os::unix::fs::symlink(place::toy_assets().join("benchmark"), place.work().join("benchmark"))
        .unwrap();
    // An agent that lies beside the scaffolds of its folder can be shown to the sandbox.
    podium(&place).args(["new", "agent", "--from", "command"]).output().expect(0);
    let check = |arguments: &[&str]| {
        let told = podium(&place).arg("check").args(arguments).args(["-c", "toy", "--json", "--cpus", "1"]);
        told.args(["--memory", "512MiB", "--python"]).arg(place::python()).output().expect(0).json()
    };
    let agent = check(&["agent", "--mount", "agent=agents/agent"]);
    assert_eq!(agent["dry_run"]["stopped_by"], "finished", "{agent}");
    // One that asks for a model that there is not: told with its end, and the names that there are.
    let program = place.work().join("agents/agent/agent.py");
    let good = std::fs::read_to_string(&program).unwrap();
    let asks = "import json, os, urllib.request\n\
                body = json.dumps({'model': 'gpt-4o', 'messages': [{'role': 'user', 'content': 'x'}]}).encode()\n\
                url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'\n\
                urllib.request.urlopen(urllib.request.Request(url, body))\n";
    let told = |text: &str, options: &[&str]| {
        std::fs::write(&program, text).unwrap();
        let check = podium(&place).args(["check", "agent", "-c", "toy", "--cpus", "1", "--memory", "512MiB"]);
        let check =
            check.args(["--mount", "agent=agents/agent"]).args(options).arg("--python").arg(place::python());
        check.output().expect(2).stdout
    };
    let refused = told(asks, &[]);
    for words in [
        "no model answered in all of its steps: the agent ended: exit code 1; 1 request refused: there is no model `gpt-4o` \
         here; names are code",
        "; see agent.aliases; it said last: urllib.error.HTTPError",
    ] {
        assert!(refused.contains(words), "no `{words}` in:\n{refused}");
    }
    let slip = told(&format!("{good}\ndef slip(:\n"), &["--no-run"]);
    assert!(slip.contains("/mounts/agent/agent.py, line ") && slip.contains("invalid syntax"), "{slip}");
    std::fs::write(&program, good).unwrap();
    let tried = check(&["mine"]);
    assert_eq!(
        (&tried["faults"], &tried["dry_run"]["stopped_by"]),
        (&serde_json::json!([]), &"steps".into()),
        "{tried}"
    );
    assert!(!place.work().join("runs").exists(), "a dry run leaves nothing");
}
