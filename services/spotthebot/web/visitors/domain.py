"""The visitor of a page: a person who signed in with an API key, or an annotator who opened an entry link."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self
from uuid import UUID

from spotthebot.contracts.annotation.assignments import HolderIn


@dataclass(frozen=True)
class SignedIn:
    """A person who signed in. `role` is the role that the key claims; the services check the key at each request.

    `by` is "provider" if an OpenID provider said who it is, "key" if the person gave the key.
    """

    key: str
    role: str
    by: str = "key"

    def to_session(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_session(cls, content: Mapping[str, str]) -> Self:
        return cls(key=content["key"], role=content["role"], by=content["by"])


@dataclass(frozen=True)
class Annotator:
    """A person who opened the entry link `link_id` of a campaign. The service knows the person until the entry ends.

    `completion` is the proof of finished work for the panel (JSON of `CompletionOut`). The cookie keeps it so that the
    person can find it again; it is empty before the first submitted package. `pseudonym` is the person's name on
    leaderboards.
    """

    campaign_id: UUID
    annotator: str
    link_id: UUID
    completion: str = ""
    pseudonym: str = ""

    @property
    def holder(self) -> HolderIn:
        """Return the person as a holder. Requests as this holder can use only the person's own packages."""
        return HolderIn(campaign_id=self.campaign_id, annotator=self.annotator)

    def to_session(self) -> dict[str, str]:
        return asdict(self) | {"campaign_id": str(self.campaign_id), "link_id": str(self.link_id)}

    @classmethod
    def from_session(cls, content: Mapping[str, str]) -> Self:
        return cls(
            campaign_id=UUID(content["campaign_id"]),
            annotator=content["annotator"],
            link_id=UUID(content["link_id"]),
            completion=content["completion"],
            pseudonym=content["pseudonym"],
        )
