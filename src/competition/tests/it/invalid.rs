//! What is refused, and in which words.

use std::fmt::Write;
use std::path::Path;

use crate::common::{Files, competition, toml};
use podium_competition::{Competition, GradeError, Outcome, grade, validate};
use podium_types::verdict::Verdict;

const ANSWERS: &str = "id,late\na1,1\na2,0\na3,1\n";

fn outcome(competition: &Competition, submission: &Path, answers: &Path) -> Outcome {
    let outcome = grade(competition, submission, answers).unwrap().outcome;
    let verdict = validate(competition, submission, answers, None).unwrap();
    assert_eq!(verdict.is_valid(), matches!(outcome, Outcome::Scored { .. }), "{outcome:?} {verdict:?}");
    outcome
}

/// Grades each submission; one line each.
fn table(competition: &Competition, answers: &str, submissions: &[&[u8]]) -> String {
    let files = Files::new();
    let answers = files.write("answers.csv", answers);
    let mut lines = String::new();
    for bytes in submissions {
        let submission = files.write("submission.csv", bytes);
        let shown = String::from_utf8_lossy(bytes).escape_debug().to_string();
        let _ = match outcome(competition, &submission, &answers) {
            Outcome::Scored { raw_score, notes, .. } => writeln!(lines, "{shown}\n    {raw_score} {notes:?}"),
            other => writeln!(lines, "{shown}\n    {}", other.reason().unwrap()),
        };
    }
    lines
}

#[test]
fn probabilities() {
    let competition = competition(&toml("roc_auc", "higher", "probability", &["late"], ""));
    insta::assert_snapshot!(
        "probabilities",
        table(
            &competition,
            ANSWERS,
            &[
                b"id,late\na1,0.9\na2,0.1\na3,0.8\n",
                b"late,x,id\n1,q,a3\n0,q,a2\n1,q,a1\n",
                b"id,late\na1,True\na2,False\na3,True\n",
                b"",
                b"\n  \n",
                b"id,late\n",
                b"id,Late\na1,0.9\na2,0.1\na3,0.8\n",
                b"late\n0.9\n0.1\n0.8\n",
                b"id;late\na1;0.9\n",
                b"id,late\na1,0.9\na2,0.1\n",
                b"id,late\na1,0.9\n",
                b"id,late\na1,0.9\na2,0.1\na3,0.8\na4,0.8\n",
                b"id,late\na1,0.9\na2,0.1\na2,0.8\n",
                b"id,late\na1,0.9\n,0.1\na3,0.8\n",
                b"id,late\n1,0.9\n2,0.1\n3,0.8\n",
                b"id,late\na1,0.9\na2,\na3,0.8\n",
                b"id,late\na1,0.9\na2,NaN\na3,0.8\n",
                b"id,late\na1,0.9\na2,high\na3,0.8\n",
                b"id,late\na1,0.9\na2,0.1\na3,1.0000001\n",
                b"id,late\na1,0.9\na2,-0.1\na3,1\n",
                b"id,late\na1,inf\na2,0.1\na3,1\n",
                b"id,late\na1,1e400\na2,0.1\na3,1\n",
                b"id,late\na1,0.9,\na2,0.1,\na3,1,\n",
                b"id,late\n0,a1,0.9\n1,a2,0.1\n2,a3,0.8\n",
                b"id,late\na1,0.9\na2,0.1,7\na3,1\n",
                b"id,late\na1,\"0.9\na2,0.1\na3,1\n",
                b"id,late\na1,0.9\na2,0.1\na3,\xff\n",
                b"id,late\na1,0.9\na2,\x1b[2J\x07`\na3,1\n",
                b"PK\x03\x04\x00\x00",
            ]
        )
    );
}

#[test]
fn other_rules() {
    let lower = |metric, value| competition(&toml(metric, "lower", value, &["y"], ""));
    let numbers = "id,y\n1,1.5\n2,2.5\n";
    let mut text = table(
        &lower("mae", "number"),
        numbers,
        &[b"id,y\n1.0,-3\n2.0,4\n", b"id,y\n1,inf\n2,4\n", b"id,y\nx,1\ny,4\n", b"id,y\n01,1\n2,4\n"],
    );
    text += &table(&lower("rmsle", "non_negative"), numbers, &[b"id,y\n1,-3\n2,4\n", b"id,y\n1,0\n2,4\n"]);
    text += &table(&lower("mean_poisson_deviance", "non_negative"), numbers, &[b"id,y\n1,0\n2,4\n"]);
    let classes = competition(&toml("log_loss", "lower", "probability", &["a", "b"], ""));
    text += &table(
        &classes,
        "id,a,b\n1,0,1\n2,1,0\n",
        &[
            b"id,a,b\n1,0.5,0.5\n2,0.5,0.5\n",
            b"id,b,a\n2,1,3e-1\n1,1,0.5\n",
            b"id,a,b\n1,0.5,0.5\n2,0,0\n",
            b"id,a\n1,0.5\n2,0\n",
        ],
    );
    let higher = |metric, value| competition(&toml(metric, "higher", value, &["y"], ""));
    text += &table(
        &higher("accuracy", "label"),
        "id,y\n1,cat\n2,NA\n",
        &[b"id,y\n1,cat\n2,NA\n", b"id,y\n1,unicorn\n2,cat\n", b"id,y\n1,cat\n2,\n"],
    );
    text += &table(
        &higher("quadratic_weighted_kappa", "label"),
        "id,y\n1,3\n2,1\n",
        &[b"id,y\n1,3.0\n2,1\n", b"id,y\n1,3.5\n2,1\n", b"id,y\n1,good\n2,1\n"],
    );
    text +=
        &table(&higher("micro_f1", "labels"), "id,y\n1,a b\n2,c\n", &[b"id,y\n1,\n2,c c\n", b"id,y\n1,a\n"]);
    insta::assert_snapshot!("other_rules", text);
}

#[test]
fn two_key_columns() {
    let toml =
        toml("mae", "lower", "number", &["y"], "").replace("id = [\"id\"]", "id = [\"shop\", \"day\"]");
    let competition = competition(&toml);
    insta::assert_snapshot!(
        "two_keys",
        table(
            &competition,
            "shop,day,y\nn,1,1\nn,2,2\ns,1,3\n",
            &[
                b"day,shop,y\n1,s,3\n2,n,2\n1,n,1\n",
                b"day,shop,y\n1,s,3\n2,n,2\n2,s,1\n",
                b"day,shop,y\n1,s,3\n2,n,2\n1,s,1\n",
                b"day,shop,y\n1,s,3\n2,n,2\n",
            ]
        )
    );
}

#[test]
fn what_is_no_submission_at_all() {
    let competition = competition(&toml("roc_auc", "higher", "probability", &["late"], ""));
    let files = Files::new();
    let answers = files.write("answers.csv", ANSWERS);
    let folder = files.folder.path();
    std::fs::create_dir(folder.join("folder.csv")).unwrap();
    std::os::unix::fs::symlink(&answers, folder.join("link.csv")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe.csv"), 0o600.into()).unwrap();
    files.write("submission.txt", ANSWERS);
    files.write("SUBMISSION.CSV", ANSWERS);
    let huge = std::fs::File::create(folder.join("huge.csv")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let rows: String = (0..2000).fold("id,late\n".into(), |rows, row| rows + &format!("x{row},1\n"));
    files.write("rows.csv", rows);
    let names = [
        "none.csv",
        "folder.csv",
        "link.csv",
        "pipe.csv",
        "submission.txt",
        "huge.csv",
        "rows.csv",
        "SUBMISSION.CSV",
    ];
    let mut text = String::new();
    for name in names {
        let outcome = outcome(&competition, &folder.join(name), &answers);
        let _ = writeln!(text, "{name}: {}", outcome.reason().unwrap_or("scored".into()));
    }
    insta::assert_snapshot!("no_submission", text);
}

#[test]
fn faults_of_the_answers_are_errors_without_a_value() {
    let competition = competition(&toml("roc_auc", "higher", "probability", &["late"], ""));
    let files = Files::new();
    let submission = files.write("submission.csv", "id,late\na1,0.9\na2,0.1\n");
    let mut text = String::new();
    for answers in [
        "id,late\na1,7777\na2,0\n",
        "id,late\na1,1\na1,0\n",
        "id,x\na1,1\n",
        "",
        "id,late\n",
        "id,late\n,1\n",
    ] {
        let answers = files.write("answers.csv", answers);
        let error = grade(&competition, &submission, &answers).unwrap_err();
        assert!(validate(&competition, &submission, &answers, None).is_err());
        let problem = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(!format!("{error} {problem} {error:?}").contains("7777"));
        let _ = writeln!(text, "{error}: {problem}");
    }
    let error = grade(&competition, &submission, &files.folder.path().join("none")).unwrap_err();
    assert!(matches!(&error, GradeError::Open { .. }) && error.hint().is_some());
    insta::assert_snapshot!("unfit_answers", text);
}

#[test]
fn no_metric_quotes_a_cell_of_the_answers() {
    let metrics = [
        ("log_loss", "probability"),
        ("mean_column_auc", "probability"),
        ("roc_auc", "probability"),
        ("average_precision", "probability"),
        ("accuracy", "label"),
        ("macro_f1", "label"),
        ("quadratic_weighted_kappa", "label"),
        ("exact_match", "text"),
        ("micro_f1", "text"),
        ("mean_levenshtein", "text"),
        ("map_at_k", "text"),
        ("rmse", "number"),
        ("mae", "number"),
        ("rmsle", "non_negative"),
        ("mape", "number"),
        ("mean_poisson_deviance", "non_negative"),
    ];
    let files = Files::new();
    let mut refused = 0;
    for (metric, value) in metrics {
        let options = if metric == "map_at_k" { "k = 3" } else { "" };
        for direction in ["higher", "lower"] {
            let text = toml(metric, direction, value, &["late"], options).replace("{ANSWERS}", "");
            let Ok(catalog) = podium_competition::Catalog::from_texts(
                [("competition.toml".to_owned(), text)].into_iter().collect(),
            ) else {
                continue;
            };
            let competition = catalog.list().next().unwrap();
            let submission = files.write("submission.csv", "id,late\na1,1\na2,1\n");
            for cells in [["4242.5", "sec:et"], ["sec:et", ""], ["", "-4242.5"], ["4242.5", "inf"]] {
                let [one, two] = cells;
                let answers = files.write("answers.csv", format!("id,late\na1,{one}\na2,{two}\n"));
                if let Err(error) = grade(competition, &submission, &answers) {
                    let shown = format!("{error} {error:?}");
                    assert!(!shown.contains("4242") && !shown.contains("sec:et"), "{metric}: {shown}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn knows_a_copy_of_the_sample() {
    let competition = competition(&toml("roc_auc", "higher", "probability", &["late"], ""));
    let files = Files::new();
    let answers = files.write("answers.csv", ANSWERS);
    let sample = files.write("sample.csv", "id,late\na1,0.5\na2,0.5\na3,0.5\n");
    let copies = |submission: &str| {
        let submission = files.write("submission.csv", submission);
        match validate(&competition, &submission, &answers, Some(&sample)).unwrap() {
            Verdict::Valid { sha256, copies_sample } => (copies_sample, sha256.as_str().len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(copies("late,id\n.50,a3\n0.5,a1\n5e-1,a2\n"), (true, 64));
    assert_eq!(copies("id,late\na1,0.5\na2,0.5\na3,0.51\n"), (false, 64));
}
