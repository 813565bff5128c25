"""A stand-in model server for measurements: `python3 server.py [LATENCY]`, seconds before each answer, none by default.

It speaks OpenAI's chat completions (plain and streamed, function calls, schemas) and needs the standard library only.
It prints its port, and ends when its standard input is closed. Each base URL `http://127.0.0.1:PORT/NAME/v1` counts for
itself: the answer hangs on how many scripts NAME has asked for before, so every harness gets the same ones.
`GET /NAME/count` tells how many requests NAME has sent.
"""
import json
import random
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SOUND = """import glob, os, random
random.seed({number})
sample = open(glob.glob("./input/sample_submission*.csv")[0]).read()
for folder in ("./working", "./submission"):
    os.makedirs(folder, exist_ok=True)
    open(folder + "/submission.csv", "w").write(sample)
print("validation score:", round(0.5 + 0.4 * random.random(), 4))
"""
BROKEN = "import no_such_module_{number}\nprint('validation score: 0.9')\n"
EVERY = 7  # one script in so many is broken
LATENCY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0

LOCK = threading.Lock()
scripts, requests = {}, {}


def script(name):
    with LOCK:
        number = scripts[name] = scripts.get(name, -1) + 1
    code = (BROKEN if number % EVERY == 3 else SOUND).format(number=number)
    return f"Plan {number}: a baseline that hands in the sample and reports a score.\n\n```python\n{code}```\n"


def review(schema, prompt):
    """Fills whatever fields the schema has from what the prompt shows of the execution."""
    scores = re.findall(r"validation score: ([0-9.]+)", prompt)
    broken = "ModuleNotFoundError" in prompt or not scores
    known = {
        "is_bug": broken, "metric": None if broken else float(scores[-1]), "lower_is_better": False,
        "has_csv_submission": not broken,
    }
    empty = {"boolean": False, "number": None, "integer": None, "array": [], "object": {}}
    kinds = {name: field.get("type", "string") for name, field in schema.get("properties", {}).items()}
    return {name: known.get(name, empty.get(kind if isinstance(kind, str) else kind[0], "It ran.")) for name, kind in kinds.items()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        name = self.path.split("/")[1]
        self.whole({"requests": requests.get(name, 0), "scripts": scripts.get(name, -1) + 1})

    def do_POST(self):
        name = self.path.split("/")[1]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with LOCK:
            requests[name] = requests.get(name, 0) + 1
        if LATENCY:
            time.sleep(LATENCY)
        prompt = json.dumps(body["messages"], ensure_ascii=False)
        message, finish = {"role": "assistant", "content": None}, "stop"
        if body.get("tools"):
            function = body["tools"][0]["function"]
            arguments = json.dumps(review(function["parameters"], prompt))
            call = {"id": "call_1", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
            message["tool_calls"], finish = [call], "tool_calls"
        elif (body.get("response_format") or {}).get("type") == "json_schema":
            message["content"] = json.dumps(review(body["response_format"]["json_schema"]["schema"], prompt))
        else:
            message["content"] = script(name)
        used = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 100, "total_tokens": len(prompt) // 4 + 100}
        head = {"id": "1", "created": 1, "model": body.get("model")}
        if body.get("stream"):
            self.stream({**head, "object": "chat.completion.chunk"}, message, finish, used)
        else:
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self.whole({**head, "object": "chat.completion", "choices": [choice], "usage": used})

    def whole(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, head, message, finish, used):
        for call in message.get("tool_calls", []):
            call["index"] = 0
        choices = [
            [{"index": 0, "delta": message, "finish_reason": None}], [{"index": 0, "delta": {}, "finish_reason": finish}], [],
        ]
        events = [{**head, "choices": choice} for choice in choices]
        events[-1]["usage"] = used
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
