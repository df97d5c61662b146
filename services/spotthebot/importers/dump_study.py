"""Analyses a published dump by the statistics of `analytics`; no service has to run."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from spotthebot.analytics.labels.domain import LABEL_CODES, CodedAnnotation, LabelledCampaign
from spotthebot.contracts.annotation.annotations import FEATURES
from spotthebot.importers.published_dump.dump import Dump
from spotthebot.importers.published_dump.records import DumpAnnotation
from spotthebot.kit.text.words import known_text_hash
from spotthebot.readers.rejected import Rejected

_LEAD: Final = {0: 1, None: 0, 1: -1}


@dataclass(frozen=True)
class ReadStudy:
    """A dump as a study, and its unreadable rows."""

    labelled: LabelledCampaign
    rejected: tuple[Rejected, ...]


def read_study(dump: Dump) -> ReadStudy:
    """Read a complete dump; conversations are in the order of the dump."""
    rejected: list[Rejected] = []
    speakers: dict[Hashable, tuple[str, str]] = {}
    packages: dict[Hashable, frozenset[Hashable]] = {}
    annotations: list[CodedAnnotation] = []
    turns: dict[Hashable, list[str]] = {}
    shown: dict[Hashable, int] = {}
    for conversation in dump.conversations():
        if isinstance(conversation, Rejected):
            rejected.append(conversation)
        else:
            first, second = conversation.participants
            speakers[conversation.external_id] = (first.name, second.name)
            turns[conversation.external_id] = [turn.text for turn in conversation.turns]
    for package in dump.packages():
        if isinstance(package, Rejected):
            rejected.append(package)
        else:
            packages[package.external_id] = frozenset(segment.conversation for segment in package.segments)
            for segment in package.segments:
                shown[segment.conversation] = max(segment.turns_shown, shown.get(segment.conversation, 0))
    for annotation in dump.annotations():
        if isinstance(annotation, Rejected):
            rejected.append(annotation)
        else:
            annotations.append(_coded_annotation(annotation))
    labelled = LabelledCampaign(
        campaign_id=None,
        campaign=f"spot-the-bot-{dump.domain}",
        domain=dump.domain,
        complete=True,
        speakers=speakers,
        packages=packages,
        annotations=annotations,
        texts={
            each: found
            for each, said in turns.items()
            if each in shown and (found := known_text_hash(said[: shown[each]])) is not None
        },
    )
    return ReadStudy(labelled, tuple(rejected))


def _coded_annotation(annotation: DumpAnnotation) -> CodedAnnotation:
    fluency, sensibleness, specificity = (_LEAD[annotation.preferences[feature]] for feature in FEATURES)
    first, second = annotation.labels
    return CodedAnnotation(
        conversation=annotation.conversation,
        package=annotation.package,
        exchanges=annotation.turns_shown // 2,
        annotator=annotation.annotator,
        labels=(LABEL_CODES[first], LABEL_CODES[second]),
        leads=(fluency, sensibleness, specificity),
        # Without a beginning, the exported duration is the time since 1970.
        elapsed_ms=None if annotation.started_at_ms is None else annotation.elapsed_ms,
    )
