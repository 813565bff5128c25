//! A model service for tests: `fixtures/server.py` in a process of its own, with a plan of faults, and its log.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Place, Podium, place, wait};

/// A key that must turn up nowhere.
pub(crate) const KEY: &str = "sk-test-SECRETSECRET";

/// A running service; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    folder: TempDir,
    child: Child,
    url: String,
}

/// One request, as the service logged it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request(pub(crate) Value);

impl Request {
    /// The fault it met; `ok` is none.
    pub(crate) fn fault(&self) -> &str {
        self.0["fault"].as_str().unwrap()
    }

    /// What was asked.
    pub(crate) fn body(&self) -> &Value {
        &self.0["body"]
    }

    /// The output limit that was sent, under either name.
    pub(crate) fn output_limit(&self) -> Option<u64> {
        ["max_tokens", "max_completion_tokens"].iter().find_map(|name| self.body()[*name].as_u64())
    }

    /// Tokens that the service counts, prompt and answer; `None` where it gave no whole answer.
    pub(crate) fn tokens(&self) -> Option<(u64, u64)> {
        let count = |name: &str| self.0["usage"][name].as_u64();
        Some((count("prompt_tokens")?, count("completion_tokens")?))
    }
}

/// A script of the toy competition's library.
pub(crate) fn toy_script(name: &str) -> PathBuf {
    place::toy_assets().join("benchmark/offline/toy/playbook").join(name)
}

impl Service {
    /// Starts one that answers with toy scripts and meets `faults` in this order.
    pub(crate) fn toy<'a>(faults: impl IntoIterator<Item = &'a str>) -> Self {
        let scripts = ["one_cut.py", "centres.py", "nearest_hasty.py", "nearest.py"].map(toy_script);
        let faults: Vec<&str> = faults.into_iter().collect();
        Self::start(&json!({"faults": faults, "code": scripts}))
    }

    /// Starts one with a whole plan; its shape is in `fixtures/server.py`.
    pub(crate) fn start(plan: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.json"), plan.to_string()).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/server.py");
        let mut child = Command::new(place::python())
            .arg(script)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let port = wait::until("the service writes its port", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the service ended: {ended:?}");
            std::fs::read_to_string(folder.path().join("port")).ok()
        });
        let url = format!("http://127.0.0.1:{port}/v1");
        Self { folder, child, url }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Everything it was sent so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let text = std::fs::read_to_string(self.folder.path().join("log.jsonl")).unwrap_or_default();
        text.lines().map(|line| Request(serde_json::from_str(line).unwrap())).collect()
    }

    /// Answers what it holds, and from now on at once.
    pub(crate) fn release(&self) {
        std::fs::write(self.folder.path().join("release"), "").unwrap();
    }

    /// `podium` with this service as `openai/...` and [`KEY`] as its key.
    pub(crate) fn podium(&self, place: &Place) -> Podium {
        self.behind(Podium::new(place))
    }

    /// A command with this service as `openai/...`.
    pub(crate) fn behind(&self, podium: Podium) -> Podium {
        podium.env("OPENAI_BASE_URL", &self.url).env("OPENAI_API_KEY", KEY)
    }

    /// A run of AIDE on the toy competition with this service, without `--json` and without steps.
    pub(crate) fn toy_run(&self, place: &Place, model: &str) -> Podium {
        self.podium(place)
            .arg("run")
            .toy()
            .args(["--scaffold", "aide", "--competition", "toy", "--model", model])
            .args(["--memory", "512MiB", "--cpus", "1"])
            .arg("--runs-dir")
            .arg(place.runs())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
