//! Graders against scores that scikit-learn gave (see vectors.py).

use crate::common::{Files, competition, toml};
use podium_competition::{Outcome, grade, validate};
use serde_json::Value;

#[test]
fn graders_agree_with_scikit_learn() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("fixtures/vectors.json")).unwrap();
    assert!(cases.len() >= 100);
    let files = Files::new();
    for case in &cases {
        let text = |key: &str| case[key].as_str().unwrap();
        let list = |key: &str| -> Vec<&str> {
            case[key].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect()
        };
        let options: Vec<String> = case["options"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let lower = ["log_loss", "rmse", "mae", "rmsle", "mape", "mean_poisson_deviance", "mean_levenshtein"];
        let direction = if lower.contains(&text("metric")) { "lower" } else { "higher" };
        let mut toml = toml(text("metric"), direction, text("value"), &list("columns"), &options.join("\n"));
        if !case["truth_columns"].is_null() {
            toml = toml.replace("{ANSWERS}", &format!("columns = {:?}", list("truth_columns")));
        }
        let competition = competition(&toml);
        let answers = files.write("answers.csv", text("answers"));
        let submission = files.write("submission.csv", text("submission"));
        let Outcome::Scored { raw_score, .. } = grade(&competition, &submission, &answers).unwrap().outcome
        else {
            panic!("{case}");
        };
        let same = match &case["score"] {
            Value::String(_) => raw_score.is_nan(),
            score => {
                let score = score.as_f64().unwrap();
                (raw_score - score).abs() <= 1e-12 * score.abs().max(1e-3)
            }
        };
        assert!(same, "{raw_score}, not {}: {case}", case["score"]);
        assert!(validate(&competition, &submission, &answers, None).unwrap().is_valid());
    }
    println!("{} vectors", cases.len());
}
