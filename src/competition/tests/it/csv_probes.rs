//! The reader against what pandas made of small files.

use podium_competition::csv::{Cell, Column, ReadOptions, read, read_text};
use proptest::prelude::*;
use serde_json::Value;

fn probes(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn same(cell: Cell<'_>, expected: &Value) -> bool {
    match (cell, expected) {
        (Cell::Missing, Value::Null) => true,
        (Cell::Boolean(value), Value::Bool(expected)) => value == *expected,
        (Cell::Integer(value), Value::Number(expected)) => expected.as_i64() == Some(value),
        (Cell::Unsigned(value), Value::Number(expected)) => expected.as_u64() == Some(value),
        (Cell::Float(value), Value::Number(expected)) => {
            expected.as_f64().is_some_and(|expected| expected.to_bits() == value.to_bits())
        }
        (Cell::Float(value), Value::String(expected)) => match expected.as_str() {
            "inf" => value == f64::INFINITY,
            "-inf" => value == f64::NEG_INFINITY,
            "nan" => value.is_nan(),
            _ => false,
        },
        (Cell::Text(text), Value::String(expected)) => text == expected,
        _ => false,
    }
}

fn check(probe: &Value) -> Result<(), String> {
    let csv = probe["csv"].as_str().unwrap();
    let table = match (read_text(csv, &ReadOptions::default()), probe["ok"].as_bool().unwrap()) {
        (Ok(table), true) => table,
        (Err(_), false) => return Ok(()),
        (Ok(_), false) => return Err("read what pandas refuses".into()),
        (Err(error), true) => return Err(format!("refused: {error}")),
    };
    let expected = probe["columns"].as_array().unwrap();
    let names: Vec<&str> = expected.iter().map(|column| column["name"].as_str().unwrap()).collect();
    if table.names != names {
        return Err(format!("names {:?}, not {names:?}", table.names));
    }
    for (column, expected) in table.columns().map(|(_, column)| column).zip(expected) {
        let values = expected["values"].as_array().unwrap();
        let equal = column.dtype() == expected["dtype"]
            && column.len() == values.len()
            && column.cells().zip(values).all(|(cell, value)| same(cell, value));
        if !equal {
            return Err(format!("{column:?}, not {expected}"));
        }
    }
    check_labels(&table.row_labels, table.rows, probe["row_labels"].as_array().unwrap())
}

fn check_labels(labels: &[Column], rows: usize, expected: &[Value]) -> Result<(), String> {
    let equal = rows == expected.len()
        && expected.iter().enumerate().all(|(row, expected)| match (labels, expected) {
            ([], expected) => expected.as_u64() == Some(row as u64),
            ([label], expected) => same(label.cell(row), expected),
            (labels, Value::Array(expected)) => {
                labels.iter().zip(expected).all(|(label, expected)| same(label.cell(row), expected))
            }
            _ => false,
        });
    if equal { Ok(()) } else { Err(format!("row labels {labels:?}, not {expected:?}")) }
}

fn check_all(text: &str, least: usize) {
    let probes = probes(text);
    assert!(probes.len() >= least, "{} probes", probes.len());
    let failures: Vec<String> = probes
        .iter()
        .filter_map(|probe| check(probe).err().map(|why| format!("{}: {why}", probe["csv"])))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), probes.len(), failures.join("\n"));
}

#[test]
fn reads_the_official_probes_as_pandas_does() {
    check_all(include_str!("fixtures/csv_reader_probes.json"), 109);
}

#[test]
fn reads_further_probes_as_pandas_does() {
    check_all(include_str!("fixtures/csv_more_probes.json"), 60);
}

/// Blocks of 262,144 rows of two columns are typed apart.
#[test]
fn a_late_text_leaves_numbers_in_earlier_blocks() {
    let mut csv = String::from("id,p\n");
    for row in 0..262_145 {
        csv.push_str(&format!("{row},{}\n", if row == 262_144 { "x" } else { "1" }));
    }
    let table = read_text(&csv, &ReadOptions::default()).unwrap();
    let column = table.column("p").unwrap();
    assert_eq!(column.dtype(), "object");
    assert_eq!((column.cell(0), column.cell(262_144)), (Cell::Integer(1), Cell::Text("x")));

    let csv = csv.replace(",x\n", ",0.5\n");
    let table = read_text(&csv, &ReadOptions::default()).unwrap();
    assert_eq!(table.column("p").unwrap().dtype(), "float64");
}

#[test]
fn says_where_a_file_breaks() {
    let message = |bytes: &[u8]| read(bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(message(b"a,b\n1,2\n\n1,2,3\n"), "data row 2 (line 4) has 3 cells where 2 are expected");
    assert_eq!(message(b"a,b\n1,2\n1,\"2\n"), "a quote that opens on line 3 is never closed");
    assert_eq!(message(b"a\n\xff\n"), "not UTF-8 text: the byte at position 2 fits no character");
    assert_eq!(
        message("a\n\u{e9}".as_bytes().split_last().unwrap().1),
        "not UTF-8 text: the byte at position 2 fits no character"
    );
    let options = ReadOptions { max_rows: Some(1), ..ReadOptions::default() };
    assert_eq!(read_text("a\n1\n2\n", &options).unwrap_err().to_string(), "more than 1 data rows");
}

#[test]
fn keeps_what_is_asked_for() {
    let options =
        ReadOptions { keep: Some(vec!["a".into()]), as_text: vec!["c".into()], ..ReadOptions::default() };
    let table = read_text("a,b,c\n1,2,NA\n3,4\n", &options).unwrap();
    assert_eq!(table.names, ["a", "b", "c"]);
    assert_eq!(table.column("a"), Some(&Column::Integer(vec![1, 3])));
    assert_eq!(table.column("b"), None);
    let texts: Vec<Cell<'_>> = table.column("c").unwrap().cells().collect();
    assert_eq!(texts, [Cell::Text("NA"), Cell::Text("")]);
}

/// A reader that hands out a few bytes at a time, so that pieces end anywhere.
struct Trickle<'a>(&'a [u8], usize);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(bytes.as_slice(), &ReadOptions::default());
    }

    #[test]
    fn no_csv_like_text_makes_it_panic(text in "[a1,\"\r\n \tNA.e+\u{0}\u{e9}-]{0,200}") {
        let _ = read_text(&text, &ReadOptions::default());
    }

    #[test]
    fn the_size_of_pieces_does_not_matter(text in "[a1,\"\r\n \t\u{e9}\u{1f600}]{0,80}", size in 1usize..7) {
        let whole = read_text(&text, &ReadOptions::default());
        let pieces = read(Trickle(text.as_bytes(), size), &ReadOptions::default());
        prop_assert_eq!(format!("{:?}", whole.map_err(|error| error.to_string())),
            format!("{:?}", pieces.map_err(|error| error.to_string())));
    }

    #[test]
    fn quoted_cells_come_back(cells in proptest::collection::vec("[a-z,\"\r\n ]{1,8}[b-d]", 1..20)) {
        let mut csv = String::from("x,t\n");
        for cell in &cells {
            csv.push_str(&format!("0,\"{}\"\n", cell.replace('"', "\"\"")));
        }
        let table = read_text(&csv, &ReadOptions::default()).unwrap();
        let read: Vec<String> = table.column("t").unwrap().cells().map(|cell| cell.to_string()).collect();
        prop_assert_eq!(read, cells);
    }
}
