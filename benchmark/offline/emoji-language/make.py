"""Makes data/ of `emoji-language` from emoji 2.16.0 (names of the Unicode CLDR)."""
import json
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20263
LANGUAGES = {"arabic": "ar", "chinese": "zh", "english": "en", "french": "fr", "german": "de",
             "indonesian": "id", "italian": "it", "japanese": "ja", "persian": "fa",
             "portuguese": "pt", "russian": "ru", "spanish": "es", "turkish": "tr"}
ROWS = {"train": 270, "test": 120}  # of each language
FULLY_QUALIFIED = 2
SKIN_TONES = set("🏻🏼🏽🏾🏿")
# variation selector, joiner, gender signs, arrow and hair make variants of one emoji
VARIANT_MARKS = set("\ufe0f\u200d♀♂➡🦰🦱🦲🦳")
PERSON = str.maketrans({"👨": "🧑", "👩": "🧑"})


def base(emoji):
    """What all variants of an emoji share: the group that never straddles the split."""
    return "".join(c for c in emoji.translate(PERSON) if c not in VARIANT_MARKS) or emoji


def clean(name):
    return unicodedata.normalize("NFC", name.strip(":").replace("_", " ")).strip()


def read(file):
    return json.loads(pack.source_file("emoji", "2.16.0", f"emoji/unicode_codes/{file}").read_text(encoding="utf8"))


table = read("emoji.json")
emojis = [e for e, facts in table.items() if facts["status"] == FULLY_QUALIFIED and not SKIN_TONES & set(e)]
pairs = []
for language, code in LANGUAGES.items():
    names = {e: table[e]["en"] for e in emojis} if code == "en" else read(f"emoji_{code}.json")
    pairs += [(language, base(e), clean(names[e])) for e in emojis]
pairs = pd.DataFrame(pairs, columns=["language", "base", "text"]).drop_duplicates(["language", "text"])

rng = np.random.default_rng(SEED)
bases = rng.permutation(sorted(pairs["base"].unique()))
test_bases = set(bases[: len(bases) * 31 // 100])
pairs["part"] = np.where(pairs["base"].isin(test_bases), "test", "train")
chosen = pd.concat(group.sample(ROWS[part], random_state=rng)
                   for (_, part), group in pairs.groupby(["language", "part"]))
chosen["id"] = pack.salted_ids(len(chosen), "emoji-language-41d8")
chosen = chosen.sort_values("id")
train, test = [chosen.loc[chosen["part"] == part, ["id", "text", "language"]] for part in ("train", "test")]
pack.write(
    HERE,
    public={
        "LICENCE.txt": (HERE / "LICENCE.txt").read_bytes(),
        "train.csv": train,
        "test.csv": test[["id", "text"]],
        "sample_submission.csv": test[["id"]].assign(**{name: round(1 / 13, 6) for name in LANGUAGES}),
    },
    private={"answers.csv": test[["id", "language"]]},
)
