//! A headless Chromium, spoken to by the `DevTools` protocol over two pipes: no port, no further program, no crate.
//!
//! Messages are JSON, each ended by a zero byte (Chromium's `--remote-debugging-pipe`: it reads descriptor 3 and writes
//! descriptor 4).

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::need;
use crate::support::wait::PATIENCE;

/// Names under which distributions install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser that is there.
pub(super) struct Browser {
    program: PathBuf,
}

impl Browser {
    /// The browser of this machine; says so when there is none.
    pub(super) fn find(test: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let found = places.find(|place| place.is_file());
        if found.is_none() {
            need::skip(test, "there is no chromium here");
        }
        found.map(|program| Self { program })
    }

    /// Opens a file in a browser of its own.
    pub(super) fn open(&self, page: &Path, size: (u32, u32)) -> Tab {
        self.open_at(&format!("file://{}", page.display()), size)
    }

    /// Opens an address in a browser of its own. Of other servers it may ask nothing.
    pub(super) fn open_at(&self, page: &str, (width, height): (u32, u32)) -> Tab {
        let home = tempfile::tempdir().unwrap();
        let (to, from) = (home.path().join("to"), home.path().join("from"));
        for pipe in [&to, &from] {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<\"$TO\" 4>\"$FROM\"", "sh"])
            .arg(&self.program)
            // What lies in the page is ours to test; as root Chromium has no sandbox of its own.
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", home.path().join("profile").display()))
            .envs([("HOME", home.path()), ("TO", &to), ("FROM", &from)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(home.path().join("log")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        // In the shell's order: each opening waits for its other end.
        let to = File::options().write(true).open(&to).unwrap();
        let from = BufReader::new(File::open(&from).unwrap());
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for message in from.split(0).map_while(Result::ok) {
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let mut tab = Tab {
            child,
            home,
            to,
            messages,
            session: None,
            last: 0,
            faults: Vec::new(),
            page: page.to_owned(),
        };
        tab.begin(width, height);
        tab
    }
}

/// One page in a browser of its own.
pub(super) struct Tab {
    child: Child,
    home: tempfile::TempDir,
    to: File,
    messages: mpsc::Receiver<Value>,
    session: Option<String>,
    last: u64,
    faults: Vec<String>,
    page: String,
}

impl Tab {
    fn begin(&mut self, width: u32, height: u32) {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached =
            self.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.resize(width, height);
        self.lights("light");
        self.go(&self.page.clone());
    }

    /// One command and its answer; what happens meanwhile is looked at.
    #[track_caller]
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let message = self.next(method);
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.look_at(&message);
        }
    }

    fn next(&self, what: &str) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let log = std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
            panic!("chromium said nothing to {what}; its log:\n{log}")
        })
    }

    /// Takes note of what a page must not do.
    fn look_at(&mut self, message: &Value) {
        let told = &message["params"];
        let fault = match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => Some(told["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if told["type"] != "log" => Some(told.to_string()),
            "Log.entryAdded" => Some(told["entry"].to_string()),
            "Network.requestWillBeSent" => {
                let url = told["request"]["url"].as_str().unwrap_or_default();
                let own = self.page.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
                let known = url.starts_with("data:") || url.starts_with(&format!("{own}/"));
                (!known).then(|| format!("asked for {url}"))
            }
            _ => None,
        };
        self.faults.extend(fault);
    }

    /// Leads to another address.
    pub(super) fn go(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
        loop {
            let message = self.next(url);
            let loaded = message["method"] == "Page.loadEventFired";
            self.look_at(&message);
            if loaded {
                return;
            }
        }
    }

    /// Opens the page anew, at this fragment.
    pub(super) fn reload(&mut self, fragment: &str) {
        // Another fragment alone loads nothing.
        self.go("about:blank");
        self.go(&format!("{}#{fragment}", self.page));
    }

    /// What an expression in the page comes to; a promise is waited for.
    #[track_caller]
    pub(super) fn evaluate(&mut self, expression: &str) -> Value {
        let told = self.call(
            "Runtime.evaluate",
            &json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(told["exceptionDetails"].is_null(), "{expression}: {told}");
        told["result"]["value"].clone()
    }

    /// The first button of a pointer, at a place of the window.
    pub(super) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// One key, pressed and released.
    pub(super) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key }));
        }
    }

    /// Another size of the window.
    pub(super) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// `light` or `dark`, as the reader's system wishes.
    pub(super) fn lights(&mut self, wish: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": wish }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// What is seen, as a PNG.
    pub(super) fn screenshot(&mut self, file: &Path) {
        let shot = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        std::fs::write(file, base64(shot["data"].as_str().unwrap())).unwrap();
    }

    /// Fails when the page threw, complained, was refused something, or asked for anything.
    #[track_caller]
    pub(super) fn no_faults(&mut self) {
        assert!(self.faults.is_empty(), "{:#?}", self.faults);
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, letter| (bits << 6) | u32::from(digit(*letter)))
            << (6 * (4 - group.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}
