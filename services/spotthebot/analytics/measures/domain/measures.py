"""The results of a campaign by its measures: by all, or by one with the difference of every pair of bots."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Any, Final

from spotthebot.analytics.labels.errors import nothing_kept
from spotthebot.analytics.measures.domain.measure_results import (
    PAIRS_OF_PREFERENCES,
    PAIRS_OF_RATINGS,
    measure_result,
    measured_pairs,
    mixed_model_of,
)
from spotthebot.analytics.measures.domain.workforces import Workforce, agreements_out, undated, workforce_agreements
from spotthebot.analytics.measures.errors import NoSuchMeasure, NothingToMeasure, TooManyValues
from spotthebot.analytics.provenance.domain import Parameters, provenance_of
from spotthebot.analytics.speakers.domain import by_strength, strengths_of_labels
from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.values.domain.measure_values import Values
from spotthebot.analytics.values.domain.value_table import RatedValue, ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign, MeasuredSample
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.contracts.annotation.measures import HEADLINE, LABEL, LABELS

MAX_VALUES: Final = 5_000_000
"""They take about half a gigabyte."""
_LABEL_OF = {value: label for label, value in LABELS.items()}


def all_measures(campaign: MeasuredCampaign, request: Parameters) -> MeasuresOut:
    """Summarise every measure; raises NothingToMeasure and NothingToAnalyse."""
    sample = take_sample(campaign, request)
    return MeasuresOut(
        **sample_provenance(sample, request),
        headline=campaign.headline,
        measures=tuple(measure_result(sample.values(name), request) for name in campaign.questions),
    )


def all_agreements(
    campaign: MeasuredCampaign, workforces: Mapping[str, Workforce], request: Parameters, dates: Sequence[date] = ()
) -> WorkforceAgreementsOut:
    """Return how much the annotators of each workforce agree, also in the periods that begin on these days.

    Raises NothingToMeasure and NothingToAnalyse.
    """
    sample = take_sample(campaign, request)
    names = {name: name for name in campaign.questions}
    found = [*workforce_agreements(campaign.campaign, names, sample, workforces, request, dates)]
    return agreements_out(campaign.campaign, found, request, complete=campaign.complete, undated=undated(sample))


def one_measure(
    campaign: MeasuredCampaign,
    name: str,
    request: Parameters,
    mixed_model: MixedModelKind | None = None,
    *,
    others: Iterable[str] = (),
) -> MeasureOut:
    """Summarise one measure, or the campaign's `HEADLINE`, and compare every pair of bots.

    `others` are measures of the campaign that are summarised elsewhere. Raises NoSuchMeasure, NothingToMeasure and
    NothingToAnalyse.
    """
    sample = take_sample(campaign, request)
    is_headline = name == HEADLINE and name not in campaign.questions
    chosen = campaign.headline if is_headline else name
    if chosen not in campaign.questions:
        known = ", ".join((*campaign.questions, *others))
        raise NoSuchMeasure(measure=chosen, campaign=campaign.campaign, known=known)
    return measure_out(sample.values(chosen), sample_provenance(sample, request), request, mixed_model)


def measure_out(
    values: Values, provenance: Mapping[str, Any], request: Parameters, mixed_model: MixedModelKind | None
) -> MeasureOut:
    """Summarise the values of a measure and compare every pair of bots. `provenance` has the fields of `Provenance`."""
    return MeasureOut(
        **provenance,
        **measure_result(values, request).model_dump(),
        pairs=measured_pairs(values, request),
        pairs_method=PAIRS_OF_PREFERENCES if values.measure.kind == "preference" else PAIRS_OF_RATINGS,
        mixed_model=None if mixed_model is None else mixed_model_of(values, request, mixed_model),
    )


def all_values(campaign: MeasuredCampaign, request: Parameters) -> ValueTable:
    """Return every value of every measure; raises NothingToMeasure, NothingToAnalyse, TooManyValues."""
    sample, table = take_sample(campaign, request), ValueTable(pairs_named=True)
    for name in sample.measures:
        add_rated(table, name, sample.rated(name), campaign.campaign)
    for conversation, text in sample.shown_texts:
        table.add_text(conversation, text)
    return table


def add_rated(table: ValueTable, measure: str, values: Iterable[RatedValue], source: str) -> None:
    """Add the values of a measure to a table; `source` is what the table is of. Raises TooManyValues."""
    room = MAX_VALUES - len(table)
    table.add(measure, islice(values, room + 1))
    if len(table) > MAX_VALUES:
        raise TooManyValues(source=source, most=MAX_VALUES)


def take_sample(campaign: MeasuredCampaign, request: Parameters) -> MeasuredSample:
    """Return the annotations that a request asks for; raises NothingToMeasure and NothingToAnalyse."""
    if not campaign.questions:
        raise NothingToMeasure(campaign=campaign.campaign)
    sample = MeasuredSample.take(campaign, request.filter)
    if not sample.annotations:
        raise nothing_kept(request.filter, len(campaign.annotations))
    return sample


def sample_provenance(sample: MeasuredSample, request: Parameters) -> dict[str, Any]:
    """Return the fields of `Provenance` of the results of a campaign."""
    campaign = sample.campaign
    return provenance_of(
        campaign,
        request,
        counts=sample.counts,
        repeated_texts=sample.repeated_texts,
        speakers=_speakers(sample, request),
        data_sha256=sample.sha256,
    )


def _speakers(sample: MeasuredSample, request: Parameters) -> tuple[Speaker, ...]:
    """Return all speakers.

    Bots are ordered by their mean in the headline measure, best first; the requested filter has no influence.

    The mean is taken over complete packages, or over all packages if none is complete. Bots with equal means are
    ordered by name. If annotators label both sides, bots are ordered by mean win rate, as in all results of Spot The
    Bot (`speakers_of`).
    """
    campaign, standard = sample.campaign, ParametersIn().filter
    counted = sample if request.filter == standard else MeasuredSample.take(campaign, standard)
    if not counted.annotations:
        counted = MeasuredSample.take(campaign, "none")
    headline = campaign.headline
    by_labels = headline == LABEL and bool(counted.annotations)
    means = _strengths_of_labels(counted) if by_labels else strengths_of(counted.values(headline))
    return by_strength({name for both in campaign.speakers.values() for name in both}, means)


def _strengths_of_labels(sample: MeasuredSample) -> dict[str, float]:
    campaign, place = sample.campaign, {each: at for at, each in enumerate(sample.campaign.speakers)}
    code: dict[str, int] = {}
    rows = []
    for each in sample.annotations:
        labels = campaign.questions[LABEL].numbers(each.answer)
        if len(labels) == 2:
            first, second = (_LABEL_OF[labels[side]] for side in "AB")
            one, other = campaign.speakers[each.conversation_id]
            annotator = code.setdefault(each.annotator, len(code))
            rows.append((place[each.conversation_id], one, other, each.exchanges, first, second, annotator))
    return strengths_of_labels(AnnotationTable.from_rows(rows))


def strengths_of(values: Values) -> dict[str, float]:
    """Return the mean value of each bot, and of people, negative where lower values are better.

    A preference counts for either bot.
    """
    sign = -1 if values.measure.better == "lower" else 1
    sums: dict[str, list[float]] = {name: [] for name in values.names}
    for bot, other, value in zip(values.bot.tolist(), values.other.tolist(), values.value.tolist(), strict=True):
        sums[values.names[bot]].append(value)
        if other >= 0:
            sums[values.names[other]].append(1 - value)
    return {name: sign * sum(given) / len(given) for name, given in sums.items() if given}
