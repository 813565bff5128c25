"""Grades with the official code of a checkout of MLE-bench, as its `mlebench grade-sample` reads and grades two files:
`official.py CHECKOUT ID SUBMISSION ANSWERS` prints the score in full precision. The packages that the grader imports have to be there."""

import sys
from pathlib import Path


def main(checkout, competition, submission, answers):
    sys.path.insert(0, checkout)
    from mlebench.utils import import_fn, load_answers, read_csv

    grade = import_fn(f"mlebench.competitions.{competition}.grade:grade")
    print(float(grade(read_csv(Path(submission)), load_answers(Path(answers)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
