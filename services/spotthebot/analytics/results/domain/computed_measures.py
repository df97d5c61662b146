"""Measures of a campaign that no annotator gives: scores of FED and latencies, over the campaign's collections."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from spotthebot.analytics.measures.domain.measure_results import measure_result
from spotthebot.analytics.measures.domain.measures import all_measures, all_values, measure_out, sample_provenance
from spotthebot.analytics.measures.errors import NothingToMeasure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.tasks.domain import NamedTask
from spotthebot.analytics.values.domain.computed_values import ComputedValues
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign, MeasuredSample
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut


@dataclass(frozen=True)
class NamedValues:
    """Values of a score set or latencies, with the campaign's names of their measures."""

    names: NamedTask
    values: ComputedValues


def measures_with(campaign: MeasuredCampaign, computed: Sequence[NamedValues], request: Parameters) -> MeasuresOut:
    """Summarise every measure of a campaign, those without annotators last.

    Raises NothingToMeasure and NothingToAnalyse.
    """
    asked = all_measures(campaign, request)
    added = [
        measure_result(each.values.values(own), request).model_copy(update={"measure": called})
        for each in computed
        for own, called in each.names.measures.items()
    ]
    fingerprints = [asked.data_sha256, *(each.values.sha256 for each in computed)]
    return asked.model_copy(
        update={
            "measures": (*asked.measures, *added),
            "data_sha256": sha256("".join(fingerprints).encode()).hexdigest(),
            "preliminary": asked.preliminary or not all(each.values.complete for each in computed),
        }
    )


def computed_measure(
    campaign: MeasuredCampaign, computed: NamedValues, own: str, request: Parameters, mixed_model: MixedModelKind | None
) -> MeasureOut:
    """Summarise one measure without annotators, and compare every pair of bots; raises NothingToMeasure.

    The counts are those of its values. The speakers have their order and marks in the campaign.
    """
    if not campaign.questions:
        raise NothingToMeasure(campaign=campaign.campaign)
    values = computed.values
    provenance = sample_provenance(MeasuredSample.take(campaign, request.filter), request) | {
        "counts": values.counts,
        "repeated_texts": values.repeated_texts,
        "data_sha256": values.sha256,
        "preliminary": not values.complete,
    }
    found = measure_out(values.values(own), provenance, request, mixed_model)
    return found.model_copy(update={"measure": computed.names.measures[own]})


def values_with(campaign: MeasuredCampaign, computed: Sequence[NamedValues], request: Parameters) -> ValueTable:
    """Return every value of every measure; raises NothingToMeasure and NothingToAnalyse."""
    table = all_values(campaign, request)
    for each in computed:
        for own, called in each.names.measures.items():
            table.add(called, (value for value in each.values.rated(own) if value.bot != HUMAN))
        for conversation, text in each.values.shown_texts:
            table.add_text(conversation, text)
    return table
