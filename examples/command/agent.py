import json, os, re, subprocess, urllib.request

def ask(text):
    body = {"model": os.environ["PODIUM_MODEL"], "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions")
    request.add_header("Content-Type", "application/json")
    answer = json.load(urllib.request.urlopen(request, json.dumps(body).encode()))
    return answer["choices"][0]["message"]["content"]

task = open(os.environ["PODIUM_TASK_FILE"]).read()
answer = ask(task + "\nAnswer with one Python script in a fenced block.")
open("solution.py", "w").write(re.search(r"```python\n(.*?)```", answer, re.S)[1])
subprocess.run(["python3", "solution.py"], check=True)
