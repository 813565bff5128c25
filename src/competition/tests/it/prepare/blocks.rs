//! The building blocks against vectors from numpy, pandas, scikit-learn and Python themselves.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use podium_competition::csv::{Column, Decimals, ReadOptions, read_text};
use podium_competition::prepare::frame::Frame;
use podium_competition::prepare::json::{Json, Layout, pandas_line, pandas_number, parse, python_json};
use podium_competition::prepare::number_text::{FloatStyle, push_float, shortest, shortest32};
use podium_competition::prepare::random::{Pcg64, PythonRandom, RandomState};
use podium_competition::prepare::split::{Parts, Size, sample, train_test_split};
use podium_competition::prepare::writer::{Style, to_text};
use serde_json::Value;

use super::cases::{digest, oracle};

fn vectors() -> BTreeMap<String, Vec<u8>> {
    let file = File::open(oracle().join("blocks.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let mut found = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), bytes);
    }
    found
}

fn document(vectors: &BTreeMap<String, Vec<u8>>, name: &str) -> Value {
    serde_json::from_slice(&vectors[name]).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn integers(value: &Value) -> Vec<i64> {
    list(value).iter().map(|number| number.as_i64().unwrap()).collect()
}

fn wide(values: &[u32]) -> Vec<i64> {
    values.iter().map(|value| i64::from(*value)).collect()
}

fn count(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn comma_joined(values: &[u32]) -> String {
    values.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn numpy_s_first_generator_is_met() {
    let vectors = vectors();
    let mut checked = 0;
    for case in list(&document(&vectors, "blocks/random_state.json")["cases"]) {
        let seed = count(&case["seed"]);
        let call = case["call"].as_str().unwrap();
        // The longest show nothing that the others do not.
        if case["n"].as_u64().is_some_and(|length| length > 200_000) {
            continue;
        }
        let mut random = RandomState::new(seed);
        let numbers: Vec<u32> =
            call.split(|byte: char| !byte.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        let drawn: Vec<u32> = if call.starts_with("first") {
            (0..8).map(|_| random.word()).collect()
        } else if call.starts_with("random_sample") {
            for value in list(&case["values"]) {
                assert_eq!(shortest(random.uniform()), value.as_str().unwrap());
            }
            continue;
        } else if call.contains("three times") {
            for values in list(&case["values"]) {
                assert_eq!(wide(&random.permutation(10)), integers(values));
            }
            continue;
        } else if call.starts_with("permutation") {
            random.permutation(numbers[0])
        } else if call.starts_with("choice") {
            sample(numbers[0], numbers[1], seed)
        } else {
            let mut letters: Vec<char> = ('a'..='j').collect();
            random.shuffle(&mut letters);
            let letters: Vec<String> = letters.iter().map(char::to_string).collect();
            assert_eq!(Value::from(letters), case["values"]);
            continue;
        };
        if let Some(values) = case["values"].as_array() {
            assert_eq!(wide(&drawn[..values.len()]), integers(&case["values"]), "{call}");
        }
        if let Some(sum) = case["sha256_of_comma_joined"].as_str() {
            assert_eq!(digest(comma_joined(&drawn).as_bytes()), sum, "{call}");
        }
        checked += 1;
    }
    assert!(checked > 100);
}

#[test]
fn streams_of_one_generator_are_those_of_numpy_and_python() {
    let vectors = vectors();
    let first = document(&vectors, "blocks1.json");
    for case in list(&first["numpy_legacy_permutation"]) {
        let drawn = RandomState::new(count(&case["seed"])).permutation(count(&case["n"]));
        assert_eq!(wide(&drawn), integers(&case["values"]));
    }
    let mut random = RandomState::new(0);
    for call in list(&first["numpy_legacy_mixed_stream_seed0"]["calls"]) {
        match call["randint"].as_array() {
            Some(bounds) => {
                let [low, high] = [bounds[0].as_i64().unwrap(), bounds[1].as_i64().unwrap()];
                assert_eq!(random.randint(low, high), call["value"].as_i64().unwrap());
            }
            None => assert_eq!(random.uniform(), call["uniform"].as_f64().unwrap()),
        }
    }
    let mut random = RandomState::new(0);
    for value in integers(&first["numpy_legacy_randint_0_676_seed0"]) {
        assert_eq!(random.randint(0, 676), value);
    }
    for case in list(&first["python_random"]) {
        let mut order: Vec<i64> = (0..25).collect();
        let seed = count(&case["seed"]);
        PythonRandom::new(seed).shuffle(&mut order);
        assert_eq!(order, integers(&case["shuffle_25"]), "seed {seed}");
        let mut random = PythonRandom::new(seed);
        for value in integers(&case["randint_0_1009"]) {
            assert_eq!(i64::from(random.randint(0, 1009)), value);
        }
        let mut random = PythonRandom::new(seed);
        for letter in case["choice_abc"].as_str().unwrap().bytes() {
            assert_eq!(b"abc"[random.below(3) as usize], letter);
        }
    }
    let second = document(&vectors, "blocks2/generators.json");
    for case in list(&second["random.Random(0): successive sample(range(n), k)"])
        .iter()
        .scan(PythonRandom::new(0), |random, case| {
            Some((case, random.sample(count(&case["n"]), count(&case["k"]))))
        })
    {
        assert_eq!(wide(&case.1), integers(&case.0["sample"]));
    }
    let mut random = Pcg64::new(0);
    for word in list(&second["default_rng(0) first uint64"]) {
        assert_eq!(random.word().to_string(), word.as_str().unwrap());
    }
    let mut random = Pcg64::new(0);
    for text in list(&second["default_rng(0).uniform(1,100,n).round(2) text"]) {
        let value = (random.uniform(1.0, 100.0) * 100.0).round_ties_even() / 100.0;
        assert_eq!(shortest(value), text.as_str().unwrap());
    }
}

fn size(case: &Value) -> Size {
    match (&case["test_size"], &case["train_size"]) {
        (Value::Number(test), Value::Number(train)) => {
            let rows = |number: &serde_json::Number| u32::try_from(number.as_u64().unwrap()).unwrap();
            Size::Both { train: rows(train), test: rows(test) }
        }
        (Value::Null, train) => Size::Train(train.as_f64().unwrap()),
        (test, _) if test.is_u64() => Size::TestRows(count(test)),
        (test, _) => Size::Test(test.as_f64().unwrap()),
    }
}

#[test]
fn splits_are_those_of_scikit_learn() {
    let vectors = vectors();
    let mut checked = 0;
    let files = ["blocks/train_test_split.json", "blocks2/splits.json", "blocks1.json"];
    for (name, key) in files.iter().zip(["cases", "train_test_split", "train_test_split"]) {
        for case in list(&document(&vectors, name)[key]) {
            // The longest show nothing that the others do not.
            if count(&case["n"]) > 200_000 {
                continue;
            }
            let seed = case["seed"].as_u64().or(case["random_state"].as_u64()).unwrap_or(0);
            let Parts { train, test } =
                train_test_split(count(&case["n"]), size(case), u32::try_from(seed).unwrap());
            for (part, name) in [(&train, "train"), (&test, "test")] {
                if let Some(length) = case[format!("n_{name}")].as_u64() {
                    assert_eq!(part.len() as u64, length, "{case}");
                }
                if case[name].is_array() {
                    assert_eq!(wide(part), integers(&case[name]), "{case}");
                }
                for sum in [&case[format!("sha256_{name}")], &case[format!("{name}_sha256")]] {
                    if let Some(sum) = sum.as_str() {
                        assert_eq!(digest(comma_joined(part).as_bytes()), sum, "{name} {case}");
                    }
                }
            }
            checked += 1;
        }
    }
    for case in list(&document(&vectors, "blocks2/splits.json")["sizes"]) {
        assert_eq!(size(case).rows(count(&case["n"])).1, count(&case["n_test"]), "{case}");
    }
    assert!(checked > 60, "{checked}");
}

fn written(text: &str, options: &ReadOptions, style: Style) -> String {
    to_text(&Frame::from(read_text(text, options).unwrap()), style)
}

#[test]
fn tables_are_written_as_pandas_writes_them() {
    let vectors = vectors();
    let options = ReadOptions::default();
    let quoted = Style { quote_texts: true, ..Style::default() };
    let mut faults = Vec::new();
    let mut compare = |what: &str, found: String, expected: &Value| {
        if found != expected.as_str().unwrap() {
            faults.push(format!("{what}: {found:?}, not {expected}"));
        }
    };
    for case in list(&document(&vectors, "blocks/csv_roundtrip.json")["cases"]) {
        let (name, text) = (case["name"].as_str().unwrap(), case["input"].as_str().unwrap());
        let delimiter = case["sep"].as_str().map_or(b',', |sep| sep.as_bytes()[0]);
        let options = ReadOptions { delimiter, ..ReadOptions::default() };
        if case["error"].is_string() {
            assert!(read_text(text, &options).is_err(), "{name}");
            continue;
        }
        let (plain, quoted) = (Style { delimiter, ..Style::default() }, Style { delimiter, ..quoted });
        compare(name, written(text, &options, plain), &case["minimal"]);
        compare(name, written(text, &options, quoted), &case["nonnumeric"]);
    }
    for case in list(&document(&vectors, "blocks2/csv_roundtrip.json")) {
        let (name, text) = (case["probe"].as_str().unwrap(), case["input"].as_str().unwrap());
        compare(name, written(text, &options, Style::default()), &case["written"]);
    }
    for case in list(&document(&vectors, "blocks1.json")["read_csv_round_trip_then_to_csv"]) {
        let cells: Vec<&str> = list(&case["cells"]).iter().map(|cell| cell.as_str().unwrap()).collect();
        let text =
            format!("c,z\n{}", cells.iter().map(|cell| format!("{},q\n", quote(cell))).collect::<String>());
        let expected: String = list(&case["written"])
            .iter()
            .map(|cell| format!("{},q\n", quote(cell.as_str().unwrap())))
            .collect();
        compare(
            "cells",
            written(&text, &options, Style::default()),
            &Value::from(format!("c,z\n{expected}")),
        );
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}

fn quote(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[test]
fn long_tables_are_typed_in_blocks() {
    let vectors = vectors();
    let mut text = String::new();
    GzDecoder::new(vectors["blocks2/chunked_in.csv.gz"].as_slice()).read_to_string(&mut text).unwrap();
    let mut expected = String::new();
    GzDecoder::new(vectors["blocks2/chunked_out.csv.gz"].as_slice()).read_to_string(&mut expected).unwrap();
    let found = written(&text, &ReadOptions::default(), Style::default());
    for (row, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        for (column, (found, expected)) in found.split(',').zip(expected.split(',')).enumerate() {
            assert_eq!(found, expected, "row {row}, column {column}");
        }
    }
    assert!(found == expected);
    // Of the other vectors those with booleans; what ends a block and what becomes of numbers shows above.
    for case in list(&document(&vectors, "blocks/chunked_inference.json")["cases"]) {
        let (columns, rows, first) =
            (count(&case["columns"]), count(&case["rows"]), count(&case["first_rows"]));
        if columns != 5 || !case["first_value"].as_str().unwrap().eq_ignore_ascii_case("true") {
            continue;
        }
        let mut text = "a".to_owned();
        (1..columns).for_each(|column| text.push_str(&format!(",c{column}")));
        let line =
            |value: &Value| format!("\n{}{}", value.as_str().unwrap(), ",1".repeat(columns as usize - 1));
        text.push_str(&line(&case["first_value"]).repeat(first as usize));
        text.push_str(&line(&case["later_value"]).repeat((rows - first) as usize));
        let options = ReadOptions { keep: Some(vec!["a".to_owned()]), ..ReadOptions::default() };
        let found = written(&text, &options, Style::default());
        let mut expected = "a\n".to_owned();
        for run in list(&case["written"]) {
            let value = run["value"].as_str().unwrap();
            expected.push_str(&format!("{value}\n").repeat(count(&run["rows"]) as usize));
        }
        assert!(found == expected, "{case}: {}", found.lines().nth(1).unwrap());
    }
}

fn double(column: Option<&Column>) -> Option<u64> {
    match column {
        Some(Column::Float(values)) => values.first().map(|value| value.to_bits()),
        _ => None,
    }
}

fn bits(value: &str) -> Option<u64> {
    u64::from_str_radix(value, 16).ok()
}

#[test]
fn decimals_are_read_and_written_as_pandas_and_python_do() {
    let vectors = vectors();
    let quick = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
    let parsed = |text: &str, options: &ReadOptions| {
        // The second row makes a column of doubles of every number.
        double(read_text(&format!("a,b\n{text},x\n0.5,x\n"), options).unwrap().column("a"))
    };
    for case in list(&document(&vectors, "blocks/floats.json")["cases"]) {
        let text = case["text"].as_str().unwrap();
        if is_long_integer(text) {
            continue;
        }
        for (options, key) in [(&ReadOptions::default(), "round_trip_bits"), (&quick, "default_bits")] {
            assert_eq!(parsed(text, options), case[key].as_str().and_then(bits), "{key} of {text}");
        }
    }
    let table =
        read_text(std::str::from_utf8(&vectors["blocks2/float_parse.csv"]).unwrap(), &texts()).unwrap();
    let column = |name: &str| Frame::from(table.clone()).column(name).unwrap().texts();
    let cases = column("text")
        .into_iter()
        .zip(column("read_csv_default_bits"))
        .zip(column("read_csv_round_trip_bits"))
        .zip(column("read_json_bits"));
    for (((text, default), exact), json) in cases {
        if !is_long_integer(&text) {
            assert_eq!(
                parsed(&text, &quick),
                inferred(&text, &default, &[f64::INFINITY, f64::NEG_INFINITY]),
                "{text}"
            );
            assert_eq!(
                parsed(&text, &ReadOptions::default()),
                inferred(&text, &exact, &[f64::INFINITY]),
                "{text}"
            );
        }
        if let (Some(expected), Ok(Json::Number(spelled))) = (bits(&json), parse(text.as_bytes()))
            && let Some(value) = pandas_number(&spelled)
        {
            assert_eq!(value.to_bits(), expected, "{text}");
        }
    }
    let table =
        read_text(std::str::from_utf8(&vectors["blocks2/float_format.csv"]).unwrap(), &texts()).unwrap();
    let frame = Frame::from(table);
    let column = |name: &str| frame.column(name).unwrap().texts();
    let styles = [
        ("to_csv_repr", FloatStyle::Shortest),
        ("to_csv_%.10g", FloatStyle::General),
        ("to_csv_%.10f", FloatStyle::Fixed),
    ];
    for (name, style) in styles {
        for (value, expected) in column("bits").iter().zip(column(name)) {
            let mut text = String::new();
            push_float(&mut text, f64::from_bits(bits(value).unwrap()), style);
            assert_eq!(text, expected, "{name} of {value}");
        }
    }
    for (value, expected) in column("bits").iter().zip(column("to_json_10")) {
        let spelled = format!("{:e}", f64::from_bits(bits(value).unwrap()));
        // Powers of ten are multiplied on reading, so only what reads back is compared.
        if pandas_number(&spelled).map(f64::to_bits) == bits(value) {
            assert_eq!(pandas_line(&Json::Number(spelled.into())), expected, "{value}");
        }
    }
    let first = document(&vectors, "blocks1.json");
    for case in list(&first["float64_text"]) {
        let value = f64::from_bits(bits(case["bits"].as_str().unwrap()).unwrap());
        // A missing value is left empty by who writes a table, not spelled.
        assert!(value.is_nan() || shortest(value) == case["text"].as_str().unwrap(), "{case}");
    }
    for case in list(&first["float32_text"]) {
        let value = f32::from_bits(u32::from_str_radix(case["bits"].as_str().unwrap(), 16).unwrap());
        assert!(value.is_nan() || shortest32(value) == case["text"].as_str().unwrap(), "{case}");
    }
}

/// The double that is expected of a text in a column whose type is inferred. Digits that pass the largest double make
/// such a column text, though the conversion alone, which these vectors tell, comes to an infinity.
fn inferred(text: &str, expected: &str, overflow: &[f64]) -> Option<u64> {
    let passes = |bits: &u64| overflow.iter().any(|value| value.to_bits() == *bits);
    bits(expected).filter(|bits| !passes(bits) || !text.contains(|c: char| c.is_ascii_digit()))
}

/// A column that begins with an integer beyond 64 bits is text, whatever comes behind it.
fn is_long_integer(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    digits.bytes().take_while(u8::is_ascii_digit).count() > 18
}

fn texts() -> ReadOptions {
    let names = ["text", "read_csv_default_bits", "read_csv_round_trip_bits", "read_json_bits", "bits"];
    let more = ["to_csv_repr", "to_csv_%.10g", "to_csv_%.10f", "to_json_10"];
    let as_text = names.iter().chain(&more).map(|name| (*name).to_owned()).collect();
    ReadOptions { as_text, ..ReadOptions::default() }
}

#[test]
fn documents_are_written_as_python_and_pandas_do() {
    let vectors = vectors();
    for case in list(&document(&vectors, "blocks/json_dump.json")["cases"]) {
        let value = parse(case["input"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(python_json(&value, Layout::Indented), case["indent4"].as_str().unwrap());
        assert_eq!(python_json(&value, Layout::Line), case["plain"].as_str().unwrap());
    }
    // Read by our own parser, since the texts may hold lone surrogates.
    let strings = parse(&vectors["blocks2/strings.json"]).unwrap();
    let mut checked = 0;
    for case in strings.get("encode").unwrap().items() {
        let text = case.get("text").unwrap();
        for (key, found) in [("json_dumps", python_json(text, Layout::Line)), ("ujson", pandas_line(text))] {
            if let Some(expected) = case.get(key).and_then(Json::as_str) {
                assert_eq!(found, expected);
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "{checked}");
    for bad in ["", "[1,]", "{\"a\" 1}", "nul", "[1", "\"\\x\"", "1 2", "\"\n\"", "-", "01x"] {
        assert!(parse(bad.as_bytes()).is_err(), "{bad}");
    }
    assert!(parse("[".repeat(100_000).as_bytes()).is_err());
}
