"""Entry links, by which annotators enter a campaign from a panel, and the consent that they give."""

from datetime import datetime
from typing import Annotated, Final, Self, TypeAlias
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.annotation.annotations import AnnotatorId, AnnotatorKind
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.judges import JudgeRef
from spotthebot.contracts.annotation.panels import CompletionOut
from spotthebot.contracts.terms import ConsentTextOut, TextSha256
from spotthebot.contracts.wire import Text, Wire

EnteredBy: TypeAlias = Annotated[
    UUID | None,
    Field(
        description="The entry link by which the person came: refused unless they entered by it; null: the frontend "
        "itself knows who they are."
    ),
]
MAX_ANNOTATORS: Final = 100_000
"""The limit of people who may enter by one link."""
MAX_PARAMETERS: Final = 50
"""Query parameters with which a person comes."""
LONGEST_PARAMETER: Final = 100
LONGEST_VALUE: Final = 500


class AnnotatorIn(Wire):
    """The annotator of a request."""

    annotator: AnnotatorId = Field(description="The frontend's own id of the person, the same each time.")
    kind: AnnotatorKind = Field(
        default=AnnotatorKind.PERSON,
        description="The same each time: another kind is refused. People who came by a link are persons.",
    )
    judge: JudgeRef | None = Field(
        default=None,
        description="Of the kind `judge`: the version of the judge, the same each time; null of all others.",
    )
    link: EnteredBy = None

    @model_validator(mode="after")
    def _judges_name_their_version(self) -> Self:
        if (self.judge is not None) is not (self.kind is AnnotatorKind.JUDGE):
            message = "give `judge`, a name and a version, with the kind `judge`, and with no other kind"
            raise ValueError(message)
        return self


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
    """An entry link. Its URL is the address of a frontend with this query."""

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
    """The state of an entry link: whether people may still enter by it, and how many entered."""

    id: UUID
    annotator: str | None
    frontend: str | None = Field(description="The frontend that it serves; null: all.")
    signed_ids: bool
    annotators: int = Field(description="How many people entered by it.")
    max_annotators: int | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class AnnotatorWorkforceOut(Wire):
    """The workforce of an annotator: the people who came by one frontend and one shared link."""

    annotator: str = Field(description="The annotator's pseudonym, as in exports.")
    frontend: str = Field(
        description="The owner of the frontend's key; empty for an imported annotator, `erased` for an erased one."
    )
    link: UUID | None = Field(description="The link by which many may enter; null: a link of one's own, or none.")


class EntryIn(Wire):
    """The query parameters with which a person reached a frontend."""

    parameters: Annotated[
        dict[
            Annotated[Text, StringConstraints(max_length=LONGEST_PARAMETER)],
            Annotated[Text, StringConstraints(max_length=LONGEST_VALUE)],
        ],
        Field(max_length=MAX_PARAMETERS),
    ] = Field(description="As received; those that are neither the link's nor the panel's are ignored and not kept.")
    address: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None,
        description="The person's network address: new people from one address are limited. It is not kept.",
    )


class EntryOut(Wire):
    """The annotator and campaign of an entry, and the next steps."""

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
        description="How to show that work was done, if need be by a code; null before the first package is submitted."
    )


class ConsentIn(AnnotatorIn):
    """An annotator's consent to a campaign's text, after reading it."""

    sha256: TextSha256 = Field(description="Of the text that was shown: `consent_sha256` of the campaign.")


class ConsentWithdrawalIn(Wire):
    """The withdrawal of an annotator's consent."""

    annotator: AnnotatorId


class ConsentOut(Wire):
    """The text that an annotator consented to, and the time of consent."""

    annotator: str
    sha256: str | None
    consented_at: datetime | None
    withdrawn_at: datetime | None
