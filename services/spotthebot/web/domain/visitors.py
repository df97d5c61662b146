"""Who looks at a page: a person who signed in with an API key, or an annotator who came by a link."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self
from uuid import UUID

from spotthebot.contracts.annotation.assignments import HolderIn


@dataclass(frozen=True)
class SignedIn:
    """A person who signed in; `role` is what the key says of itself, the services check it at each request."""

    key: str
    role: str

    def to_session(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_session(cls, content: Mapping[str, str]) -> Self:
        return cls(key=content["key"], role=content["role"])


@dataclass(frozen=True)
class Annotator:
    """A person who came by the entry link `link_id` of a campaign, whom the service knows as long as the entry lasts.

    `completion` is how the panel is shown that work was done (JSON of `CompletionOut`), so that the person finds it
    again; empty before the first package is submitted. `pseudonym` is what leaderboards call the person.
    """

    campaign_id: UUID
    annotator: str
    link_id: UUID
    completion: str = ""
    pseudonym: str = ""

    @property
    def holder(self) -> HolderIn:
        """Return the person as the holder of the packages that their requests may touch."""
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
