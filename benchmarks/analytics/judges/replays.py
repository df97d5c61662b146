"""Published studies with a part of their labels, and a judge that was trained on that part.

`python -m benchmarks.analytics.judges.replays FOLDER [--draws N]`, FOLDER with the published annotations. A draw keeps
all labels of a random part of the conversations. The judge (text features, for each speaker a model that has not seen
the speaker) learns from these labels and answers about all segments. People alone and the corrected fooling rates are
held against the rates of the whole study.
"""

import argparse
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from spotthebot.analytics.labels.domain import LabelledCampaign, complete_packages
from spotthebot.analytics.stats.annotations import HUMAN, BoolArray, FloatArray, LabelCode
from spotthebot.analytics.stats.judged.values import JudgedEstimate, JudgedValues, judged_shares
from spotthebot.contracts.turns import Turn
from spotthebot.importers.dump_study import read_study
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.importers.published_dump.records import DumpConversation
from spotthebot.judges.trained.folds import shown_of, train_folds
from spotthebot.judges.trained.options import NetworkOptions
from spotthebot.judges.trained.units import GivenLabel, Unit, side_of

DOMAINS: Final = ("dailydialog", "empathetic")
SHARES: Final = (0.1, 0.25, 0.5)
_HEAD: Final = (
    "| Study | Labels kept | RMSE of people alone | Corrected | Width of people's intervals | Corrected | "
    "Held by people's | Corrected | Labels saved | Pairs in the whole study's order, people | Corrected |"
)


@dataclass(frozen=True)
class Part:
    """What a part of a study's labels tells, over all bots and draws: people's figure, then the corrected one.

    `error` is the root mean square distance from the whole study's rates, `width` the mean width of intervals, `held`
    the share of intervals that hold the whole study's rate, `order` the share of pairs of bots in the whole study's
    order. `saved` is the mean of the estimated labels saved.
    """

    error: tuple[float, float]
    width: tuple[float, float]
    held: tuple[float, float]
    order: tuple[float, float]
    saved: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each published study and share of its labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.judges.replays")
    parser.add_argument("folder", type=Path, help="the folder with the published annotations")
    parser.add_argument("--draws", type=int, default=20, help="random parts of each size")
    chosen = parser.parse_args(arguments)
    print("\n".join([_HEAD, "|---" * _HEAD.count(" | ") + "|---|"]))  # noqa: T201 - the table is the output
    for domain in DOMAINS:
        units = read_units(chosen.folder, domain)
        for share in SHARES:
            print(_row(domain, share, replay(units, share, chosen.draws)))  # noqa: T201 - as above


def _row(domain: str, share: float, found: Part) -> str:
    figures = [f"{value:.3f}" for value in (*found.error, *found.width)]
    figures += [f"{100 * value:.0f} %" for value in (*found.held, found.saved, *found.order)]
    return f"| {domain} | {100 * share:g} % | {' | '.join(figures)} |"


def read_units(folder: Path, domain: str) -> list[Unit]:
    """Return the sides of all segments that somebody annotated in a complete package."""
    with open_dump(folder, domain) as dump:
        labelled = read_study(dump).labelled
        held = [each for each in dump.conversations() if isinstance(each, DumpConversation)]
    turns = {
        each.external_id: tuple(Turn(speaker="AB"[at % 2], text=turn.text) for at, turn in enumerate(each.turns))
        for each in held
    }
    return list(_units(labelled, turns))


def _units(labelled: LabelledCampaign, turns: dict[str, tuple[Turn, ...]]) -> Iterator[Unit]:
    kept = np.flatnonzero(complete_packages(labelled)).tolist()
    given: defaultdict[tuple[Hashable, int], list[tuple[str, tuple[int, int]]]] = defaultdict(list)
    for each in (labelled.annotations[at] for at in kept):
        given[each.conversation, each.exchanges].append((each.annotator, each.labels))
    for (conversation, exchanges), labels in given.items():
        speakers = labelled.speakers[conversation]
        for at, side in enumerate("AB"):
            given_labels = tuple(GivenLabel(annotator, label[at] == LabelCode.HUMAN) for annotator, label in labels)
            shown = turns[str(conversation)][: 2 * exchanges]
            yield Unit(str(conversation), speakers[at], speakers[1 - at], side_of(side), shown, given_labels)


def replay(units: Sequence[Unit], share: float, draws: int) -> Part:
    """Draw parts of the conversations, and hold what they tell against all labels of the study."""
    everything = estimates(units, np.ones(len(units), dtype=np.bool_), np.full(len(units), np.nan))
    truth = _figures([each.people.estimate for each in everything])
    conversations = sorted({unit.conversation for unit in units})
    of_unit = np.array([unit.conversation for unit in units])
    drawn = []
    for seed in range(draws):
        chosen = np.random.default_rng(seed).permutation(conversations)[: round(share * len(conversations))]
        part = np.isin(of_unit, chosen)
        drawn.append(estimates(units, part, answers(units, part)))
    both = [[each.people for each in found] + [each.corrected for each in found] for found in drawn]
    estimate, low, high = (
        np.array([_figures([getattr(each, name) for each in found]) for found in both]).reshape(draws, 2, -1)
        for name in ("estimate", "low", "high")
    )
    first, second = np.triu_indices(len(truth), 1)
    ahead = (estimate[..., first] > estimate[..., second]) == (truth[first] > truth[second])
    saved = np.array([_figures([each.labels_saved.estimate for each in found]) for found in drawn])
    return Part(
        error=_pair(np.sqrt(np.nanmean((estimate - truth) ** 2, axis=(0, 2)))),
        width=_pair(np.nanmean(high - low, axis=(0, 2))),
        held=_pair(np.mean((low <= truth) & (truth <= high), axis=(0, 2))),
        order=_pair(np.mean(ahead, axis=(0, 2))),
        saved=float(np.nanmean(saved)),
    )


def answers(units: Sequence[Unit], part: BoolArray) -> FloatArray:
    """Return P(human) of every unit (units,) by models that learnt from a part; NaN where no model may answer."""
    learnt = [unit for unit, is_kept in zip(units, part.tolist(), strict=True) if is_kept]
    found = np.full(len(units), np.nan)
    for fold in train_folds(learnt, None, NetworkOptions()):
        own = [at for at, unit in enumerate(units) if unit.speaker == fold.speaker]
        found[own] = fold.text.probabilities(shown_of([units[at] for at in own]))
    return found


def estimates(units: Sequence[Unit], part: BoolArray, judge: FloatArray) -> tuple[JudgedEstimate, ...]:
    """Return the fooling rates of all bots from the labels of a part of the units, and the judge's answers to all."""
    bots = tuple(sorted({unit.speaker for unit in units} - {HUMAN}))
    names = sorted({label.annotator for unit in units for label in unit.labels})
    place, who = ({name: at for at, name in enumerate(each)} for each in (bots, names))
    conversations = {name: at for at, name in enumerate(dict.fromkeys(unit.conversation for unit in units))}
    rows = [
        (place[unit.speaker], at, conversations[unit.conversation], annotator, value, judge[at], len(unit.turns))
        for at, unit in enumerate(units)
        if unit.speaker in place
        for annotator, value in (
            [(who[label.annotator], float(label.human)) for label in unit.labels] if part[at] else [(-1, np.nan)]
        )
    ]
    bot, unit, conversation, annotator, value, answer, stratum = (np.array(each) for each in zip(*rows, strict=True))
    return judged_shares(JudgedValues(bots, bot, unit, conversation, annotator, value, answer, stratum))


def _figures(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values])


def _pair(values: FloatArray) -> tuple[float, float]:
    people, corrected = values.tolist()
    return people, corrected


if __name__ == "__main__":
    main()
