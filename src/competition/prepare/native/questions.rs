//! tensorflow2-question-answering: lines are parted a thousand at a time, each thousand on its own, so that the 17 GB are
//! streamed.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::{Frame, texts};
use crate::prepare::json::{Json, pandas_line, parse};
use crate::prepare::native::categories::{label, member};
use crate::prepare::parts::rows;
use crate::prepare::split::{Size, train_test_split};

const LINES: usize = 1000;
const FILE: &str = "simplified-nq-train.jsonl";
const SHOWN: [&str; 4] = ["example_id", "question_text", "document_text", "long_answer_candidates"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let path = bench.find(FILE)?;
    let mut input = BufReader::new(File::open(&path).map_err(PrepareError::io("open", &path))?);
    let mut outputs = Outputs {
        train: bench.create(&format!("public/{FILE}"))?,
        answers: bench.create("private/test.jsonl")?,
        shown: bench.create("public/simplified-nq-test.jsonl")?,
        ids: Vec::new(),
        gold: Vec::new(),
    };
    loop {
        let mut chunk = Vec::new();
        let mut line = Vec::new();
        while chunk.len() < LINES
            && input.read_until(b'\n', &mut line).map_err(PrepareError::io("read", &path))? > 0
        {
            if !line.trim_ascii().is_empty() {
                let parsed =
                    parse(&line).map_err(|source| PrepareError::Json { file: FILE.to_owned(), source });
                chunk.push(parsed?);
            }
            line.clear();
        }
        if chunk.is_empty() {
            break;
        }
        outputs.take(&mut chunk).map_err(|error| match error {
            Fault::Unfit(error) => error,
            Fault::Write(error) => PrepareError::io("write", &path)(error),
        })?;
    }
    for output in [&mut outputs.train, &mut outputs.answers, &mut outputs.shown] {
        output.flush().map_err(PrepareError::io("write", &path))?;
    }
    let frame = Frame::default().with_texts("example_id", &outputs.ids);
    let gold = outputs.gold.iter().map(Option::as_deref);
    bench.write("private/gold_submission.csv", &frame.clone().with("PredictionString", texts(gold)))?;
    bench.write("public/sample_submission.csv", &frame.with_same("PredictionString", MixedCell::Missing))
}

struct Outputs {
    train: BufWriter<File>,
    answers: BufWriter<File>,
    shown: BufWriter<File>,
    ids: Vec<String>,
    gold: Vec<Option<String>>,
}

enum Fault {
    Unfit(PrepareError),
    Write(std::io::Error),
}

impl From<PrepareError> for Fault {
    fn from(error: PrepareError) -> Self {
        Self::Unfit(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Write(error)
    }
}

impl Outputs {
    fn take(&mut self, chunk: &mut [Json]) -> Result<(), Fault> {
        // Columns stand in the order of the first record of the chunk.
        let columns: Vec<Box<[u8]>> = chunk
            .first()
            .map(|first| first.members().iter().map(|(key, _)| key.clone()).collect())
            .unwrap_or_default();
        for record in chunk.iter_mut() {
            let id = label(record, "example_id")?;
            record.set("example_id", Json::text(&id));
            *record = ordered(record, &columns);
        }
        let parts = train_test_split(rows(chunk), Size::Test(0.1), 0);
        for record in parts.train.iter().filter_map(|place| chunk.get(*place as usize)) {
            writeln!(self.train, "{}", pandas_line(record))?;
        }
        let shown: [Box<[u8]>; 4] = SHOWN.map(|name| name.as_bytes().into());
        for record in parts.test.iter().filter_map(|place| chunk.get(*place as usize)) {
            writeln!(self.answers, "{}", pandas_line(record))?;
            writeln!(self.shown, "{}", pandas_line(&ordered(record, &shown)))?;
            self.answer(record)?;
        }
        Ok(())
    }

    /// What the gold submission says of a question: its short and its long answer.
    fn answer(&mut self, record: &Json) -> Result<(), Fault> {
        let annotations = member(record, "annotations")?.items();
        let [annotation] = annotations else {
            return Err(PrepareError::unfit("a question has not one annotation").into());
        };
        let span = |answer: &Json| -> Result<(String, String), PrepareError> {
            Ok((label(answer, "start_token")?, label(answer, "end_token")?))
        };
        let yes_no = label(annotation, "yes_no_answer")?;
        let first = member(annotation, "short_answers")?.items().first().map(span).transpose()?;
        let short =
            if yes_no == "NONE" { first.map(|(start, end)| format!("{start}:{end}")) } else { Some(yes_no) };
        let (start, end) = span(member(annotation, "long_answer")?)?;
        let long = if start == "-1" { None } else { Some(format!("{start}:{end}")) };
        let id = label(record, "example_id")?;
        self.ids.extend([format!("{id}_short"), format!("{id}_long")]);
        self.gold.extend([short, long]);
        demand(!id.is_empty(), || "a question has no id".to_owned())?;
        Ok(())
    }
}

/// A record with these columns in this order; one that it lacks is null.
fn ordered(record: &Json, columns: &[Box<[u8]>]) -> Json {
    let value = |key: &[u8]| {
        let found = record.members().iter().find(|(known, _)| **known == *key);
        found.map_or(Json::Null, |(_, value)| value.clone())
    };
    Json::Object(columns.iter().map(|key| (key.clone(), value(key))).collect())
}
