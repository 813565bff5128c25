//! The user's own models and providers: a file over the shipped one, found where it belongs, told when it is used,
//! and stored with a run. A file that is wrong is one sentence with file, line and the name that was meant.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::service::Service;
use crate::support::{Place, Podium, Run, need};

const KEY: &str = "mylab-SECRETSECRET-0001";

/// A provider `mylab` at the service, and a model of it.
fn own(service: &Service) -> String {
    format!(
        "[providers.mylab]\nprotocol = \"openai\"\nbase_url = \"{}\"\nkey_variable = \"LAB_KEY\"\nkey_required = true\n\n\
         [models.\"mylab/qwen\"]\ncontext_window = 32_000\noutput_limit = 2_000\nmax_output_tokens = 1_000\n\
         prices = {{ input = 1.0, output = 2.0 }}\nprices_as_of = \"2026-11\"\nseed = false\n",
        service.url()
    )
}

#[test]
fn a_provider_of_ones_own_is_called_with_its_own_key() {
    let service = Service::start(&json!({"content": "Hi."}));
    let place = Place::new();
    let usual = place.write("home/.config/podium/models.toml", own(&service));
    place.write("work/.env", format!("LAB_KEY='{KEY}' # the lab's\n"));
    let chat = ["model", "chat", "-m", "mylab/qwen", "--json", "hello"];
    let said = Podium::new(&place).args(chat).output().expect(0);
    let told = format!("note: models and providers of {} over the built-in", usual.display());
    assert!(said.stderr.contains(&told), "{}", said.stderr);
    assert_eq!(said.json()["cost_usd"], json!(3e-6), "1 + 1 tokens at 1 and 2 dollars a million");
    let request = service.requests().remove(0);
    assert_eq!(request.0["headers"]["authorization"], format!("Bearer {KEY}"));
    assert_eq!((request.output_limit(), request.body().get("seed")), (Some(1_000), None));
    assert_eq!(request.body()["model"], "qwen");

    // A file that is named goes before the usual one, which is not read then.
    let named =
        place.write("work/mine.toml", own(&service).replace("1_000", "77").replace("LAB_KEY", "OTHER_KEY"));
    let podium = Podium::new(&place).args(chat).env("OTHER_KEY", KEY).env("PODIUM_MODELS", &named);
    podium.output().expect(0);
    assert_eq!(service.requests().remove(1).output_limit(), Some(77));
    let missing = Podium::new(&place).args(chat).args(["--models", "none.toml"]).output().expect(2);
    assert!(
        missing.stderr.contains("could not read the file of models") && missing.stderr.contains("none.toml")
    );

    // An experiment keeps its name for the runs that have not begun, wherever they are run.
    let run = Podium::new(&place).args(["experiment", "run", "--name", "ab", "--scaffolds", "aide"]).toy();
    let run = run.args(["--competitions", "toy", "--model", "mylab/qwen", "--steps", "1", "--only-plan"]);
    let run = run.env("OTHER_KEY", KEY).arg("--models").arg(&named).arg("--runs-dir").arg(place.runs());
    run.output().expect(0);
    let plan = Podium::new(&place).args(["experiment", "plan", "ab", "--runs-dir"]).arg(place.runs());
    let plan = plan.output().expect(0).stdout;
    assert!(plan.contains(&format!(" --models {}", named.display())), "{plan}");
}

#[test]
fn a_run_keeps_the_models_it_began_with() {
    if !need::jail("a_run_keeps_the_models_it_began_with") {
        return;
    }
    let service = Service::toy(["ok", "ok", "unauthorised"]);
    let place = Place::new();
    let file = place.write("work/mine.toml", own(&service));
    let run = service.toy_run(&place, "mylab/qwen").args(["--steps", "2", "--json", "--max-cost", "1"]);
    let ended = run.env("LAB_KEY", KEY).arg("--models").arg(&file).output().expect(5);
    assert_eq!(ended.json()["stopped_by"], "model_service");

    // The file is gone, and another one lies where it would be looked for.
    std::fs::remove_file(&file).unwrap();
    place.write("home/.config/podium/models.toml", "[providers.mylab]\nprotocol = \"nonsense\"\n");
    let run = Run::only(&place.runs());
    let resumed = Podium::resume(&place, &run.path).env("LAB_KEY", KEY).output().expect(0).json();
    assert_eq!((&resumed["outcome"], &resumed["stopped_by"]), (&"graded".into(), &"steps".into()));
    assert!(resumed["usage"]["cost_usd"].as_f64().unwrap() > 0.0);
    let config = std::fs::read_to_string(run.path.join("config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["own_models"], json!({"file": file.display().to_string(), "text": own(&service)}));

    // Asked for, a model tells the page of the run in its words; nothing of that enters the run.
    std::fs::remove_file(place.home().join(".config/podium/models.toml")).unwrap();
    let entries = run.rows().len();
    let told =
        service.podium(&place).arg("show").arg(&run.path).args(["--summary", "--model", "openai/local"]);
    let told = told.output().expect(0);
    assert!(told.stdout.contains("I try ") && told.stderr.contains("cost unknown"), "{told:?}");
    let asked = service.requests().pop().unwrap();
    let said = |place: usize| asked.body()["messages"][place]["content"].as_str().unwrap().to_owned();
    assert!(said(0).starts_with("You are shown one page") && said(1).contains("## What was tried"));
    assert_eq!(run.rows().len(), entries);
}

#[test]
fn a_wrong_file_is_one_sentence_and_no_key_is_repeated() {
    let place = Place::new();
    let mut told = String::new();
    for text in [
        "[providers.mylab\n",
        "[providers.mylab]\nprotocol = \"opnai\"\n",
        "[providers.mylab]\nprotocol = \"openai\"\nbase_ulr = \"http://x\"\n",
        "# mine\n[providers.mylab]\nprotocol = \"openai\"\napi_key = \"sk-SECRETSECRET\"\n",
        "[providers.mylab]\nprotocol = \"openai\"\nkey_variable = \"sk-SECRETSECRET\"\n",
        "[providers.mylab]\nprotocol = \"openai\"\nbase_url = \"https://me:SECRETSECRET@lab.example/v1\"\n",
        "[models.\"mylb/qwen\"]\ncontext_window = 1\n[providers.mylab]\nprotocol = \"openai\"\n",
        "[models.\"openai/x\"]\nprices = { input = -1.0, output = 2.0 }\n",
        "[models.\"openai/x\"]\nkey = \"sk-SECRETSECRET\"\n",
        "[models.qwen]\n",
    ] {
        place.write("work/mine.toml", text);
        let list = Podium::new(&place).args(["model", "list", "--models", "mine.toml"]).output().expect(2);
        assert!(!list.stderr.contains("SECRETSECRET"), "{}", list.stderr);
        assert_eq!(list.stdout, "");
        let said = list.stderr.replace(&place.path().display().to_string(), "[place]");
        let said: Vec<&str> = said.lines().filter(|line| !line.starts_with("note: ")).collect();
        writeln!(told, "{text}\n{}\n", said.join("\n")).unwrap();
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!("wrong_files", told) });
}

#[test]
fn a_list_says_what_is_known_and_what_can_be_called() {
    let place = Place::new();
    place.write(
        "work/mine.toml",
        "[providers.mylab]\nprotocol = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_required = true\n\n\
         [providers.far]\nprotocol = \"openai\"\n\n\
         [models.\"mylab/qwen\"]\ncontext_window = 32_000\nprices = { input = 1.0, output = 2.5 }\nseed = false\n\n\
         [models.\"mylab/free\"]\n[models.\"far/x\"]\nknowledge_cutoff = \"2026-01\"\n",
    );
    let list = |provider: &str| {
        let list =
            Podium::new(&place).args(["model", "list", "--models", "mine.toml", "--provider", provider]);
        list.env("MYLAB_API_KEY", KEY)
    };
    let shown = [list("mylab"), list("far"), list("playbook")].map(|list| list.output().expect(0).stdout);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!("list", shown.join("\n")) });
    let document = list("mylab").arg("--json").output().expect(0).json();
    insta::with_settings!({omit_expression => true}, { insta::assert_json_snapshot!("list_json", document) });
    let all = Podium::new(&place).args(["model", "list", "--json"]).output().expect(0).json();
    let all = all.as_array().unwrap();
    let openai = all.iter().find(|row| row["model"] == "openai/gpt-4.1").unwrap();
    assert_eq!((&openai["callable"], &openai["problem"]), (&false.into(), &"no key for `openai`".into()));
    assert!(all.iter().all(|row| row["usd_per_million_tokens"] != json!(0)));
    let unknown = Podium::new(&place).args(["model", "list", "--provider", "opnai"]).output().expect(2);
    assert!(unknown.stderr.contains("hint: did you mean `openai`?"), "{}", unknown.stderr);
}

#[test]
fn a_doctor_knows_every_provider_and_calls_none() {
    let service = Service::start(&json!({"content": "Hi."}));
    let place = Place::new();
    place.write("home/.config/podium/models.toml", own(&service));
    let doctor = || Podium::new(&place).args(["doctor", "--json"]);
    let finding = |said: Value, what: &str| {
        let all = said.as_array().unwrap();
        all.iter()
            .find(|finding| finding["what"] == what)
            .unwrap_or_else(|| panic!("{what}: {all:?}"))
            .clone()
    };
    let at = format!("at {}", service.url());
    let without = finding(doctor().output().json(), "provider mylab");
    assert_eq!(
        without,
        json!({
            "what": "provider mylab",
            "state": "optional",
            "detail": format!("LAB_KEY is not set; {at}"),
            "mend": "set LAB_KEY in the environment or in .env to use it; --model playbook needs none",
        })
    );
    let said = doctor().env("LAB_KEY", KEY).output();
    assert!(!said.stdout.contains(KEY) && !said.stderr.contains(KEY));
    let with = finding(said.json(), "provider mylab");
    let expected = json!({"what": "provider mylab", "state": "works", "detail": format!("LAB_KEY is set; {at}"), "mend": null});
    assert_eq!(with, expected);
    finding(doctor().output().json(), "provider openai");
    assert_eq!(service.requests(), []);
}
