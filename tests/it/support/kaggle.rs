//! A stand-in for Kaggle's service: an address that knows accounts and answers with a redirect, and a storage behind it that
//! serves archives. It behaves badly where a test says so, and remembers what it was asked.
//!
//! Archives are made of the raw data of the preparation's oracle.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::Crc;
use flate2::read::GzDecoder;

/// How a request is answered, other than well. Those of the service go before those of the storage.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A status of the service, with its words; `Retry-After: 0` where it is one of a limit.
    Status(u16, &'static str),
    /// The storage ends the connection after so many bytes.
    Cut(usize),
    /// The storage falls silent after so many bytes, and does not hang up.
    Hold(usize),
    /// The storage sends so many bytes, and then one in a while for ever.
    Trickle(usize),
    /// The storage sends one byte wrong.
    Damage,
    /// The storage sends all of it, whatever was asked for, and ends it after so many bytes.
    All(usize),
    /// The storage refuses, as it does an old address.
    Stale,
    /// A page where an archive should be.
    Page,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The competition.
    pub(crate) id: String,
    /// Whether it came to the storage.
    pub(crate) at_storage: bool,
    /// The first byte that was asked for, where not all were.
    pub(crate) from: Option<usize>,
    /// Only whether it may be had, and how large it is.
    pub(crate) is_probe: bool,
    /// The account.
    pub(crate) account: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    archives: BTreeMap<String, Arc<Vec<u8>>>,
    /// Answers to the next requests for an archive.
    acts: BTreeMap<String, VecDeque<Act>>,
    /// Answers to all requests.
    always: BTreeMap<String, Act>,
    asked: Vec<Asked>,
    /// How often a sign-in was exchanged for an access token.
    exchanges: usize,
}

/// The service.
#[derive(Debug)]
pub(crate) struct Kaggle {
    /// Its address.
    pub(crate) base: String,
    state: Arc<Mutex<State>>,
}

impl Kaggle {
    /// Serves the archives of these competitions.
    pub(crate) fn serve(ids: &[&str]) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        for id in ids {
            state.lock().unwrap().archives.insert((*id).to_owned(), Arc::new(archive(id)));
        }
        let storage = TcpListener::bind("127.0.0.1:0").unwrap();
        let front = TcpListener::bind("127.0.0.1:0").unwrap();
        let behind = format!("http://{}", storage.local_addr().unwrap());
        let base = format!("http://{}", front.local_addr().unwrap());
        for (listener, behind) in [(front, Some(behind)), (storage, None)] {
            let state = Arc::clone(&state);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let (state, behind) = (Arc::clone(&state), behind.clone());
                    // One that goes away in the middle is what a killed client does.
                    std::thread::spawn(move || drop(answer(&stream, &state, behind.as_deref())));
                }
            });
        }
        Self { base, state }
    }

    /// The next requests for an archive are answered so.
    pub(crate) fn acts(&self, id: &str, acts: impl IntoIterator<Item = Act>) {
        self.state.lock().unwrap().acts.entry(id.to_owned()).or_default().extend(acts);
    }

    /// All requests for an archive are answered so, until it is said otherwise.
    pub(crate) fn always(&self, id: &str, act: Option<Act>) {
        let mut state = self.state.lock().unwrap();
        match act {
            Some(act) => drop(state.always.insert(id.to_owned(), act)),
            None => drop(state.always.remove(id)),
        }
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }

    /// How often a sign-in was exchanged for an access token.
    pub(crate) fn exchanges(&self) -> usize {
        self.state.lock().unwrap().exchanges
    }

    /// An archive.
    pub(crate) fn archive(&self, id: &str) -> Arc<Vec<u8>> {
        Arc::clone(&self.state.lock().unwrap().archives[id])
    }
}

fn answer(stream: &TcpStream, state: &Mutex<State>, behind: Option<&str>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let id = line.split(' ').nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
    let (mut range, mut account, mut length) = (None, None, 0);
    loop {
        let mut header = String::new();
        if lines.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.trim().split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "range" => range = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => account = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    if id == "GenerateAccessToken" {
        let mut body = vec![0; length];
        lines.read_exact(&mut body)?;
        return exchange(stream, state, &String::from_utf8_lossy(&body));
    }
    if account.as_deref() == Some("Bearer old") {
        return status(stream, 401, "{\"code\":401,\"message\":\"Unauthenticated\"}");
    }
    let span = range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let from = span.and_then(|(from, _)| from.parse::<usize>().ok());
    let is_probe = range.as_deref() == Some("bytes=0-0");
    let (archive, act) = {
        let mut state = state.lock().unwrap();
        let at_storage = behind.is_none();
        state.asked.push(Asked { id: id.clone(), at_storage, from, is_probe, account });
        let of_service = |act: &Act| matches!(act, Act::Status(..) | Act::Page) != at_storage;
        let act = match state.always.get(&id).filter(|act| of_service(act)).cloned() {
            Some(act) => Some(act),
            None if is_probe => None,
            None => {
                let next = state.acts.get_mut(&id);
                next.and_then(|acts| acts.front().is_some_and(of_service).then(|| acts.pop_front()).flatten())
            }
        };
        (state.archives.get(&id).cloned(), act)
    };
    let mut out = stream;
    let Some(archive) = archive else { return status(out, 404, "{\"code\":404,\"message\":\"Not found\"}") };
    match (act, behind) {
        (Some(Act::Status(code, said)), _) => status(out, code, said),
        (Some(Act::Page), _) => out.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
        ),
        (_, Some(behind)) => write!(
            out,
            "HTTP/1.1 302 Found\r\nLocation: {behind}/{id}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
        (Some(Act::Stale), None) => status(out, 403, "<?xml version='1.0'?><Error/>"),
        (act, None) => send(out, &archive, from, is_probe, act.as_ref()),
    }
}

/// Gives an access token for the refresh token of a sign-in.
fn exchange(mut out: &TcpStream, state: &Mutex<State>, asked: &str) -> std::io::Result<()> {
    if !asked.contains("\"refreshToken\":\"lasts\"") {
        return status(out, 401, &format!("{{\"message\":{asked:?}}}"));
    }
    state.lock().unwrap().exchanges += 1;
    let answer = "{\"token\":\"new\",\"expiresIn\":43200,\"userName\":\"ida\",\"userId\":1}";
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

fn status(mut out: &TcpStream, code: u16, said: &str) -> std::io::Result<()> {
    let wait = if code == 429 { "Retry-After: 0\r\n" } else { "" };
    write!(
        out,
        "HTTP/1.1 {code} No\r\n{wait}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{said}",
        said.len()
    )
}

fn send(
    mut out: &TcpStream,
    archive: &[u8],
    from: Option<usize>,
    is_probe: bool,
    act: Option<&Act>,
) -> std::io::Result<()> {
    let (total, ignores) = (archive.len(), matches!(act, Some(Act::All(_))));
    let begin = from.filter(|_| !ignores);
    if begin.is_some_and(|begin| begin >= total) {
        return status(out, 416, "");
    }
    let mut body = match begin {
        _ if is_probe => archive[..1].to_vec(),
        Some(begin) => archive[begin..].to_vec(),
        None => archive.to_vec(),
    };
    let head = match begin {
        Some(begin) => {
            let last = begin + body.len() - 1;
            format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {begin}-{last}/{total}\r\n")
        }
        None => "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n".to_owned(),
    };
    write!(out, "{head}ETag: \"one\"\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    match act {
        Some(Act::Cut(count) | Act::All(count) | Act::Hold(count) | Act::Trickle(count)) => {
            body.truncate(*count);
        }
        Some(Act::Damage) => {
            let middle = body.len() / 2;
            body[middle] ^= 1;
        }
        _ => {}
    }
    // In pieces, so that a client sees it grow.
    for piece in body.chunks(1 << 15) {
        out.write_all(piece)?;
        out.flush()?;
    }
    if matches!(act, Some(Act::Trickle(_))) {
        loop {
            std::thread::sleep(std::time::Duration::from_millis(100));
            out.write_all(&[0])?;
        }
    }
    if matches!(act, Some(Act::Hold(_))) {
        // Until the client has had enough.
        std::io::copy(&mut out, &mut std::io::sink())?;
    }
    Ok(())
}

/// The raw data of a competition's first case, unpacked to `folder/ID`.
pub(crate) fn raw(id: &str, folder: &Path) -> PathBuf {
    let home = folder.join(id);
    for (name, bytes) in raw_files(id) {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    home
}

fn raw_files(id: &str) -> Vec<(String, Vec<u8>)> {
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark/prepare-oracle");
    let file = std::fs::File::open(oracle.join(format!("{id}.tar.gz"))).unwrap();
    let mut found = Vec::new();
    for entry in tar::Archive::new(GzDecoder::new(file)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        if let Some(name) = path.strip_prefix("case1/raw/").filter(|_| entry.header().entry_type().is_file())
        {
            let name = name.to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            found.push((name, bytes));
        }
    }
    found
}

/// The archive as Kaggle would serve it, members stored; one more makes it come in many pieces.
fn archive(id: &str) -> Vec<u8> {
    let mut files = raw_files(id);
    files.push((
        "more.bin".to_owned(),
        (0..200_000_u32).map(|place| ((place * 7919) >> 5).to_le_bytes()[0]).collect(),
    ));
    let (mut zip, mut list) = (Vec::new(), Vec::new());
    for (name, bytes) in &files {
        let mut crc = Crc::new();
        crc.update(bytes);
        let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let offset = u32::try_from(zip.len()).unwrap().to_le_bytes();
        // Version, flags, method, time, date.
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50];
        facts.extend(crc.sum().to_le_bytes());
        facts.extend([size, size].concat());
        facts.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        facts.extend([0, 0]);
        zip.extend(b"PK\x03\x04");
        zip.extend(&facts);
        zip.extend(name.as_bytes());
        zip.extend(bytes);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&facts);
        list.extend([0; 10]);
        list.extend(offset);
        list.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let place = u32::try_from(zip.len()).unwrap().to_le_bytes();
    let size = u32::try_from(list.len()).unwrap().to_le_bytes();
    zip.extend(list);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend([count, count].concat());
    zip.extend([size, place].concat());
    zip.extend([0, 0]);
    zip
}
