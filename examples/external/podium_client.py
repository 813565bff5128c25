"""A client of Podium's protocol for strategies in other languages (docs/protocol.md). One file, no dependencies.

    podium = Podium()                               # the handshake; podium.task, podium.settings, podium.rules, ...
    while podium.steps_left() != 0:
        step = podium.begin_step()                  # never returns once the step limit is reached: the run then ends
        answer = podium.chat("code", [{"role": "user", "content": "..."}])
        ran = podium.execute(code=script(answer["content"]))
        ...
    podium.finish("why it ends")

Calls block. Without `key=` only one may be under way; with keys, calls from several threads may. What is asked for must be
a function of the answers so far: after a crash the program is started anew and given the recorded answers. So no clock, no
`random` without a seed (see `random`), no set whose order is not fixed.
"""

import itertools
import json
import os
import queue
import random
import sys
import threading

PROTOCOL = 1


class Failed(Exception):
    """A request that was not done: `code` says how (docs/protocol.md), `data` more."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.data = error["code"], error.get("data") or {}


class Podium:
    def __init__(self):
        # What a program or its libraries print must not come between the messages: it goes to standard error.
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        # Not `sys.stdin` itself: at its end Python would wait for the thread that reads it, and abort.
        self._in = os.fdopen(os.dup(0), "rb")
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting = {}
        threading.Thread(target=self._listen, daemon=True).start()
        self.budget = None
        told = self._request("initialize", {"protocol": [PROTOCOL]})
        self.task, self.settings, self.rules = told["task"], told["settings"], told["rules"]
        self.roles, self.limits, self.seed = told["roles"], told["limits"], told["seed"]
        self.budget = told["budget"]

    def _listen(self):
        for line in self._in:
            message = json.loads(line)
            waiting = self._waiting.pop(message["id"], None)
            if waiting is None:
                print("podium:", message.get("error"), file=sys.stderr)
            else:
                waiting.put(message)
        os._exit(0)  # Podium is gone, or has ended the run.

    def _request(self, method, params):
        answered = queue.SimpleQueue()
        with self._lock:
            number = next(self._ids)
            self._waiting[number] = answered
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()
        message = answered.get()
        if "error" in message:
            raise Failed(message["error"])
        return message["result"]

    def call(self, method, **params):
        """Any method of the protocol. Parameters that are None are left out. `self.budget` is as of this answer."""
        result = self._request(method, {name: value for name, value in params.items() if value is not None})
        self.budget = result["budget"]
        return result["value"]

    def begin_step(self, key=None):
        """One more step of the budget; its number. At the limit it never returns, and the run ends."""
        return self.call("begin_step", key=key)

    def chat(self, role, messages, key=None, **options):
        """Asks the model of a role. `options`: temperature, max_output_tokens, tools, output, stop, ..."""
        return self.call("chat", role=role, messages=messages, key=key, **options)

    def execute(self, code=None, argv=None, key=None, **options):
        """Runs a Python script or a command beside the data. `options`: file, workspace, timeout_ms, env, collect."""
        return self.call("execute", code=code, argv=argv, key=key, **options)

    def session(self, name, kind, act, soft_ms=60_000, key=None):
        """An act on a shell or a kernel, for example {"act": "send", "input": "ls"}."""
        return self.call("session", name=name, kind=kind, act=act, soft_ms=soft_ms, key=key)

    def files(self, act, key=None, **options):
        """list, read, write, copy, remove: files of the home workspace."""
        return self.call("files", act=act, key=key, **options)

    def collect(self, path, key=None):
        """A file of the home workspace, copied as it is now: a submission to validate and select."""
        return self.call("collect", path=path, key=key)

    def validate(self, sha256, key=None):
        """The format verdict of a collected submission: never how good it is."""
        return self.call("validate", sha256=sha256, key=key)

    def evaluate(self, labels, sha256, key=None):
        """Predictions for held-out training rows, scored: `holdout_search`, `holdout_final`, `out_of_fold`."""
        return self.call("evaluate", labels=labels, sha256=sha256, key=key)

    def preview(self, max_chars=6_000, key=None):
        """An overview of the public data."""
        return self.call("preview", max_chars=max_chars, key=key)

    def node(self, id, operator, **record):
        """Records a finished node: parents, plan, code, buggy, metric, summary, submission, execution_ms, reason."""
        return self.call("node", id=id, operator=operator, **record)

    def note(self, text, key=None):
        """A remark for people who read the run."""
        return self.call("note", text=text, key=key)

    def select(self, sha256, node=None, key=None):
        """What is handed in, until something better is selected."""
        return self.call("select", sha256=sha256, node=node, key=key)

    def cancel(self, target, key=None):
        """Gives up the request under the key `target`: it fails as cancelled, unless it was answered before."""
        return self.call("cancel", target=target, key=key)

    def random(self, purpose):
        """Random numbers that are the same after a crash."""
        return random.Random(self.call("rng", purpose=purpose)["seed"])

    def steps_left(self):
        """Steps that are left, as of the last answer; None: no limit."""
        limit = self.budget["step_limit"]
        return None if limit is None else max(0, limit - self.budget["steps"])

    def finish(self, reason):
        """Ends the run. Does not return."""
        self._request("finish", {"reason": reason})


def output(execution):
    """What a program printed, as a text."""
    printed = execution["output"]
    cut = f"\n[... {printed['dropped_bytes']} bytes not kept ...]\n" if printed["dropped_bytes"] else ""
    return printed["head"] + cut + printed["tail"]
