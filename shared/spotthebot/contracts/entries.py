"""Entry links, by which annotators come into a campaign from a panel, and what they consent to."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.annotation import AnnotatorId, CampaignState
from spotthebot.contracts.panels import CompletionOut
from spotthebot.contracts.wire import Text, Wire


class EntryLinkIn(Wire):
    """A link by which annotators enter a campaign."""

    annotator: AnnotatorId | None = Field(
        default=None,
        description="The one person whom the link is for; null: the people whom the panel names in the URL.",
    )
    expires_in_hours: int = Field(default=168, ge=1, le=24 * 366)
    max_annotators: int | None = Field(
        default=None, ge=1, le=100_000, description="How many people may enter by it; null: any number."
    )


class EntryLinkOut(Wire):
    """An entry link: a frontend's URL with this query."""

    id: UUID
    query: str = Field(
        description="The query of the URL: the signed token, and the places that Prolific fills with its ids."
    )
    annotator: str | None
    max_annotators: int | None
    expires_at: datetime


class EntryIn(Wire):
    """The query parameters with which a person came to a frontend."""

    parameters: Annotated[
        dict[Annotated[Text, StringConstraints(max_length=100)], Annotated[Text, StringConstraints(max_length=500)]],
        Field(max_length=50),
    ] = Field(description="As received; those that are neither the link's nor the panel's are ignored and not kept.")


class ConsentTextOut(Wire):
    """What a person is to consent to before they get a package."""

    text: str
    sha256: str


class EntryOut(Wire):
    """Who entered which campaign, and what comes next."""

    campaign_id: UUID
    state: CampaignState = Field(description="The campaign's state: packages can be claimed while it is open.")
    preview: bool = Field(description="Mechanical Turk shows the HIT to a person who has not accepted it.")
    annotator: str | None = Field(description="The id to claim packages with; null for a preview.")
    pseudonym: str | None = Field(description="What exports and leaderboards call the annotator; null for a preview.")
    blocked: bool
    consent: ConsentTextOut | None = Field(description="What the annotator is still to consent to; null: nothing.")
    training_required: bool = Field(description="Whether the annotator is still to pass the campaign's training.")
    packages_left: int | None = Field(description="Packages that the annotator may still claim; null: any number.")
    completion: CompletionOut | None = Field(
        description="How to show the panel that work was done; null before the first package is submitted."
    )


class ConsentIn(Wire):
    """An annotator consents to a campaign's text, which they were shown."""

    annotator: AnnotatorId
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="Of the text that was shown: `consent_sha256` of the campaign."
    )


class ConsentWithdrawalIn(Wire):
    """An annotator takes their consent back."""

    annotator: AnnotatorId


class ConsentOut(Wire):
    """What an annotator consented to, and when."""

    annotator: str
    sha256: str | None
    consented_at: datetime | None
    withdrawn_at: datetime | None
