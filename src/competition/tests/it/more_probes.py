"""Makes fixtures/csv_more_probes.json: what pandas makes of small files (random ones and chosen ones).

Run with Python 3.11, pandas 2.3.3: `python more_probes.py`.
"""
import io
import json
import math
import random
from pathlib import Path

import pandas as pd

CHOSEN = [
    "a\n99999999999999999999abc\n1\n", "a\n99999999999999999999.5\n1\n", "a\n0.5\n18446744073709551616\n",
    "a\n99999999999999999999\nNA\n", "a\n1e400\nNA\n", "a\n9223372036854775808\n-abc\n",
    "a\n-9223372036854775808\nNA\n", "a\nTrue\nNA\n1\n", 'a,b\n1,2\n "x",3\n', "a\n1\x0b\n2\n", "a\n\x0c1\n2\n",
    "a\n+inf\n+Infinity\n", "a\n inf\n1\n", "a\n+ 1\n2\n", "a\n1 e5\n2\n", "a\n.e5\n1\n", "a\n1e5 \n 2.\n",
    "a\n-1e400\n", "a\n0.0\n-0\n", "a\n-\n9223372036854775808\n", "\x00a,b\n1,2\n", "a,b\n1\x00,2\n", 'a\n"\n',
    'a\n"x""\n', "a,b\n1,2\n3,4,\n", "a,b\r\r\n1,2", 'a,b\n"",\n', '""\n1\n', "a\n\t1\n", 'a\n1\n ""\n2\n',
    "a,a,\n1,2,3\n", "a.1,a,a\n1,2,3\n", ",,Unnamed: 0\n1,2,3\n", "a,b\n \t,2\n", "a,b\n1,2\n  ,\n", "a\n-+1\n",
    "a\n1.5.2\n", "a\n5e-324\n2e-324\n", "a\nNA\nNA\n", 'a\n""\n', '\ufeff"a",b\n1,2\n', "\ufeff\n\na\n1\n",
    "\n\ufeffa\n1\n", "a\n18446744073709551615\n+3\n", "a\n9223372036854775808\n1e5\n",
    "a\n-9223372036854775809\n0.5\n", "a\n1\nx\n99999999999999999999\n", " \ra\r1\r", "a\n1\n2,\n",
    "a,b,c\n1,2\n1,2,3\n", "a,a,a,a.1\n1,2,3,4\n", "a,b\n1,2,,\n3,4,5,6\n5\n",
]


def value(x):
    if isinstance(x, float) and math.isnan(x):
        return None
    if isinstance(x, float) and math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x.item() if hasattr(x, "item") else x


def probe(text):
    try:
        frame = pd.read_csv(io.BytesIO(text.encode()), float_precision="round_trip")
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame()
    except Exception as error:
        return {"csv": text, "ok": False, "exception": type(error).__name__}
    columns = [
        {"name": name, "dtype": str(frame[name].dtype), "values": [value(x) for x in frame[name].tolist()]}
        for name in frame.columns
    ]
    labels = [list(map(value, x)) if isinstance(x, tuple) else value(x) for x in frame.index.tolist()]
    return {"csv": text, "ok": True, "columns": columns, "row_labels": labels}


def random_text(rng):
    cells = ["1", "2", "-3", "0.5", "x", "", "NA", " 1", "true", "False", '"q"', '"a,b"', '"l\n"', "1e3", "  ",
             "9223372036854775808", "18446744073709551616", "1e400", "inf", 'm"', '"e"t', "None", "+7", "."]
    width = rng.randint(1, 3)
    end = rng.choice(["\n", "\r\n"])
    pool = rng.sample(cells, rng.randint(1, 4))
    lines = [",".join(rng.choice(["a", "b", "a", ""]) for _ in range(width))]
    for _ in range(rng.randint(0, 4)):
        count = width if rng.random() < 0.9 else rng.randint(1, width + 1)
        lines.append(",".join(rng.choice(pool) for _ in range(count)))
    return end.join(lines) + (end if rng.random() < 0.8 else "")


rng = random.Random(20260)
texts = list(dict.fromkeys(CHOSEN + [random_text(rng) for _ in range(400)]))
lines = ",\n".join(json.dumps(probe(text)) for text in texts)
(Path(__file__).parent / "fixtures" / "csv_more_probes.json").write_text(f"[\n{lines}\n]\n")
print(len(texts))
