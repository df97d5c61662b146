"""Joins labels with speakers to the table for the statistics, and filters for complete packages."""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from spotthebot.analytics.stats import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.annotation.annotations import FEATURES, AnnotationOut, AnnotatorKind, Label
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts

LABEL_CODES: Final = {label: LabelCode[label.name] for label in Label}
"""The code of each label in the statistics."""


class CodedAnnotation(NamedTuple):
    """One annotation: a `stats.LabelCode` for each side, and for each of `FEATURES` 1 if A had more, -1 if B had more.

    `elapsed_ms` is None if it was not measured. Absurdly long or short times are kept.
    """

    conversation: Hashable
    package: Hashable
    exchanges: int
    annotator: str
    labels: tuple[int, int]
    leads: tuple[int, int, int]
    elapsed_ms: int | None
    annotator_kind: AnnotatorKind = AnnotatorKind.PERSON


def annotators_by_kind(named: Iterable[tuple[str, AnnotatorKind]]) -> Counter[AnnotatorKind]:
    """Count different annotators by their kind; `named` has the name and the kind of each, in any number of repeats."""
    return Counter(dict(named).values())


@dataclass(frozen=True)
class LabelledCampaign:
    """All data of a campaign. Ids of conversations and packages may have any type.

    `speakers` has the names of both speakers of each conversation, in the order of the collection. `packages` has the
    conversations of each package. `texts` has a hash of the part of each conversation's text that annotators see
    (`spotthebot.kit.text.words.text_hash`). A conversation that is not in `texts` counts as having a text of its own.
    `campaign_id` is None for data from a file.
    """

    campaign_id: UUID | None
    campaign: str
    domain: str
    complete: bool
    speakers: Mapping[Hashable, tuple[str, str]]
    packages: Mapping[Hashable, frozenset[Hashable]]
    annotations: Sequence[CodedAnnotation]
    texts: Mapping[Hashable, Hashable] = field(default_factory=dict)


def labelled_campaign_of(table: AnnotationTable, name: str) -> LabelledCampaign:
    """Return a table of annotations as a campaign. Each annotation counts under any filter; no time was measured.

    Features that are not in `FEATURES` are left out. A feature that is missing in the table counts as equal on both
    sides.
    """
    none = np.ones((len(table), 2), dtype=np.int64)
    leads = np.column_stack([np.subtract(*table.features.get(feature, none).T) for feature in FEATURES])
    pairs = [(table.names[first], table.names[second]) for first, second in table.entity.tolist()]
    conversations = table.conversation.tolist()
    rows = zip(conversations, table.exchanges, table.annotator, table.label.tolist(), leads.tolist(), strict=True)
    return LabelledCampaign(
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
    """The annotations of a campaign that count, as columns, and a fingerprint of them.

    `annotators` has the names of the annotators by their codes in the table, and `kinds` has the kind of each.
    `elapsed_ms` (n,) is NaN if it was not measured.
    """

    labelled: LabelledCampaign
    table: AnnotationTable
    elapsed_ms: FloatArray
    annotators: tuple[str, ...]
    kinds: Mapping[str, AnnotatorKind]
    counts: Counts
    sha256: str


def take_sample(labelled: LabelledCampaign, filter_: Filter) -> Sample:
    """Filter and order the annotations. The same labels give the same columns, whatever the ids are."""
    annotations = labelled.annotations
    if filter_ == "complete_packages":
        kept = complete_packages(labelled)
        annotations = [each for each, keep in zip(annotations, kept.tolist(), strict=True) if keep]
    kinds = {each.annotator: each.annotator_kind for each in annotations}
    annotators = tuple(sorted(kinds))
    columns = _Columns(labelled, annotations, annotators)
    spoke = np.unique(columns.conversation)
    speakers = list(labelled.speakers.values())
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
        text=text_codes(labelled)[columns.conversation],
    )
    by_kind = annotators_by_kind(kinds.items())
    counts = Counts(
        conversations=len(labelled.speakers),
        annotated_conversations=len(spoke),
        annotations=len(table),
        annotators=by_kind.total(),
        segments=len(np.unique(np.column_stack([table.conversation, table.exchanges]), axis=0)),
        simulated_annotators=by_kind[AnnotatorKind.SIMULATED],
        judges=by_kind[AnnotatorKind.JUDGE],
    )
    return Sample(
        labelled=labelled,
        table=table,
        elapsed_ms=columns.elapsed_ms,
        annotators=annotators,
        kinds=kinds,
        counts=counts,
        sha256=_fingerprint(table, columns.elapsed_ms, annotators),
    )


def text_codes(labelled: LabelledCampaign) -> IntArray:
    """Return the code of each conversation's text. It is the code of the first conversation with this text."""
    first: dict[Hashable, int] = {}
    return _column(
        first.setdefault(labelled.texts.get(conversation, (conversation,)), code)
        for code, conversation in enumerate(labelled.speakers)
    )


def repeated_texts(table: AnnotationTable) -> tuple[RepeatedTexts, ...]:
    """Return the pairs of speakers whose conversations repeat texts; the pair with the most repeats is first."""
    _, first = np.unique(table.conversation, return_index=True)
    pairs = ((table.names[one], table.names[other]) for one, other in table.entity[first].tolist())
    return find_repeated_texts(zip(pairs, table.text[first].tolist(), strict=True))


def complete_packages(labelled: LabelledCampaign) -> BoolArray:
    """Return a mask over the annotations, true for an annotation whose package its annotator completed.

    The published tables use this filter. A package is complete if the annotator has annotated exactly the conversations
    that it shows. A judge labels each item for itself, and some answers are missing: all its annotations are kept.
    """
    given = [(each.package, each.annotator, each.conversation) for each in labelled.annotations]
    of_judges = np.array([each.annotator_kind is AnnotatorKind.JUDGE for each in labelled.annotations], dtype=bool)
    complete: BoolArray = finished_packages(labelled.packages, given) | of_judges
    return complete


def finished_packages(
    packages: Mapping[Any, frozenset[Hashable]], given: Sequence[tuple[Hashable, str, Hashable]]
) -> BoolArray:
    """Return a mask over annotations, true for an annotation whose package its annotator annotated whole.

    `given` has the package, the annotator and the item of each annotation.
    """
    sitting = _codes((package, annotator) for package, annotator, _ in given)
    items = _codes(item for *_, item in given)
    needed = np.array([len(packages[package]) for package, *_ in given], dtype=np.int64)
    foreign = np.array([item not in packages[package] for package, _, item in given], dtype=bool)
    pairs = np.unique(np.column_stack([sitting, items]), axis=0)
    done = np.bincount(pairs[:, 0], minlength=1)[sitting]
    strayed = np.bincount(sitting, weights=foreign, minlength=1)[sitting]
    complete: BoolArray = (done == needed) & (strayed == 0)
    return complete


class _Columns:
    """Annotations as arrays. They are ordered by conversation, length, annotator, labels, features and time."""

    def __init__(
        self, labelled: LabelledCampaign, annotations: Sequence[CodedAnnotation], annotators: Sequence[str]
    ) -> None:
        place = {conversation: code for code, conversation in enumerate(labelled.speakers)}
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


IMPORT: Final = "import"
"""The mode of campaigns whose annotations come from a file."""


def elapsed_ms_of(annotation: AnnotationOut, *, is_import: bool) -> int | None:
    """Return the time by the server's clock.

    For a simulated annotator, the simulated time that the annotator reports; None for a judge, which takes no time of
    people.
    """
    if annotation.annotator_kind is AnnotatorKind.JUDGE:
        return None
    # An import without a start time has no duration either, whatever its exporter wrote there.
    if is_import and annotation.started_at is None:
        return None
    return annotation.reported_ms if annotation.annotator_kind is AnnotatorKind.SIMULATED else annotation.elapsed_ms
