import json, os, re, subprocess, urllib.request

def ask(text):
    body = {"model": os.environ["PODIUM_MODEL"], "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions")
    request.add_header("Content-Type", "application/json")
    answer = json.load(urllib.request.urlopen(request, json.dumps(body).encode()))
    return answer["choices"][0]["message"]["content"]

task = open(os.environ["PODIUM_TASK_FILE"]).read()
question = task + "\nAnswer with one Python script in a fenced block."
for _ in range(4):
    script = re.search(r"```python\n(.*?)```", ask(question), re.S)[1]
    open("solution.py", "w").write(script)
    ran = subprocess.run(["python3", "solution.py"], stderr=subprocess.PIPE, text=True)
    if ran.returncode == 0:
        break
    question = f"{task}\nMend this script.\n\n```python\n{script}```\n\n{ran.stderr[-2000:]}"
else:
    raise SystemExit("no script ran to its end")
