"""Agreement within each workforce of a campaign, and in each period (Finch, Finch & Choi 2023, Table 8).

Only labels of annotators of one workforce are compared with each other, and in a row of a period only labels of this
period. The labels of the pilots in Table 8 are not published, and the paper does not say how its one alpha combines all
labels. Here a measure of a unit is a unit of its own in the one alpha, so labels that are always rare or always
frequent raise it: each measure has an alpha of its own, too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date
from hashlib import sha256
from importlib.metadata import version
from typing import Final, TypeAlias
from uuid import UUID

from spotthebot.analytics.measures.domain.measure_results import agreement_of
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.workforces import (
    MAX_LISTED,
    MeasureAgreement,
    WorkforceAgreement,
    WorkforceAgreementsOut,
)
from spotthebot.contracts.annotation.annotations import AnnotationOut


@dataclass(frozen=True)
class Workforce:
    """The people who came by one frontend and one shared link, if any."""

    frontend: str
    link: UUID | None


Period: TypeAlias = tuple[date | None, date | None]
"""The first day of a period and the day on which the next one begins, None for no bound."""
_UNKNOWN: Final = Workforce("", None)
_DIFFERENT: Final = "the measures have different scales, so that their labels have no alpha together"


def fingerprint(campaigns: Sequence[Mapping[str, Workforce]]) -> str:
    """Return a fingerprint of the workforces of the annotators of one or more campaigns."""
    named = [sorted((name, each.frontend, str(each.link)) for name, each in found.items()) for found in campaigns]
    return sha256(json.dumps(named).encode()).hexdigest()


def workforce_agreements(
    task: str,
    names: Mapping[str, str],
    sample: MeasuredSample,
    workforces: Mapping[str, Workforce],
    request: Parameters,
    dates: Sequence[date] = (),
) -> Iterator[WorkforceAgreement]:
    """Yield the agreement of all annotators of a campaign, then of each workforce, the largest first.

    The same follows for each of the periods that begin on the `dates`, which are in their order. `names` has the shown
    names of the campaign's measures, `workforces` the workforce of each annotator.
    """
    for since, until in ((None, None), *periods(dates)):
        of_period = sample if since is until is None else _in_period(sample, since, until)
        for workforce in (None, *_largest(of_period, workforces)):
            own = of_period
            if workforce is not None:
                kept = [e for e in of_period.annotations if workforces.get(e.annotator, _UNKNOWN) == workforce]
                own = replace(of_period, annotations=kept)
            yield _agreement(task, names, own, workforce, (since, until), request)


def periods(dates: Sequence[date]) -> tuple[Period, ...]:
    """Return the periods that begin on these days, with the one before the first day; none without days.

    >>> [(str(since), str(until)) for since, until in periods([date(2026, 11, 1), date(2026, 12, 1)])]
    [('None', '2026-11-01'), ('2026-11-01', '2026-12-01'), ('2026-12-01', 'None')]
    """
    return tuple(zip((None, *dates), (*dates, None), strict=True)) if dates else ()


def undated(sample: MeasuredSample) -> int:
    """Return how many annotations have no time."""
    return sum(_day(each) is None for each in sample.annotations)


def _in_period(sample: MeasuredSample, since: date | None, until: date | None) -> MeasuredSample:
    kept = [
        each
        for each in sample.annotations
        if (day := _day(each)) is not None and (since is None or day >= since) and (until is None or day < until)
    ]
    return replace(sample, annotations=kept)


def _day(annotation: AnnotationOut) -> date | None:
    """Return the day (UTC) on which an annotation ended, or began if nothing says when it ended."""
    at = annotation.ended_at or annotation.started_at
    return None if at is None else at.astimezone(UTC).date()


def _largest(sample: MeasuredSample, workforces: Mapping[str, Workforce]) -> list[Workforce]:
    people: dict[Workforce, int] = {}
    for annotator in {each.annotator for each in sample.annotations}:
        workforce = workforces.get(annotator, _UNKNOWN)
        people[workforce] = people.get(workforce, 0) + 1
    return sorted(people, key=lambda each: (-people[each], each.frontend, str(each.link)))[:MAX_LISTED]


def agreements_out(
    name: str, found: Sequence[WorkforceAgreement], request: Parameters, *, complete: bool, undated: int
) -> WorkforceAgreementsOut:
    """Return the agreements of a campaign or a study, with the settings by which they were computed."""
    return WorkforceAgreementsOut(
        name=name,
        filter=request.filter,
        confidence_level=request.confidence_level,
        clusters=request.clusters,
        preliminary=not complete,
        version=version("spotthebot"),
        undated=undated,
        workforces=tuple(found),
    )


def _agreement(
    task: str,
    names: Mapping[str, str],
    sample: MeasuredSample,
    workforce: Workforce | None,
    period: Period,
    request: Parameters,
) -> WorkforceAgreement:
    counts, measures = sample.counts, []
    for own, shown in names.items():
        values = sample.values(own)
        agreement = agreement_of(values, request)
        measures.append(MeasureAgreement(measure=shown, values=len(values.value), alpha=agreement))
    return WorkforceAgreement(
        task=task,
        since=period[0],
        until=period[1],
        frontend=None if workforce is None else workforce.frontend,
        link=None if workforce is None else workforce.link,
        conversations=len({(each.conversation_id, each.right) for each in sample.annotations}),
        annotators=counts.annotators,
        annotations=counts.annotations,
        alpha=_joint_agreement(names, sample, request),
        measures=tuple(measures),
    )


def _joint_agreement(names: Mapping[str, str], sample: MeasuredSample, request: Parameters) -> Coefficient:
    """Return alpha of all measures together: a measure of a unit is a unit of its own."""
    if len({(sample.measures[name].kind, sample.measures[name].ends) for name in names}) == 1:
        return agreement_of(sample.joint_values([*names]), request)
    nothing = replace(sample, annotations=[]).joint_values([*names])
    return agreement_of(nothing, request).model_copy(update={"reason": _DIFFERENT})
