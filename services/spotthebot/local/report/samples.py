"""The conversations that a report shows, with their annotations at each length, and the HTML that shows them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import mean
from typing import Final

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign, complete_packages
from spotthebot.analytics.stats import HUMAN, LabelCode
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.contracts.turns import Turn
from spotthebot.local.report.annotators import by_name

SIDES: Final = ("A", "B")
LABELS: Final = {int(code): code.name.lower() for code in LabelCode}
"""The words of labels by their codes."""
_FOOLED: Final = (
    "Conversations in which a bot was taken for human most often: by the share of its labels, of all lengths and"
    " annotators together."
)
_SPOTTED: Final = (
    "Conversations in which a bot was spotted with least to go by: by the share of annotators who called it a bot at"
    " the shortest length that they saw, then at all lengths."
)
_DISPUTED: Final = (
    "Conversations over which annotators disagreed most: by the mean difference between two annotators' labels of one"
    " side at one length. Bot and human differ by 1, unsure differs from both by 0.5."
)
TIES: Final = (
    "Of equals, those with more labels come first, then those that come first in their collection. Conversations with"
    " less than half of the labels that another has take no part."
)
_MAX_TEXT = 2000


@dataclass(frozen=True)
class Given:
    """An annotator's labels for both sides."""

    annotator: str
    labels: tuple[str, str]


@dataclass(frozen=True)
class Part:
    """Turns, and the labels of annotators who saw the conversation up to here."""

    turns: tuple[Turn, ...]
    exchanges: int
    given: tuple[Given, ...]


@dataclass(frozen=True)
class Sample:
    """A conversation with its labels; `unseen` is the number of later turns that no annotator saw."""

    conversation: str
    speakers: tuple[str, str]
    why: str
    opening: tuple[Turn, ...]
    opening_shown: bool
    parts: tuple[Part, ...]
    unseen: int


@dataclass(frozen=True)
class SampleGroup:
    """Conversations of one kind, and the definition of the kind."""

    key: str
    title: str
    definition: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Selected:
    """A selected conversation, the reason, and all of its annotations that count, shortest length first."""

    conversation: Hashable
    speakers: tuple[str, str]
    why: str
    annotations: tuple[CodedAnnotation, ...]


@dataclass(frozen=True)
class SelectedGroup:
    """The conversations with the highest score of one kind, highest first; empty if no conversation scores."""

    key: str
    title: str
    definition: str
    selected: tuple[Selected, ...]


@dataclass(frozen=True)
class Samples:
    """The conversations that a report shows; with a `reason` it shows none."""

    groups: tuple[SelectedGroup, ...]
    transcripts: Mapping[Hashable, ConversationOut]
    reason: str | None = None


def select_samples(labelled: LabelledCampaign, filter_: Filter, count: int) -> tuple[SelectedGroup, ...]:
    """Select up to `count` conversations for each group, by the annotations that count; the first one of equals.

    A side, or a conversation, is eligible for a group if it has at least half of the labels of the one with the most.
    So a single label decides nothing if others have many.
    """
    annotations: Sequence[CodedAnnotation] = labelled.annotations
    if filter_ == "complete_packages" and annotations:
        kept = complete_packages(labelled).tolist()
        annotations = [each for each, keep in zip(annotations, kept, strict=True) if keep]
    by_conversation: dict[Hashable, list[CodedAnnotation]] = defaultdict(list)
    for each in annotations:
        by_conversation[each.conversation].append(each)
    seen = {each: sorted(by_conversation[each], key=_order) for each in labelled.speakers if each in by_conversation}
    groups = (
        ("fooled", "Most often taken for human", _FOOLED, _fooled),
        ("spotted", "Spotted first", _SPOTTED, _spotted),
        ("disputed", "Most disputed", _DISPUTED, _disputed),
    )
    return tuple(
        SelectedGroup(key, title, definition, _best(labelled, seen, score, count))
        for key, title, definition, score in groups
    )


@dataclass(frozen=True)
class _Score:
    """The score of a conversation for a group; `labels` is the number of labels behind it."""

    values: tuple[float, ...]
    labels: int
    why: str


_Scoring = Callable[[tuple[str, str], Sequence[CodedAnnotation]], Iterable[_Score]]


def _best(
    labelled: LabelledCampaign, seen: Mapping[Hashable, Sequence[CodedAnnotation]], score: _Scoring, count: int
) -> tuple[Selected, ...]:
    scored = [(each, found) for each, given in seen.items() for found in score(labelled.speakers[each], given)]
    enough = max((found.labels for _, found in scored), default=0) / 2
    ranked = sorted(
        ((each, found) for each, found in scored if found.labels >= enough and found.values[0] > 0),
        key=lambda pair: (*(-value for value in pair[1].values), -pair[1].labels),
    )
    first: dict[Hashable, _Score] = {}
    for each, found in ranked:
        first.setdefault(each, found)
    return tuple(
        Selected(each, labelled.speakers[each], found.why, tuple(seen[each]))
        for each, found in [*first.items()][:count]
    )


def _fooled(speakers: tuple[str, str], given: Sequence[CodedAnnotation]) -> Iterable[_Score]:
    for at, name in _bots(speakers):
        labels = [each.labels[at] for each in given]
        humans = labels.count(LabelCode.HUMAN)
        why = f"{_side(at, name)} was called human in {humans} of {len(labels)} labels."
        yield _Score((humans / len(labels),), len(labels), why)


def _spotted(speakers: tuple[str, str], given: Sequence[CodedAnnotation]) -> Iterable[_Score]:
    shortest = min(each.exchanges for each in given)
    for at, name in _bots(speakers):
        early = [each.labels[at] for each in given if each.exchanges == shortest]
        labels = [each.labels[at] for each in given]
        bots, all_bots = early.count(LabelCode.BOT), labels.count(LabelCode.BOT)
        why = (
            f"{_side(at, name)} was called a bot in {bots} of {len(early)} labels after {_exchanges(shortest)}, in"
            f" {all_bots} of {len(labels)} in all."
        )
        yield _Score((bots / len(early), all_bots / len(labels)), len(labels), why)


def _disputed(_speakers: tuple[str, str], given: Sequence[CodedAnnotation]) -> Iterable[_Score]:
    differences = [
        abs(one.labels[at] - other.labels[at]) / 2
        for one, other in combinations(given, 2)
        if one.exchanges == other.exchanges
        for at in range(2)
    ]
    if differences:
        found = mean(differences)
        yield _Score((found,), len(given), f"Two annotators differed by {found:.2f} on average.")


def _bots(speakers: tuple[str, str]) -> list[tuple[int, str]]:
    return [(at, name) for at, name in enumerate(speakers) if name != HUMAN]


def _side(at: int, name: str) -> str:
    return f"{name} (side {SIDES[at]})"


def _exchanges(number: int) -> str:
    return "1 exchange" if number == 1 else f"{number} exchanges"


def _order(annotation: CodedAnnotation) -> tuple[int, str]:
    return annotation.exchanges, annotation.annotator


def written_samples(samples: Samples, names: Mapping[str, str]) -> tuple[SampleGroup, ...]:
    """Return the samples with their texts; `names` has the annotators' names."""
    return tuple(
        SampleGroup(
            group.key,
            group.title,
            group.definition,
            tuple(_sample(each, samples.transcripts[each.conversation], names) for each in group.selected),
        )
        for group in samples.groups
    )


def _sample(selected: Selected, transcript: ConversationOut, names: Mapping[str, str]) -> Sample:
    parts, said = [], 0
    for exchanges, given in groupby(selected.annotations, key=lambda each: each.exchanges):
        turns = transcript.turns[said : 2 * exchanges]
        labels = sorted((_given(each, names) for each in given), key=lambda each: by_name(each.annotator))
        parts.append(Part(tuple(map(_cut, turns)), exchanges, tuple(labels)))
        said += len(turns)
    return Sample(
        str(selected.conversation),
        selected.speakers,
        selected.why,
        tuple(map(_cut, transcript.opening)),
        transcript.opening_shown,
        tuple(parts),
        unseen=len(transcript.turns) - said,
    )


def _given(annotation: CodedAnnotation, names: Mapping[str, str]) -> Given:
    first, second = annotation.labels
    return Given(names.get(annotation.annotator, annotation.annotator), (LABELS[first], LABELS[second]))


def _cut(turn: Turn) -> Turn:
    more = len(turn.text) - _MAX_TEXT
    return (
        turn
        if more <= 0
        else Turn(speaker=turn.speaker, text=f"{turn.text[:_MAX_TEXT]} ... ({more:,} more characters)")
    )
