"""A loop that wraps an existing agent program: its model is Podium's `chat`, its commands run in the home workspace of
the run, and what it leaves at the submission's path is checked and handed in. With another agent only `solve` changes."""

from podium_client import Failed, Podium, output
from tiny_agent import TinyAgent

podium = Podium()
path = podium.task["submission_path"].removeprefix("./")


def query(messages):
    podium.begin_step()  # One call of the model is one step of the budget.
    return podium.chat("code", messages)["content"]


def run(command):
    try:
        ran = podium.execute(argv=["/bin/sh", "-c", command], workspace="home")
    except Failed as failed:  # A crash of the harness cut it.
        return 1, str(failed)
    ended = ran["ended"]
    return ended["value"] if ended["kind"] == "exit" else 128 + ended["value"], output(ran)


def solve():
    question = f"""{podium.task["description"]}\n\n# Data\n\n{podium.preview()}\n
Answer with one script in a ```python block. It reads ./input, writes ./{path} and prints its validation score."""
    return TinyAgent(query, run, podium.settings["turns"]).solve(podium.rules, question)


podium.note(solve())
submission = podium.collect(path)
if submission["kind"] == "file":
    verdict = podium.validate(submission["sha256"])
    if verdict["verdict"] == "valid":
        podium.select(submission["sha256"])
    podium.finish(f"the agent is done; its submission is {verdict['verdict']}")
podium.finish(f"the agent is done, and left {submission['found']} where its submission should be")
