//! billion-word-imputation: of one sentence in a hundred a word is left out. The text is streamed, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::python_text::{stripped, words};
use crate::prepare::random::RandomState;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train_v2.txt.zip", "")?;
    let path = bench.find("train_v2.txt")?;
    let most = bench.constant("lines")?;
    let mut input = BufReader::new(File::open(&path).map_err(PrepareError::io("open", &path))?);
    let mut train = bench.create("work/packed/train_v2.txt")?;
    let mut shown = bench.create("work/packed/test_v2.txt")?;
    let mut answers = bench.create("private/test.csv")?;
    let put = |output: &mut BufWriter<File>, text: &str| {
        output.write_all(text.as_bytes()).map_err(PrepareError::io("write", &path))
    };
    put(&mut shown, "\"id\",\"sentence\"\n")?;
    put(&mut answers, "\"id\",\"sentence\"\n")?;
    let mut random = RandomState::new(0);
    let (mut count, mut number) = (0, 0);
    let mut lines = Lines::default();
    while count < most && lines.next(&mut input).map_err(PrepareError::io("read", &path))? {
        let line = lines.line()?;
        count += 1;
        let drawn = random.uniform();
        if drawn > 0.01 || words(line).count() <= 2 {
            put(&mut train, line)?;
            continue;
        }
        let sentence = stripped(line).replace('"', "\"\"");
        let mut left: Vec<&str> = words(&sentence).collect();
        let last = i64::try_from(left.len()).unwrap_or(i64::MAX) - 1;
        left.remove(usize::try_from(random.randint(1, last)).unwrap_or_default().min(left.len() - 1));
        put(&mut answers, &format!("{number},\"{sentence}\"\n"))?;
        put(&mut shown, &format!("{number},\"{}\"\n", left.join(" ")))?;
        number += 1;
    }
    for mut output in [train, shown, answers] {
        output.flush().map_err(PrepareError::io("write", &path))?;
    }
    bench.copy("packed/test_v2.txt", "private/sample_submission.csv")?;
    for name in ["train_v2.txt", "test_v2.txt"] {
        let packed = bench.find(&format!("packed/{name}"))?;
        bench.pack(&format!("public/{name}.zip"), Packing::Compressed, [(name.to_owned(), packed)])?;
    }
    Ok(())
}

/// Lines as Python reads them in text mode: LF, CRLF and a lone CR end one, and all become LF.
#[derive(Default)]
struct Lines {
    /// Lines that are read but not given out, the next one last.
    waiting: Vec<Vec<u8>>,
    current: Vec<u8>,
}

impl Lines {
    /// Goes on to the next line; false at the end.
    fn next(&mut self, input: &mut impl BufRead) -> std::io::Result<bool> {
        if self.waiting.is_empty() {
            let mut read = Vec::new();
            if input.read_until(b'\n', &mut read)? == 0 {
                return Ok(false);
            }
            let ended = read.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            let mut lines: Vec<Vec<u8>> =
                ended.unwrap_or(&read).split(|byte| *byte == b'\r').map(<[u8]>::to_vec).collect();
            let last = lines.len() - 1;
            for (place, line) in lines.iter_mut().enumerate() {
                if place < last || ended.is_some() {
                    line.push(b'\n');
                }
            }
            // A CR at the very end of the file ends the last line.
            lines.retain(|line| !line.is_empty());
            lines.reverse();
            self.waiting = lines;
        }
        self.current = self.waiting.pop().unwrap_or_default();
        Ok(true)
    }

    fn line(&self) -> Result<&str, PrepareError> {
        std::str::from_utf8(&self.current).map_err(|_| PrepareError::unfit("train_v2.txt is not UTF-8"))
    }
}
