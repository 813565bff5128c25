//! A short run made into a long one, or a hostile one, by writing into its journal: runs of thousands of nodes would take
//! hours to run, and no stand-in model writes hostile code.

use std::path::Path;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// Markup, scripts, line separators, direction marks and control characters.
pub(crate) const HOSTILE: &str = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'><b>bold</b> \
    <!-- {{data}} \u{202e}backwards\u{202c} zero\u{200b}width \u{2028}line \u{7}\u{1b}[31m [a](javascript:window.hit=4) javascript:window.hit=3";

/// What the copies of node 0 become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nodes of a tree.
    Nodes,
    /// Steps of a loop.
    Steps,
}

fn open(run: &Path) -> Connection {
    let journal = Connection::open(run.join("journal.db")).unwrap();
    journal.pragma_update(None, "synchronous", "OFF").unwrap();
    journal
}

type Row = (Option<String>, Option<String>, String);

/// The rows that belong to node 0: effect, key, body.
fn rows_of_node_0(journal: &Connection) -> Vec<Row> {
    let mut rows = journal
        .prepare(
            "SELECT effect, key, body FROM entry WHERE key LIKE 'node/0/%' AND body IS NOT NULL ORDER BY seq",
        )
        .unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Makes the journal of the run in `path` one of `count` copies of its node 0, each prompt longer by `pad` bytes. Returns
/// the number of its entries.
pub(crate) fn grow(path: &Path, count: u32, kind: Kind, pad: usize) -> u64 {
    let mut journal = open(path);
    let rows = rows_of_node_0(&journal);
    assert!(rows.len() > 3, "{rows:?}");
    let unit = if kind == Kind::Nodes { "node" } else { "step" };
    let transaction = journal.transaction().unwrap();
    transaction.execute("DELETE FROM entry WHERE number IS NOT NULL OR kind = 'stopped'", []).unwrap();
    // Numbers run without gaps.
    let renumber = "UPDATE entry SET seq = (SELECT count(*) FROM entry AS e WHERE e.seq <= entry.seq)";
    transaction.execute(renumber, []).unwrap();
    let mut seq: u64 = transaction.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    {
        let mut insert = transaction
            .prepare(
                "INSERT INTO entry (seq, kind, effect, key, number, run_ms, waiting_ms, at, body) \
                 VALUES (?, ?, ?, ?, ?, ?, 0, '2026-01-01T00:00:00Z', ?)",
            )
            .unwrap();
        let padding = "a line of a longer prompt\n".repeat(pad / 26);
        let wanted =
            rows.iter().filter(|(effect, ..)| kind == Kind::Nodes || effect.as_deref() != Some("node"));
        let texts: Vec<(&Row, String, String)> = wanted.map(|row| template(row, &padding)).collect();
        for number in 0..count {
            for ((effect, key, _), kind, text) in &texts {
                seq += 1;
                let key = key.as_deref().map(|key| key.replacen("node/0/", &format!("{unit}/{number}/"), 1));
                let text = filled(text, key.as_deref().unwrap_or_default(), number);
                insert
                    .execute(params![seq, kind, effect, key, number, u64::from(number) * 40_000, text])
                    .unwrap();
            }
        }
    }
    transaction.commit().unwrap();
    seq
}

/// What of a copy is its own.
const OWN: [&str; 6] = ["@key", "@id", "@parents", "@operator", "@metric", "@buggy"];

/// A row, its kind, and its body with places for what is a copy's own: each body is read and written once.
fn template<'a>(row: &'a Row, padding: &str) -> (&'a Row, String, String) {
    let mut body: Value = serde_json::from_str(&row.2).unwrap();
    body["key"] = json!("@key");
    let effect = &mut body["effect"];
    if effect["effect"] == "node" {
        for own in &OWN[1..] {
            effect[&own[1..]] = json!(own);
        }
    }
    if effect["effect"] == "chat"
        && let Some(text) = effect["request"]["messages"][0]["content"].as_str()
    {
        effect["request"]["messages"][0]["content"] = json!(format!("{text}\n{padding}"));
    }
    (row, body["kind"].as_str().unwrap().to_owned(), in_order(&body))
}

fn filled(text: &str, key: &str, number: u32) -> String {
    let parents = if number < 5 { json!([]) } else { json!([(number - 5) / 3]) };
    let operator = json!(if number < 5 { "draft" } else { "improve" });
    let metric = json!(1.0 / (2.0 + f64::from(number * 7919 % 4999)));
    let buggy = if number % 5 == 3 { json!("ValueError: no") } else { Value::Null };
    let own = [json!(key), json!(number), parents, operator, metric, buggy];
    let mut text = text.to_owned();
    for (name, value) in OWN.iter().zip(own) {
        text = text.replacen(&format!("\"{name}\""), &value.to_string(), 1);
    }
    text
}

/// The record with its fields in the order of its type, as the program writes it.
fn in_order(body: &Value) -> String {
    let fields = ["kind", "key", "hash", "effect", "result", "usage", "took_ms", "waited_ms", "call"];
    let told = fields.iter().filter_map(|field| Some(format!("\"{field}\":{}", body.get(field)?)));
    format!("{{{}}}", told.collect::<Vec<_>>().join(","))
}

/// Writes hostile text into everything that a model wrote for node `number`.
pub(crate) fn corrupt(path: &Path, number: u32) {
    let journal = open(path);
    let mut rows =
        journal.prepare("SELECT seq, body FROM entry WHERE number = ? AND body IS NOT NULL").unwrap();
    let rows: Vec<(u64, String)> =
        rows.query_map([number], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (seq, body) in rows {
        let mut body: Value = serde_json::from_str(&body).unwrap();
        let effect = &mut body["effect"];
        match effect["effect"].as_str() {
            Some("node") => {
                for field in ["plan", "summary", "reason"] {
                    effect[field] = json!(HOSTILE);
                }
                effect["code"] = json!(format!("# {HOSTILE}\nprint('''{HOSTILE}''')\n"));
            }
            Some("chat") => {
                effect["request"]["messages"][0]["content"] = json!(HOSTILE);
                body["result"]["value"]["Ok"]["content"] = json!(HOSTILE);
            }
            _ => continue,
        }
        journal.execute("UPDATE entry SET body = ? WHERE seq = ?", params![in_order(&body), seq]).unwrap();
    }
}
