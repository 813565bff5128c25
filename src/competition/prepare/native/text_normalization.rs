//! text-normalization-challenge, English and Russian: sentences are parted and counted anew; texts stand in quotes.

use crate::parallel::both;
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::groups_parted;
use crate::prepare::split::Size;
use crate::prepare::writer::Style;

pub(crate) fn run_english(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    run(bench, "en")
}

pub(crate) fn run_russian(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    run(bench, "ru")
}

fn run(bench: &Workbench<'_>, language: &str) -> Result<(), PrepareError> {
    bench.unpack(&format!("{language}_train.csv.zip"), "")?;
    let frame = bench.read(&format!("{language}_train.csv"))?;
    let parts = groups_parted(&frame, "sentence_id", Size::Test(0.1), 0)?;
    drop(frame);
    let (train, test) = both(|| counted(&parts.0), || counted(&parts.1));
    let (train, test) = (train?, test?);
    drop(parts);
    let style = Style { quote_texts: true, ..Style::default() };
    let (sentences, tokens) = (test.column("sentence_id")?, test.column("token_id")?);
    let with_ids = test.clone().with_spelled("id", |row, id| {
        sentences.spell(row, id);
        id.push('_');
        tokens.spell(row, id);
    });
    bench.write_styled("private/answers.csv", &with_ids.keep(&["id", "after"])?, style)?;
    let sample = with_ids.keep(&["id", "before"])?.rename("before", "after")?;
    bench.write_styled("private/sample_submission.csv", &sample, style)?;
    let shown = test.keep(&["sentence_id", "token_id", "before"])?;
    for (name, frame) in [("train", &train), ("test_2", &shown), ("sample_submission_2", &sample)] {
        let file = format!("{language}_{name}.csv");
        bench.pack_table(&format!("public/{file}.zip"), Packing::Stored, &file, frame, style)?;
    }
    Ok(())
}

/// Sentences counted from 0 in the order in which they first come.
fn counted(part: &Frame) -> Result<Frame, PrepareError> {
    let (numbers, _) = part.group_numbers("sentence_id")?;
    Ok(part.clone().with_integers("sentence_id", numbers.into_iter().map(i64::from)))
}
