//! `podium competitions list` and `show`: the catalog in a table, and all that is known of one competition.

use podium_competition::{Competition, Kind, Status};
use serde_json::{Value, json};

use crate::cli::summary::board;
use crate::cli::terminal::{Terminal, escape, one_line};
use crate::run::site::Site;

/// Whether a category is the wanted one, or a kind of it: `image-segmentation` is a kind of `image`.
pub(crate) fn is_of(category: &str, wanted: &str) -> bool {
    category.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// How far the data are there, in words.
fn status(competition: &Competition, site: &Site) -> &'static str {
    match podium_competition::status(&site.data_dir, competition) {
        Status::Prepared => "prepared",
        Status::Partly { .. } => "partly prepared",
        Status::NotPrepared
            if site.assets.offline_data(&competition.id).is_some_and(|data| data.is_dir()) =>
        {
            "built in"
        }
        Status::NotPrepared => "not prepared",
    }
}

/// One row of the list, as a document.
pub(crate) fn facts(competition: &Competition, site: &Site) -> Value {
    json!({
        "id": competition.id,
        "name": competition.name,
        "summary": competition.summary,
        "category": competition.category,
        "splits": competition.splits,
        "metric": competition.metric.name.as_str(),
        "direction": competition.direction().as_str(),
        "board": competition.board.kind,
        "teams": competition.board.thresholds.as_ref().and_then(|board| board.teams),
        "size_gb": competition.data.size_gb,
        "ended": competition.ended,
        "data": status(competition, site),
    })
}

/// All that is known, as a document.
pub(crate) fn whole(competition: &Competition, site: &Site) -> Value {
    let mut value = serde_json::to_value(competition).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.insert("split_size".to_owned(), json!(split_size(competition)));
        map.insert("teams_on_board".to_owned(), json!(competition.board.scores().len()));
        map.insert("data_status".to_owned(), json!(status(competition, site)));
        map.insert("data_folder".to_owned(), json!(site.data_dir.join(&competition.id)));
    }
    value
}

/// Sizes of the two sides of the split, and their share of what was parted.
fn split_size(competition: &Competition) -> Value {
    let data = &competition.data;
    let whole = data.train_rows.zip(data.test_rows).map(|(train, test)| train + test);
    json!({
        "train_rows": data.train_rows,
        "test_rows": data.test_rows,
        "parted_rows": whole,
        "test_share": whole.zip(data.test_rows).map(|(whole, test)| test as f64 / whole as f64),
    })
}

/// One line of the list.
pub(crate) fn row(competition: &Competition, site: &Site, width: usize) -> String {
    format!(
        "{:<width$}  {:<26}  {:<8}  {:<34}  {:<15}  {}",
        competition.id,
        competition.category,
        competition.splits.first().map_or("", String::as_str),
        format!("{} ({})", competition.metric.name.as_str(), competition.direction()),
        status(competition, site),
        one_line(&competition.summary, 70)
    )
}

/// One competition for people.
pub(crate) fn show(competition: &Competition, site: &Site, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    say("id", &competition.id);
    say("name", &competition.name);
    say("summary", &competition.summary);
    say("category", &format!("{}; splits: {}", competition.category, competition.splits.join(", ")));
    if let Some(ended) = &competition.ended {
        say("ended", ended);
    }
    say("metric", &format!("{}, {} is better", competition.metric.name.as_str(), competition.direction()));
    let submission = &competition.submission;
    let keys = if submission.id.is_empty() {
        "no key".to_owned()
    } else {
        format!("keys {}", one_line(&submission.id.join(", "), 200))
    };
    let predicts = match submission.columns.as_slice() {
        [] => "columns as in the sample submission".to_owned(),
        columns => format!("predicts {}", one_line(&columns.join(", "), 400)),
    };
    say("submission", &format!("{keys}; {predicts}"));
    standing(competition, terminal);
    if let Some(split) = &competition.split {
        say("split", split);
    }
    say("sizes", &sizes(competition));
    for (name, text) in [("source", &competition.source), ("licence", &competition.licence)] {
        if let Some(text) = text {
            say(name, text);
        }
    }
    for issue in &competition.known_issues {
        say("known issue", issue);
    }
    let needs = &competition.resources;
    if needs.gpu.is_some() || needs.disk_gb.is_some() {
        let gpu = match needs.gpu {
            Some(true) => "a GPU makes a large difference",
            Some(false) => "no GPU needed",
            None => "",
        };
        let disk = needs.disk_gb.map(|disk| format!("about {disk} GB of disk for raw and prepared data"));
        let parts = [Some(gpu.to_owned()).filter(|gpu| !gpu.is_empty()), disk];
        say("needs", &parts.into_iter().flatten().collect::<Vec<_>>().join("; "));
    }
    let folder = site.data_dir.join(&competition.id);
    say("data", &format!("{} ({})", status(competition, site), folder.display()));
    if let Status::Partly { missing } = podium_competition::status(&site.data_dir, competition) {
        for file in missing {
            say("missing", &file.display().to_string());
        }
    }
    if competition.kind == Kind::Kaggle && !folder.join("prepared").is_dir() {
        say(
            "next",
            &format!("{}; podium competitions import DIR looks through a folder", next_step(&competition.id)),
        );
    }
}

/// What a user does about data that are not prepared.
pub(crate) fn next_step(id: &str) -> String {
    format!(
        "podium competitions prepare {id}, with your Kaggle account or a download that you have, or mlebench prepare -c {id}; \
         --data-dir DIR or PODIUM_DATA_DIR where its data folder is elsewhere"
    )
}

/// The board and its thresholds.
fn standing(competition: &Competition, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    let thresholds = competition.board.thresholds.as_ref();
    let listed = competition.board.scores().len();
    let percentiles = if listed > 0 {
        format!("; {listed} scores for percentiles")
    } else {
        "; no scores for percentiles".to_owned()
    };
    let teams = board(competition.board.kind, thresholds.and_then(|board| board.teams));
    say("board", &format!("{teams}{percentiles}"));
    if let Some(board) = thresholds {
        say(
            "thresholds",
            &format!(
                "gold {:.5} · silver {:.5} · bronze {:.5} · median {:.5}",
                board.gold, board.silver, board.bronze, board.median
            ),
        );
    }
}

/// How large the split is, against what it was made from.
fn sizes(competition: &Competition) -> String {
    let data = &competition.data;
    let mut parts = Vec::new();
    match (data.train_rows, data.test_rows) {
        (Some(train), Some(test)) => {
            let whole = train + test;
            let share = |part: u64| 100.0 * part as f64 / whole.max(1) as f64;
            let origin = match competition.kind {
                Kind::Kaggle => "original training rows",
                Kind::Offline | Kind::Own => "rows of the source",
            };
            parts.push(format!(
                "{train} rows to train on and {test} to predict, {:.1} % and {:.1} % of {whole} {origin}",
                share(train),
                share(test)
            ));
        }
        (None, Some(test)) => parts.push(format!("{test} rows to predict")),
        (Some(train), None) => parts.push(format!("{train} rows to train on")),
        (None, None) => parts.push("rows not recorded".to_owned()),
    }
    parts.extend(data.size_gb.map(|size| format!("{size} GB as Kaggle serves the original")));
    parts.join("; ")
}
