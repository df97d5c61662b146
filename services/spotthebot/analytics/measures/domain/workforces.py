"""Agreement within each workforce of a campaign (Finch, Finch & Choi 2023, Table 8).

Only labels of annotators of one workforce are compared with each other. The values of the pilots in Table 8 are not
published, and the paper does not say how its one alpha combines all labels: here each measure has an alpha.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from uuid import UUID

from spotthebot.analytics.measures.domain.measure_results import agreement_of
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.analytics.workforces import (
    MAX_LISTED,
    MeasureAgreement,
    WorkforceAgreement,
    WorkforceAgreementsOut,
)


@dataclass(frozen=True)
class Workforce:
    """The people who came by one frontend and one shared link, if any."""

    frontend: str
    link: UUID | None


_UNKNOWN = Workforce("", None)


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
) -> Iterator[WorkforceAgreement]:
    """Yield the agreement of all annotators of a campaign, then of each workforce, the largest first.

    `names` has the shown names of the campaign's measures, `workforces` the workforce of each annotator.
    """
    yield _agreement(task, names, sample, None, request)
    people: dict[Workforce, int] = {}
    for annotator in {each.annotator for each in sample.annotations}:
        workforce = workforces.get(annotator, _UNKNOWN)
        people[workforce] = people.get(workforce, 0) + 1
    for workforce in sorted(people, key=lambda each: (-people[each], each.frontend, str(each.link)))[:MAX_LISTED]:
        own = [each for each in sample.annotations if workforces.get(each.annotator, _UNKNOWN) == workforce]
        yield _agreement(task, names, replace(sample, annotations=own), workforce, request)


def agreements_out(
    name: str, found: Sequence[WorkforceAgreement], request: Parameters, *, complete: bool
) -> WorkforceAgreementsOut:
    """Return the agreements of a campaign or a study, with the settings by which they were computed."""
    return WorkforceAgreementsOut(
        name=name,
        filter=request.filter,
        confidence_level=request.confidence_level,
        clusters=request.clusters,
        preliminary=not complete,
        version=version("spotthebot"),
        workforces=tuple(found),
    )


def _agreement(
    task: str, names: Mapping[str, str], sample: MeasuredSample, workforce: Workforce | None, request: Parameters
) -> WorkforceAgreement:
    counts, measures = sample.counts, []
    for own, shown in names.items():
        values = sample.values(own)
        agreement = agreement_of(values, request)
        measures.append(MeasureAgreement(measure=shown, values=len(values.value), alpha=agreement))
    return WorkforceAgreement(
        task=task,
        frontend=None if workforce is None else workforce.frontend,
        link=None if workforce is None else workforce.link,
        conversations=len({(each.conversation_id, each.right) for each in sample.annotations}),
        annotators=counts.annotators,
        annotations=counts.annotations,
        measures=tuple(measures),
    )
