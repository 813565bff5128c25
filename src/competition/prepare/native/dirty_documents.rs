//! denoising-dirty-documents: pages are parted; the answers are the grey values of the clean ones, pixel by pixel.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use png::{ColorType, Transformations};

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::number_text::shortest;
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train.zip", "")?;
    bench.unpack("train_cleaned.zip", "")?;
    let images: Vec<String> =
        bench.names("train")?.into_iter().filter(|name| has_end(name, ".png")).collect();
    let parts = train_test_split(rows(&images), Size::Test(0.2), 0);
    let mut test = at(&images, &parts.test);
    test.sort();
    // What else is in the archives is published too.
    for (folder, moved) in [("train", true), ("train_cleaned", false)] {
        bench.folder(&format!("public/{folder}"))?;
        for name in bench.names(folder)? {
            let from = format!("{folder}/{name}");
            match test.binary_search(&name) {
                Err(_) => bench.copy(&from, &format!("public/{from}"))?,
                Ok(_) if moved => bench.copy(&from, &format!("public/test/{name}"))?,
                Ok(_) => {}
            }
        }
    }
    let values: Vec<String> = (0..=255u8).map(|grey| shortest(f64::from(grey) / 255.0)).collect();
    let mut answers = bench.create("private/answers.csv")?;
    let mut sample = bench.create("public/sampleSubmission.csv")?;
    let place = std::path::Path::new("answers.csv");
    let write = |output: &mut BufWriter<File>, text: &str| {
        output.write_all(text.as_bytes()).map_err(PrepareError::io("write", place))
    };
    write(&mut answers, "id,value\n")?;
    write(&mut sample, "id,value\n")?;
    let mut columns: Vec<String> = Vec::new();
    for name in &test {
        let (width, greys) = grey_image(&bench.find(&format!("train_cleaned/{name}"))?)?;
        let stem = name.strip_suffix(".png").unwrap_or(name);
        while columns.len() < width {
            columns.push((columns.len() + 1).to_string());
        }
        for (row, line) in greys.chunks(width.max(1)).enumerate() {
            let (mut truth, mut guess) = (String::new(), String::new());
            let begin = format!("{stem}_{}_", row + 1);
            for (grey, column) in line.iter().zip(&columns) {
                let value = values.get(usize::from(*grey)).map(String::as_str).unwrap_or_default();
                truth.extend([begin.as_str(), column, ",", value, "\n"]);
                guess.extend([begin.as_str(), column, ",1\n"]);
            }
            write(&mut answers, &truth)?;
            write(&mut sample, &guess)?;
        }
    }
    for mut output in [answers, sample] {
        output.flush().map_err(PrepareError::io("write", place))?;
    }
    Ok(())
}

/// Width and 8-bit grey values of a PNG, as Pillow converts to grey: transparency is dropped, colours are weighed with
/// the factors of ITU-R 601-2 in 16-bit arithmetic.
fn grey_image(path: &Path) -> Result<(usize, Vec<u8>), PrepareError> {
    let bad = |error: png::DecodingError| PrepareError::unfit(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(PrepareError::io("open", path))?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(bad)?;
    let size = reader.output_buffer_size();
    let size = size.ok_or_else(|| PrepareError::unfit(format!("{} is too large", path.display())))?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(bad)?;
    pixels.truncate(frame.buffer_size());
    let weigh = |red: u8, green: u8, blue: u8| {
        let sum = 19_595 * u32::from(red) + 38_470 * u32::from(green) + 7_471 * u32::from(blue) + 0x8000;
        u8::try_from(sum >> 16).unwrap_or(u8::MAX)
    };
    let greys = match frame.color_type {
        ColorType::Grayscale => pixels,
        ColorType::GrayscaleAlpha => pixels.as_chunks::<2>().0.iter().map(|[grey, _]| *grey).collect(),
        ColorType::Rgb => pixels.as_chunks::<3>().0.iter().map(|[r, g, b]| weigh(*r, *g, *b)).collect(),
        ColorType::Rgba => pixels.as_chunks::<4>().0.iter().map(|[r, g, b, _]| weigh(*r, *g, *b)).collect(),
        ColorType::Indexed => {
            return Err(PrepareError::unfit(format!("{} keeps its palette", path.display())));
        }
    };
    Ok((frame.width as usize, greys))
}
