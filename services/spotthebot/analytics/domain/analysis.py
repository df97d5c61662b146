"""The questions that can be asked of a campaign, and the document that answers them all."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from spotthebot.analytics.domain.errors import NothingToAnalyse, OneBotOnly
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.results import annotation_quality, ranking, survival, wins
from spotthebot.analytics.domain.study import Sample, Study, take_sample
from spotthebot.contracts.analytics import (
    AgreementOut,
    Analysis,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    Provenance,
    RankingOut,
    SegmentsOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)

Section = Callable[[Sample, Parameters], Any]


@dataclass(frozen=True)
class Question:
    """`answer` has the field `key`, which `compute` fills; `compares` says that it takes two bots that met."""

    key: str
    answer: type[Provenance]
    compute: Section
    compares: bool = False


QUESTIONS = {
    "win-rates": Question("win_rates", WinRatesOut, wins.win_rates, compares=True),
    "ranking": Question("ranking", RankingOut, ranking.ranking, compares=True),
    "features": Question("features", FeaturesOut, wins.features, compares=True),
    "segments": Question("segments", SegmentsOut, wins.segments, compares=True),
    "fooling-rates": Question("fooling_rates", FoolingRatesOut, wins.fooling_rates),
    "survival": Question("survival", SurvivalOut, survival.survival),
    "agreement": Question("agreement", AgreementOut, annotation_quality.agreement),
    "annotators": Question("annotators", AnnotatorsOut, annotation_quality.annotators),
    "time": Question("time", TimeOut, annotation_quality.time),
}


def answer(question: Question, study: Study, request: Parameters) -> Provenance:
    """Answer one question; raises NothingToAnalyse, or OneBotOnly where bots would be compared."""
    sample = _sample(study, request)
    if question.compares:
        _require_two_bots(sample)
    return question.answer(**_provenance(study, sample, request), **{question.key: question.compute(sample, request)})


def analyse(study: Study, request: Parameters) -> Analysis:
    """Answer every question at once; raises NothingToAnalyse, or OneBotOnly."""
    sample = _sample(study, request)
    _require_two_bots(sample)
    sections = {question.key: question.compute(sample, request) for question in QUESTIONS.values()}
    return Analysis(**_provenance(study, sample, request), **sections)


def _sample(study: Study, request: Parameters) -> Sample:
    sample = take_sample(study, request.filter)
    if not sample.counts.annotations:
        raise NothingToAnalyse(filter=request.filter, annotations=len(study.annotations))
    return sample


def _require_two_bots(sample: Sample) -> None:
    met = sample.table.between_bots()
    bots = {int(code) for code in met.select(met.entity[:, 0] != met.entity[:, 1]).entity.ravel()}
    if len(bots) < 2:
        raise OneBotOnly(bots=len(sample.table.bots))


def _provenance(study: Study, sample: Sample, request: Parameters) -> dict[str, Any]:
    return {
        "campaign_id": study.campaign_id,
        "campaign": study.campaign,
        "domain": study.domain,
        "filter": request.filter,
        "unit": request.unit,
        "confidence_level": request.confidence_level,
        "resamples": request.resamples,
        "seed": request.seed,
        "correction": request.correction,
        "counts": sample.counts,
        "data_sha256": sample.sha256,
        "preliminary": not study.complete,
        "version": version("spotthebot"),
    }
