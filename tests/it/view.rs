//! `podium view` from outside: whom it answers, what it says of runs, and that it neither breaks nor writes, whatever lies
//! in the folder. What a browser makes of its pages is for the tests in `browser`.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::grown::{HOSTILE, Kind, corrupt, grow};
use crate::support::held::HeldService;
use crate::support::viewer::Viewer;
use crate::support::{Place, Podium, Run, need, wait};

const API: [&str; 6] = [
    "/api/list",
    "/api/experiment?at=",
    "/api/report?at=",
    "/api/run?at=",
    "/api/item?at=",
    "/api/search?q=a&at=",
];

/// Folders that are no runs, or no runs any more, and how each is told.
fn damaged(runs: &Path) -> Vec<(&'static str, &'static str)> {
    let folder = |name: &str| {
        let path = runs.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let write = |name: &str, file: &str, text: &[u8]| std::fs::write(folder(name).join(file), text).unwrap();
    let outside = runs.parent().unwrap().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("config.json"), "{\"secret\": true}").unwrap();
    write("empty-config", "config.json", b"");
    write("half-config", "config.json", b"{\"format\":1,\"program\":");
    write("noise", "config.json", &[0xff; 4096]);
    write("no-config", "journal.db", b"SQLite format 3\0");
    write("half-experiment", "experiment.json", b"{\"format\":1");
    let config = r#"{"scaffold":{"id":"x"},"task":{"competition":"y"},"models":{},"seed":1}"#;
    write("noise-journal", "config.json", config.as_bytes());
    write("noise-journal", "journal.db", &[0x55; 8192]);
    write("report-noise", "config.json", config.as_bytes());
    write("report-noise", "run.json", b"[1, 2");
    symlink(outside.join("config.json"), folder("linked-config").join("config.json")).unwrap();
    symlink(&outside, runs.join("linked")).unwrap();
    write("piped", "config.json", config.as_bytes());
    mknodat(CWD, folder("piped").join("journal.db"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    std::fs::create_dir_all(folder("folders").join("config.json")).unwrap();
    let nameless = runs.join(std::ffi::OsStr::from_bytes(b"not-\xff-text"));
    std::fs::create_dir(nameless).unwrap();
    vec![
        ("empty-config", "config.json does not read back"),
        ("half-config", "config.json does not read back"),
        ("noise", "config.json does not read back"),
        ("no-config", "config.json does not read back"),
        ("noise-journal", "could not be used"),
        ("report-noise", "run.json does not read back"),
        ("linked-config", "symbolic link"),
        ("piped", "no plain file"),
        ("folders", "no plain file"),
    ]
}

/// Who is answered, and that every answer has the headers that keep it from being more than data.
fn only_this_machine_is_answered(viewer: &Viewer) {
    let host = &viewer.host;
    let port = host.split_once(':').unwrap().1;
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    let close = "Connection: close\r\n\r\n";
    let here = format!("Host: {host}\r\n");
    for (request, status) in [
        (format!("GET / HTTP/1.1\r\n{here}{close}"), 200),
        (format!("HEAD / HTTP/1.1\r\n{here}{close}"), 200),
        (format!("GET / HTTP/1.1\r\nHost: LocalHost:{port}\r\n{close}"), 200),
        (format!("GET http://{host}/ HTTP/1.1\r\n{here}{close}"), 200),
        (format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n{close}"), 421),
        (format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{close}"), 421),
        (format!("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example:{port}\r\n{close}"), 421),
        (format!("GET /api/list HTTP/1.1\r\nHost: [::1]:{port}\r\n{close}"), 421),
        (format!("GET / HTTP/1.1\r\n{here}Host: evil.example\r\n{close}"), 421),
        (format!("GET http://evil.example/ HTTP/1.1\r\n{here}{close}"), 421),
        (format!("GET / HTTP/1.0\r\n{close}"), 421),
        (format!("POST /api/list HTTP/1.1\r\n{here}Content-Length: 0\r\n{close}"), 405),
        (format!("DELETE /run HTTP/1.1\r\n{here}{close}"), 405),
        (format!("OPTIONS / HTTP/1.1\r\n{here}{close}"), 405),
        (
            format!(
                "GET /api/list HTTP/1.1\r\n{here}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n{close}"
            ),
            403,
        ),
        (
            format!(
                "GET /api/list HTTP/1.1\r\n{here}Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n{close}"
            ),
            403,
        ),
        (
            format!(
                "GET / HTTP/1.1\r\n{here}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n{close}"
            ),
            403,
        ),
        (
            format!(
                "GET / HTTP/1.1\r\n{here}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n{close}"
            ),
            200,
        ),
        (
            format!(
                "GET /api/list HTTP/1.1\r\n{here}Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n{close}"
            ),
            200,
        ),
    ] {
        let answer = viewer.raw(&request);
        assert_eq!(answer.status, status, "{request}{}", answer.body);
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.headers[name], value, "{request}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
        assert!(!request.starts_with("HEAD") || answer.body.is_empty());
    }
}

#[test]
fn it_answers_this_machine_and_survives_what_lies_in_the_folder() {
    let place = Place::new();
    let told = damaged(&place.runs());
    let viewer = Viewer::start(&place, &place.runs());
    only_this_machine_is_answered(&viewer);

    // What is told of damage; nothing outside is named, and nothing is markup.
    let listing = viewer.get("/api/list").json();
    let rows: BTreeMap<&str, &Value> =
        listing["runs"].as_array().unwrap().iter().map(|row| (row["at"].as_str().unwrap(), row)).collect();
    for (name, fault) in &told {
        let row = rows[name];
        assert_eq!(row["state"], "damaged", "{row}");
        assert!(row["fault"].as_str().unwrap().contains(fault), "{row}");
    }
    assert_eq!(listing["experiments"][0]["at"], "half-experiment");
    assert!(listing["experiments"][0]["fault"].as_str().unwrap().contains("does not read back"));
    let others: Vec<&str> =
        listing["others"].as_array().unwrap().iter().map(|other| other[1].as_str().unwrap()).collect();
    assert!(
        others.contains(&"its name is no text") && others.iter().any(|what| what.contains("symbolic link"))
    );
    assert!(!listing.to_string().contains("secret"));
    let names = [
        "..",
        "../outside",
        "linked",
        "linked/x",
        "%2e%2e/outside",
        "..%2foutside",
        "%2fetc",
        "a%00b",
        ".",
        "x/y/z",
    ];
    for name in told.iter().map(|(name, _)| *name).chain(names).chain(["half-experiment", "nothing", "%ff"]) {
        for api in API.iter().skip(1) {
            let answer = viewer.get(&format!("{api}{name}"));
            assert!(matches!(answer.status, 200 | 400 | 403 | 404 | 422), "{api}{name}: {}", answer.status);
            assert!(answer.status != 200 || api.contains("search"), "{api}{name}: {}", answer.body);
            assert!(!answer.body.contains("secret"), "{api}{name}: {}", answer.body);
            assert_ne!(answer.headers["content-type"], "text/html; charset=utf-8");
        }
    }
    for path in [
        "/etc/passwd",
        "/assets/../../etc/passwd",
        "/assets/%2e%2e%2fview.rs",
        "/linked/config.json",
        "/api",
        "//",
    ] {
        let answer = viewer.get(path);
        assert!(matches!(answer.status, 400 | 404) && answer.body.len() < 100, "{path}: {}", answer.body);
    }
}

/// Everything below a folder: names, sizes and times.
fn state_of(folder: &Path) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
            let facts = std::fs::symlink_metadata(entry.path()).unwrap();
            if facts.is_dir() {
                pending.push(entry.path());
            }
            found.insert(entry.path().display().to_string(), (facts.len(), facts.modified().unwrap()));
        }
    }
    found
}

#[test]
fn it_says_what_the_journal_says_and_writes_nothing() {
    if !need::jail("it_says_what_the_journal_says_and_writes_nothing") {
        return;
    }
    let place = Place::new();
    let report = Podium::toy_run(&place, 4, 7).output().expect(0).json();
    let run = Run::only(&place.runs());
    let name = run.path.file_name().unwrap().to_str().unwrap().to_owned();
    corrupt(&run.path, 1);
    let elsewhere = place.path().join("elsewhere").join(&name);
    copy(&run.path, &elsewhere);
    let before = state_of(&place.runs());
    let viewer = Viewer::start(&place, &place.runs());

    // The same as the page of the run, which reads the whole journal.
    let page =
        Podium::new(&place).arg("show").arg(&elsewhere).args(["--html", "-"]).output().expect(0).stdout;
    let document = |id: &str| document(&page, id);
    let seen = viewer.get(&format!("/api/run?at={name}"));
    assert!(!seen.body.contains(['<', '>', '\u{202e}']), "nothing of a run could be read as markup");
    let seen = seen.json();
    assert_eq!(seen["story"], document("story"));
    assert_eq!(seen["items"], document("items"));
    assert_eq!((&seen["going_on"], &seen["faults"]), (&json!(false), &json!([])));
    for item in seen["items"].as_array().unwrap() {
        let opened = viewer.get(&format!("/api/item?at={name}&n={}", item["id"])).json();
        assert_eq!(opened["detail"], document(&format!("item-{}", item["id"])));
    }
    let hostile = viewer.get(&format!("/api/item?at={name}&n=1")).json();
    assert_eq!(hostile["detail"]["plan"], HOSTILE);
    let row = viewer.get("/api/list").json()["runs"][0].clone();
    assert_eq!(
        (&row["state"], &row["score"], &row["nodes"], &row["run_ms"].is_u64()),
        (&json!("ended"), &report["report"]["score"], &report["nodes"]["total"], &true)
    );
    let since = viewer.get(&format!("/api/run?at={name}&since={}", seen["read"])).json();
    assert_eq!((&since["items"], &since["read"]), (&json!([]), &seen["read"]));

    let found = viewer.get("/api/search?q=ONERROR%3D%27window").json();
    let hits = found["runs"][0]["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["number"] == 1) && hits.len() >= 2, "{found}");
    assert_eq!((&found["searched"], &found["of"]), (&json!(1), &json!(1)));
    assert_eq!(viewer.get("/api/search?q=nowhere-to-be-found").json()["runs"], json!([]));
    assert_eq!(state_of(&place.runs()), before, "looking changed something");

    // A large one, and one whose journal has a hole and an entry that does not read.
    let grown = place.runs().join("grown");
    copy(&run.path, &grown);
    std::fs::remove_file(grown.join("run.json")).unwrap();
    let entries = grow(&grown, 300, Kind::Steps, 20_000);
    let large = viewer.get("/api/run?at=grown").json();
    assert_eq!((large["items"].as_array().unwrap().len(), &large["read"]), (300, &json!(entries)));
    assert_eq!((&large["story"]["unit"], &large["faults"]), (&json!("step"), &json!([])));
    let journal = rusqlite::Connection::open(grown.join("journal.db")).unwrap();
    journal.execute("DELETE FROM entry WHERE seq = 20", []).unwrap();
    journal.execute("UPDATE entry SET body = '{' WHERE seq = 30", []).unwrap();
    drop(journal);
    copy(&grown, &place.runs().join("holed"));
    let holed = viewer.get("/api/run?at=holed").json();
    assert_eq!(holed["items"].as_array().unwrap().len(), 300);
    let faults = holed["faults"].to_string();
    assert!(faults.contains("entry 20") && faults.contains("entry 30"), "{faults}");
}

/// What the viewer says of each step is what the page says, which reads the whole journal: what the harness did between
/// the steps as well.
pub(crate) fn tells_what_the_page_tells(place: &Place, run: &Run) {
    let page = Podium::new(place).arg("show").arg(&run.path).args(["--html", "-"]).output().expect(0).stdout;
    let viewer = Viewer::start(place, &run.path);
    let items = document(&page, "items");
    let items = items.as_array().unwrap();
    assert!(!items.is_empty());
    for item in items {
        let opened = viewer.get(&format!("/api/item?n={}", item["id"])).json();
        assert_eq!(opened["detail"], document(&page, &format!("item-{}", item["id"])), "{item}");
    }
}

/// A document inside a page.
fn document(page: &str, id: &str) -> Value {
    let rest = page.split(&format!("<script type=\"application/json\" id=\"{id}\">")).nth(1).unwrap();
    serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_run_that_goes_on_is_followed_until_it_is_cut() {
    if !need::jail("a_run_that_goes_on_is_followed_until_it_is_cut") {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    let (running, _never_answered) = Podium::toy_run_going_on(&place, &service);
    let viewer = Viewer::start(&place, &place.runs());
    let listed = viewer.get("/api/list").json()["runs"][0].clone();
    assert_eq!(listed["state"], "going_on");
    let target = format!("/api/run?at={}", listed["at"].as_str().unwrap());
    let seen = viewer.get(&target).json();
    assert_eq!(
        (&seen["going_on"], &seen["story"]["ending"], &seen["items"]),
        (&json!(true), &Value::Null, &json!([]))
    );
    assert!(seen["read"].as_u64().unwrap() > 0);
    running.signal(Signal::KILL);
    let _ = running.wait();
    wait::until("the viewer to see that the run was cut", || {
        (viewer.get(&target).json()["going_on"] == false).then_some(())
    });
    assert_eq!(viewer.get("/api/list").json()["runs"][0]["state"], "cut");
}
