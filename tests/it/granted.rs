//! What code is granted of the machine: cut to what there is, leased to one run at a time, refused where it is weaker
//! than required, read back, and named when a limit fires. Seen from outside.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, Podium, Run, need, place, wait};

fn exec(place: &Place, options: &[&str]) -> Podium {
    Podium::new(place).args(["sandbox", "exec", "--python"]).arg(place::python()).args(options)
}

fn dry_run(place: &Place, options: &[&str]) -> Podium {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    podium.args(["run", "-c", "toy", "-m", "playbook", "--dry-run"]).args(options)
}

/// A tree that stands for a machine with one GPU, or with none.
fn gpu_root(place: &Place, there: bool) -> PathBuf {
    let root = place.path().join(if there { "one-gpu" } else { "no-gpu" });
    std::fs::create_dir_all(root.join("dev")).unwrap();
    if there {
        let told = root.join("proc/driver/nvidia/gpus/0000:41:00.0");
        std::fs::create_dir_all(&told).unwrap();
        let text = "Model: \t NVIDIA A10\nGPU UUID: \t GPU-7\nDevice Minor: \t 0\n";
        std::fs::write(told.join("information"), text).unwrap();
        for node in ["nvidia0", "nvidiactl", "nvidia-uvm"] {
            std::fs::write(root.join("dev").join(node), "").unwrap();
        }
    }
    root
}

#[test]
fn a_machine_by_name_is_cut_to_what_there_is() {
    let place = Place::new();
    let bare = |podium: Podium| podium.env("PODIUM_GPU_ROOT", gpu_root(&place, false));
    let preset = ["--json", "--machine", "mle-bench-paper"];
    let document = bare(dry_run(&place, &preset)).output().expect(0).json();
    let sandbox = &document["config"]["sandbox"];
    assert_eq!(document["config"]["limits"]["run_ms"], 86_400_000);
    assert_eq!(
        (&sandbox["machine"], &sandbox["allowances"]["disk_bytes"]),
        (&json!("mle-bench-paper"), &json!(4095_u64 << 30))
    );
    let cut = sandbox["cut"].to_string();
    assert!(cut.contains("GPUs: `mle-bench-paper` asks for 1, this machine has none"), "{cut}");
    let cpus = sandbox["cpus"].as_u64().unwrap();
    assert_eq!(cut.contains("processors"), cpus < 36, "{cut}");
    assert!(cpus <= 36 && sandbox["memory_bytes"].as_u64().unwrap() <= 440 << 30);
    // The command line wins.
    let own = [&preset[..], &["--cpus", "1", "--time-limit", "1h", "--disk", "2GiB"]].concat();
    let document = bare(dry_run(&place, &own)).output().expect(0).json();
    let config = &document["config"];
    assert_eq!((&config["sandbox"]["cpus"], &config["limits"]["run_ms"]), (&json!(1), &json!(3_600_000)));
    assert_eq!(config["sandbox"]["allowances"]["disk_bytes"], 2_u64 << 30);
    let with = dry_run(&place, &preset).env("PODIUM_GPU_ROOT", gpu_root(&place, true));
    let document = with.output().expect(0).json();
    assert_eq!(document["config"]["sandbox"]["gpus"], 1);
    assert_eq!(document["config"]["task"]["grants"]["gpus"], json!(["NVIDIA A10"]));
    // What is cut is no part of what the run is.
    let identity = |podium: Podium| podium.output().expect(0).json()["identity"].clone();
    assert_eq!(identity(bare(dry_run(&place, &own))), identity(bare(dry_run(&place, &own))));
    let unknown = dry_run(&place, &["--machine", "mle-bench-papr"]).output().expect(2);
    assert!(unknown.stderr.contains("nearest: mle-bench-paper"), "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("hint: machines are the files of benchmark/machines"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_gpu_is_given_to_one_at_a_time() {
    if !need::jail("a_gpu_is_given_to_one_at_a_time") {
        return;
    }
    let place = Place::new();
    let root = gpu_root(&place, true);
    let space = place.path().join("space");
    std::fs::create_dir(&space).unwrap();
    let gpu = |options: &[&str], command: &[&str]| {
        exec(&place, options).env("PODIUM_GPU_ROOT", &root).arg("--").args(command)
    };
    let document = gpu(&["--gpus", "1", "--json"], &["ls", "/dev"]).output().expect(0).json();
    assert_eq!(document["granted"]["gpus"], json!(["NVIDIA A10"]));
    assert!(document["text"].as_str().unwrap().contains("nvidia0\n"));
    let none = gpu(&["--json"], &["ls", "/dev"]).output().expect(0).json();
    assert_eq!(none["granted"]["gpus"], json!([]));
    assert!(!none["text"].as_str().unwrap().contains("nvidia"));

    let options = ["--gpus", "1", "--workspace", space.to_str().unwrap()];
    let first = gpu(&options, &["sh", "-c", "echo > ready; while ! test -e go; do sleep 0.05; done"]).start();
    wait::until("the first has begun", || space.join("ready").exists().then_some(()));
    let refused = gpu(&["--gpus", "1"], &["true"]).output().expect(3);
    assert!(refused.stderr.contains("GPU 0 is held by process "), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: wait until the other run has ended"), "{}", refused.stderr);
    std::fs::write(space.join("go"), "").unwrap();
    first.wait().expect(0);
    gpu(&["--gpus", "1"], &["true"]).output().expect(0);

    let many = gpu(&["--gpus", "2"], &["true"]).output().expect(3);
    assert!(many.stderr.contains("2 GPUs were asked for, and this machine has 1"), "{}", many.stderr);
    let bare = exec(&place, &["--gpus", "1"]).env("PODIUM_GPU_ROOT", gpu_root(&place, false));
    let refused = bare.args(["--", "true"]).output().expect(3);
    assert!(
        refused.stderr.contains("1 GPUs were asked for, and this machine has none"),
        "{}",
        refused.stderr
    );
}

#[test]
fn harnesses_side_by_side_have_processors_of_their_own() {
    if !need::jail("harnesses_side_by_side_have_processors_of_their_own") {
        return;
    }
    let place = Place::new();
    let all = podium_sandbox_cpus();
    let script = "import os, time\nprint(sorted(os.sched_getaffinity(0)), flush=True)\nopen('ready', 'w')\n\
                  while not os.path.exists('go'): time.sleep(0.05)";
    let spaces: Vec<PathBuf> = (0..3).map(|number| place.path().join(format!("space-{number}"))).collect();
    let mut running = Vec::new();
    for space in &spaces {
        std::fs::create_dir(space).unwrap();
        let options = ["--cpus", "1", "--workspace", space.to_str().unwrap()];
        running.push(exec(&place, &options).args(["--", "python", "-c", script]).start());
        wait::until("it has begun", || space.join("ready").exists().then_some(()));
    }
    for space in &spaces {
        std::fs::write(space.join("go"), "").unwrap();
    }
    let ended: Vec<_> = running.into_iter().map(|running| running.wait().expect(0)).collect();
    let mut own: Vec<&str> = ended.iter().take(all.min(3)).map(|ended| ended.stdout.as_str()).collect();
    own.sort_unstable();
    own.dedup();
    assert_eq!(own.len(), all.min(3), "{ended:?}");
    // Where there are too few, it is said.
    let shared = ended.iter().filter(|ended| ended.stderr.contains("in use by other runs as well")).count();
    assert_eq!(shared, 3_usize.saturating_sub(all), "{ended:?}");
}

/// Processors of this process.
fn podium_sandbox_cpus() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

#[test]
fn folders_by_name_are_given() {
    if !need::jail("folders_by_name_are_given") {
        return;
    }
    let place = Place::new();
    let weights = place.write("models/weights", "w");
    let mount = format!("hf={}", weights.parent().unwrap().display());
    let command = ["--", "sh", "-c", "cat $HF_HOME/weights; touch /mounts/hf/new || echo read-only"];
    let document = exec(&place, &["--json", "--mount", &mount]).args(command).output().expect(0).json();
    assert!(document["text"].as_str().unwrap().starts_with('w'), "{document}");
    assert!(document["text"].as_str().unwrap().ends_with("read-only\n"), "{document}");
    assert_eq!(document["granted"]["mounts"], json!({"hf": "/mounts/hf"}));
    for wrong in ["hf", "../x=/tmp", "x=/no/such/folder"] {
        let refused = exec(&place, &["--mount", wrong]).args(["--", "true"]).output().expect(2);
        assert!(refused.stderr.contains("error: "), "{}", refused.stderr);
    }
}

#[test]
fn a_weaker_host_is_refused_by_name() {
    if !need::jail("a_weaker_host_is_refused_by_name") {
        return;
    }
    let place = Place::new();
    let weak =
        exec(&place, &["--without-cgroups", "--require-sandbox", "full", "--", "true"]).output().expect(3);
    assert!(
        weak.stderr.starts_with(
            "error: the sandbox in force is `namespaces`, but `full` is required: control groups are switched off"
        ),
        "{}",
        weak.stderr
    );
    assert!(
        weak.stderr.contains("hint: memory and process limits need a writable cgroup"),
        "{}",
        weak.stderr
    );
    exec(&place, &["--without-cgroups", "--require-sandbox", "namespaces", "--", "true"]).output().expect(0);

    // A host without user namespaces, as bubblewrap tells it.
    let fake = place.path().join("bin");
    std::fs::create_dir(&fake).unwrap();
    let say = "#!/bin/sh\ntest \"$1\" = --version && echo bubblewrap 0.9.0 && exit\n\
               echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
    let program = place.write("bin/bwrap", say);
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", fake.display(), std::env::var("PATH").unwrap());
    for podium in [exec(&place, &["--", "true"]), Podium::toy_run(&place, 1, 1)] {
        let refused = podium.env("PATH", &path).output().expect(3);
        assert!(
            refused
                .stderr
                .contains("error: this machine does not allow user namespaces: bwrap: setting up uid map"),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("hint: on Ubuntu 23.10 and later give bwrap"), "{}", refused.stderr);
    }
    assert!(Run::all(&place.runs()).is_empty(), "nothing was begun");
}

#[test]
fn each_limit_names_itself_and_its_value() {
    if !need::jail("each_limit_names_itself_and_its_value") {
        return;
    }
    let place = Place::new();
    let table: [(&[&str], &str, Value); 8] = [
        (
            &["--timeout", "1s"],
            "import time; time.sleep(300)",
            json!({"kind": "wall_clock", "limit_ms": 1000}),
        ),
        (&["--cpu-time", "1s"], "while True: pass", json!({"kind": "cpu_time", "limit_ms": 1000})),
        (
            &["--memory", "150MiB"],
            "held = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))",
            json!({"kind": "memory", "limit_bytes": 150 << 20}),
        ),
        (
            &["--processes", "30"],
            "import os, time\nfor _ in range(60):\n    if os.fork() == 0: time.sleep(300)",
            json!({"kind": "processes", "limit": 30}),
        ),
        (
            &["--open-files", "40"],
            "held = [open('/dev/null') for _ in range(100)]",
            json!({"kind": "open_files", "limit": 40}),
        ),
        (
            &["--file-size", "1MiB"],
            "with open('big', 'wb') as f:\n    while True: f.write(b'x' * 65536)",
            json!({"kind": "file_size", "limit_bytes": 1 << 20}),
        ),
        (
            &["--files", "200"],
            "import time\nfor n in range(5000): open(f'working/{n}', 'w')\ntime.sleep(300)",
            json!({"kind": "files", "limit": 200}),
        ),
        (
            &["--disk", "20MiB"],
            "import time\nfor n in range(40): open(f'working/{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(300)",
            json!({"kind": "disk", "limit_bytes": 20 << 20}),
        ),
    ];
    for (options, code, limit) in table {
        let script = place.write("script.py", code);
        let document =
            exec(&place, options).arg("--json").arg("--script").arg(&script).output().expect(0).json();
        let is_full = document["sandbox"]["strength"] == "full";
        if !is_full && ["processes", "memory", "cpu_time"].contains(&limit["kind"].as_str().unwrap()) {
            need::skip(
                "each_limit_names_itself_and_its_value",
                "no control groups: one limit is held in another way",
            );
            continue;
        }
        assert_eq!(document["limit"], limit, "{options:?}: {document}");
    }
    let print =
        ["--output", "1KiB", "--json", "--", "sh", "-c", "echo begin; head -c 1M /dev/zero; echo end"];
    let document = exec(&place, &print).output().expect(0).json();
    let output = &document["output"];
    assert_eq!(output["dropped_bytes"], (1 << 20) + 10 - 1024);
    assert!(
        output["head"].as_str().unwrap().starts_with("begin\n")
            && output["tail"].as_str().unwrap().ends_with("end\n")
    );
}

/// A library whose every script fills its workspace and prints much.
fn filling_assets(place: &Place) -> PathBuf {
    let assets = place.path().join("assets");
    let copied = std::process::Command::new("cp").arg("-r").arg(place::toy_assets()).arg(&assets).status();
    assert!(copied.unwrap().success());
    let fill = "import time\nprint('x' * 300_000)\n\
                for n in range(40): open(f'working/{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(300)\n";
    for script in std::fs::read_dir(assets.join("benchmark/offline/toy/playbook")).unwrap().flatten() {
        if script.path().extension().is_some_and(|end| end == "py") {
            let text = std::fs::read_to_string(script.path()).unwrap();
            std::fs::write(script.path(), format!("{fill}{text}")).unwrap();
        }
    }
    assets
}

#[test]
fn a_limit_reaches_the_node_the_prompt_and_the_report() {
    if !need::jail("a_limit_reaches_the_node_the_prompt_and_the_report") {
        return;
    }
    let place = Place::new();
    let run = Podium::new(&place).args(["run", "-c", "toy", "-m", "playbook", "--steps", "3"]);
    let run = run.arg("--assets").arg(filling_assets(&place)).arg("--python").arg(place::python());
    let run = run.args(["--memory", "512MiB", "--cpus", "1", "--disk", "20MiB", "--shm", "64MiB"]);
    let run = run.args(["--set", "policy.rule.drafts.number=1"]).arg("--runs-dir").arg(place.runs());
    let ended = run.output().expect(0);
    let words = "disk limit (20 MiB) reached";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert!(ended.stdout.contains(&format!("limits      3 × {words}")), "{}", ended.stdout);
    assert!(ended.stderr.contains("/dev/shm 64 MiB, disk 20 MiB"), "{}", ended.stderr);
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    for node in shown["nodes"].as_array().unwrap() {
        assert_eq!(node["buggy"], words);
    }
    let report = &shown["report"];
    assert_eq!(report["limits"], json!([{"limit": {"kind": "disk", "limit_bytes": 20 << 20}, "count": 3}]));
    assert!(report["dropped_output_bytes"].as_u64().unwrap() > 300_000, "{report}");
    // What the agent was told: the machine's facts, the limit, and that the output was cut.
    let journal = std::fs::read(run.path.join("journal.db")).unwrap();
    let journal = String::from_utf8_lossy(&journal);
    assert!(journal.contains("may grow to 20 MiB; `/dev/shm` has 64 MiB"), "the machine's facts are told");
    assert!(journal.contains("The harness stopped it: disk limit (20 MiB) reached."), "the limit is told");
    let table = Podium::new(&place).arg("show").arg(&run.path).output().expect(0);
    assert!(table.stdout.matches(words).count() >= 4, "{}", table.stdout);
    // The report's sandbox part.
    let sandbox = &report["sandbox"];
    let granted = &sandbox["granted"];
    assert_eq!((&granted["cpus"], &granted["cpu_count"]), (&json!(1), &json!(1)));
    assert_eq!((&granted["memory_bytes"], &granted["shm_bytes"]), (&json!(512 << 20), &json!(64 << 20)));
    assert_eq!((&granted["disk_bytes"], &granted["network"]), (&json!(20 << 20), &json!(false)));
    assert!(sandbox["environment"]["version"].as_str().unwrap().starts_with("3."));
    assert!(sandbox["environment"]["packages"].is_object() && sandbox["strength"].is_string());
    assert_eq!(sandbox["warning"], Value::Null);
}

#[test]
fn a_plain_process_is_warned_of_everywhere() {
    let place = Place::new();
    let run = Podium::new(&place).args([
        "run",
        "-c",
        "toy",
        "-m",
        "playbook",
        "--steps",
        "1",
        "--sandbox",
        "process",
    ]);
    let run = run.toy().args(["--memory", "512MiB", "--cpus", "1"]).arg("--runs-dir").arg(place.runs());
    let ended = run.output().expect(0);
    let warning = "agents' code runs as you, without a boundary";
    assert!(
        ended.stderr.contains(warning) && ended.stdout.contains(warning),
        "{}{}",
        ended.stderr,
        ended.stdout
    );
    let run = Run::only(&place.runs());
    let report = &run.show(&place)["report"];
    assert!(report["sandbox"]["warning"].as_str().unwrap().starts_with(warning));
    assert_eq!(report["saw"]["answers"], true);
    let shown = Podium::new(&place).arg("show").arg(&run.path).output().expect(0);
    assert!(shown.stdout.contains(warning), "{}", shown.stdout);
}

/// The part of a policy that is the same on every machine.
fn common(mut policy: Value, place: &Place) -> String {
    policy["sandbox"] = json!(policy["sandbox"]["kind"]);
    policy["environment"].as_object_mut().unwrap().remove("PATH");
    policy["limits"]["cpus"] = json!(policy["limits"]["cpus"].as_array().unwrap().len());
    let own = |mount: &Value| {
        let at = mount["at"].as_str().unwrap();
        let of_machine = ["read_only_if_there", "link"].contains(&mount["kind"].as_str().unwrap())
            || at.starts_with("/proc/")
            // The superuser's jails have ordinary nodes of their own.
            || mount["from"].as_str().is_some_and(|from| from.contains("/podium."))
            || (mount["kind"] == "read_only" && mount["from"] == mount["at"] && at != "/usr");
        !of_machine
    };
    policy["mounts"].as_array_mut().unwrap().retain(own);
    let text = serde_json::to_string_pretty(&policy).unwrap();
    text.replace(&place.path().display().to_string(), "[place]")
}

#[test]
fn a_policy_is_printed_as_data() {
    if !need::jail("a_policy_is_printed_as_data") {
        return;
    }
    let place = Place::new();
    let (space, input) = (place.path().join("space"), place.path().join("data/input"));
    std::fs::create_dir(&space).unwrap();
    std::fs::create_dir(&input).unwrap();
    let explain = |options: &[&str]| {
        let podium = Podium::new(&place).args(["sandbox", "explain", "--python"]).arg(place::python());
        let podium = podium.arg("--workspace").arg(&space).arg("--input").arg(&input);
        podium.env("PODIUM_GPU_ROOT", gpu_root(&place, true)).args(options)
    };
    let mount = format!("hf={}", input.display());
    let options = [
        "--gpus",
        "1",
        "--mount",
        &mount,
        "--env",
        "A=b",
        "--shm",
        "64MiB",
        "--disk",
        "1GiB",
        "--cpu-time",
        "1h",
    ];
    let document = explain(&[&options[..], &["--json"]].concat()).output().expect(0).json();
    insta::assert_snapshot!("policy", common(document, &place));
    let text = explain(&options).output().expect(0).stdout;
    for line in [
        "  memory      /dev/shm  67108864 bytes",
        "  HF_HOME=/mounts/hf",
        "  CPU time    3600 s",
        "  device      /dev/nvidia0",
    ] {
        assert!(text.contains(line), "no `{line}` in:\n{text}");
    }
    assert!(!Path::new(&space).join("ready").exists() && std::fs::read_dir(&space).unwrap().count() == 0);
}
