"""Joins labels with speakers into the table that the statistics take, after the filter for complete packages."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from spotthebot.analytics.stats import HUMAN, AnnotationTable, IntArray, Label
from spotthebot.contracts.analytics import Counts, Filter
from spotthebot.contracts.annotation import AnnotationOut, CampaignOut, PackageOut, Preference
from spotthebot.contracts.annotation import Label as WireLabel

FEATURES = ("fluency", "sensibleness", "specificity")
_SCORE = {WireLabel.HUMAN: Label.HUMAN, WireLabel.UNSURE: Label.UNSURE, WireLabel.BOT: Label.BOT}


@dataclass(frozen=True)
class Study:
    """All that is known of a campaign. `speakers` has both names of each conversation, in the collection's order."""

    campaign: CampaignOut
    speakers: Mapping[UUID, tuple[str, str]]
    packages: Sequence[PackageOut]
    annotations: Sequence[AnnotationOut]


@dataclass(frozen=True)
class Sample:
    """The annotations that count, as columns, and their fingerprint."""

    table: AnnotationTable
    counts: Counts
    sha256: str


def take_sample(study: Study, filter_: Filter) -> Sample:
    """Filter and put into a stable order, so that the same labels give the same columns whatever their ids are."""
    kept = list(study.annotations if filter_ == "none" else complete_packages(study))
    order = {conversation: code for code, conversation in enumerate(study.speakers)}
    kept.sort(key=lambda each: (order[each.conversation_id], each.exchanges, each.worker, each.model_dump_json()))
    names = _names(study.speakers[each.conversation_id] for each in kept)
    workers = sorted({each.worker for each in kept})
    table = AnnotationTable(
        names=names,
        conversation=_column(order[each.conversation_id] for each in kept),
        entity=_columns([names.index(name) for name in study.speakers[each.conversation_id]] for each in kept),
        exchanges=_column(each.exchanges for each in kept),
        label=_columns([_SCORE[each.label_a], _SCORE[each.label_b]] for each in kept),
        annotator=_column(workers.index(each.worker) for each in kept),
        features={feature: _columns(_preferred(getattr(each, feature)) for each in kept) for feature in FEATURES},
    )
    counts = Counts(
        conversations=len(study.speakers),
        annotated_conversations=len({each.conversation_id for each in kept}),
        annotations=len(kept),
        annotators=len(workers),
        segments=len({(each.conversation_id, each.exchanges) for each in kept}),
    )
    return Sample(table, counts, _fingerprint(table))


def complete_packages(study: Study) -> list[AnnotationOut]:
    """Drop what a worker said in a package whose conversations they did not all annotate.

    The published tables need this filter: the set of annotated conversations must equal the package's set.
    """
    wanted = {each.id: {segment.conversation_id for segment in each.segments} for each in study.packages}
    done: dict[tuple[UUID, str], set[UUID]] = defaultdict(set)
    for each in study.annotations:
        done[each.package_id, each.worker].add(each.conversation_id)
    return [each for each in study.annotations if done[each.package_id, each.worker] == wanted[each.package_id]]


def _names(speakers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    found = {name for pair in speakers for name in pair}
    return (*sorted(found - {HUMAN}), *(found & {HUMAN}))


def _preferred(preference: Preference) -> list[int]:
    return [int(preference is not Preference.B), int(preference is not Preference.A)]


def _column(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


def _columns(values: Iterable[list[int]]) -> IntArray:
    return np.array(list(values), dtype=np.int64).reshape(-1, 2)


def _fingerprint(table: AnnotationTable) -> str:
    digest = hashlib.sha256("\x00".join(table.names).encode())
    for column in (table.conversation, table.entity, table.exchanges, table.label, table.annotator):
        digest.update(column.astype("<i8").tobytes())
    for name, column in sorted(table.features.items()):
        digest.update(name.encode())
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()
