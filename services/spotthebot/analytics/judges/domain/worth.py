"""What each judge of a campaign is worth, beside the people of the campaign."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from types import MappingProxyType

import numpy as np

from spotthebot.analytics.judges.domain.labels import (
    CampaignJudge,
    JudgeSides,
    Segment,
    mean_of_repeats,
    refuse_mostly_missing,
)
from spotthebot.analytics.judges.domain.measures import judged_measures
from spotthebot.analytics.labels.domain import LabelledCampaign, Sample, take_sample, text_codes
from spotthebot.analytics.measures.domain.measures import sample_provenance
from spotthebot.analytics.measures.domain.measures import take_sample as take_measured
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats import Adjustment, AnnotationTable, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.judge_quality.agreement import judge_agreement
from spotthebot.analytics.stats.judge_quality.alt_test import alt_test
from spotthebot.analytics.stats.judge_quality.calibration import calibration
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels
from spotthebot.analytics.stats.judge_quality.groups import order_of_bots, quality_by_group
from spotthebot.analytics.stats.judge_quality.probes import probe
from spotthebot.analytics.stats.judged.ceiling import Ceiling, ceiling_of_labels
from spotthebot.analytics.stats.judged.games import judged_win_rates
from spotthebot.analytics.stats.judged.sides import JudgedSides, match_sides, values_of_sides
from spotthebot.analytics.stats.judged.survival import judged_survival, points_of
from spotthebot.analytics.stats.judged.values import JudgedEstimate, judged_shares
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.contracts.analytics.judges import (
    AgreementWithJudge,
    CorrectedBot,
    CorrectedRanking,
    CorrectedSurvival,
    JudgeAltTest,
    JudgeCalibration,
    JudgeCeiling,
    JudgeGroup,
    JudgeOrder,
    JudgeProbe,
    JudgeQuality,
    JudgesOut,
    RefusedJudge,
)


def judges_of(
    measured: MeasuredCampaign,
    labelled: LabelledCampaign | None,
    judges: Sequence[CampaignJudge],
    request: Parameters,
    collections: Mapping[Hashable, str] = MappingProxyType({}),
) -> JudgesOut:
    """Return the worth of every judge. `labelled` has the labels of sides, if the protocol asks for them.

    `collections` names the collection of each conversation, where there are several. Raises NothingToMeasure, and
    NothingToAnalyse if people labelled nothing that counts.
    """
    sample = take_measured(measured, request)
    if labelled is not None:
        judges = [refuse_mostly_missing(each) for each in judges]
    reported = [each for each in judges if each.refused is None]
    ceiling, worth = (None, ()) if labelled is None else _of_labels(labelled, reported, request, collections)
    return JudgesOut(
        **sample_provenance(sample, request),
        ceiling=ceiling,
        judges=worth,
        measures=judged_measures(sample, reported, request),
        refused=tuple(
            RefusedJudge(name=each.name, version=each.version, reason=each.refused) for each in judges if each.refused
        ),
    )


def _of_labels(
    labelled: LabelledCampaign,
    judges: Sequence[CampaignJudge],
    request: Parameters,
    collections: Mapping[Hashable, str],
) -> tuple[JudgeCeiling, tuple[JudgeQuality, ...]]:
    sample = take_sample(labelled, request.filter)
    human = (sample.table.label == LabelCode.HUMAN).astype(np.float64)
    ceiling = ceiling_of_labels(sample.table, human, confidence_level=request.confidence_level)
    answers = [mean_of_repeats(each.repeats) for each in judges]
    shown_in = [collections.get(each, "") for each in labelled.speakers]
    return JudgeCeiling.of(ceiling), tuple(
        _worth(
            _Columns.of(sample, labelled, answers[at]),
            each,
            ceiling,
            request,
            shown_in,
            *_drift_at(judges, answers, at),
        )
        for at, each in enumerate(judges)
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """People's table, in which every judged speaker has a code, and what the judge says of both sides of segments.

    `probability` and `label` (n, 2) are the judge's for each row of the table; -1 is a missing label.
    """

    table: AnnotationTable
    sides: JudgedSides
    segment: IntArray
    probability: FloatArray
    label: IntArray

    @classmethod
    def of(cls, sample: Sample, labelled: LabelledCampaign, answers: Mapping[Segment, JudgeSides]) -> "_Columns":
        place = {conversation: code for code, conversation in enumerate(labelled.speakers)}
        shown = [(segment, said) for segment, said in answers.items() if segment[0] in place]
        names = list(sample.table.names)
        known = set(names)
        for segment, _ in shown:
            names += [each for each in dict.fromkeys(labelled.speakers[segment[0]]) if each not in known]
            known.update(names)
        table = replace(sample.table, names=tuple(names))
        code = {name: at for at, name in enumerate(names)}
        conversation = np.array([place[segment[0]] for segment, _ in shown], dtype=np.int64)
        exchanges = np.array([segment[1] for segment, _ in shown], dtype=np.int64)
        entity = [[code[name] for name in labelled.speakers[segment[0]]] for segment, _ in shown]
        sides = JudgedSides(
            conversation=conversation,
            entity=np.array(entity, dtype=np.int64).reshape(-1, 2),
            exchanges=exchanges,
            judge=np.array([said.human for _, said in shown], dtype=np.float64).reshape(-1, 2),
            text=text_codes(labelled)[conversation],
        )
        rows = match_sides(table, sides)
        labels = {
            (at, length): said.labels
            for at, length, (_, said) in zip(conversation.tolist(), exchanges.tolist(), shown, strict=True)
        }
        of_row = [
            [-1 if each is None else each for each in labels.get(segment, (None, None))]
            for segment in zip(table.conversation.tolist(), table.exchanges.tolist(), strict=True)
        ]
        return cls(table, sides, rows.segment[: rows.n], rows.judge[: rows.n], np.array(of_row, dtype=np.int64))

    @property
    def unit(self) -> IntArray:
        return (2 * self.segment[:, None] + np.arange(2)).ravel()


def _worth(
    columns: _Columns,
    judge: CampaignJudge,
    ceiling: Ceiling,
    request: Parameters,
    shown_in: Sequence[str],
    drift_from: int | None,
    drift: JudgeProbe | None,
) -> JudgeQuality:
    table, level = columns.table, request.confidence_level
    text, annotator = np.repeat(table.text, 2), np.repeat(table.annotator, 2)
    human = (table.label == LabelCode.HUMAN).astype(np.float64)
    scored = ScoredLabels(columns.unit, text, annotator, human.ravel(), columns.probability.ravel())
    given = np.where(columns.label < 0, np.nan, columns.label).ravel()
    agreement = judge_agreement(columns.unit, text, annotator, table.label.ravel(), given, confidence_level=level)
    saved = judged_shares(values_of_sides(table, columns.sides, human), confidence_level=level)
    ranking = judged_win_rates(
        table,
        columns.sides,
        confidence_level=level,
        significance_level=request.significance_level,
        adjustment=Adjustment(request.correction),
    )
    lengths, length = np.unique(np.repeat(table.exchanges, 2), return_inverse=True)
    by_bot = quality_by_group(table.names, table.entity.ravel(), scored, confidence_level=level)
    by_length = quality_by_group([str(each) for each in lengths.tolist()], length, scored, confidence_level=level)
    named, collection = np.unique(np.array(shown_in)[np.repeat(table.conversation, 2)], return_inverse=True)
    by_collection = quality_by_group(named.tolist(), collection, scored, confidence_level=level)
    asked = columns.sides.judge.size
    return JudgeQuality(
        name=judge.name,
        version=judge.version,
        kind=judge.kind,
        repeats=len(judge.repeats),
        segments=len(columns.sides.judge),
        missing=float(np.isnan(columns.sides.judge).mean()) if asked else None,
        agreement=AgreementWithJudge.of(agreement),
        calibration=JudgeCalibration.of(calibration(scored, confidence_level=level)),
        alt_test=JudgeAltTest.of(alt_test(columns.unit, annotator, table.label.ravel(), given)),
        bots=tuple(map(CorrectedBot.of, saved)),
        ranking=CorrectedRanking.of(ranking),
        survival=tuple(
            CorrectedSurvival.of(each, people=points_of(each.people))
            for each in judged_survival(table, columns.sides, confidence_level=level)
        ),
        by_bot=tuple(map(JudgeGroup.of, by_bot)),
        by_length=tuple(map(JudgeGroup.of, by_length)),
        by_collection=tuple(map(JudgeGroup.of, by_collection)) if len(by_collection) > 1 else (),
        order=JudgeOrder.of(order_of_bots(by_bot)),
        reached=_reached(saved, ceiling),
        stability=_drift(*judge.repeats[:2]) if len(judge.repeats) > 1 else None,
        drift_from=drift_from,
        drift=drift,
    )


def _reached(saved: Sequence[JudgedEstimate], ceiling: Ceiling) -> float | None:
    """Return the mean share of labels saved over the ceiling; None if the ceiling may be 0."""
    known = [each.labels_saved.estimate for each in saved if each.labels_saved.estimate is not None]
    if not known or ceiling.estimate is None or ceiling.low is None or ceiling.low <= 0:
        return None
    return fmean(known) / ceiling.estimate


def _drift_at(
    judges: Sequence[CampaignJudge], answers: Sequence[Mapping[Segment, JudgeSides]], at: int
) -> tuple[int | None, JudgeProbe | None]:
    """Return the version before of the same judge, and the change since then. `judges` are ordered by version."""
    if not at or judges[at - 1].name != judges[at].name:
        return None, None
    return judges[at - 1].version, _drift(answers[at - 1], answers[at])


def _drift(before: Mapping[Segment, JudgeSides], after: Mapping[Segment, JudgeSides]) -> JudgeProbe:
    """Compare two answers about the sides of the segments that have both."""
    both = [segment for segment in before if segment in after]
    place = {conversation: at for at, conversation in enumerate(dict.fromkeys(segment[0] for segment in both))}
    conversations = np.repeat([place[segment[0]] for segment in both], 2).astype(np.int64)
    first, second = ([human for segment in both for human in said[segment].human] for said in (before, after))
    return JudgeProbe.of(probe(conversations, first, second))
