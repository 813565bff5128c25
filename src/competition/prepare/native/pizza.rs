//! random-acts-of-pizza: requests are objects of a JSON list; a test request keeps the fields that Kaggle's own have.

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, python_json};
use crate::prepare::native::categories::{label, member};
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

/// The field that gives the outcome away.
const TELLING: &[u8] = b"giver_username_if_known";

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (requests, others) = (bench.json("train.json")?, bench.json("test.json")?);
    let (requests, others) = (requests.items(), others.items());
    let (count, hidden) = (f64::from(rows(requests)), f64::from(rows(others)));
    let told =
        |requests: &[Json]| if bench.is_fixed { without(requests, TELLING) } else { requests.to_vec() };
    let parts = train_test_split(rows(requests), Size::Test(hidden / (count + hidden)), 0);
    let (train, test) = (at(requests, &parts.train), at(requests, &parts.test));
    let fields = others.first().map(Json::members).unwrap_or_default();
    demand(!fields.is_empty(), || "test.json has no request".to_owned())?;
    let shown = shown(&test, fields)?;
    for (name, list) in [("train", Json::List(told(&train))), ("test", Json::List(told(&shown)))] {
        let (file, text) = (format!("{name}.json"), python_json(&list, Layout::Indented));
        bench.write_text(&format!("public/{file}"), &text)?;
        bench.pack_text(&format!("public/{name}.zip"), &file, &text)?;
    }
    let ids = test.iter().map(|request| label(request, "request_id")).collect::<Result<Vec<_>, _>>()?;
    let mut received = Vec::new();
    for request in &test {
        received.push(i64::from(*member(request, "requester_received_pizza")? == Json::Boolean(true)));
    }
    let answers =
        Frame::default().with_texts("request_id", ids).with_integers("requester_received_pizza", received);
    bench.write("private/test.csv", &answers)?;
    let sample = answers.with_same("requester_received_pizza", MixedCell::Integer(0));
    bench.write("public/sampleSubmission.csv", &sample)
}

/// Objects without one field.
fn without(objects: &[Json], field: &[u8]) -> Vec<Json> {
    let one = |object: &Json| {
        let kept = object.members().iter().filter(|(key, _)| **key != *field);
        Json::Object(kept.cloned().collect())
    };
    objects.iter().map(one).collect()
}

/// Objects with these fields only, in this order.
pub(crate) fn shown(objects: &[Json], fields: &[(Box<[u8]>, Json)]) -> Result<Vec<Json>, PrepareError> {
    objects
        .iter()
        .map(|object| {
            let kept = fields.iter().map(|(key, _)| {
                let found = object.members().iter().find(|(known, _)| known == key);
                found.cloned().ok_or_else(|| {
                    PrepareError::unfit(format!("an object has no `{}`", String::from_utf8_lossy(key)))
                })
            });
            kept.collect::<Result<Vec<_>, _>>().map(Json::Object)
        })
        .collect()
}
