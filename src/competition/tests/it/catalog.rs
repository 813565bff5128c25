//! What the catalog refuses, and in which words.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::toml;
use podium_competition::Catalog;

fn good() -> String {
    toml("mae", "lower", "number", &["y"], "").replace("{ANSWERS}", "")
}

fn read(pairs: &[(&str, &str)]) -> Result<Catalog, podium_competition::CatalogError> {
    Catalog::from_texts(pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

#[test]
fn faults_are_located_and_explained() {
    let faults = [
        ("category =", "categry ="),
        ("\"mae\"", "\"mse\""),
        ("\"lower\"", "\"higher\""),
        ("\"number\"", "\"label\""),
        ("\"number\"", "\"nonnegative\""),
        ("columns = [\"y\"]", "columns = [\"y\", \"z\"]"),
        ("columns = [\"y\"]", "columns = [\"id\"]"),
        ("columns = [\"y\"]", "columns = []"),
        ("direction = \"lower\"", "direction = \"lower\"\nk = 3"),
        ("\"answers.csv\"", "\"../answers.csv\""),
        ("\"made-up\"", "\"../up\""),
        ("seed", "seed"),
        ("kind = \"baselines\"", "kind = \"humans\""),
        ("[submission]", "[submission"),
        ("[board]", "[bord]"),
    ];
    let mut text = String::new();
    for (from, to) in faults {
        match read(&[("x/competition.toml", &good().replace(from, to))]) {
            Ok(_) => assert_eq!(from, to),
            Err(error) => {
                let _ = writeln!(text, "{error}\n    {}", error.hint().unwrap_or_default());
            }
        }
    }
    insta::assert_snapshot!("faults", text);
}

#[test]
fn boards_are_checked() {
    let fault = |board: &str| {
        let texts = [("x/competition.toml", good()), ("x/board.csv", board.to_owned())];
        let texts: BTreeMap<String, String> =
            texts.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
        Catalog::from_texts(texts).unwrap_err().to_string()
    };
    assert_eq!(fault("name,points\na,1\n"), "x/board.csv: there is no column `score`");
    assert_eq!(fault("name,score\na,1\nb,x\n"), "x/board.csv: line 2: the score is not a finite number");
    assert_eq!(
        fault("name,score\na,2\nb,1\n"),
        "x/board.csv: the board improves when higher, the metric when lower"
    );
    assert_eq!(fault("name,score\n"), "x/board.csv: there are no lines");
}

#[test]
fn look_ups() {
    let other = good().replace("made-up", "segment").replace("[\"offline\"]", "[\"offline\", \"dev\"]");
    let catalog = read(&[
        ("offline/a/competition.toml", &good()),
        ("offline/a/description.md", "# Read me"),
        ("offline/b/competition.toml", &other),
        ("offline/b/notes.toml", "no = "),
    ])
    .unwrap();
    let ids: Vec<&str> = catalog.list().map(|competition| competition.id.as_str()).collect();
    assert_eq!(ids, ["made-up", "segment"]);
    assert_eq!(catalog.get("made-up").unwrap().description.as_deref(), Some("# Read me"));
    let error = catalog.get("segmnt").unwrap_err();
    assert_eq!(error.to_string(), "there is no competition `segmnt`");
    assert_eq!(error.hint().unwrap(), "did you mean `segment`? `podium competitions list` shows all");
    assert_eq!(catalog.split("dev").unwrap().len(), 1);
    assert_eq!(catalog.split("offline").unwrap().len(), 2);
    let error = catalog.split("low").unwrap_err();
    assert_eq!(error.hint().unwrap(), "the splits are dev, offline");
    let error = read(&[("a/competition.toml", &good()), ("b/competition.toml", &good())]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "competition `made-up` is described by a/competition.toml and by b/competition.toml"
    );
}
