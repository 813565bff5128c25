//! What is made of an experiment, from outside: its report in every form, comparisons, MLE-bench's files, and a bundle
//! that a stranger verifies, a forger cannot pass off, and a hostile hand cannot use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::bundle::{add, compressed, decompressed, hash, unpacked};
use crate::support::place::toy_assets;
use crate::support::{Finished, Place, Podium, Run, need};

/// Two arms × one competition × two seeds.
fn experiment(place: &Place) {
    let run = Podium::new(place)
        .args(["experiment", "run"])
        .toy()
        .arg("--json")
        .arg("--runs-dir")
        .arg(place.runs());
    let run =
        run.args(["--name", "ab", "--scaffolds", "aide,dummy", "--competitions", "toy", "--seeds", "2"]);
    let ended =
        run.args(["--model", "playbook", "--steps", "3", "--memory", "512MiB", "--cpus", "1"]).output();
    assert_eq!(ended.expect(0).json()["states"]["graded"], 4);
}

fn podium(place: &Place, words: &[&str]) -> Podium {
    Podium::new(place).args(words).arg("--assets").arg(toy_assets()).arg("--runs-dir").arg(place.runs())
}

fn verify(place: &Place, bundle: &Path) -> Finished {
    let verify =
        Podium::new(place).args(["experiment", "verify", "--json"]).arg("--assets").arg(toy_assets());
    verify.arg(bundle).output()
}

#[test]
fn an_experiment_is_reported_compared_exchanged_and_verified() {
    if !need::jail("an_experiment_is_reported_compared_exchanged_and_verified") {
        return;
    }
    let place = Place::new();
    experiment(&place);
    reported(&place);
    lock_files(&place);
    exchanged(&place);
    let bundle = place.work().join("ab.tar.gz");
    let packed = podium(&place, &["experiment", "bundle", "ab", "--json"]).arg("--into").arg(&bundle);
    let packed = packed.output().expect(0).json();
    let bytes = std::fs::read(&bundle).unwrap();
    assert_eq!(packed["sha256"], hash(&bytes));
    let found = verify(&place, &bundle).expect(0).json();
    assert_eq!(
        (&found["runs"], &found["problems"], &found["not_graded"]),
        (&json!(4), &json!([]), &json!({}))
    );
    assert!(found["graded"].as_u64().unwrap() >= 4, "{found}");
    let again = podium(&place, &["experiment", "bundle", "ab", "--json"])
        .arg("--into")
        .arg(place.work().join("again"));
    assert_eq!(
        again.output().expect(0).json()["sha256"],
        packed["sha256"],
        "the same runs give the same bundle"
    );
    let text = String::from_utf8_lossy(&unpacked(&bytes).concat_all()).into_owned();
    assert!(!text.contains(place.path().to_str().unwrap()), "a path of this machine");
    forged(&place, &bytes);
    hostile(&place, &bytes);
}

fn reported(place: &Place) {
    let report = |words: &[&str]| podium(place, &["experiment", "report", "ab"]).args(words).output();
    let made = report(&["--over-time", "--json"]).expect(0).json();
    let counts: u64 =
        made["counts"].as_array().unwrap().iter().map(|count| count["runs"].as_u64().unwrap()).sum();
    assert_eq!((counts, &made["planned"], &made["missing"]), (4, &json!(4), &json!([])));
    let table = &made["tables"][0];
    assert_eq!(table["baselines"], true, "{table:#}");
    let row = |arm: &str| table["rows"].as_array().unwrap().iter().find(|row| row["arm"] == arm).unwrap();
    assert_eq!(row("aide")["valid"]["mean"], 100.0);
    assert!(
        row("aide")["selection_loss"]["runs"] == 2 && row("aide")["gap"]["runs"] == 2,
        "{:#}",
        row("aide")
    );
    assert!(table["curves"].as_array().unwrap().iter().any(|curve| curve["arm"] == "aide"), "{table:#}");
    let disclosure = &made["disclosure"];
    assert_eq!((&disclosure["runs"], &disclosure["test_scores"]), (&json!(4), &json!(0)));
    assert_eq!((&disclosure["answers_in_reach"], &disclosure["network_open"]), (&json!(0), &json!(0)));
    assert_eq!(disclosure["stand_ins"], 2);
    // What was graded over time is kept outside of the runs, and those are closed.
    let kept = std::fs::read_dir(place.runs().join("ab/grades")).unwrap().count();
    assert_eq!(kept, 4);
    assert!(runs(place).iter().all(|run| run.join("closed").exists()));
    let text = report(&[]).expect(0).stdout;
    for said in [
        "4 planned = ",
        "stand-in",
        "oracle",
        "disclosure",
        "hosts asked for: none",
        "not a confidence interval",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // The page for a browser says the same, cell by cell, and loads nothing.
    let page = report(&["--html"]).expect(0);
    let file = place.runs().join("ab/report.html");
    assert_eq!(Path::new(page.stdout.trim()).canonicalize().unwrap(), file.canonicalize().unwrap());
    let page = std::fs::read_to_string(file).unwrap();
    let data = page.split("<script type=\"application/json\" id=\"report\">").nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    for row in data["tables"][0]["rates"]["rows"].as_array().unwrap() {
        let cells = row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap());
        let cells: Vec<&str> = cells.flat_map(str::split_whitespace).collect();
        assert!(
            text.lines().any(|line| line.split_whitespace().eq(cells.iter().copied())),
            "{cells:?}: {text}"
        );
    }
    assert_eq!(data["tables"][0]["gaps"].as_array().unwrap().len(), 2);
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(report(&["--markdown"]).expect(0).stdout.starts_with("# Experiment ab"));
    let lines = report(&["--csv"]).expect(0).stdout;
    assert_eq!(lines.lines().count(), 5, "{lines}");
    let strict = report(&["--strict", "--json"]).expect(0).json();
    assert_eq!(strict["tables"][0]["rows"][0]["any_medal"]["seeds"], 2);

    let compare = |words: &[&str]| podium(place, words).output();
    let pairs =
        compare(&["experiment", "compare", "ab", "--by", "scaffold", "--declare", "20"]).expect(0).stdout;
    assert!(pairs.contains("aide − dummy") && pairs.contains("to see 20:"), "{pairs}");
    let table = compare(&["experiment", "compare", "ab", "--by", "competition", "--json"]).expect(0).json();
    assert_eq!(table["toy"]["aide"]["runs"], 2);
    let wrong = compare(&["experiment", "compare", "ab", "--by", "nosuch"]).expect(2);
    assert!(wrong.stderr.contains("its axes: "), "{}", wrong.stderr);
    let folders: Vec<String> = runs(place).iter().map(|run| run.display().to_string()).collect();
    let two = compare(&["compare", &folders[0], &folders[2]]).expect(0).stdout;
    assert!(two.contains("one run of each") && two.contains("set up differently"), "{two}");
    assert!(compare(&["compare", "ab", "ab"]).expect(2).stderr.contains("both sides"));
}

fn runs(place: &Place) -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> = Run::all(&place.runs().join("ab")).into_iter().map(|run| run.path).collect();
    runs.retain(|path| path.join("run.json").is_file());
    runs.sort();
    assert_eq!(runs.len(), 4);
    runs
}

/// Each run has a lock file that holds what the issue of a stranger's repetition needs.
fn lock_files(place: &Place) {
    for run in runs(place) {
        let read = |name: &str| std::fs::read(run.join(name)).unwrap();
        let lock: Value = serde_json::from_slice(&read("provenance.json")).unwrap();
        assert_eq!(lock["config_sha256"], hash(&read("config.json")));
        assert_eq!(lock["submission_sha256"], hash(&read("submission.csv")));
        assert_eq!((&lock["network"], &lock["sandbox"]["kind"]), (&json!("blocked"), &json!("jail")));
        assert!(lock["sandbox"]["granted"]["cpus"].is_number(), "{lock:#}");
        assert!(lock["data"]["public"]["train.csv"]["sha256"].is_string(), "{lock:#}");
        assert!(lock["data"]["answers"]["sha256"].is_string() && lock["seed"].is_number());
        if lock["scaffold"]["id"] == "aide" {
            assert!(lock["models"]["code"]["asked"].as_str().unwrap().starts_with("playbook"), "{lock:#}");
            assert!(!lock["scaffold"]["prompts"].as_object().unwrap().is_empty());
        }
        assert!(
            !String::from_utf8(read("provenance.json")).unwrap().contains(place.path().to_str().unwrap())
        );
    }
}

fn exchanged(place: &Place) {
    let into = place.work().join("mle-bench/runs");
    let written = podium(place, &["experiment", "export", "ab"]).arg("--into").arg(&into).output().expect(0);
    assert_eq!(written.stdout.lines().count(), 4, "an arm and a seed each");
    let listed = std::fs::read_to_string(into.join("run_group_experiments.csv")).unwrap();
    assert_eq!(listed.lines().count(), 5, "{listed}");
    let beside = |path: &Path| {
        podium(place, &["experiment", "report", "ab", "--json"]).arg("--beside").arg(path).output()
    };
    let made = beside(&into).expect(0).json();
    let rows = made["tables"][0]["rows"].as_array().unwrap().clone();
    let rate = |arm: &str| rows.iter().find(|row| row["arm"] == arm).unwrap()["valid"].clone();
    assert_eq!((rows.len(), &made["disclosure"]["published"]), (4, &json!(4)));
    assert_eq!(rate("aide"), rate("ab-aide"));
    let nothing = place.write("work/nothing.json", "{}");
    assert!(beside(&nothing).expect(2).stderr.contains("nothing.json"));
    let pair =
        podium(place, &["compare", "ab"]).arg(into.join("run_group_experiments.csv")).output().expect(0);
    assert!(pair.stdout.contains("ab: aide − "), "{}", pair.stdout);
}

/// A changed byte is found wherever it is, and so is a forger who mends the manifest after it.
fn forged(place: &Place, bytes: &[u8]) {
    let differs = |bytes: &[u8]| -> BTreeMap<String, String> {
        let finished = verify(place, &place.write("work/forged.tar.gz", bytes));
        let found = finished.expect(1).json();
        let problems = found["problems"].as_array().unwrap_or_else(|| panic!("{found}")).clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        problems.iter().map(|problem| (text(&problem["file"]), text(&problem["problem"]))).collect()
    };
    let original = unpacked(bytes);
    let plain = decompressed(&original.packed());
    assert!(plain == decompressed(bytes), "the test packs as the program does");
    // One byte of one file.
    let mut files = original.clone();
    let name = files.change("/submission.csv", |bytes| *bytes.last_mut().unwrap() ^= 1);
    assert!(differs(&files.packed())[&name].contains("changed"));
    // A byte of the padding between two files.
    let mut plain = decompressed(bytes);
    let end = 512 + original.0[0].1.len();
    assert_ne!(end % 512, 0, "there is padding");
    plain[end] ^= 1;
    assert!(differs(&compressed(&plain)).contains_key("the archive"));
    // Something behind it.
    let behind = [bytes, b"x"].concat();
    assert!(differs(&behind).contains_key("the archive"));
    // Forgers who mend the manifest: a better score, other predictions, another report.
    let mut files = original.clone();
    let name = files.change("/run.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let (is, not) = ("\"any_medal\": true", "\"any_medal\": false");
        let forged = if text.contains(is) { text.replacen(is, not, 1) } else { text.replacen(not, is, 1) };
        assert_ne!(text, forged);
        *bytes = forged.into_bytes();
    });
    files.relist();
    assert!(differs(&files.packed())[&name].contains("any_medal"));
    let mut files = original.clone();
    files.change("report.json", |bytes| {
        let place = bytes.iter().position(u8::is_ascii_digit).unwrap();
        bytes[place] ^= 1;
    });
    files.relist();
    assert!(differs(&files.packed())["report.json"].contains("line"));
    let mut files = original;
    let name = files.change("/config.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replacen("\"seed\": ", "\"seed\": 1", 1).into_bytes();
    });
    files.relist();
    assert!(differs(&files.packed()).contains_key(&name));
}

/// Archives that would write elsewhere, or more than anybody has.
fn hostile(place: &Place, bytes: &[u8]) {
    let original = unpacked(bytes);
    let listed = |path: &str, size: u64| {
        let none = "0".repeat(64);
        format!(
            "{{\n  \"format\": 1,\n  \"files\": [\n    {{\n      \"path\": \"{path}\",\n      \"bytes\": {size},\n      \
             \"sha256\": \"{none}\"\n    }}\n  ]\n}}"
        )
    };
    let outside = place.path().join("evil");
    let absolute = outside.display().to_string();
    let plain = tar::EntryType::Regular;
    let archive = |entries: &[(&str, tar::EntryType, &[u8])]| {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, kind, bytes) in entries {
            add(&mut archive, name, *kind, bytes);
        }
        compressed(&archive.into_inner().unwrap())
    };
    let with = |path: &str, name: &str, kind, content: &[u8], size: u64| {
        archive(&[("MANIFEST.json", plain, listed(path, size).as_bytes()), (name, kind, content)])
    };
    let mut many = original.clone();
    many.0.push(("more.txt".to_owned(), b"x".to_vec()));
    let mut twice = original.clone();
    twice.0.push(original.0[1].clone());
    twice.relist();
    let truncated = &bytes[..bytes.len() / 2];
    let table: [(&str, Vec<u8>, &str); 12] = [
        ("above", with("../evil", "../evil", plain, b"x", 1), "no name of a file"),
        ("absolute", with(&absolute, &absolute, plain, b"x", 1), "no name of a file"),
        ("another name", with("a.txt", "../evil", plain, b"x", 1), "stands where"),
        ("a link", with("a.txt", "a.txt", tar::EntryType::Symlink, b"", 0), "no plain file"),
        ("a device", with("a.txt", "a.txt", tar::EntryType::Char, b"", 0), "no plain file"),
        ("a long name", with("a.txt", "././@LongLink", tar::EntryType::GNULongName, b"x", 1), "stands where"),
        ("a bomb that says so", with("a.txt", "a.txt", plain, b"x", 1 << 50), "at most"),
        ("more than was said", with("a.txt", "a.txt", plain, &[b'x'; 4096], 1), "were announced"),
        ("not in the manifest", many.packed(), "more than its manifest"),
        ("twice", twice.packed(), "twice"),
        ("half of it", truncated.to_vec(), "damaged"),
        ("no archive", b"PK\x03\x04".to_vec(), "no compressed archive"),
    ];
    for (name, bytes, said) in table {
        let finished = verify(place, &place.write("work/hostile.tar.gz", bytes));
        assert_eq!(finished.code, Some(1), "{name}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{name}: {}", finished.stderr);
        assert!(!outside.exists() && !place.work().join("evil").exists(), "{name}");
    }
}
