//! Every file of `examples/` is planned as it stands, but for its competitions: most are Kaggle's, whose data are not
//! here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::place::{python, toy_assets};
use crate::support::{Place, Podium};

/// Seeds, arms, and what else the plan of each must be.
const PLANS: [(&str, usize, usize); 10] = [
    ("offline", 3, 4),
    ("paper-attempts", 16, 1),
    ("paper-hardware", 3, 3),
    ("paper-models", 3, 4),
    ("paper-obfuscated", 10, 2),
    ("paper-scaffolds", 3, 3),
    ("paper-time", 3, 2),
    ("scaffolds", 3, 3),
    ("steps", 3, 3),
    ("workers", 3, 6),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// A machine with two GPUs and a checkout with an obfuscated description.
fn planned(place: &Place, file: &Path, options: &[&str]) -> Value {
    let root = place.path().join("gpus");
    for (minor, bus) in ["0000:41:00.0", "0000:42:00.0"].into_iter().enumerate() {
        let text = format!("Model: \t NVIDIA A10\nGPU UUID: \t GPU-{minor}\nDevice Minor: \t {minor}\n");
        place.write(&format!("gpus/proc/driver/nvidia/gpus/{bus}/information"), text);
        place.write(&format!("gpus/dev/nvidia{minor}"), "");
    }
    for node in ["nvidiactl", "nvidia-uvm"] {
        place.write(&format!("gpus/dev/{node}"), "");
    }
    place
        .write("checkout/mlebench/competitions/toy/description_obfuscated.md", "Three numbers, one class.\n");
    let podium = Podium::new(place)
        .env("PODIUM_GPU_ROOT", &root)
        .env("PODIUM_MLE_BENCH", place.path().join("checkout"))
        .env("OPENAI_API_KEY", "none")
        .env("OPENROUTER_API_KEY", "none")
        .args(["experiment", "run", "--dry-run", "--json"])
        .args(options)
        .arg(file);
    podium.arg("--python").arg(python()).arg("--runs-dir").arg(place.runs()).output().expect(0).json()
}

#[test]
fn each_example_is_planned() {
    let files = Path::read_dir(&examples()).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> =
        files.filter_map(|name| name.strip_suffix(".toml").map(str::to_owned)).collect();
    names.sort();
    assert_eq!(names, PLANS.map(|(name, ..)| name.to_owned()), "all are in the table");
    let place = Place::new();
    let assets = toy_assets();
    for (name, seeds, arms) in PLANS {
        let text = std::fs::read_to_string(examples().join(format!("{name}.toml"))).unwrap();
        let of_toy = |line: &str| {
            if line.starts_with("split = ") { "competitions = ['toy']".to_owned() } else { line.to_owned() }
        };
        let text = text.lines().map(of_toy).collect::<Vec<_>>().join("\n");
        let file = place.write(&format!("{name}.toml"), text);
        let plan = planned(&place, &file, &["--assets", assets.to_str().unwrap()]);
        let runs = plan["runs"].as_array().unwrap();
        // The baseline is the same run whatever the settings say.
        assert_eq!(runs.len(), seeds * arms, "{name}: {plan}");
        let mut identities: Vec<&str> = runs.iter().map(|run| run["identity"].as_str().unwrap()).collect();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), runs.len(), "{name}: runs are told apart");
        for run in runs {
            let asked = run["arm"]["gpus"].as_str().and_then(|gpus| gpus.parse::<u64>().ok());
            assert!(asked.is_none_or(|gpus| run["needs"]["gpus"] == gpus), "{name}: {run}");
        }
    }
    // Not only the toy: all offline competitions, as the README runs them.
    let own = ["--assets", env!("CARGO_MANIFEST_DIR")];
    let plan = planned(&place, &examples().join("offline.toml"), &own);
    let competitions = plan["competitions"].as_object().unwrap().len();
    assert!(competitions >= 11, "{competitions}");
    assert_eq!(plan["runs"].as_array().unwrap().len(), competitions * 12);
}
