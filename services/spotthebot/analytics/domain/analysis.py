"""The sections of a campaign's results, and the document that holds them all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from spotthebot.analytics.domain.errors import NothingToAnalyse, OneBotOnly
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.results import annotation_quality, ranking, sensitivity, survival, wins
from spotthebot.analytics.domain.speakers import speakers_of
from spotthebot.analytics.domain.study import Sample, Study, repeated_texts, take_sample
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.results import (
    AgreementOut,
    Analysis,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)


@dataclass(frozen=True)
class Section:
    """`out` has the field `key`, which `compute` fills; `compares` says that it needs two bots that met."""

    key: str
    out: type[Provenance]
    compute: Callable[[Sample, Parameters], Any]
    compares: bool = False


SECTIONS = {
    "win-rates": Section("win_rates", WinRatesOut, wins.win_rates, compares=True),
    "ranking": Section("ranking", RankingOut, ranking.ranking, compares=True),
    "features": Section("features", FeaturesOut, wins.features, compares=True),
    "segments": Section("segments", SegmentsOut, wins.segments, compares=True),
    "fooling-rates": Section("fooling_rates", FoolingRatesOut, wins.fooling_rates),
    "survival": Section("survival", SurvivalOut, survival.survival),
    "agreement": Section("agreement", AgreementOut, annotation_quality.agreement),
    "annotators": Section("annotators", AnnotatorsOut, annotation_quality.annotators),
    "time": Section("time", TimeOut, annotation_quality.time),
    "sensitivity": Section("sensitivity", SensitivityOut, sensitivity.sensitivity, compares=True),
}


def compute_section(section: Section, study: Study, request: Parameters) -> Provenance:
    """Compute one section; raises NothingToAnalyse, or OneBotOnly where bots would be compared."""
    sample = _sample(study, request)
    if section.compares:
        _require_two_bots(sample)
    return section.out(**_provenance(study, sample, request), **{section.key: section.compute(sample, request)})


def analyse(study: Study, request: Parameters) -> Analysis:
    """Compute every section; raises NothingToAnalyse, or OneBotOnly."""
    sample = _sample(study, request)
    _require_two_bots(sample)
    sections = {section.key: section.compute(sample, request) for section in SECTIONS.values()}
    return Analysis(**_provenance(study, sample, request), **sections)


def joined(results: Sequence[Provenance]) -> Analysis:
    """Return a document of these sections of one state of a campaign; it has no others, not even as null."""
    fields = {name: getattr(each, name) for each in results for name in type(each).model_fields}
    return Analysis.model_construct(**fields)


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
        "significance_level": request.significance_level,
        "clusters": request.clusters,
        "test": request.test,
        "correction": request.correction,
        "resamples": request.resamples,
        "seed": request.seed,
        "counts": sample.counts,
        "repeated_texts": repeated_texts(sample.table),
        "speakers": speakers_of(sample, request.filter),
        "data_sha256": sample.sha256,
        "as_of": None,
        "preliminary": not study.complete,
        "version": version("spotthebot"),
    }
