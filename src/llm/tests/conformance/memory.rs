//! Bodies beyond all measure take bounded memory, whatever they are made of. Measured in a process of its own, so
//! that no other test counts.

use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::server::{Act, STREAM, Server, Step};
use super::super::setup::{Record, Witness, request};
use super::run::client;
use super::speech::{PROTOCOLS, Protocol, Say};
use crate::{Call, Error, Settings};

/// Bytes of each body.
const SENT: u64 = 100_000_000;

/// What a body may add to the process at its worst, for each byte of the limit on bodies: the bytes themselves, their
/// text, and the text once more while an event is cut out of it.
const FACTOR: u64 = 4;

#[test]
fn bodies_of_100_mb_take_bounded_memory() {
    let name = "tests::conformance::memory::measured";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    println!("{told}");
    assert!(
        child.status.success() && told.contains("1 passed"),
        "{told}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Bodies in the words of a protocol, each as what is sent once and what is repeated; `bomb` is a packed body of
/// [`SENT`] blanks.
fn bodies(protocol: &dyn Protocol, bomb: &[u8]) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let head = STREAM.as_bytes().to_vec();
    let piece = |text: &str| text.repeat((1 << 16) / text.len()).into_bytes();
    let event = protocol.events(&Say::fine()).unwrap()[0].written();
    let whole = protocol.whole(&Say::text(&["MARK"])).unwrap().to_string();
    let (opening, _) = whole.split_once("MARK").unwrap();
    let packed = STREAM.replace("\r\n\r\n", "\r\ncontent-encoding: gzip\r\n\r\n");
    vec![
        ("a line", head.clone(), piece("no line end ")),
        ("blanks", head.clone(), piece(" ")),
        ("line ends", head.clone(), piece("\n")),
        ("comments", head.clone(), piece(": alive\n\n")),
        ("one line of an event", [&head[..], b"data: "].concat(), piece("text ")),
        ("one event of many lines", head.clone(), piece("data: 1\n")),
        ("one event of escapes", [&head[..], b"data: \""].concat(), piece("\\ud83d")),
        ("events", head.clone(), piece(&event)),
        ("a whole body", [&head[..], opening.as_bytes()].concat(), piece("text ")),
        ("a page", [&head[..], b"<html>"].concat(), piece("<p>text</p>")),
        ("gzip of blanks", [packed.as_bytes(), bomb].concat(), Vec::new()),
    ]
}

#[tokio::test]
#[ignore = "run by `bodies_of_100_mb_take_bounded_memory` in a process of its own"]
async fn measured() {
    let limit = Settings::default().max_body_bytes;
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(&vec![b' '; usize::try_from(SENT).unwrap()]).unwrap();
    let bomb = bomb.finish().unwrap();
    // What the process has at first; freed memory that it keeps for later counts for the bodies.
    let before = status("VmRSS");
    let mut worst = 0;
    for protocol in PROTOCOLS {
        for (name, head, piece) in bodies(protocol, &bomb) {
            let times = SENT.checked_div(piece.len() as u64).unwrap_or_default();
            let server =
                Server::start(vec![Act::Steps(vec![Step::Write(head), Step::Repeat(piece, times)])]).await;
            let client = client(&server.url, |settings| settings.max_tries = 1);
            let (record, request) = (Record::default(), request());
            let model = protocol.model().parse().unwrap();
            let ledger = Witness { record: &record, server: &server };
            let call = Call {
                model: &model,
                request: &request,
                ledger: &ledger,
                observer: &record,
                purpose: "test",
            };
            // Sets the high-water mark back to what is in use now.
            std::fs::write("/proc/self/clear_refs", "5").unwrap();
            let result = client.chat(&call).await;
            let rise = status("VmHWM").saturating_sub(before);
            worst = worst.max(rise);
            println!("{}: {name}: {} MB more at the peak", protocol.name(), rise / 1_000_000);
            assert!(matches!(&result, Err(Error::Service { .. })), "{name}: {result:?}");
            assert!(rise < FACTOR * limit, "{}: {name}: {rise} bytes at a limit of {limit}", protocol.name());
        }
    }
    println!(
        "bodies of {} MB, limit {} MB: at most {} MB more",
        SENT / 1_000_000,
        limit / 1_000_000,
        worst / 1_000_000
    );
}
