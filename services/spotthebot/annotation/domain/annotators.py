"""Annotators of a campaign: whether they may have another package."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.annotation.domain.errors import AnnotatorBlocked, LimitReached


@dataclass(frozen=True)
class Annotator:
    """A person, or a program, in one campaign; `packages` counts those that it holds or has submitted."""

    id: UUID
    campaign_id: UUID
    frontend: str
    external_id: str
    packages: int
    created_at: datetime
    blocked_at: datetime | None
    blocked_reason: str | None

    def require_unblocked(self) -> None:
        """Raise AnnotatorBlocked."""
        if self.blocked_at is not None:
            raise AnnotatorBlocked

    def require_below_limit(self, campaign: Campaign) -> None:
        """Raise LimitReached where the annotator has as many packages as one may have."""
        limit = campaign.packages_per_annotator
        if limit is not None and self.packages >= limit:
            raise LimitReached(limit=limit)
