//! multi-modal-gesture-recognition: the samples of the last of four training archives are test.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;

use crate::csv::ReadOptions;
use crate::prepare::archive::{Packing, each_file, thin_out};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::python_text::has_end;
use crate::prepare::random::PythonRandom;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut hidden = BTreeSet::new();
    each_file(&bench.find("training4.tar.gz")?, |path, _| {
        let top = path.parent().is_none_or(|parent| parent.as_os_str().is_empty());
        if top && let Some(stem) = path.to_str().and_then(|name| name.strip_suffix(".zip")) {
            hidden.extend(stem.get(stem.len().saturating_sub(4)..).map(str::to_owned));
        }
        Ok(())
    })?;
    let frame = bench.read_with("training.csv", ReadOptions::default(), &["Id", "Sequence"])?;
    let ids = frame.column("Id")?.texts();
    let part =
        |test: bool| frame.filter(|row| ids.get(*row as usize).is_some_and(|id| hidden.contains(id)) == test);
    let test = part(true);
    demand(test.rows() as usize == hidden.len(), || {
        "the samples of test are not each once in training.csv".to_owned()
    })?;
    bench.write("public/training.csv", &part(false))?;
    bench.write("private/test.csv", &test.keep(&["Id", "Sequence"])?)?;
    let asked = Frame::default().with_texts("Id", &hidden);
    bench.write("public/test.csv", &asked)?;
    let mut random = PythonRandom::new(0);
    let guesses: Vec<String> = hidden
        .iter()
        .map(|_| {
            let order = random.sample(20, 20);
            order.iter().map(|gesture| (gesture + 1).to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    bench.write("public/randomPredictions.csv", &asked.with_texts("Sequence", guesses))?;
    if bench.is_fixed {
        without_labels(bench)?;
    } else {
        bench.copy("training4.tar.gz", "public/test.tar.gz")?;
    }
    let mut archives: Vec<String> =
        ["valid_all_files_combined.7z", "sample_code_mmrgc.zip"].map(str::to_owned).into();
    for number in 1..=3 {
        archives.push(format!("training{number}.tar.gz"));
        archives.push(format!("validation{number}.tar.gz"));
    }
    archives.extend(bench_devel(bench)?);
    bench.copy_each(archives.into_iter().map(|name| (name.clone(), format!("public/{name}"))))
}

/// The archive of test without the `.mat` file of each sample, which holds its labels.
fn without_labels(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut files = Vec::new();
    let source = bench.find("training4.tar.gz")?;
    each_file(&source, |path, content| {
        let name = path.to_string_lossy().into_owned();
        if has_end(&name, ".mat") {
            return Ok(());
        }
        let place = bench.place(&format!("work/.fixed/{name}"))?;
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(PrepareError::io("read", &source))?;
        if has_end(&name, ".zip") {
            thin_out(&mut Cursor::new(bytes), &place, |member| !has_end(member, ".mat"))?;
        } else {
            fs::write(&place, bytes).map_err(PrepareError::io("write", &place))?;
        }
        files.push((name, place));
        Ok(())
    })?;
    bench.pack("public/test.tar.gz", Packing::Stored, files)
}

/// The archives devel01 to devel40 that the download has, in whatever groups they come.
fn bench_devel(bench: &Workbench<'_>) -> Result<Vec<String>, PrepareError> {
    let mut names = bench.top()?;
    names.retain(|name| name.starts_with("devel") && has_end(name, ".7z"));
    Ok(names)
}
