"""What a version of a judge said of a campaign: probabilities and labels of both sides of segments."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from spotthebot.analytics.labels.domain import LABEL_CODES
from spotthebot.contracts.annotation.annotations import AnnotationOut, Label
from spotthebot.contracts.annotation.judges import JudgeVersionOut, TrainedJudge

Segment = tuple[Hashable, int]
"""A conversation, and the number of exchanges that are shown."""
_QUESTION: Final = "entity"
_SIDES: Final = ("A", "B")
_MOSTLY_MISSING: Final = "{missing:.0%} of its answers are missing, and the others are no fair sample"
_TRAINED: Final = "it was trained on labels of this campaign, and leaves out no speaker: a report would flatter it"


@dataclass(frozen=True)
class JudgeSides:
    """A judge's answer about both sides: P(human), NaN if it is missing, and the code of its label, or None."""

    human: tuple[float, float]
    labels: tuple[int | None, int | None]


@dataclass(frozen=True)
class CampaignJudge:
    """A version of a judge in a campaign, with its annotations, and its answers about sides in each repeat.

    `refused` says why it has no report.
    """

    name: str
    version: int | None
    kind: str | None
    repeats: tuple[Mapping[Segment, JudgeSides], ...]
    annotations: Sequence[AnnotationOut] = ()
    refused: str | None = None


def campaign_judges(
    annotations: Iterable[AnnotationOut], versions: Mapping[tuple[str, int], JudgeVersionOut], campaign_id: UUID
) -> list[CampaignJudge]:
    """Return the judges of a campaign, by name and version, from the annotations of judges.

    An imported judge has no probabilities: the label "human" counts as 1, other labels as 0.
    """
    given: defaultdict[tuple[str, int | None], defaultdict[str, dict[Segment, JudgeSides]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    annotated: defaultdict[tuple[str, int | None], list[AnnotationOut]] = defaultdict(list)
    for each in annotations:
        if each.judge is not None:
            segment = each.conversation_id, each.exchanges
            given[each.judge.name, each.judge.version][each.annotator][segment] = _sides(each)
            annotated[each.judge.name, each.judge.version].append(each)
    found = []
    for (name, version), by_annotator in sorted(given.items(), key=lambda each: (each[0][0], each[0][1] or 0)):
        known = None if version is None else versions.get((name, version))
        found.append(
            CampaignJudge(
                name=name,
                version=version,
                kind=None if known is None else known.settings.kind,
                repeats=tuple(by_annotator[annotator] for annotator in sorted(by_annotator)),
                annotations=annotated[name, version],
                refused=None if known is None else _refusal(known, campaign_id),
            )
        )
    return found


def mean_of_repeats(repeats: Sequence[Mapping[Segment, JudgeSides]]) -> dict[Segment, JudgeSides]:
    """Return the mean of the probabilities that are not missing, and the labels of the first repeat with labels."""
    found: dict[Segment, JudgeSides] = {}
    for segment in dict.fromkeys(segment for repeat in repeats for segment in repeat):
        answers = [repeat[segment] for repeat in repeats if segment in repeat]
        first, second = (
            (_mean([each.human[at] for each in answers]), next((each.labels[at] for each in answers), None))
            for at in range(2)
        )
        found[segment] = JudgeSides((first[0], second[0]), (first[1], second[1]))
    return found


def refuse_mostly_missing(judge: CampaignJudge) -> CampaignJudge:
    """Return the judge of sides, refused if it left more than half of the sides that it saw without an answer."""
    said = [human for sides in mean_of_repeats(judge.repeats).values() for human in sides.human]
    missing = sum(map(math.isnan, said)) / max(len(said), 1)
    reason = _MOSTLY_MISSING.format(missing=missing) if missing > 1 / 2 else None
    return replace(judge, refused=judge.refused or reason)


def _sides(annotation: AnnotationOut) -> JudgeSides:
    labels: Any = annotation.answer.get(_QUESTION) or {}
    codes = [LABEL_CODES[Label(labels[side])] if side in labels else None for side in _SIDES]
    if annotation.judge_labels is None:
        human = [math.nan if code is None else float(code == LABEL_CODES[Label.HUMAN]) for code in codes]
    else:
        stated = {
            each.target: each.probabilities for each in annotation.judge_labels.answers if each.question == _QUESTION
        }
        human = [(stated.get(side) or {}).get(Label.HUMAN.value, math.nan) for side in _SIDES]
    return JudgeSides((human[0], human[1]), (codes[0], codes[1]))


def _mean(values: Sequence[float]) -> float:
    known = [each for each in values if not math.isnan(each)]
    return sum(known) / len(known) if known else math.nan


def _refusal(judge: JudgeVersionOut, campaign_id: UUID) -> str | None:
    settings = judge.settings
    if isinstance(settings, TrainedJudge) and campaign_id in settings.trained_on and not settings.leaves_out_speakers:
        return _TRAINED
    return None
