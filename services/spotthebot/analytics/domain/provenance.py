"""The provenance of a result: the data and the parameters from which it was computed."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any, Protocol
from uuid import UUID

from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.repeated_texts import RepeatedTexts


class Source(Protocol):
    """The campaign whose result it is. Data from a file have no id."""

    @property
    def campaign_id(self) -> UUID | None: ...

    @property
    def campaign(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def complete(self) -> bool: ...


def provenance_of(
    source: Source,
    request: Parameters,
    *,
    counts: Counts,
    repeated_texts: tuple[RepeatedTexts, ...],
    speakers: tuple[Speaker, ...],
    data_sha256: str,
) -> dict[str, Any]:
    """Return the fields of `Provenance`."""
    return {
        **asdict(request),
        "campaign_id": source.campaign_id,
        "campaign": source.campaign,
        "domain": source.domain,
        "counts": counts,
        "repeated_texts": repeated_texts,
        "speakers": speakers,
        "data_sha256": data_sha256,
        "as_of": None,
        "preliminary": not source.complete,
        "version": version("spotthebot"),
    }
