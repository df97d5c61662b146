"""The measures of a campaign with any protocol, corrected by each judge."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spotthebot.analytics.judges.domain.labels import CampaignJudge
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats import Adjustment, IntArray
from spotthebot.analytics.stats.judged.ceiling import Ceiling, judge_ceiling
from spotthebot.analytics.stats.judged.columns import dense
from spotthebot.analytics.stats.judged.games import judged_preferences
from spotthebot.analytics.stats.judged.values import JudgedValues, judged_means
from spotthebot.analytics.values.domain.measure_values import Values
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.analytics.judges import (
    CorrectedBot,
    CorrectedRanking,
    JudgeCeiling,
    JudgedMeasure,
    JudgeOnMeasure,
)
from spotthebot.contracts.annotation.annotations import AnnotationOut


def judged_measures(
    sample: MeasuredSample, judges: Sequence[CampaignJudge], request: Parameters
) -> tuple[JudgedMeasure, ...]:
    """Return every measure of people's annotations, corrected by each judge that answered its question."""
    both = [
        replace(sample, annotations=[*sample.annotations, *map(_with_probabilities, _known(sample, each))])
        for each in judges
    ]
    found = []
    for name, measure in sample.measures.items():
        people = sample.values(name)
        columns = [each.values(name) for each in both]
        found.append(
            JudgedMeasure(
                measure=name,
                kind=measure.kind,
                ceiling=JudgeCeiling.of(_ceiling(people, request)),
                judges=tuple(
                    _corrected(judge, values, len(people.value), request)
                    for judge, values in zip(judges, columns, strict=True)
                    if not np.isnan(values.value[len(people.value) :]).all()
                ),
            )
        )
    return tuple(found)


def _known(sample: MeasuredSample, judge: CampaignJudge) -> list[AnnotationOut]:
    """Return the judge's annotations of conversations whose speakers are known."""
    shown = ((each, (each.conversation_id, each.right and each.right.conversation_id)) for each in judge.annotations)
    return [each for each, both in shown if {*both} - {None} <= sample.campaign.speakers.keys()]


def _with_probabilities(annotation: AnnotationOut) -> AnnotationOut:
    """Return an annotation whose answers are the judge's probabilities, None where they are missing."""
    if annotation.judge_labels is None:
        return annotation
    stated: defaultdict[str, dict[str | None, dict[str, float] | None]] = defaultdict(dict)
    for each in annotation.judge_labels.answers:
        stated[each.question][each.target] = each.probabilities
    return annotation.model_copy(update={"answer": dict(stated)})


def _corrected(judge: CampaignJudge, values: Values, n: int, request: Parameters) -> JudgeOnMeasure:
    judged, other = _columns(values, n)
    level = request.confidence_level
    bots: tuple[CorrectedBot, ...] = ()
    ranking: CorrectedRanking | None = None
    if values.measure.kind == "preference":
        found = judged_preferences(
            judged,
            other,
            confidence_level=level,
            significance_level=request.significance_level,
            adjustment=Adjustment(request.correction),
        )
        ranking = CorrectedRanking.of(found)
    else:
        bots = tuple(map(CorrectedBot.of, judged_means(judged, scale=values.measure.ends, confidence_level=level)))
    return JudgeOnMeasure(name=judge.name, version=judge.version, kind=judge.kind, bots=bots, ranking=ranking)


def _columns(values: Values, n: int) -> tuple[JudgedValues, IntArray]:
    """Return people's n values and the units that the judge alone has, with the mean of the judge's repeats.

    The other bots of preferences follow. The judge's values are those after the first n.
    """
    units = int(values.unit.max(initial=-1)) + 1
    unit, given = values.unit[n:], values.value[n:]
    answered = ~np.isnan(given)
    times = np.bincount(unit[answered], minlength=units)
    total = np.bincount(unit[answered], weights=given[answered], minlength=units)
    judge = np.divide(total, times, out=np.full(units, np.nan), where=times > 0)
    first = np.unique(values.unit, return_index=True)[1]
    rows = np.concatenate([np.arange(n), first[first >= n]])
    asked = rows < n
    judged = JudgedValues(
        bots=values.names,
        bot=values.bot[rows],
        unit=values.unit[rows],
        conversation=values.text[rows],
        annotator=np.where(asked, values.annotator[rows], -1),
        value=np.where(asked, values.value[rows], np.nan),
        judge=judge[values.unit[rows]],
        stratum=values.length[rows],
    )
    return judged, values.other[rows]


def _ceiling(people: Values, request: Parameters) -> Ceiling:
    """Return the ceiling within bots and lengths; of preferences within pairs, seen from one bot."""
    low, high = np.minimum(people.bot, people.other), np.maximum(people.bot, people.other)
    turned = (people.other >= 0) & (people.bot > people.other)
    return judge_ceiling(
        people.unit,
        dense(low + 1, high, people.length),
        people.text,
        people.annotator,
        np.where(turned, 1 - people.value, people.value),
        confidence_level=request.confidence_level,
    )
