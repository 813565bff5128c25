from pathlib import Path

rows = sum(1 for _ in open(sorted(Path("input").glob("sample_submission*"))[0])) - 1
print("rows to predict:", rows, flush=True)

tolerance, weight, step = 1e-9, 0.0, 0
while abs(weight - rows) > -tolerance:
    weight += 0.1 * (rows - weight)
    step += 1
    if step % 20_000_000 == 0:
        print("step", step, "weight", weight, flush=True)
print("done after", step, "steps")
