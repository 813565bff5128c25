//! The overview an agent is shown.

use crate::common::Files;
use podium_competition::{PreviewOptions, preview, preview_with};
use proptest::prelude::*;

fn folder() -> Files {
    let files = Files::new();
    let mut train = String::from("id,size,colour,late,price\n");
    for row in 0..40 {
        let colour = ["red", "green", "NA"][row % 3];
        train += &format!("r{row},{},{colour},{},{}\n", row * row, row % 4 == 0, row % 5);
    }
    files.write("train.csv", train);
    files.write("sample_submission.csv", "id,late\nx1,0.5\nx2,0.5\n");
    files.write("words.tsv", "word\tcount\nhello, you\t3\n");
    files.write("events.jsonl", "{\"a\": 1, \"tags\": [\"x\"]}\n{\"a\": null, \"b\": {\"c\": 0.5}}\n");
    files.write("lines.json", "{\"a\": 1}\n{\"a\": 2}\n");
    files.write("notes.txt", "Some ``` notes\n");
    files.write("description.md", "# Not repeated\n");
    files.write("blob.bin", [0u8, 255, 1]);
    files.write("latin.csv", b"name\ncaf\xe9\n");
    std::fs::create_dir(files.folder.path().join("images")).unwrap();
    for image in 0..50 {
        files.write(&format!("images/{image:03}.png"), "png");
    }
    files
}

#[test]
fn shows_the_tree_and_the_tables() {
    insta::assert_snapshot!("overview", preview(folder().folder.path(), 6000));
}

#[test]
fn schema_only_shows_no_value() {
    let options = PreviewOptions { max_chars: 6000, schema_only: true };
    let text = preview_with(folder().folder.path(), options);
    insta::assert_snapshot!("schema", text);
    assert!(!text.contains("green") && !text.contains("notes\n"));
}

#[test]
fn never_exceeds_its_limit() {
    let files = folder();
    for limit in [0, 1, 50, 200, 700, 1500] {
        let text = preview(files.folder.path(), limit);
        assert!(text.chars().count() <= limit, "{limit}: {text}");
    }
    assert!(preview(files.folder.path(), 200).ends_with(" cut at 200)\n"));
}

#[test]
fn reading_is_bounded() {
    let files = Files::new();
    let path = files.write("big.csv", "id,x\n");
    std::fs::File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
    files.write("wide.csv", "a,".repeat(100_000) + "a\n");
    let row = "1,\"open quote\nstill open\",3\n";
    files.write("long.csv", "a,b,c\n".to_owned() + &row.repeat(100_000));
    let text = preview(files.folder.path(), 4000);
    assert!(
        text.contains("big.csv (more than 1 lines)") || text.contains("big.csv (more than 1 line"),
        "{text}"
    );
    assert!(text.contains("3 columns; described by the first"), "{text}");
}

#[test]
fn a_missing_folder_is_said() {
    assert_eq!(preview(std::path::Path::new("/does/not/exist"), 100), "```\n(cannot be read)\n```\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_will_do(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0usize..6) {
        let files = Files::new();
        let name = ["f.csv", "f.tsv", "f.json", "f.jsonl", "f.txt", "f.zip"][kind];
        files.write(name, &bytes);
        prop_assert!(preview(files.folder.path(), 500).contains(name));
    }
}
