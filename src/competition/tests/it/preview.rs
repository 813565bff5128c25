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

/// What AIDE's own preview dies of, or reads whole.
#[test]
fn what_other_previews_die_of_is_shown() {
    let deep = "[".repeat(100_000);
    let pretty = |rows: usize| {
        format!("[\n{}\n]", vec!["  {\n    \"a, b\": \"x]\",\n    \"c\": [1]\n  }"; rows].join(",\n"))
    };
    let cases: [(&str, Vec<u8>, &[&str]); 15] = [
        ("latin.csv", b"name\ncaf\xe9\n".to_vec(), &["latin.csv (2 lines)", "1 row, 1 column"]),
        ("latin.txt", b"caf\xe9\n".to_vec(), &["latin.txt (1 line)", "caf\u{fffd}"]),
        ("empty.csv", Vec::new(), &["empty.csv (empty)", "an empty table"]),
        ("header.csv", b"a,b\n".to_vec(), &["0 rows, 2 columns", "no values"]),
        ("ragged.csv", b"a,b\n1,2,3\n".to_vec(), &["ragged.csv (2 lines)"]),
        ("empty.json", Vec::new(), &["empty.json (empty)", "no JSON"]),
        (
            "lines.json",
            b"{\"a\": 1}\n{\"a\": 2}\n".to_vec(),
            &["JSON lines, the first 2 of the shape", "{\"a\": integer}"],
        ),
        ("pretty.json", pretty(3).into(), &["JSON of the shape", "[{\"a, b\": string, \"c\": [integer]}]"]),
        (
            "long.json",
            pretty(100_000).into(),
            &["JSON that begins with the shape", "[{\"a, b\": string, \"c\": [integer]}]"],
        ),
        ("deep.json", deep.into(), &["JSON that cannot be read"]),
        ("line.json", pretty(60_000).replace('\n', "").into(), &["JSON that begins with the shape"]),
        ("rows.tsv", b"a\tb\n1\t2\n".to_vec(), &["1 row, 2 columns"]),
        ("x.parquet", vec![0; 2_000_000], &["x.parquet (2.0 MB)"]),
        ("x.npy", vec![0; 1234], &["x.npy (1.2 kB)"]),
        ("x.csv.gz", vec![31, 139], &["x.csv.gz (2 bytes)"]),
    ];
    for (name, bytes, expected) in cases {
        let files = Files::new();
        files.write(name, bytes);
        let text = preview(files.folder.path(), 2000);
        for words in expected {
            assert!(text.contains(words), "{name} lacks {words:?}:\n{text}");
        }
    }
    let empty = Files::new();
    assert_eq!(preview(empty.folder.path(), 100), "```\n```\n");
}

#[test]
fn no_file_is_read_whole_whatever_its_kind() {
    let files = Files::new();
    for kind in ["csv", "tsv", "json", "jsonl", "txt", "md", "zip", "parquet", "npy", "png", "gz"] {
        let path = files.write(&format!("big.{kind}"), "{\"id\": 1,\n");
        std::fs::File::options().write(true).open(path).unwrap().set_len(50 << 30).unwrap();
    }
    let text = preview(files.folder.path(), 4000);
    assert!(text.contains("big.csv (more than"), "{text}");
    assert!(text.contains("and 3 more files"), "{text}");
}

#[test]
fn pipes_are_not_waited_for_and_links_do_not_lead_out() {
    let (files, outside) = (Files::new(), Files::new());
    outside.write("secret.csv", "id,answer\n1,hidden\n");
    std::fs::create_dir(files.folder.path().join("images")).unwrap();
    files.write("images/one.png", "png");
    files.write("real.csv", "id\n1\n");
    let root = files.folder.path();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe.csv"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let link =
        |target: &std::path::Path, name: &str| std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    link(&outside.folder.path().join("secret.csv"), "answers.csv");
    link(outside.folder.path(), "elsewhere");
    link(&root.join("real.csv"), "same.csv");
    link(&root.join("images"), "pictures");
    link(root, "again");
    link(std::path::Path::new("/nowhere"), "broken.csv");
    let text = preview(root, 6000);
    assert!(text.contains("pipe.csv (a special file)"), "{text}");
    for name in ["answers.csv", "elsewhere"] {
        assert!(text.contains(&format!("{name} (a link out of this folder)")), "{text}");
    }
    assert!(!text.contains("hidden") && !text.contains("secret"), "{text}");
    assert!(text.contains("broken.csv (cannot be read)") && text.contains("same.csv (2 lines)"), "{text}");
    assert!(text.contains("pictures/\n    one.png"), "{text}");
}

#[test]
fn a_huge_folder_is_counted_and_not_held() {
    let files = Files::new();
    std::fs::create_dir(files.folder.path().join("images")).unwrap();
    for number in 0..3000 {
        files.write(&format!("images/{number:05}.png"), "");
    }
    let text = preview(files.folder.path(), 2000);
    assert!(
        text.contains("00003.png") && text.contains("... and 2996 more files") && !text.contains("00004.png")
    );
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
