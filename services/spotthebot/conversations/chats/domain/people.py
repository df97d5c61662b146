"""A person, or a program, who chats in a collection: the kind, and the name in exports."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.conversations.chats.errors import OtherInteractorKind, ProgramNameUnusable
from spotthebot.kit.crypto.pseudonyms import is_pseudonym, name_in_exports


@dataclass(frozen=True)
class ChatPerson:
    """A person who chats in a collection: the text that they consented to, and what they did."""

    id: UUID
    interactor: str
    kind: AnnotatorKind
    consent_sha256: str | None
    consented_at: datetime | None
    consent_withdrawn_at: datetime | None
    created_at: datetime
    erased_at: datetime | None
    conversations_started: int
    chats_rated: int


def require_kind(name: str, kind: AnnotatorKind, *, known: AnnotatorKind | None) -> None:
    """Raise OtherInteractorKind if who chats is `known` as another kind, None being new.

    Raises ProgramNameUnusable for a program, whose name exports show, that would look like a person under a pseudonym.
    """
    if known not in {None, kind}:
        raise OtherInteractorKind(name=name, known=known, kind=kind)
    if kind is not AnnotatorKind.PERSON and is_pseudonym(name):
        raise ProgramNameUnusable(name=name)


def pseudonym_of(interactor: str, kind: AnnotatorKind, key: bytes | None) -> str:
    """Return the pseudonym that a collection's `key` gives a chatting person.

    Programs keep their names. Without a key, people keep their ids.
    """
    if key is None or kind is not AnnotatorKind.PERSON:
        return interactor
    return name_in_exports(key, interactor.encode(), interactor)
