"""Joins labels with speakers into the table that the statistics take, after the filter for complete packages."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from spotthebot.analytics.stats import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.contracts.analytics.provenance import Counts, Filter
from spotthebot.contracts.annotation.annotations import Label
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts

FEATURES: Final = ("fluency", "sensibleness", "specificity")
LABEL_CODES: Final = {label: LabelCode[label.name] for label in Label}
"""How the statistics code each label."""
SIMULATED: Final = "simulated-"
"""How the names of annotators that are programs begin."""


class CodedAnnotation(NamedTuple):
    """One annotation: a `stats.LabelCode` for each side, and for each of `FEATURES` 1 if A had more, -1 if B had.

    `elapsed_ms` is None where it was not measured; absurd values are kept.
    """

    conversation: Hashable
    package: Hashable
    exchanges: int
    annotator: str
    labels: tuple[int, int]
    leads: tuple[int, int, int]
    elapsed_ms: int | None


@dataclass(frozen=True)
class Study:
    """All that is known of a campaign; conversations and packages have any ids.

    `speakers` has both names of each conversation in the collection's order, `packages` the conversations of each,
    `texts` what stands for the text of each conversation, as far as it is shown: conversations whose words are the same
    (`spotthebot.kit.text.words.text_hash`) have one text. A conversation that is not in it has a text of its own.
    `campaign_id` is None where the data came from a file.
    """

    campaign_id: UUID | None
    campaign: str
    domain: str
    complete: bool
    speakers: Mapping[Hashable, tuple[str, str]]
    packages: Mapping[Hashable, frozenset[Hashable]]
    annotations: Sequence[CodedAnnotation]
    texts: Mapping[Hashable, Hashable] = field(default_factory=dict)


def study_of_table(table: AnnotationTable, name: str) -> Study:
    """Make the study of a table of annotations, each of which counts whatever the filter; no time was measured.

    Features other than `FEATURES` are left out; of one that the table has not got nobody had more.
    """
    none = np.ones((len(table), 2), dtype=np.int64)
    leads = np.column_stack([np.subtract(*table.features.get(feature, none).T) for feature in FEATURES])
    pairs = [(table.names[first], table.names[second]) for first, second in table.entity.tolist()]
    conversations = table.conversation.tolist()
    rows = zip(conversations, table.exchanges, table.annotator, table.label.tolist(), leads.tolist(), strict=True)
    return Study(
        campaign_id=None,
        campaign=name,
        domain=name,
        complete=True,
        speakers=dict(zip(conversations, pairs, strict=True)),
        packages={each: frozenset({each}) for each in conversations},
        annotations=[
            CodedAnnotation(
                conversation=conversation,
                package=conversation,
                exchanges=int(exchanges),
                annotator=str(annotator),
                labels=(first, second),
                leads=(fluency, sensibleness, specificity),
                elapsed_ms=None,
            )
            for conversation, exchanges, annotator, (first, second), (fluency, sensibleness, specificity) in rows
        ],
        texts=dict(zip(conversations, table.text.tolist(), strict=True)),
    )


@dataclass(frozen=True, eq=False)
class Sample:
    """The annotations of a study that count, as columns, and their fingerprint.

    `annotators` are named by the table's codes; `elapsed_ms` (n,) is NaN where it was not measured.
    """

    study: Study
    table: AnnotationTable
    elapsed_ms: FloatArray
    annotators: tuple[str, ...]
    counts: Counts
    sha256: str


def take_sample(study: Study, filter_: Filter) -> Sample:
    """Filter and put into a stable order, so that the same labels give the same columns whatever their ids are."""
    annotations = study.annotations
    if filter_ == "complete_packages":
        kept = complete_packages(study)
        annotations = [each for each, keep in zip(annotations, kept.tolist(), strict=True) if keep]
    annotators = tuple(sorted({each.annotator for each in annotations}))
    columns = _Columns(study, annotations, annotators)
    spoke = np.unique(columns.conversation)
    speakers = list(study.speakers.values())
    names = _names(speakers[code] for code in spoke.tolist())
    entity = np.array([[names.index(name) for name in speakers[code]] for code in spoke.tolist()], dtype=np.int64)
    table = AnnotationTable(
        names=names,
        conversation=columns.conversation,
        entity=entity.reshape(-1, 2)[np.searchsorted(spoke, columns.conversation)],
        exchanges=columns.exchanges,
        label=columns.labels,
        annotator=columns.annotator,
        features={
            feature: np.column_stack([columns.leads[:, at] >= 0, columns.leads[:, at] <= 0]).astype(np.int64)
            for at, feature in enumerate(FEATURES)
        },
        text=_text_codes(study)[columns.conversation],
    )
    counts = Counts(
        conversations=len(study.speakers),
        annotated_conversations=len(spoke),
        annotations=len(table),
        annotators=len(annotators),
        segments=len(np.unique(np.column_stack([table.conversation, table.exchanges]), axis=0)),
        simulated_annotators=sum(name.startswith(SIMULATED) for name in annotators),
    )
    return Sample(
        study, table, columns.elapsed_ms, annotators, counts, _fingerprint(table, columns.elapsed_ms, annotators)
    )


def _text_codes(study: Study) -> IntArray:
    """Return the code of each conversation's text: that of the first conversation that has it."""
    first: dict[Hashable, int] = {}
    return _column(
        first.setdefault(study.texts.get(conversation, (conversation,)), code)
        for code, conversation in enumerate(study.speakers)
    )


def repeated_texts(table: AnnotationTable) -> tuple[RepeatedTexts, ...]:
    """Return the speakers whose conversations repeat one another's text, those with the most repeats first."""
    _, first = np.unique(table.conversation, return_index=True)
    pairs = ((table.names[one], table.names[other]) for one, other in table.entity[first].tolist())
    return find_repeated_texts(zip(pairs, table.text[first].tolist(), strict=True))


def complete_packages(study: Study) -> BoolArray:
    """Return a mask over the annotations: whether their annotator completed their package.

    The published tables need this filter: the set of conversations that the annotator annotated in the package must
    equal the set that the package shows.
    """
    sitting = _codes((each.package, each.annotator) for each in study.annotations)
    spoken = _codes(each.conversation for each in study.annotations)
    needed = np.array([len(study.packages[each.package]) for each in study.annotations], dtype=np.int64)
    foreign = np.array(
        [each.conversation not in study.packages[each.package] for each in study.annotations], dtype=bool
    )
    pairs = np.unique(np.column_stack([sitting, spoken]), axis=0)
    done = np.bincount(pairs[:, 0], minlength=1)[sitting]
    strayed = np.bincount(sitting, weights=foreign, minlength=1)[sitting]
    complete: BoolArray = (done == needed) & (strayed == 0)
    return complete


class _Columns:
    """Annotations as arrays, ordered by conversation, length and annotator, then by labels, leads and time."""

    def __init__(self, study: Study, annotations: Sequence[CodedAnnotation], annotators: Sequence[str]) -> None:
        place = {conversation: code for code, conversation in enumerate(study.speakers)}
        number = {annotator: code for code, annotator in enumerate(annotators)}
        conversation = _column(place[each.conversation] for each in annotations)
        exchanges = _column(each.exchanges for each in annotations)
        annotator = _column(number[each.annotator] for each in annotations)
        labels = _column(value for each in annotations for value in each.labels).reshape(-1, 2)
        leads = _column(value for each in annotations for value in each.leads).reshape(-1, len(FEATURES))
        elapsed = np.array(
            [np.nan if each.elapsed_ms is None else each.elapsed_ms for each in annotations], dtype=float
        )
        order = np.lexsort((elapsed, *leads.T, *labels.T, annotator, exchanges, conversation))
        self.conversation, self.exchanges, self.annotator = conversation[order], exchanges[order], annotator[order]
        self.labels, self.leads, self.elapsed_ms = labels[order], leads[order], elapsed[order]


def _codes(values: Iterable[Hashable]) -> IntArray:
    known: dict[Hashable, int] = {}
    return _column(known.setdefault(value, len(known)) for value in values)


def _names(speakers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    found = {name for pair in speakers for name in pair}
    return (*sorted(found - {HUMAN}), *(found & {HUMAN}))


def _column(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def _fingerprint(table: AnnotationTable, elapsed_ms: FloatArray, annotators: Sequence[str]) -> str:
    digest = hashlib.sha256("\x00".join([*table.names, "", *annotators]).encode())
    columns: list[NDArray[Any]] = [table.conversation, table.entity, table.exchanges, table.label, table.annotator]
    columns.append(table.text)
    for column in (*columns, *(table.features[feature] for feature in FEATURES)):
        digest.update(column.astype("<i8").tobytes())
    digest.update(elapsed_ms.astype("<f8").tobytes())
    return digest.hexdigest()
