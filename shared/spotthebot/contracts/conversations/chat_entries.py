"""Entry to chats: the terms for a person, the beginning of a chat, tokens, and links by which people come."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.contracts.terms import ConsentTextOut, TextSha256
from spotthebot.contracts.wire import ExternalId, Text, Wire

MAX_PEOPLE: Final = 100_000
"""People who may chat by one link."""


class ChatIn(Wire):
    """A person who wants to chat.

    `interactor` is the frontend's id of the person, the same in each of their requests.
    """

    collection_id: UUID
    interactor: ExternalId
    kind: AnnotatorKind = Field(
        default=AnnotatorKind.PERSON,
        description="The same each time: another kind is refused. People who came by a link are persons.",
    )
    link: ExternalId | None = Field(
        default=None,
        description="What the frontend calls the link by which the person came; one that was revoked begins no chat.",
    )
    max_people: int | None = Field(
        default=None, ge=1, le=MAX_PEOPLE, description="How many people may chat by the link; null: any number."
    )
    address: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None,
        description="The person's network address, where the link is for many: new people from one address are "
        "limited. It is not kept.",
    )
    consent_sha256: TextSha256 | None = Field(
        default=None,
        description="Of the text that the person has read and consents to; null where none is asked for, and where "
        "the person consented before.",
    )


class ChatTermsOut(Wire):
    """What a person learns of a collection before they begin a chat, and how much they may still do."""

    partners: int = Field(description="How many conversations a chat has.")
    minimum_turns: int
    instructions: str
    consent: ConsentTextOut | None = Field(description="What the person is still to consent to; null: nothing.")
    pay_per_chat: Decimal | None = Field(description="For a chat that the person rated; null: nothing is paid.")
    currency: str | None
    conversations_per_person: int | None = Field(description="Null: any number.")
    conversations_started: int = Field(description="By this person, whatever became of them.")
    chats_left: int | None = Field(
        description="How many more chats the person may begin, besides an open one; null: any number."
    )


class PersonsChatOut(Wire):
    """One of a person's chats in a collection."""

    id: UUID
    state: ChatState
    created_at: datetime


class ChatTokenOut(Wire):
    """A token that lets a person's browser use one chat and no other. It is shown only once."""

    token: str = Field(description="Sent as a bearer token; for events, where a browser can send none, in the URL.")
    expires_at: datetime


class ChatPersonOut(Wire):
    """A person who chats in a collection, or whose ratings were imported: their consent, their work and their pay."""

    id: UUID
    person: str = Field(description="What the frontend calls the person; a random name after an erasure.")
    kind: AnnotatorKind
    interactor: str = Field(description="The person's pseudonym; of a program its name.")
    conversations_started: int
    chats_rated: int
    pay: Decimal | None = Field(description="For the rated chats; null: nothing is paid.")
    currency: str | None
    consent_sha256: str | None = Field(
        description="Of the text that they consented to; null: none was asked for, or the consent was withdrawn."
    )
    consented_at: datetime | None
    consent_withdrawn_at: datetime | None = Field(description="Null: never, or the person consented again since.")
    created_at: datetime
    erased_at: datetime | None = Field(description="When the person was erased; null: never.")


class ChatConsentWithdrawalIn(Wire):
    """The withdrawal of the consent of a person who chats."""

    interactor: ExternalId


class ChatConsentOut(Wire):
    """The text that a person who chats consented to, and the times of consent and withdrawal."""

    interactor: str
    sha256: str | None
    consented_at: datetime | None
    withdrawn_at: datetime | None


class LinkRevocationIn(Wire):
    """The link to revoke, named by the frontend's id of the link."""

    link: ExternalId


class ChatLinkOut(Wire):
    """A link by which people came to chat, or a revoked link."""

    link: str = Field(description="What its frontend calls it.")
    people: int = Field(description="How many people began a chat by it.")
    chats: int
    revoked_at: datetime | None


class ChatLinksOut(Wire):
    """The links by which people come to a collection's chats, the most used link first."""

    links: tuple[ChatLinkOut, ...] = Field(max_length=1000)


class RevokedLinkOut(Wire):
    """A revoked link."""

    link: str
    revoked_at: datetime
