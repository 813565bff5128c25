"""An agent program as others write them: a loop around a model that gives commands. It knows nothing of Podium: it is
given two callables, `query(messages) -> text` and `run(command) -> (exit code, output)`, and works until it is content."""

import shlex


class TinyAgent:
    def __init__(self, query, run, turns):
        self.query, self.run, self.turns = query, run, turns

    def solve(self, rules, question):
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": question}]
        for _ in range(self.turns):
            answer = self.query(messages)
            messages.append({"role": "assistant", "content": answer})
            _, found, rest = answer.partition("```python\n")
            if not found:
                return "the model gave no script"
            script = shlex.quote(rest.partition("```")[0])
            code, printed = self.run(f"printf %s {script} > solution.py && python3 solution.py 2>&1")
            if code == 0:
                return "the script ran to its end"
            told = f"exit code {code}\n\n{printed[-3000:]}\n\nMend the script and answer with the whole of it."
            messages.append({"role": "user", "content": told})
        return f"{self.turns} turns are over"
