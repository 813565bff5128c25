//! plant-seedlings-classification: the table comes from the folders, one a species.

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::rows_parted;
use crate::prepare::python_text::has_end;
use crate::prepare::split::Size;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (mut files, mut species) = (Vec::new(), Vec::new());
    for kind in bench.names("train")? {
        let folder = format!("train/{kind}");
        if !bench.is_folder(&folder) {
            continue;
        }
        let images = bench.names(&folder)?.into_iter().filter(|name| has_end(name, ".png"));
        for file in images {
            files.push(file);
            species.push(kind.clone());
        }
    }
    let frame = Frame::default().with_texts("file", files).with_texts("species", species);
    let (train, test) = rows_parted(&frame, Size::Test(0.14), 0);
    bench.write("private/answers.csv", &test)?;
    bench.write("public/sample_submission.csv", &test.clone().with_text("species", "Sugar beet"))?;
    let images = |part: &Frame| -> Result<Vec<(String, String)>, PrepareError> {
        Ok(part.column("species")?.texts().into_iter().zip(part.column("file")?.texts()).collect())
    };
    bench.copy_each(images(&train)?.into_iter().map(|(species, file)| {
        let path = format!("train/{species}/{file}");
        (path.clone(), format!("public/{path}"))
    }))?;
    bench.copy_each(
        images(&test)?
            .into_iter()
            .map(|(species, file)| (format!("train/{species}/{file}"), format!("public/test/{file}"))),
    )
}
