"""What annotators get of a campaign, but for its texts, and a classifier that looks for people in it.

Annotators who pool all packages are modelled: they recognise a conversation by its beginning, however often it is
shown, and know our code, so that they try to undo its shuffles with the seeds that are defaults.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

PERMUTATIONS = 3999
_FIRST_PERMUTATIONS = 399
SIGNIFICANCE_LEVEL = 0.001
_FOLDS = 10
_RIDGE = 10.0
_PLAN = "place in the plan, with the default seed"

Features = Mapping[str, float]


@dataclass(frozen=True)
class Appearance:
    """A conversation in a package: its texts, and what an annotator gets beside them, by name."""

    texts: tuple[str, ...]
    package: int
    features: Features


@dataclass(frozen=True)
class Table:
    """What came with each conversation: how often it had each number of turns, and the mean, minimum and maximum of
    every other feature. A conversation is recognised by the turns that all segments show.
    """

    beginnings: list[tuple[str, ...]]
    packages: list[set[int]]
    features: npt.NDArray[np.float64]


@dataclass
class Pooled:
    """All packages of a campaign in the order in which they were claimed."""

    lengths: int
    appearances: list[Appearance] = field(default_factory=list)

    def table(self) -> Table:
        turns = min(len(each.texts) for each in self.appearances)
        by_conversation: dict[tuple[str, ...], list[Appearance]] = defaultdict(list)
        for appearance in self.appearances:
            by_conversation[appearance.texts[:turns]].append(appearance)
        names = sorted({name for each in self.appearances for name in each.features})
        shown = sorted({len(each.texts) for each in self.appearances})
        rows = []
        for appearances in by_conversation.values():
            counts = Counter(len(each.texts) for each in appearances)
            values = np.array([[each.features.get(name, -1.0) for name in names] for each in appearances])
            summary = [values.mean(axis=0), values.min(axis=0), values.max(axis=0)]
            rows.append(np.concatenate([[counts[each] for each in shown], *summary]))
        packages = [{each.package for each in appearances} for appearances in by_conversation.values()]
        return Table(list(by_conversation), packages, np.array(rows))

    def by_item(self, has_sign: Callable[[tuple[str, ...]], bool]) -> tuple[Table, list[tuple[tuple[str, ...], bool]]]:
        """Return what came with each item alone, as one annotator sees it, and which items' texts have a sign.

        A pair is one item: what comes with the dialogue on the left has the turns of the other.
        """
        items = [each for each in self.appearances if not each.features["is on the right"]]
        names = sorted({name for each in self.appearances for name in each.features})
        rows = [[float(len(each.texts)), *(each.features.get(name, -1.0) for name in names)] for each in items]
        known: list[tuple[tuple[str, ...], bool]] = [
            ((str(number),), has_sign(each.texts)) for number, each in enumerate(items)
        ]
        packages = [{each.package} for each in items]
        return Table([texts for texts, _ in known], packages, np.array(rows)), known


def _blocks(packages: Sequence[set[int]]) -> list[int]:
    """Return for each conversation, by its packages, the first package that it is connected with."""
    first = {each: each for several in packages for each in several}
    while True:
        before = dict(first)
        for several in packages:
            smallest = min(first[each] for each in several)
            first |= dict.fromkeys(several, smallest)
        if first == before:
            return [first[min(several)] for several in packages]


async def pool(frontend: httpx.AsyncClient, campaign: Mapping[str, Any]) -> Pooled:
    """Claim every package of a campaign that needs one annotator, as one annotator after the other."""
    pooled = Pooled(lengths=len(campaign["segments"]))
    undone = _UndoneShuffle(conversations=campaign["annotations_needed"] // pooled.lengths, campaign=campaign)
    for number in range(campaign["packages"]):
        body = {"annotator": f"annotator-{number}"}
        began = perf_counter()
        answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json=body)
        seconds = perf_counter() - began
        assert answer.status_code == 201, answer.text
        package = answer.json()
        items = package["items"]
        if campaign["protocol"] == "spot_the_bot_gamified":
            items = [await _opened(frontend, package, item) for item in items]
        _add_package(pooled, number, answer, package | {"items": items}, seconds, undone)
    beyond = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"annotator": "one too many"})
    assert beyond.is_client_error, beyond.text
    return pooled


async def _opened(frontend: httpx.AsyncClient, package: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    """Open every exchange of an item, and add what came with them to it."""
    found: dict[str, Any] = {**item}
    path = f"/v1/assignments/{package['id']}/items/{item['position']}/exchanges"
    while True:
        number = int(found["opened"]) + 1
        began = perf_counter()
        answer = await frontend.post(path, json={"open": number})
        found[f"seconds to open {number}"] = perf_counter() - began
        if answer.is_client_error:
            return found | {"refused": answer.status_code, "size of refusal": len(answer.content)}
        found |= answer.json()
        size_of_texts = _size([turn["text"] for turn in found["turns"]])
        found[f"size of {number}"] = len(answer.content) - size_of_texts
        found |= {f"{number} {name}": value for name, value in _headers(answer, size_of_texts)}


def _add_package(
    pooled: Pooled,
    number: int,
    answer: httpx.Response,
    package: Mapping[str, Any],
    seconds: float,
    undone: "_UndoneShuffle",
) -> None:
    (items,) = [value for value in package.values() if isinstance(value, list) and value and "turns" in value[0]]
    said = [turns for item in answer.json()["items"] for turns in _sides(item).values()]
    size_of_texts = sum(_size([turn["text"] for turn in turns]) for turns in said)
    around = {name: value for name, value in package.items() if value is not items}
    common = {
        "package": float(number),
        "items": float(len(items)),
        "seconds": seconds,
        "size": float(len(answer.content) - size_of_texts),
        **dict(_numbers("package", around)),
        **dict(_headers(answer, size_of_texts)),
    }
    places = undone.positions(number, len(items))
    for position, item in enumerate(items):
        sides = _sides(item)
        without_text = item | {name: [turn | {"text": ""} for turn in turns] for name, turns in sides.items()}
        around_texts = {name: value for name, value in item.items() if name not in sides}
        for name, turns in sides.items():
            features = common | {
                "place in package": float(position),
                "size of item": float(_size(without_text)),
                "is on the right": float(name == "right_turns"),
                "turns beside it": float(sum(map(len, sides.values())) - len(turns)),
                "first side": float(ord(turns[0]["speaker"])),
                _PLAN: float(places[position]),
                **dict(_numbers("item", around_texts)),
            }
            pooled.appearances.append(Appearance(tuple(turn["text"] for turn in turns), number, features))


def _sides(item: Mapping[str, Any]) -> dict[str, list[dict[str, str]]]:
    """Return the conversations of an item: one, or of a pair both."""
    return {name: item[name] for name in ("turns", "right_turns") if item.get(name)}


@dataclass
class _UndoneShuffle:
    """The plan's places of a package's conversations, if its shuffle was `random.Random` with the default seed."""

    conversations: int
    campaign: Mapping[str, Any]
    _begin: int = 0
    _chance: random.Random = field(default_factory=lambda: random.Random("packages/0"))
    _plan: list[int] = field(default_factory=list)

    def positions(self, number: int, items: int) -> list[int]:
        if not self._plan:
            self._plan = self._chance.sample(range(self.conversations), self.conversations)
        order = self._chance.sample(range(items), items)
        found = [self._plan[(self._begin + each) % self.conversations] for each in order]
        if number % len(self.campaign["segments"]) == len(self.campaign["segments"]) - 1:
            self._begin += items
        return found


def _numbers(path: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield whatever can be read as a number from a JSON value: amounts, lengths, moments, the parts of ids."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(f"{path}.{name}", each)
    elif isinstance(value, list):
        yield f"{path} (length)", float(len(value))
        for number, each in enumerate(value):
            yield from _numbers(f"{path}.{number}", each)
    elif isinstance(value, bool | int | float):
        yield path, float(value)
    elif isinstance(value, str):
        yield f"{path} (length)", float(len(value))
        yield from _parts(path, value)


def _parts(path: str, text: str) -> Iterator[tuple[str, float]]:
    try:
        each_id = UUID(text)
    except ValueError:
        pass
    else:
        yield f"{path} (time)", float(each_id.int >> 80)
        yield f"{path} (high)", float(each_id.int >> 64 & 0xFFF)
        yield f"{path} (low)", float(each_id.int & (1 << 62) - 1)
        return
    try:
        yield f"{path} (moment)", datetime.fromisoformat(text).timestamp()
    except ValueError:
        return


def _headers(answer: httpx.Response, size_of_texts: int) -> Iterator[tuple[str, float]]:
    yield "headers", float(len(answer.headers))
    for name, value in answer.headers.items():
        if name == "content-length":
            yield name, float(value) - size_of_texts
        elif name not in {"date", "traceparent"}:
            yield f"{name} (length)", float(len(value))


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def detect(table: Table, conversations: Sequence[tuple[tuple[str, ...], bool]]) -> float:
    """Return the p-value of a permutation test of whether people can be told from bots: the least of three, tripled.

    Where the first permutations show that it is above the significance level, a lower bound of it is returned.

    The classifier is kernel ridge regression, linear and Gaussian, whose predictions are linear in the labels, so that
    all permutations are computed at once. It is measured by the area under the ROC curve, cross-validated twice: on
    conversations left out at random, and on blocks left out whole, since a package that has its share of people
    already has fewer among the rest. Thirdly, each feature and its square are correlated with the label; the largest
    correlation counts.

    `conversations` are the texts of all conversations and whether people speak; those that begin alike are left out.
    """
    turns = len(table.beginnings[0])
    times = Counter(texts[:turns] for texts, _ in conversations)
    is_human = {texts[:turns]: human for texts, human in conversations if times[texts[:turns]] == 1}
    known = [number for number, each in enumerate(table.beginnings) if each in is_human]
    assert len(known) > 0.8 * len(table.beginnings)
    chance = np.random.default_rng(14)
    labels = np.array([is_human[table.beginnings[number]] for number in known], dtype=float)
    permuted = np.column_stack([labels, *(chance.permutation(labels) for _ in range(PERMUTATIONS))])
    features = _standardised(table.features[known])
    kernel = _kernel(features)
    _, blocks = np.unique(_blocks([table.packages[number] for number in known]), return_inverse=True)
    folds = chance.permutation(len(labels)) % _FOLDS, chance.permutation(blocks.max() + 1)[blocks] % _FOLDS
    statistics: dict[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
        "largest correlation": lambda tried: _largest_correlations(features, tried),
        "area": lambda tried: _areas(_predict(kernel, tried, folds[0]), tried),
        "area over blocks": lambda tried: _areas(_predict(kernel, tried, folds[1]), tried),
    }
    for permutations in (_FIRST_PERMUTATIONS, PERMUTATIONS):
        found = {}
        for name, statistic in statistics.items():
            values = statistic(permuted[:, : permutations + 1])
            found[name] = values[0], (values >= values[0]).sum() / (PERMUTATIONS + 1)
            if found[name][1] == 1 / (PERMUTATIONS + 1):
                break  # no other can have less
        least = min(p for _, p in found.values())
        if 3 * least > SIGNIFICANCE_LEVEL:
            break
    print(
        f"{len(known)} of {len(table.beginnings)} conversations: "
        + ", ".join(f"{name} {value:.3f} (p >= {p:.5f})" for name, (value, p) in found.items())
    )
    return float(min(1.0, 3 * least))


def _standardised(features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    varying = features[:, np.ptp(features, axis=0) > 0]
    return np.asarray((varying - varying.mean(axis=0)) / varying.std(axis=0))


def _largest_correlations(
    features: npt.NDArray[np.float64], labels: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    both = _standardised(np.column_stack([features, features**2]))
    return np.asarray(np.abs(both.T @ _standardised(labels)).max(axis=0) / len(labels))


def _predict(
    kernel: npt.NDArray[np.float64], labels: npt.NDArray[np.float64], fold: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    predicted = np.zeros_like(labels)
    for each in np.unique(fold):
        train, test = fold != each, fold == each
        within = kernel[np.ix_(train, train)] + _RIDGE * np.eye(int(train.sum()))
        # One solution for each conversation left out, not for each permutation. The mean is not added again: it is
        # lower where more people are in the test fold.
        weights = np.linalg.solve(within, kernel[np.ix_(train, test)])
        predicted[test] = weights.T @ (labels[train] - labels[train].mean(axis=0))
    return predicted


def _kernel(features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    count = max(1, features.shape[1])
    linear = features @ features.T / count
    gaussian = np.zeros_like(linear)
    for column in features.T:  # one feature at a time, so that none is lost among the others
        gaussian += np.exp(-4.0 * (column[:, None] - column[None, :]) ** 2)
    return np.asarray(linear + gaussian / count)


def _areas(predicted: npt.NDArray[np.float64], labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the area under the ROC curve of each column: the share of (person, bot) pairs in the right order."""
    ranks = rankdata(predicted, axis=0)
    people = labels.sum(axis=0)
    return ((ranks * labels).sum(axis=0) - people * (people + 1) / 2) / (people * (len(labels) - people))
