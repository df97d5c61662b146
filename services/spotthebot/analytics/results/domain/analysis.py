"""The sections of a campaign's results, and the document with all sections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spotthebot.analytics.labels.domain import LabelledCampaign, Sample, repeated_texts, take_sample
from spotthebot.analytics.labels.errors import OneBotOnly, nothing_kept
from spotthebot.analytics.provenance.domain import Parameters, provenance_of
from spotthebot.analytics.results.domain import annotation_quality, partners, ranking, sensitivity, survival, wins
from spotthebot.analytics.speakers.domain import speakers_of
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.results import (
    AgreementOut,
    Analysis,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    PartnersOut,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)


@dataclass(frozen=True)
class Section:
    """A section: `compute` fills the field `key` of `out`. If `compares`, it needs labels of two bots."""

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
    "partners": Section("partners", PartnersOut, partners.partners),
    "agreement": Section("agreement", AgreementOut, annotation_quality.agreement),
    "annotators": Section("annotators", AnnotatorsOut, annotation_quality.annotators),
    "time": Section("time", TimeOut, annotation_quality.time),
    "sensitivity": Section("sensitivity", SensitivityOut, sensitivity.sensitivity, compares=True),
}


def compute_section(section: Section, labelled: LabelledCampaign, request: Parameters) -> Provenance:
    """Compute one section; raises NothingToAnalyse, or OneBotOnly if the section compares bots."""
    sample = _sample(labelled, request)
    if section.compares:
        _require_two_bots(sample)
    return section.out(**_provenance(labelled, sample, request), **{section.key: section.compute(sample, request)})


def analyse(labelled: LabelledCampaign, request: Parameters) -> Analysis:
    """Compute every section; raises NothingToAnalyse, or OneBotOnly."""
    sample = _sample(labelled, request)
    _require_two_bots(sample)
    sections = {section.key: section.compute(sample, request) for section in SECTIONS.values()}
    return Analysis(**_provenance(labelled, sample, request), **sections)


def joined(results: Sequence[Provenance]) -> Analysis:
    """Return a document with only these sections. The sections must be of the same state of a campaign.

    The document does not have the fields of other sections; they are not null.
    """
    fields = {name: getattr(each, name) for each in results for name in type(each).model_fields}
    return Analysis.model_construct(**fields)


def _sample(labelled: LabelledCampaign, request: Parameters) -> Sample:
    sample = take_sample(labelled, request.filter)
    if not sample.counts.annotations:
        raise nothing_kept(request.filter, len(labelled.annotations))
    return sample


def _require_two_bots(sample: Sample) -> None:
    bots = len(sample.table.bots)
    if bots < 2:
        raise OneBotOnly(bots=bots)


def _provenance(labelled: LabelledCampaign, sample: Sample, request: Parameters) -> dict[str, Any]:
    return provenance_of(
        labelled,
        request,
        counts=sample.counts,
        repeated_texts=repeated_texts(sample.table),
        speakers=speakers_of(sample, request.filter),
        data_sha256=sample.sha256,
    )
