"""Sample conversations in a report: turns, and after each length the labels of annotators who saw this length."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from spotthebot.analytics.labels.domain import CodedAnnotation
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.contracts.turns import Turn
from spotthebot.local.report.annotators import by_name
from spotthebot.local.report.samples import LABELS, Samples, Selected

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
