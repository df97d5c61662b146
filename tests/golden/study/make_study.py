"""Draws the synthetic study that lies beside as annotations.csv: `python -m tests.golden.study.make_study`.

Four bots and people, 10 conversations a pair, three lengths, two annotations each by 14 simulated annotators who differ
in how readily they say "human" and in what they think of each bot. Nobody was asked: it serves to hold our statistics
against R's on the same rows, in every clone.
"""

import csv
from pathlib import Path

import numpy as np

COLUMNS = [
    "conversation",
    "package",
    "first",
    "second",
    "exchanges",
    "annotator",
    "label_first",
    "label_second",
    "lead_fluency",
    "lead_sensibleness",
    "lead_specificity",
    "elapsed_ms",
]
_BOTS, _PER_PAIR, _ANNOTATORS, _PACKAGE = ("Ada", "Bix", "Cleo", "Dot"), 10, 14, 20
_SKILL = {"Ada": 0.9, "Bix": 0.45, "Cleo": 0.3, "Dot": -0.3, "HU": 2.0}
_LABELS = ("bot", "unsure", "human")


def rows() -> list[list[object]]:
    """Return the annotations, in the order of their conversations."""
    rng = np.random.default_rng(20261122)
    pairs = [(a, b) for at, a in enumerate(_BOTS) for b in _BOTS[at + 1 :]] + [("HU", "HU")]
    speakers = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs for _ in range(_PER_PAIR)]
    segments = [(conversation, k) for conversation in range(len(speakers)) for k in (2, 3, 5)]
    package = np.empty(len(segments), dtype=int)
    package[rng.permutation(len(segments))] = np.arange(len(segments)) // _PACKAGE
    crews = [rng.choice(_ANNOTATORS, size=2, replace=False) for _ in range(package.max() + 1)]
    leniency = rng.normal(0, 0.5, _ANNOTATORS)
    taste = {name: rng.normal(0, 0.3, _ANNOTATORS) for name in _SKILL}
    pace = rng.normal(0, 0.4, _ANNOTATORS)
    common = rng.normal(0, 0.4, (len(speakers), 2))
    found: list[list[object]] = []
    for at, (conversation, k) in enumerate(segments):
        for who in sorted(crews[package[at]].tolist()):
            pair = speakers[conversation]
            seen = [
                _SKILL[name] + leniency[who] + taste[name][who] + common[conversation, side] - 0.25 * np.log(k)
                for side, name in enumerate(pair)
            ]
            seen = [value + float(rng.normal()) for value in seen]
            leads = [round(float(np.clip(0.5 * (seen[0] - seen[1]) + rng.normal(0, 0.7), -1.4, 1.4))) for _ in range(3)]
            labels = [_LABELS[int(value > 0.2) + int(value > 0.6)] for value in seen]
            elapsed = int(1000 * np.exp(3 + pace[who] + rng.normal(0, 0.5)))
            found.append([conversation, int(package[at]), *pair, k, who, *labels, *leads, elapsed])
    return found


def main() -> None:
    """Write the file."""
    with Path(__file__).with_name("annotations.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows())


if __name__ == "__main__":
    main()
