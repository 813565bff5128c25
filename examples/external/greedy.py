"""Greedy search: a few drafts, then the best so far is improved again and again; what fails is mended once.

It is started in the sandbox, and asks Podium for all that it does (docs/protocol.md). After a crash it is started anew and
given the same answers in the same order, so it must ask for the same: no clock, no `random` but `podium.random(purpose)`,
no loop over a set. What it prints goes to strategy.log in the run's folder."""

import re

from podium_client import Failed, Podium, output

podium = Podium()
# The task, and the table [settings] of the scaffold's file: `--set settings.drafts=5` changes it for one run.
task, drafts = podium.task, podium.settings["drafts"]
better = min if task["direction"] == "lower" else max
preview = podium.preview()
best = None  # (metric, node, code)
broken = None  # (node, code, what it printed)

ABOUT = f"""# Task\n\n{task["description"]}\n\n# Data\n\n{preview}\n
The script reads ./input, writes {task["submission_path"]} and prints `validation {task["metric"]}: NUMBER`.
Answer with a plan in a few sentences, then the whole script in one ```python block."""


def prompt():
    """What comes next: the operator, the nodes it starts from, and the question."""
    if broken:
        return "debug", [broken[0]], f"{ABOUT}\n\nMend this script.\n\n```python\n{broken[1]}\n```\n\n{broken[2][-3000:]}"
    if best and step >= drafts:
        return "improve", [best[1]], f"{ABOUT}\n\nImprove this script.\n\n```python\n{best[2]}\n```\n\nMetric: {best[0]}"
    return "draft", [], f"{ABOUT}\n\nWrite a first script."


def run(code):
    """Why the script is no good, its metric, its execution and the verdict on its submission."""
    ran = podium.execute(code=code)  # In a fresh workspace, beside the data.
    found = re.findall(rf"validation {task['metric']}: ([-+.\deE]+)", output(ran))
    if ran["ended"] != {"kind": "exit", "value": 0}:
        return "the script failed", None, ran, None
    if ran["submission"]["kind"] != "file":
        return "no submission was written", None, ran, None
    verdict = podium.validate(ran["submission"]["sha256"])  # Its format only: nobody tells how good it is.
    if verdict["verdict"] != "valid":
        return verdict["reason"], None, ran, verdict
    return (None, float(found[-1]), ran, verdict) if found else ("no metric was printed", None, ran, verdict)


while True:
    step = podium.begin_step()  # Does not return once a limit is reached: the run ends by that name.
    operator, parents, question = prompt()
    rules = {"role": "system", "content": podium.rules}
    try:
        answer = podium.chat("code", [rules, {"role": "user", "content": question}])["content"]
    except Failed as failed:
        if failed.code != -32001:  # A mistake of ours, and not the model's.
            raise
        podium.note(f"no answer: {failed}")
        continue
    # From the answer to a node of the search tree.
    plan, _, rest = answer.partition("```python\n")
    code = rest.partition("```")[0]
    buggy, metric, ran, verdict = run(code)
    podium.node(step, operator, parents=parents, plan=plan.strip(), code=code, buggy=buggy, metric=metric,
                submission=verdict, execution_ms=ran["wall_ms"], reason=f"step {step}")  # fmt: skip
    broken = (step, code, output(ran)) if buggy and operator != "debug" else None
    if not buggy and (best is None or better(metric, best[0]) != best[0]):
        best = (metric, step, code)
        # Handed in, until something better is selected.
        podium.select(ran["submission"]["sha256"], node=step)
