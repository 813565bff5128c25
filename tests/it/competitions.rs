//! `podium competitions`: the catalog as a table and a document, and a folder of MLE-bench's data looked through in
//! place: what is ready, missing, another version, or only a Git LFS pointer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, Podium};

fn competitions(place: &Place, arguments: &[&str]) -> Podium {
    Podium::new(place).arg("competitions").args(arguments)
}

fn rows(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let mut arguments = arguments.to_vec();
    arguments.push("--json");
    competitions(place, &arguments).output().expect(0).json().as_array().unwrap().clone()
}

#[test]
fn the_list_is_narrowed_by_split_and_category() {
    let place = Place::new();
    let count = |arguments: &[&str]| rows(&place, arguments).len();
    for (split, members) in [("low", 22), ("lite", 22), ("medium", 38), ("high", 15), ("all", 75), ("dev", 7)]
    {
        assert_eq!(count(&["list", "--split", split]), members, "{split}");
    }
    let tabular = rows(&place, &["list", "--split", "low", "--category", "tabular"]);
    let ids: Vec<&str> = tabular.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "new-york-city-taxi-fare-prediction",
            "nomad2018-predict-transparent-conductors",
            "tabular-playground-series-dec-2021",
            "tabular-playground-series-may-2022",
        ]
    );
    let image = count(&["list", "--category", "image"]);
    assert!(image > count(&["list", "--category", "image-classification"]));
    for (arguments, words) in
        [(["list", "--split", "hard"], "low"), (["list", "--category", "images"], "image-classification")]
    {
        let finished = competitions(&place, &arguments).output();
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.contains("hint:") && finished.stderr.contains(words), "{}", finished.stderr);
    }
}

#[test]
fn one_is_shown_with_its_split_and_thresholds() {
    let place = Place::new();
    let shown = competitions(&place, &["show", "spaceship-titanic"]).output().expect(0).stdout;
    for words in [
        "random, 10 % of the training passengers; seed 0",
        "7823 rows to train on and 870 to predict, 90.0 % and 10.0 % of 8693 original training rows",
        "gold 0.82066",
        "not prepared",
        "mlebench prepare -c spaceship-titanic",
    ] {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
    let document =
        competitions(&place, &["show", "champs-scalar-coupling", "--json"]).output().expect(0).json();
    for field in ["split", "known_issues", "split_size", "data_status", "board", "grading", "data"] {
        assert!(!document[field].is_null(), "no {field}");
    }
    assert!(!document["known_issues"].as_array().unwrap().is_empty());
}

#[test]
fn every_one_can_be_shown() {
    let place = Place::new();
    for row in rows(&place, &["list"]) {
        let id = row["id"].as_str().unwrap();
        let shown = competitions(&place, &["show", id]).output().expect(0).stdout;
        assert!(shown.contains("sizes") && shown.contains("thresholds"), "{shown}");
        assert!(shown.contains("\nsplit"), "{id} does not say how it was split");
    }
}

#[test]
fn preparing_one_of_kaggles_says_what_to_do() {
    let place = Place::new();
    let finished = competitions(&place, &["prepare", "spaceship-titanic"]).output();
    assert_eq!(finished.code, Some(2));
    for words in ["no Kaggle credentials", "KAGGLE_API_TOKEN", "--archives DIR", "--raw DIR"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
}

#[test]
fn a_raw_download_is_prepared_whole_or_not_at_all() {
    let place = Place::new();
    let id = "new-york-city-taxi-fare-prediction";
    let (raw, out) = (place.path().join("raw"), place.path().join("out"));
    std::fs::create_dir(&raw).unwrap();
    let (raw_text, out_text) = (raw.to_str().unwrap(), out.to_str().unwrap());
    let shown = competitions(&place, &["show", id, "--json"]).output().expect(0).json();
    assert_eq!(shown["prepare"]["constants"]["test_rows"], 9914);
    let prepare = |more: &[&str]| {
        let arguments = ["prepare", id, "--raw", raw_text, "--data-dir", out_text];
        competitions(&place, &[&arguments[..], more].concat()).output()
    };
    let set = ["--set", "prepare.constants.test_rows=2"];
    let header = "key,fare_amount,pickup_datetime,pickup_longitude,pickup_latitude,dropoff_longitude,dropoff_latitude,passenger_count\n";
    // Nothing there, then a file too few: both leave nothing that looks ready.
    for (step, words) in [("nothing", "train.csv"), ("a table", "GCP-Coupons-Instructions.rtf")] {
        let finished = prepare(&set);
        assert_eq!(finished.code, Some(3), "{step}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{step}: {}", finished.stderr);
        assert!(files(&out).is_empty(), "{step}");
        let rows: Vec<String> =
            (0..5).map(|row| format!("{row}-a,1{row}.50,2012,-0.00001,1,0,1,{row}\n")).collect();
        std::fs::write(raw.join("train.csv"), format!("{header}{}", rows.concat())).unwrap();
    }
    std::fs::write(raw.join("GCP-Coupons-Instructions.rtf"), "{}").unwrap();
    let mistaken = prepare(&["--set", "prepare.constants.rows=2"]);
    assert_eq!(mistaken.code, Some(2), "{}", mistaken.stderr);
    assert!(mistaken.stderr.contains("test_rows"), "{}", mistaken.stderr);
    prepare(&set).expect(0);
    let prepared = out.join(id).join("prepared");
    let text = |path: &str| std::fs::read_to_string(prepared.join(path)).unwrap();
    assert_eq!(
        text("private/test.csv"),
        format!("{header}2-a,12.5,2012,-1e-05,1,0,1,2\n0-a,10.5,2012,-1e-05,1,0,1,0\n")
    );
    assert_eq!(text("public/sample_submission.csv"), "key,fare_amount\n2-a,11.35\n0-a,11.35\n");
    let before = files(&out);
    let again = prepare(&[]).expect(0);
    assert!(again.stdout.contains("ready"), "{}", again.stdout);
    let other = prepare(&set);
    assert_eq!(other.code, Some(3), "{}", other.stderr);
    assert_eq!(files(&out), before);
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8\nsize 12\n";

/// All files below a folder with their content.
fn files(folder: &std::path::Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn a_folder_is_looked_through_in_place() {
    let place = Place::new();
    let lab = place.path().join("lab");
    let put = |name: &str, text: &str| place.write(&format!("lab/{name}"), text);
    let whole = ["public/train.csv", "public/test.csv", "public/sample_submission.csv", "private/test.csv"];
    for file in whole {
        put(&format!("spaceship-titanic/prepared/{file}"), "PassengerId,Transported\n1,True\n");
        put(&format!("nomad2018-predict-transparent-conductors/prepared/{file}"), "id\n1\n");
    }
    put("spaceship-titanic/prepared/public/description.md", "# The task\n");
    put("leaf-classification/prepared/private/test.csv", POINTER);
    put("aerial-cactus-identification/prepared/private/test.csv", "id,has_cactus\n");
    put("aerial-cactus-identification/prepared/public/train.zip", POINTER);
    put("dog-breed-identification/dog-breed-identification.zip", "PK");
    put("my-own-thing/prepared/private/test.csv", "id\n");
    let before = files(&lab);

    let arguments = ["import", lab.to_str().unwrap()];
    let document = competitions(&place, &arguments).arg("--json").output().expect(0).json();
    let found = |id: &str| {
        let all = document["competitions"].as_array().unwrap();
        assert_eq!(all.len(), 82);
        all.iter().find(|one| one["id"] == id).unwrap().clone()
    };
    for (id, readiness) in [
        ("spaceship-titanic", "ready"),
        ("nomad2018-predict-transparent-conductors", "grading_only"),
        ("leaf-classification", "incomplete"),
        ("aerial-cactus-identification", "grading_only"),
        ("dog-breed-identification", "not_prepared"),
        ("AI4Code", "absent"),
    ] {
        assert_eq!(found(id)["readiness"], readiness, "{id}: {:#}", found(id));
    }
    assert_eq!(document["unknown"], json!(["my-own-thing"]));
    assert_eq!(found("leaf-classification")["lfs_pointers"], json!(["private/test.csv"]));
    assert_eq!(found("aerial-cactus-identification")["lfs_pointers"], json!(["public/train.zip"]));
    let missing = found("nomad2018-predict-transparent-conductors")["missing"].clone();
    assert_eq!(
        missing,
        json!(["public/description.md", "public/train/<id>/geometry.xyz", "public/test/<id>/geometry.xyz"])
    );
    // Made-up data are no version that was recorded.
    assert_eq!(found("spaceship-titanic")["differs"].as_array().unwrap().len(), 4);
    let quick =
        competitions(&place, &arguments).args(["--checksums", "none", "--json"]).output().expect(0).json();
    let quick = quick["competitions"].as_array().unwrap().iter().find(|one| one["id"] == "spaceship-titanic");
    assert_eq!((&quick.unwrap()["differs"], &quick.unwrap()["not_compared"]), (&json!([]), &json!(4)));

    let shown = competitions(&place, &arguments).output().expect(0);
    for words in [
        "spaceship-titanic  ",
        "Git LFS pointer: private/test.csv",
        "my-own-thing",
        "1 ready, 2 grading only, 1 incomplete, 1 not prepared, 77 absent",
    ] {
        assert!(shown.stdout.contains(words), "no `{words}` in\n{}", shown.stdout);
    }
    assert!(shown.stderr.contains("--data-dir") && shown.stderr.contains("git lfs pull"), "{}", shown.stderr);
    assert_eq!(files(&lab), before, "the folder was changed");
    assert!(files(&place.data()).is_empty(), "something was copied");
}

#[test]
fn a_folder_without_data_says_so() {
    let place = Place::new();
    place.write("cache/data/spaceship-titanic/prepared/private/test.csv", "PassengerId\n");
    let cache = place.path().join("cache");
    let finished = competitions(&place, &["import", cache.to_str().unwrap()]).output();
    assert_eq!(finished.code, Some(3));
    assert!(finished.stderr.contains("cache/data meant?"), "{}", finished.stderr);
    let nowhere = competitions(&place, &["import", "nowhere"]).output();
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.stderr.contains("hint:"), "{}", nowhere.stderr);
}
