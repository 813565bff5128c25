//! Competitions of the user's own data: what is made of which table, and what is said of awkward ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use podium_competition::own::{Made, OwnError, Request, SplitRule, make, metric_of};
use podium_competition::{Kind, check, validate};
use podium_types::rng::Rng;
use podium_types::verdict::Verdict;
use tempfile::TempDir;

/// A folder of data and one of competitions.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        std::fs::create_dir(place.from()).unwrap();
        for (name, bytes) in files {
            let path = place.from().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        place
    }

    pub(crate) fn from(&self) -> PathBuf {
        self.folder.path().join("from")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn request(&self, target: &str, metric: &str) -> Request {
        Request {
            id: None,
            from: self.from(),
            targets: Some(target.to_owned()).filter(|target| !target.is_empty()).into_iter().collect(),
            metric: metric_of(metric).unwrap(),
            split: None,
            seed: 1,
            test_share: 0.2,
            id_column: None,
            goal: None,
            schema_only: false,
        }
    }

    pub(crate) fn make(&self, request: &Request) -> Result<Made, OwnError> {
        make(request, &self.data())
    }
}

fn read(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let place = rows[0].iter().position(|known| known == name).unwrap();
    rows[1..].iter().map(|row| row[place].clone()).collect()
}

/// Rows of which `y` follows from `a`, by day, in groups of four.
pub(crate) fn plain_table(rows: usize, with_id: bool) -> String {
    let mut rng = Rng::new(7);
    let mut text = String::from(if with_id { "id,a,b,who,day,y\n" } else { "a,b,who,day,y\n" });
    for row in 0..rows {
        let (a, b) = (rng.uniform(), ["red", "green", "blue"][rng.below(3)]);
        let y = u8::from(a + 0.6 * rng.uniform() > 0.8);
        let day = format!("2024-{:02}-{:02}", 1 + row / 28 % 12, 1 + row % 28);
        let who = rng.below(rows / 4);
        if with_id {
            let _ = write!(text, "r{},", rng.next_u64() % 1_000_000_007);
        }
        let _ = writeln!(text, "{a:.5},{b},w{who},{day},{y}");
    }
    text
}

#[test]
fn a_table_is_parted_by_each_rule() {
    let table = plain_table(400, false);
    let place = Place::new(&[("t.csv", table.as_bytes())]);
    let source: Vec<Vec<String>> =
        table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let mut ids = BTreeSet::new();
    for rule in ["random", "stratified", "group:who", "time:day"] {
        let request = Request { split: Some(rule.parse().unwrap()), ..place.request("y", "auc") };
        let made = place.make(&request).unwrap();
        let (public, private) = (&made.folders.public, &made.folders.private);
        let [train, test, sample] =
            ["train", "test", "sample_submission"].map(|name| read(&public.join(format!("{name}.csv"))));
        let answers = read(&private.join("answers.csv"));
        assert_eq!(train[0], ["id", "a", "b", "who", "day", "y"], "{rule}");
        assert_eq!(test[0], ["id", "a", "b", "who", "day"]);
        assert_eq!(train.len() + test.len(), source.len() + 1, "{rule}");
        assert!((60..=100).contains(&(test.len() - 1)), "{rule}: {}", test.len());
        for table in [&sample, &answers] {
            assert_eq!(column(table, "id"), column(&test, "id"));
        }
        // Every row is on one side, with its own label.
        let mut rows: Vec<Vec<String>> = train[1..].iter().map(|row| row[1..].to_vec()).collect();
        rows.extend(
            test[1..]
                .iter()
                .zip(&answers[1..])
                .map(|(row, answer)| row[1..].iter().chain(&answer[1..]).cloned().collect()),
        );
        rows.sort();
        let mut expected = source[1..].to_vec();
        expected.sort();
        assert_eq!(rows, expected, "{rule}");
        let side = |rows: &[Vec<String>], name: &str| column(rows, name).into_iter().collect::<BTreeSet<_>>();
        match rule {
            "group:who" => assert!(side(&train, "who").is_disjoint(&side(&test, "who"))),
            "time:day" => assert!(side(&train, "day").last() < side(&test, "day").first()),
            "stratified" => {
                let ones = |table: &[Vec<String>]| column(table, "y").iter().filter(|y| *y == "1").count();
                let all = ones(&source);
                assert!((ones(&answers) as f64 - 0.2 * all as f64).abs() <= 1.0);
            }
            _ => {}
        }
        assert_eq!(made.competition.kind, Kind::Own);
        assert_eq!(made.competition.board.sample_submission, Some(0.5));
        // The same question of the same data is the same competition, to the byte; another one is another.
        let other = Place::new(&[("t.csv", table.as_bytes())]);
        let again = other.make(&Request { from: other.from(), ..request.clone() }).unwrap();
        assert_eq!(again.competition.id, made.competition.id);
        for file in ["public/train.csv", "public/test.csv", "private/answers.csv"] {
            let bytes =
                |made: &Made| std::fs::read(made.folders.public.parent().unwrap().join(file)).unwrap();
            assert_eq!(bytes(&made), bytes(&again), "{rule}: {file}");
        }
        assert!(!place.make(&request).unwrap().fresh);
        assert!(ids.insert(made.competition.id));
    }
}

/// The value rule and the predicted columns, or words of the refusal.
type Expected = Result<(&'static str, &'static [&'static str]), &'static str>;

#[test]
fn what_a_metric_makes_of_a_target() {
    let mut text = String::from("x,yes_no,grade,kind,price,count\n");
    let mut rng = Rng::new(3);
    for row in 0..200 {
        let kinds = ["oak", "ash", "elm"];
        let _ = writeln!(
            text,
            "{:.3},{},{},{},{:.2},{}",
            rng.uniform(),
            if row % 3 == 0 { "yes" } else { "no" },
            rng.below(4),
            kinds[rng.below(3)],
            10.0 * rng.uniform() - 2.0,
            rng.below(9)
        );
    }
    let place = Place::new(&[("t.csv", text.as_bytes())]);
    let cases: [(&str, &str, Expected); 12] = [
        ("yes_no", "auc", Ok(("number", &["yes_no"]))),
        ("yes_no", "log_loss", Ok(("probability", &["yes_no"]))),
        ("yes_no", "accuracy", Ok(("label", &["yes_no"]))),
        ("kind", "log-loss", Ok(("probability", &["ash", "elm", "oak"]))),
        ("kind", "f1", Ok(("label", &["kind"]))),
        ("grade", "qwk", Ok(("label", &["grade"]))),
        ("price", "rmse", Ok(("number", &["price"]))),
        ("count", "rmsle", Ok(("non_negative", &["count"]))),
        ("price", "rmsle", Err("it scores numbers from 0 on")),
        ("kind", "auc", Err("it scores a target of two values")),
        ("kind", "mae", Err("it scores numbers")),
        ("prise", "mae", Err("it has no column `prise`")),
    ];
    for (target, metric, expected) in cases {
        let made = place.make(&place.request(target, metric));
        match (made, expected) {
            (Ok(made), Ok((value, columns))) => {
                let format = &made.competition.submission;
                assert_eq!(format.value.unwrap().as_str(), value, "{target} {metric}");
                assert_eq!(format.columns, columns, "{target} {metric}");
                let checked = check::check(&made.competition, &made.folders).unwrap();
                assert!(checked.answers_score.is_some(), "{target} {metric}: {checked:?}");
                assert_eq!(checked.findings, [], "{target} {metric}");
            }
            (Err(error), Err(problem)) => {
                assert!(error.to_string().contains(problem), "{target} {metric}: {error}");
                assert!(error.hint().is_some());
            }
            (made, _) => panic!("{target} {metric}: {made:?}"),
        }
    }
}

/// What is said of a table that cannot be used as it is.
#[test]
fn awkward_tables_are_told_in_words() {
    let many = |row: &str| format!("a,y\n{}", row.repeat(20));
    let numbered = |head: &str| {
        let rows: Vec<String> = (0..20).map(|row| format!("{row}.5,{}", row % 2)).collect();
        format!("{head}{}\n", rows.join("\n"))
    };
    let cases: [(&str, String, &str); 12] = [
        ("no header", numbered(""), "holds no column names: `0.5` stands over numbers"),
        ("one class", many("1,0\n2,0\n"), "has one value only, `0`: there is nothing to learn"),
        ("no label", many("1,\n2,NA\n"), "the target `y` has no value in any row"),
        ("twice", many("1,0\n").replace("a,y", "y,y"), "two columns are named `y`"),
        ("unnamed", many("1,2,0\n").replace("a,y", "a,,y"), "column 2 has no name"),
        ("long row", numbered("a,y\n") + "1,0,7\n", "data row 21 (line 22) has 3 cells where 2 are expected"),
        ("quote", numbered("a,y\n") + "\"1,0\n", "a quote that opens on line 22 is never closed"),
        ("few", "a,y\n1,0\n2,1\n".to_owned(), "2 rows have a value in `y`, at least 10 are needed"),
        ("empty", String::new(), "it is empty"),
        ("header only", "a,y\n".to_owned(), "it has a first line and no rows"),
        ("one column", "y\n1\n0\n".to_owned(), "it has one column only, `y`"),
        ("workbook", "PK\u{3}\u{4}".to_owned(), "it is a zip archive or an Excel workbook, not CSV"),
    ];
    for (name, text, problem) in cases {
        let place = Place::new(&[("t.csv", text.as_bytes())]);
        let error = place.make(&place.request("y", "auc")).unwrap_err();
        let mut words = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            let _ = write!(words, ": {source}");
        }
        assert!(words.contains(problem), "{name}: {words}");
        // Nothing is left behind.
        assert_eq!(std::fs::read_dir(place.data()).unwrap().count(), 0, "{name}");
    }
    let place = Place::new(&[("notes.txt", b"hello"), ("pictures/a.png", b"x")]);
    let error = place.make(&place.request("y", "auc")).unwrap_err();
    assert!(error.to_string().ends_with("holds no CSV file: notes.txt, pictures"), "{error}");
    let place = Place::new(&[("a.csv", b"k,v\n1,2\n"), ("b.csv", b"k,w\n1,2\n")]);
    let error = place.make(&place.request("y", "auc")).unwrap_err();
    assert!(
        error.to_string().contains("holds 2 tables and none of them is `train.csv`: a.csv, b.csv"),
        "{error}"
    );
    let place = Place::new(&[("t.csv", plain_table(40, false).as_bytes())]);
    let error = place.make(&place.request("", "auc")).unwrap_err();
    assert_eq!(error.to_string(), "no column to predict is named");
}

#[test]
fn semicolons_decimal_commas_and_latin_1_are_read() {
    let mut bytes = b"Stra\xdfe;Gr\xf6\xdfe;Preis\n".to_vec();
    for row in 0..30 {
        bytes.extend(b"H\xf6he;");
        bytes.extend(format!("1.{row:03},5;{row},25\n").as_bytes());
    }
    // Two rows have no label.
    bytes.extend(b"Tal;1,5;\nTal;1,5;NA\n");
    let place = Place::new(&[("t.csv", &bytes)]);
    let made = place.make(&place.request("Preis", "rmse")).unwrap();
    let train = read(&made.folders.public.join("train.csv"));
    assert_eq!(train[0], ["id", "Straße", "Größe", "Preis"]);
    assert_eq!(train[1][1], "Höhe");
    let (size, price) = (train[1][2].parse::<f64>().unwrap(), train[1][3].parse::<f64>().unwrap());
    assert!((size - 1000.5 - (price - 0.25)).abs() < 1e-9, "{:?}", train[1]);
    let notes = made.notes.join("\n");
    for told in [
        "was read as Latin 1",
        "parted by semicolons",
        "decimal commas became points in `Größe`, `Preis`",
        "2 of 32 rows have no value in `Preis` and are left out",
        "a new column `id`",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    let description = std::fs::read_to_string(made.folders.public.join("description.md")).unwrap();
    assert!(description.contains("| `Größe` | number | none | 1.5 to 1029.5 |"), "{description}");
}

#[test]
fn a_set_in_kaggles_shape_is_recognised() {
    let train = plain_table(100, true);
    let mut test = String::from("id,a,b,who,day\n");
    let mut sample = String::from("id,y\n");
    for row in 0..20 {
        let _ = writeln!(test, "t{row},0.5,red,w1,2024-12-28");
        let _ = writeln!(sample, "t{row},0");
    }
    let files: [(&str, &[u8]); 4] = [
        ("train.csv", train.as_bytes()),
        ("test.csv", test.as_bytes()),
        ("sample_submission.csv", sample.as_bytes()),
        ("images/t1.txt", b"x"),
    ];
    let place = Place::new(&files);
    let made = place.make(&place.request("", "auc")).unwrap();
    assert_eq!(
        (made.competition.submission.id.as_slice(), made.competition.submission.columns.as_slice()),
        (["id".to_owned()].as_slice(), ["y".to_owned()].as_slice())
    );
    assert_eq!(read(&made.folders.public.join("test.csv")).len(), 21);
    assert!(made.notes.iter().any(|note| note.starts_with("test.csv has no answers")), "{:?}", made.notes);
    assert!(made.folders.public.join("images/t1.txt").is_file());

    // The set's own rows are predicted where there is no split: a submission has a form and no score.
    let request = Request { split: Some(SplitRule::None), ..place.request("", "auc") };
    let made = place.make(&request).unwrap();
    assert!(made.competition.answers.absent);
    let answers = made.folders.answers(&made.competition);
    let verdict = |text: &str| {
        let path = place.from().join("submission.csv");
        std::fs::write(&path, text).unwrap();
        validate(&made.competition, &path, &answers, None).unwrap()
    };
    assert!(verdict(&sample).is_valid());
    assert!(matches!(verdict("id,y\nt0,1\n"), Verdict::Invalid { .. }));

    // With a goal alone any table is a submission.
    let goal = Request { goal: Some("find odd rows".to_owned()), ..place.request("", "mae") };
    let place = Place::new(&[("log.csv", plain_table(30, false).as_bytes())]);
    let made = place.make(&Request { from: place.from(), ..goal }).unwrap();
    let description = std::fs::read_to_string(made.folders.public.join("description.md")).unwrap();
    assert!(description.contains("find odd rows") && description.contains("- `log.csv`"), "{description}");
    assert!(made.folders.public.join("log.csv").is_file());
    let path = place.from().join("anything.csv");
    for (text, valid) in [("row,odd\n1,2\n", true), ("row,odd\n", false), ("a\n\"", false)] {
        std::fs::write(&path, text).unwrap();
        let answers = made.folders.answers(&made.competition);
        let verdict = validate(&made.competition, &path, &answers, None).unwrap();
        assert_eq!(verdict.is_valid(), valid, "{text:?}: {verdict:?}");
    }
}
