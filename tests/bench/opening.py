#!/usr/bin/env python3
"""How long a browser takes to open what is large in the viewer: a table.

    cargo bench -p podium --bench view -- --folder /tmp/large
    tests/bench/opening.py target/release/podium /tmp/large/runs

From the moment at which the browser is led to the page until two frames after the tree, or the first texts of the log,
stand in it; median of five, each in a viewer and a tab of its own, so that the journal is read anew. Chromium is spoken
to over two pipes (`--remote-debugging-pipe`: messages are JSON, each ended by a zero byte).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

# Notes the moment at which `DRAWN` first holds and has been painted: milliseconds since the navigation began.
WATCH = """
const seen = setInterval(() => {
  if (!(DRAWN)) return;
  clearInterval(seen);
  requestAnimationFrame(() => requestAnimationFrame(() => { window.drawnAt = performance.now(); }));
}, 4);
"""
WHEN = """
new Promise((done) => {
  const ask = setInterval(() => { if (window.drawnAt) { clearInterval(ask); done(marks()); } }, 20);
  const marks = () => {
    const api = performance.getEntriesByType('resource').find(({ name }) => name.includes('/api/'));
    return { drawn: window.drawnAt, asked: api?.requestStart, answered: api?.responseEnd };
  };
})
"""
PAGES = [
    ("a search of 5,000 nodes", "run?at=nodes", "document.querySelectorAll('[data-node]').length > 3"),
    ("one node of it", "run?at=nodes#node=4321", "document.querySelector('#detail h2')?.textContent === 'Node 4321'"),
    ("a loop of 5,000 steps", "run?at=steps", "document.querySelector('.step .line')"),
    ("one step of it", "run?at=steps#step=4321", "document.querySelector(\"[data-node='4321'] .line\")"),
    ("the list of all runs", "", "document.querySelectorAll('.rows tbody tr').length > 10"),
]


class Browser:
    """A headless Chromium with one page."""

    def __init__(self, program, home):
        to, self.to = os.pipe()
        self.back, back = os.pipe()
        self.last, self.session, self.rest = 0, None, b""
        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--remote-debugging-pipe", "--window-size=1500,950",
                 f"--user-data-dir={home}/profile"]
        self.child = subprocess.Popen(["sh", "-c", f'exec "$@" 3<&{to} 4>&{back}', "sh", *words], pass_fds=(to, back),
                                      stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to)
        os.close(back)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            *messages, self.rest = self.rest.split(b"\0")
            for told in map(json.loads, messages):
                if told.get("id") == self.last:
                    return told["result"]
            self.rest += os.read(self.back, 1 << 20) or exit("the browser has ended")

    def open(self, url, drawn):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        # In a world of its own the page's policy does not hold for it.
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH.replace("DRAWN", drawn))
        self.call("Page.navigate", url=url)
        told = self.call("Runtime.evaluate", expression=WHEN, awaitPromise=True, returnByValue=True)
        self.session = None
        self.call("Target.closeTarget", targetId=target)
        return told["result"]["value"]

    def end(self):
        os.killpg(self.child.pid, 9)
        self.child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("podium", type=pathlib.Path)
    parser.add_argument("runs", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--browser", default="chromium")
    arguments = parser.parse_args()
    print("| | drawn after, s | slowest, s | of that the answer |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as home:
        browser = Browser(arguments.browser, home)
        browser.open("data:text/html,<p>warm</p>", "document.body")
        for what, path, drawn in PAGES:
            took = []
            for _ in range(arguments.times):
                viewer = subprocess.Popen([arguments.podium.resolve(), "view", arguments.runs, "--port", "0"],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                took.append(browser.open(viewer.stdout.readline().strip() + path, drawn))
                viewer.kill()
                viewer.wait()
            seconds = sorted(one["drawn"] / 1000 for one in took)
            answer = statistics.median((one["answered"] - one["asked"]) / 1000 for one in took)
            print(f"| {what} | {statistics.median(seconds):.2f} | {seconds[-1]:.2f} | {answer:.2f} |", flush=True)
        browser.end()


if __name__ == "__main__":
    main()
