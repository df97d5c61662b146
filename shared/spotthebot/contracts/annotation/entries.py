"""Entry links, by which annotators come into a campaign from a panel, and what they consent to."""

from datetime import datetime
from typing import Annotated, Final, TypeAlias
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.annotation.annotations import AnnotatorId
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.panels import CompletionOut
from spotthebot.contracts.wire import Text, Wire

EnteredBy: TypeAlias = Annotated[
    UUID | None,
    Field(
        description="The entry link by which the person came: refused unless they entered by it; null: the frontend "
        "itself knows who they are."
    ),
]
MAX_ANNOTATORS: Final = 100_000
"""People who may enter by one link."""


class EntryLinkIn(Wire):
    """A link by which annotators enter a campaign."""

    annotator: AnnotatorId | None = Field(
        default=None,
        description="The one person whom the link is for; null: the people whom the panel names in the URL.",
    )
    expires_in_hours: int = Field(default=168, ge=1, le=24 * 366)
    max_annotators: int | None = Field(
        default=None,
        ge=1,
        le=MAX_ANNOTATORS,
        description="How many people may enter by it; null: twice as many as the campaign needs.",
    )
    signed_ids: bool = Field(
        default=False,
        description="Whether the panel signs the ids in the URL: those without its signature are refused.",
    )

    @model_validator(mode="after")
    def _signs_ids_of_a_panel(self) -> "EntryLinkIn":
        if self.signed_ids and self.annotator is not None:
            message = "signed_ids is for links without an annotator: leave out one of the two"
            raise ValueError(message)
        return self


class EntryLinkOut(Wire):
    """An entry link: a frontend's URL with this query."""

    id: UUID
    query: str = Field(
        description="The query of the URL: the signed token, and the places that Prolific fills with its ids."
    )
    annotator: str | None
    max_annotators: int | None
    expires_at: datetime
    signing_key: str | None = Field(
        description="Shown once: the panel sends `id_signature`, HMAC-SHA256 of the person's id under this text, in "
        "hexadecimal; null where ids are not signed."
    )


class EntryLinkStateOut(Wire):
    """An entry link as it stands: who may still come by it, and how many came."""

    id: UUID
    annotator: str | None
    frontend: str | None = Field(description="The frontend that it serves; null: all.")
    signed_ids: bool
    annotators: int = Field(description="How many people entered by it.")
    max_annotators: int | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class EntryIn(Wire):
    """The query parameters with which a person came to a frontend."""

    parameters: Annotated[
        dict[Annotated[Text, StringConstraints(max_length=100)], Annotated[Text, StringConstraints(max_length=500)]],
        Field(max_length=50),
    ] = Field(description="As received; those that are neither the link's nor the panel's are ignored and not kept.")
    address: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None,
        description="The person's network address: new people from one address are limited. It is not kept.",
    )


class ConsentTextOut(Wire):
    """What a person is to consent to before they get a package."""

    text: str
    sha256: str


class EntryOut(Wire):
    """Who entered which campaign, and what comes next."""

    campaign_id: UUID
    link_id: UUID = Field(description="The link: send it with the person's claims, consent and training.")
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
    link: EnteredBy = None


class ConsentWithdrawalIn(Wire):
    """An annotator takes their consent back."""

    annotator: AnnotatorId


class ConsentOut(Wire):
    """What an annotator consented to, and when."""

    annotator: str
    sha256: str | None
    consented_at: datetime | None
    withdrawn_at: datetime | None
