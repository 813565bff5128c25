//! What the layer costs: `cargo bench -p podium-llm`. A table, no test: nothing here fails.
//!
//! A thousand calls at once to a server that answers after a second: how long they take, and what they add to the
//! memory of the process. One call after the other with a prompt of 2 KB to a server that answers at once: what a call
//! takes. Beside each stands bare reqwest, which sends the same bytes to the same server in the same run and reads the
//! answer to its end; medians of several rounds. The server is this binary again, in a process of its own, so that its
//! memory and its locks are not in the numbers (its share of the two cores is).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a program that prints a table, and stops at what it did not expect"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use podium_llm::{Call, Catalog, Client, ModelName, NoLedger, NoObserver, Settings, tokens};
use podium_types::chat::{ChatRequest, Message, Speaker};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Calls at once.
const CALLS: usize = 1_000;
/// Calls in a row, and how often they are made.
const ROW: u32 = 300;
const ROUNDS: usize = 7;
/// Rounds of the thousand, each of which takes more than a second.
const CROWDS: usize = 3;
const LATENCY: Duration = Duration::from_secs(1);

const CATALOG: &str = r#"
[providers.openai]
protocol = "openai"

[models."openai/bench"]
context_window = 128_000
max_output_tokens = 1_000
prices = { input = 1.0, output = 10.0 }
"#;

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// The events of an answer of about a hundred tokens, ten to an event.
fn events() -> Vec<u8> {
    let piece = r#"{"id":"c","model":"bench","choices":[{"index":0,"delta":{"content":"and so on, word by word, it goes "},"finish_reason":null}]}"#;
    let end = r#"{"id":"c","model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let usage =
        r#"{"id":"c","choices":[],"usage":{"prompt_tokens":500,"completion_tokens":100,"total_tokens":600}}"#;
    let events = std::iter::repeat_n(piece, 10).chain([end, usage, "[DONE]"]);
    let chunks = events.map(|event| {
        let event = format!("data: {event}\n\n");
        format!("{:x}\r\n{event}\r\n", event.len())
    });
    format!("{ANSWER}{}0\r\n\r\n", chunks.collect::<String>()).into_bytes()
}

/// Answers every request of a connection, those below `/slow/` after a second.
async fn serve(mut stream: TcpStream, answer: &[u8]) -> Option<()> {
    let mut bytes = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let whole = end + length.unwrap_or(0usize);
        while bytes.len() < whole {
            stream.read_buf(&mut bytes).await.ok().filter(|read| *read > 0)?;
        }
        bytes.drain(..whole);
        if head.starts_with("post /slow/") {
            tokio::time::sleep(LATENCY).await;
        }
        stream.write_all(answer).await.ok()?;
    }
}

async fn server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    let answer: &'static [u8] = events().leak();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(serve(stream, answer));
    }
}

/// The server's process; it ends with this.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A figure of `/proc/self/status` in MiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().unwrap() / 1024.0
}

/// How long `work` takes, and what it adds to the memory in use at its highest, in MiB: the kernel's high-water mark is
/// set back before.
async fn peak(work: impl Future<Output = ()>) -> (f64, f64) {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, started) = (memory("VmRSS:"), Instant::now());
    work.await;
    (started.elapsed().as_secs_f64(), memory("VmHWM:") - before)
}

fn client(url: String) -> Client {
    let catalog = Catalog::parse(CATALOG).unwrap();
    let variables = BTreeMap::from([
        ("OPENAI_BASE_URL".to_owned(), url),
        ("OPENAI_API_KEY".to_owned(), "sk-bench".to_owned()),
    ]);
    let settings = Settings::new(&catalog, &variables);
    Client::new(catalog, settings, None)
}

fn request() -> ChatRequest {
    let line = "Improve the model below; its validation score is 0.8125 after 12 epochs.\n";
    let prompt: String = line.chars().cycle().take(2048).collect();
    ChatRequest { messages: vec![Message::text(Speaker::User, prompt)], ..ChatRequest::default() }
}

async fn chat(client: &Client, model: &ModelName, request: &ChatRequest) {
    let call = Call { model, request, ledger: &NoLedger, observer: &NoObserver, purpose: "bench" };
    assert_eq!(client.chat(&call).await.unwrap().usage.output_tokens, 100);
}

/// The body that the client sends for `request`.
fn body(request: &ChatRequest) -> String {
    serde_json::json!({
        "model": "bench", "max_tokens": 1000, "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": request.messages[0].content}],
    })
    .to_string()
}

async fn bare(http: &reqwest::Client, url: &str, body: &str) {
    let request = http.post(url).header("content-type", "application/json").bearer_auth("sk-bench");
    let mut response = request.body(body.to_owned()).send().await.unwrap();
    while response.chunk().await.unwrap().is_some() {}
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One crowd in this process, which makes no other, so that no memory of an earlier one is used again: seconds and MiB.
async fn crowd(who: &str, server: &str) -> (f64, f64) {
    let (model, request): (ModelName, _) = ("openai/bench".parse().unwrap(), request());
    let url = |speed: &str| format!("http://{server}/{speed}/v1");
    // One call first, so that what is set up once (TLS roots) is in neither.
    if who == "layer" {
        chat(&client(url("quick")), &model, &request).await;
        let client = client(url("slow"));
        peak(async { drop(join_all((0..CALLS).map(|_| chat(&client, &model, &request))).await) }).await
    } else {
        let (http, body) = (reqwest::Client::builder().no_proxy().build().unwrap(), body(&request));
        bare(&http, &format!("{}/chat/completions", url("quick")), &body).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let address = format!("{}/chat/completions", url("slow"));
        peak(async { drop(join_all((0..CALLS).map(|_| bare(&http, &address, &body))).await) }).await
    }
}

/// Crowds of `who`, each in a process of its own: median seconds, and the most MiB of any.
fn crowds(who: &str, server: &Server) -> (f64, f64) {
    let (mut seconds, mut added) = (Vec::new(), Vec::new());
    for _ in 0..CROWDS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["crowd", who, &server.address]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        seconds.push(numbers[0]);
        added.push(numbers[1]);
    }
    (median(seconds), added.into_iter().fold(0.0, f64::max))
}

async fn row(mut call: impl AsyncFnMut()) -> f64 {
    let started = Instant::now();
    for _ in 0..ROW {
        call().await;
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(ROW)
}

async fn table() {
    let server = Server::start();
    let (model, request): (ModelName, _) = ("openai/bench".parse().unwrap(), request());
    let body = body(&request);
    let quick = format!("http://{}/quick/v1", server.address);

    // One call each, so that what is set up once (TLS roots, the first connection) is in neither.
    let warm = client(quick.clone());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let address = format!("{quick}/chat/completions");
    chat(&warm, &model, &request).await;
    bare(&http, &address, &body).await;
    let idle = memory("VmRSS:");

    let (seconds, added) = crowds("layer", &server);
    let (bare_seconds, bare_added) = crowds("bare", &server);

    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(row(async || bare(&http, &address, &body).await).await);
        with.push(row(async || chat(&warm, &model, &request).await).await);
    }
    let differences = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    let (with, without, overhead) = (median(with), median(without), median(differences));

    let before = memory("VmRSS:");
    let started = Instant::now();
    let counted = tokens::exact(&request);
    let (loading, tokenizer) = (started.elapsed().as_secs_f64(), memory("VmRSS:") - before);

    println!("| | the layer | bare reqwest | ratio |");
    println!("|---|---|---|---|");
    println!(
        "| {CALLS} calls at once, {LATENCY:?} latency: wall time | {seconds:.2} s | {bare_seconds:.2} s | {:.2} |",
        seconds / bare_seconds
    );
    println!(
        "| the same: memory added at most | {added:.0} MiB | {bare_added:.0} MiB | {:.2} |",
        added / bare_added
    );
    println!(
        "| one call, 2 KB prompt, no latency | {with:.0} µs | {without:.0} µs | {:.2} |",
        with / without
    );
    println!("| overhead of the layer per call | {overhead:.0} µs | | |");
    println!(
        "| tokenizer, loaded at the first exact count ({counted} tokens) | {tokenizer:.0} MiB, {loading:.2} s | | |"
    );
    println!("\nMemory in use before: {idle:.0} MiB. Medians of {CROWDS} and {ROUNDS} rounds.");
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // Bare reqwest asks for it, too.
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => runtime.block_on(server()),
        ["crowd", who, address] => {
            let (seconds, added) = runtime.block_on(crowd(who, address));
            println!("{seconds} {added}");
        }
        _ => runtime.block_on(table()),
    }
}
