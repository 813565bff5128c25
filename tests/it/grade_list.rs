//! `podium grade --jsonl` over the oracle's material, all 82 competitions in one list: the aggregate holds a report a
//! line in MLE-bench's words, agrees with what the official graders said, and is not stopped by what cannot be graded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, Podium};

/// MLE-bench's own fields of the aggregate, in its order; ours come after them.
const TOTALS: [&str; 9] = [
    "total_runs",
    "total_runs_with_submissions",
    "total_valid_submissions",
    "total_medals",
    "total_gold_medals",
    "total_silver_medals",
    "total_bronze_medals",
    "total_above_median",
    "competition_reports",
];

fn benchmark() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark")
}

fn grade(place: &Place, list: &str) -> Podium {
    let list = place.write("work/list.jsonl", list);
    Podium::new(place).args(["grade", "--output", "results/deep", "--json", "--jsonl"]).arg(list)
}

fn ids() -> Vec<String> {
    let entries = std::fs::read_dir(benchmark().join("oracle")).unwrap().flatten();
    let mut ids: Vec<String> = entries
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".tar.gz").map(str::to_owned))
        .collect();
    ids.sort();
    ids
}

/// Unpacks the oracle of one competition, prepares the answers that most of its cases use, and returns these cases.
fn prepare(place: &Place, id: &str) -> Vec<Value> {
    let archive = std::fs::File::open(benchmark().join(format!("oracle/{id}.tar.gz"))).unwrap();
    let folder = place.work().join(id);
    tar::Archive::new(flate2::read::GzDecoder::new(archive)).unpack(&folder).unwrap();
    let cases = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        *uses.entry(case["answers"].as_str().unwrap()).or_default() += 1;
    }
    let most = uses.into_iter().max_by_key(|(_, count)| *count).unwrap().0.to_owned();
    let entry = std::fs::read_to_string(benchmark().join(format!("competitions/{id}.toml"))).unwrap();
    let entry: toml::Table = entry.parse().unwrap();
    let name = entry["answers"]["file"].as_str().unwrap();
    let answers = place.data().join(id).join("prepared/private").join(name);
    std::fs::create_dir_all(answers.parent().unwrap()).unwrap();
    std::fs::copy(folder.join(&most), answers).unwrap();
    cases.into_iter().filter(|case| case["answers"] == most.as_str()).collect()
}

fn line(id: &str, submission: &str) -> String {
    json!({"competition_id": id, "submission_path": submission}).to_string()
}

#[test]
fn all_competitions_at_once_agree_with_the_official_graders() {
    let place = Place::new();
    let (mut list, mut expected) = (Vec::new(), Vec::new());
    for id in ids() {
        for case in prepare(&place, &id) {
            // Relative to the working directory, as for the official command.
            list.push(line(&id, &format!("{id}/{}", case["submission"].as_str().unwrap())));
            expected.push((id.clone(), case));
        }
    }
    let aggregate = grade(&place, &list.join("\n")).output().json();
    assert_eq!(aggregate["not_graded"], json!([]), "{:#}", aggregate["not_graded"]);
    let reports = aggregate["competition_reports"].as_array().unwrap();
    assert_eq!(reports.len(), expected.len());
    assert_eq!(ids().len(), 82);
    println!("{} submissions to {} competitions", reports.len(), ids().len());
    for (report, (id, case)) in reports.iter().zip(&expected) {
        let name = format!("{id} {}", case["case"]);
        assert_eq!(&report["competition_id"], id);
        assert_eq!(report["valid_submission"], case["valid"], "{name}: {report:#}");
        assert_eq!(report["reason"].is_null(), case["valid"].as_bool().unwrap(), "{name}");
        if case["valid"] == true && !case["tolerance"].is_number() {
            let score = (report["score"].as_f64(), case["rounded"].as_f64());
            assert!(
                score.0 == score.1 && (score.0.is_some() || report["score"] == case["rounded"]),
                "{name}"
            );
        }
    }
    let count = |field: &str| reports.iter().filter(|report| report[field] == true).count();
    for (total, field) in [
        ("total_runs_with_submissions", "submission_exists"),
        ("total_valid_submissions", "valid_submission"),
        ("total_medals", "any_medal"),
        ("total_gold_medals", "gold_medal"),
        ("total_silver_medals", "silver_medal"),
        ("total_bronze_medals", "bronze_medal"),
        ("total_above_median", "above_median"),
    ] {
        assert_eq!(aggregate[total], count(field), "{total}");
    }
}

#[test]
fn nothing_stops_the_others() {
    let place = Place::new();
    let id = "spaceship-titanic";
    let case = prepare(&place, id).into_iter().find(|case| case["valid"] == true).unwrap();
    let good = format!("{id}/{}", case["submission"].as_str().unwrap());
    std::fs::copy(place.work().join(&good), place.work().join("as.txt")).unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    place.write("data/leaf-classification/prepared/private/test.csv", pointer);
    let list = [
        "# a comment".to_owned(),
        line(id, &good),
        "{\"competition_id\": ".to_owned(),
        line("aerial-cactus-identification", &good),
        line("spaceship-titan", &good),
        line("leaf-classification", &good),
        line(id, "nothing/here.csv"),
        line(id, "as.txt"),
        json!({"competition_id": id, "submission_path": null}).to_string(),
        line(id, &good),
    ];
    let finished = grade(&place, &list.join("\n")).output();
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    let aggregate = finished.json();
    let not_graded = aggregate["not_graded"].as_array().unwrap();
    let lines: Vec<(u64, &str)> = not_graded
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["problem"].as_str().unwrap()))
        .collect();
    for ((line, problem), (expected, words)) in lines.iter().zip([
        (3, "no JSON"),
        (4, "mlebench prepare -c aerial-cactus-identification"),
        (5, "did you mean `spaceship-titanic`?"),
        (6, "Git LFS pointer"),
    ]) {
        assert_eq!(*line, expected);
        assert!(problem.contains(words), "{problem}");
        assert!(finished.stderr.contains(&format!("line {line}")), "{}", finished.stderr);
    }
    assert_eq!((lines.len(), &aggregate["total_runs"]), (4, &json!(5)));
    let there: Vec<&Value> = aggregate["competition_reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| &report["submission_exists"])
        .collect();
    assert_eq!(there, [true, false, false, false, true]);

    // The file that is written, in MLE-bench's order and with its name; a second one does not replace it.
    let broken = grade(&place, "[]").output();
    assert_eq!(broken.code, Some(2), "{}", broken.stderr);
    let files = || {
        let entries = std::fs::read_dir(place.work().join("results/deep")).unwrap().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    };
    assert_eq!(files().len(), 2);
    let texts: Vec<String> = files().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let text = texts.iter().find(|text| text.contains("\"total_runs\": 5")).unwrap();
    let places: Vec<usize> = TOTALS.iter().map(|field| text.find(&format!("\"{field}\"")).unwrap()).collect();
    assert!(places.is_sorted() && places[8] < text.find("\"not_graded\"").unwrap());
    assert!(files()[0].file_name().unwrap().to_str().unwrap().contains("-GMT_grading_report"));
}

#[test]
fn a_leaderboard_of_ones_own_gives_the_medals() {
    let place = Place::new();
    let id = "spaceship-titanic";
    let case = prepare(&place, id)
        .into_iter()
        .find(|case| case["rounded"].as_f64().is_some_and(|score| score > 0.5))
        .unwrap();
    let score = case["rounded"].as_f64().unwrap();
    let submission = place.work().join(id).join(case["submission"].as_str().unwrap());
    // Ten teams, worst first, one without a score: one gold place of ten, two of silver, four of bronze.
    let board = |best: [f64; 3]| {
        let [gold, silver, bronze] = best;
        format!(
            "Rank,TeamId,TeamName,Score\n1,1,g,0.01\n2,2,f,0.02\n3,3,e,0.03\n4,4,d,0.04\n5,5,c,0.05\n6,6,b,0.06\n\
             7,7,third,{bronze}\n8,8,third again,{bronze}\n9,9,second,{silver}\n10,10,first,{gold}\n11,11,none,\n"
        )
    };
    for (best, medal, percentile) in [
        ([score, 0.4, 0.3], "gold_medal", 95.0),
        ([2.0, score, 0.3], "silver_medal", 85.0),
        ([2.0, 2.0, score], "bronze_medal", 70.0),
    ] {
        let file = place.write("work/board.csv", board(best));
        let report = Podium::new(&place)
            .args(["grade", "-c", id, "--json", "--leaderboard"])
            .args([&file, &submission])
            .output()
            .expect(0)
            .json();
        assert_eq!((&report[medal], &report["board"]["teams"]), (&json!(true), &json!(10)), "{report:#}");
        assert_eq!(report["percentile"], percentile, "{report:#}");
        assert!(report["notes"][0].as_str().unwrap().contains("board.csv"));
    }
    for (text, words) in
        [("a,b\n1,2\n", "no column `score`"), ("score\nbest\n", "data row 1"), ("score\n", "no team")]
    {
        let file = place.write("work/board.csv", text);
        let podium =
            Podium::new(&place).args(["grade", "-c", id, "--leaderboard"]).args([&file, &submission]);
        let finished = podium.output();
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
}
