//! The stand-in's review of an execution. It fills whatever schema it is given, by the names and types of its
//! properties, from what the output says. A metric is copied from the output or is null; it is never made up.

use serde_json::{Map, Value, json};

use super::library::Library;
use super::prompt::{behind_script, failure, validation};

/// What an execution's output says.
struct Verdict {
    bug: Option<String>,
    metric: Option<(String, f64)>,
}

impl Verdict {
    fn read(output: &str) -> Self {
        let found = validation(output);
        let bug = failure(output)
            .map(|line| format!("the execution failed: {line}"))
            .or_else(|| found.is_none().then(|| "no validation score was printed".to_owned()))
            .or_else(|| no_submission(output).then(|| "no valid submission file was written".to_owned()));
        let metric = found.filter(|_| bug.is_none());
        Self { bug, metric }
    }

    fn summary(&self) -> String {
        match (&self.bug, &self.metric) {
            (Some(bug), _) => format!("The script does not work: {bug}."),
            (None, Some((name, value))) => {
                format!("The script ran to its end and reported a validation {name} of {value}.")
            }
            (None, None) => "The script ran to its end.".to_owned(),
        }
    }

    fn lower_is_better(&self) -> Option<bool> {
        const LOWER: [&str; 10] =
            ["loss", "error", "rmse", "rmsle", "mae", "mse", "mape", "deviance", "levenshtein", "distance"];
        let (name, _) = self.metric.as_ref()?;
        let name = name.to_lowercase();
        Some(LOWER.iter().any(|word| name.contains(word)))
    }
}

fn no_submission(output: &str) -> bool {
    const WORDS: [&str; 5] = [
        "no submission file",
        "missing submission",
        "submission file was not",
        "submission.csv not found",
        "format check refused",
    ];
    output.lines().any(|line| WORDS.iter().any(|word| line.to_lowercase().contains(word)))
}

/// The review in the shape of `schema`.
pub(super) fn document(library: &Library, prompt: &str, schema: &Value) -> Value {
    let verdict = Verdict::read(behind_script(library, prompt));
    let properties = schema.get("properties").and_then(Value::as_object);
    let filled = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.clone(), fill(&verdict, name, property)));
    Value::Object(filled.collect::<Map<_, _>>())
}

fn fill(verdict: &Verdict, name: &str, property: &Value) -> Value {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let takes = |kind: &str| takes(property, kind);
    if takes("boolean") {
        return match () {
            () if has(&["bug", "fail", "error", "broken"]) => json!(verdict.bug.is_some()),
            () if has(&["lower", "minimi"]) => verdict
                .lower_is_better()
                .map_or_else(|| if takes("null") { Value::Null } else { json!(false) }, |lower| json!(lower)),
            () if has(&["higher", "maximi"]) => verdict.lower_is_better().map_or_else(
                || if takes("null") { Value::Null } else { json!(false) },
                |lower| json!(!lower),
            ),
            () => json!(verdict.bug.is_none()),
        };
    }
    if takes("number") || takes("integer") {
        // Null even where the schema has no room for it: an unfit document is better than an invented number.
        let asked = has(&["metric", "score", "value", "validation", "result"]);
        return verdict.metric.as_ref().filter(|_| asked).map_or(Value::Null, |(_, value)| json!(value));
    }
    if let Some(first) = property.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    if takes("string") {
        return match &verdict.metric {
            Some((metric, _)) if has(&["metric"]) => json!(metric),
            _ => json!(verdict.summary()),
        };
    }
    match () {
        () if takes("array") => json!([]),
        () if takes("object") => json!({}),
        () => Value::Null,
    }
}

/// Whether a property's schema has room for a value of `kind`, at its top or in an alternative.
fn takes(property: &Value, kind: &str) -> bool {
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| property.get(key)?.as_array()).flatten();
    let named = match property.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    };
    named || alternatives.into_iter().any(|alternative| takes(alternative, kind))
}
