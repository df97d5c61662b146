"""Replays of published studies: labels of a pair that is decided are not asked for any more, and count as saved."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from spotthebot.analytics.labels.domain import complete_packages
from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, IntArray
from spotthebot.analytics.stats.pair_verdicts import Verdict, pair_verdicts
from spotthebot.analytics.stats.significance import PairComparison, pair_tests
from spotthebot.analytics.stats.wins import play_games
from spotthebot.importers.dump_study import read_study
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.importers.published_dump.records import DumpAnnotation

DOMAINS: Final = ("dailydialog", "empathetic")
_LEVEL: Final = 0.05
_DECIDED: Final = {Verdict.AHEAD: 1, Verdict.BEHIND: -1}


@dataclass(frozen=True, eq=False)
class Study:
    """A study's annotations between bots in the order of arrival, and the number of annotations at each look.

    There is a look after each package that an annotator completed.
    """

    table: AnnotationTable
    looks: IntArray

    @property
    def pair(self) -> IntArray:
        """Return the place in `triu_indices` of each annotation's pair."""
        k = len(self.table.bots)
        code = np.zeros((k, k), dtype=np.int64)
        code[np.triu_indices(k, 1)] = np.arange(k * (k - 1) // 2)
        pair: IntArray = code[self.table.entity.min(axis=1), self.table.entity.max(axis=1)]
        return pair


@dataclass(frozen=True)
class Saved:
    """The shares of the labels between bots that are spent after a pair is decided, and the pairs decided.

    The oracle knows from which look on the pair's test (Holm) stays below 5 %. `contradictions` counts verdicts whose
    bot is not ahead in the whole study.
    """

    labels: int
    by_oracle: float
    by_verdicts: float
    pairs: int
    decided_by_oracle: int
    decided: int
    contradictions: int


def read(folder: Path, domain: str) -> Study:
    """Read a published study. A package arrives when its annotator has completed it."""
    with open_dump(folder, domain) as dump:
        labelled = read_study(dump).labelled
        ended = [each.ended_at_ms for each in dump.annotations() if isinstance(each, DumpAnnotation)]
    kept = np.flatnonzero(complete_packages(labelled))
    sitting: dict[Hashable, list[int]] = {}
    for at in kept.tolist():
        each = labelled.annotations[at]
        sitting.setdefault((each.package, each.annotator), []).append(at)
    arrived = sorted(sitting.values(), key=lambda rows: max(ended[at] for at in rows))
    names = sorted({name for pair in labelled.speakers.values() for name in pair} - {HUMAN})
    rows: list[int] = []
    looks: list[int] = []
    for package in arrived:
        rows += [at for at in package if HUMAN not in labelled.speakers[labelled.annotations[at].conversation]]
        looks.append(len(rows))
    chosen = [labelled.annotations[at] for at in rows]
    place = {conversation: at for at, conversation in enumerate(labelled.speakers)}
    texts = {each: labelled.texts.get(each, each) for each in labelled.speakers}
    shown = {text: at for at, text in enumerate(dict.fromkeys(texts.values()))}
    annotators = {name: at for at, name in enumerate(sorted({each.annotator for each in chosen}))}
    table = AnnotationTable(
        names=tuple(names),
        conversation=np.array([place[each.conversation] for each in chosen]),
        entity=np.array([[names.index(name) for name in labelled.speakers[each.conversation]] for each in chosen]),
        exchanges=np.array([each.exchanges for each in chosen]),
        label=np.array([each.labels for each in chosen]),
        annotator=np.array([annotators[each.annotator] for each in chosen]),
        text=np.array([shown[texts[each.conversation]] for each in chosen]),
    )
    return Study(table, np.unique(looks))


def replay(study: Study, *, margin: float | None = None) -> Saved:
    """Replay a study. An annotation of a pair that has a verdict is left out of all later looks."""
    table, pair = study.table, study.pair
    m = int(pair.max()) + 1
    whole = pair_tests(play_games(table))
    decided_at = np.full(m, len(table))
    kept: BoolArray = np.ones(len(table), dtype=np.bool_)
    contradictions = 0
    for n in study.looks.tolist():
        arrived = np.arange(len(table)) < n
        for at, found in enumerate(pair_verdicts(table.select(kept & arrived), margin=margin)):
            if found.verdict is not Verdict.OPEN and decided_at[at] == len(table):
                decided_at[at] = n
                kept &= (pair != at) | arrived
                contradictions += _contradicts(found.verdict, whole[at])
    by_oracle = _oracle(study, whole)
    return Saved(
        labels=len(table),
        by_oracle=_spent_after(pair, by_oracle),
        by_verdicts=_spent_after(pair, decided_at),
        pairs=m,
        decided_by_oracle=int(np.sum(by_oracle < len(table))),
        decided=int(np.sum(decided_at < len(table))),
        contradictions=contradictions,
    )


def shuffled(study: Study, orders: int = 20) -> list[Saved]:
    """Replay the same packages of the same annotators in random orders."""
    rng = np.random.default_rng(38)
    packages = np.split(np.arange(len(study.table)), study.looks[:-1])
    found = []
    for _ in range(orders):
        chosen = [packages[at] for at in rng.permutation(len(packages))]
        table = _taken(study.table, np.concatenate(chosen))
        found.append(replay(Study(table, np.cumsum([len(each) for each in chosen]))))
    return found


def _taken(table: AnnotationTable, rows: IntArray) -> AnnotationTable:
    return replace(
        table,
        conversation=table.conversation[rows],
        entity=table.entity[rows],
        exchanges=table.exchanges[rows],
        label=table.label[rows],
        annotator=table.annotator[rows],
        text=table.text[rows],
    )


def _oracle(study: Study, whole: tuple[PairComparison, ...]) -> IntArray:
    """Return after how many annotations the test of each pair stays decided; all of them if it never does."""
    decided_at = np.array([0 if _is_decided(each) else len(study.table) for each in whole])
    for n in study.looks.tolist():
        tests = pair_tests(play_games(study.table.select(np.arange(len(study.table)) < n)))
        for at, each in enumerate(tests):
            if _is_decided(whole[at]) and not _is_decided(each):
                decided_at[at] = n
    later = study.looks[np.minimum(np.searchsorted(study.looks, decided_at, side="right"), len(study.looks) - 1)]
    return np.where(decided_at < len(study.table), later, decided_at)


def _is_decided(test: PairComparison) -> bool:
    return test.p_adjusted is not None and test.p_adjusted < _LEVEL


def _contradicts(verdict: Verdict, whole: PairComparison) -> bool:
    ahead = 0.0 if whole.estimate is None else whole.estimate - 0.5
    return _DECIDED.get(verdict, 0) * ahead < 0 or (verdict is Verdict.EQUIVALENT and _is_decided(whole))


def _spent_after(pair: IntArray, decided_at: IntArray) -> float:
    return float(np.mean(np.arange(len(pair)) >= decided_at[pair]))
