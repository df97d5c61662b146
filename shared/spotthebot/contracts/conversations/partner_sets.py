"""Partner sets: the fixed partners of bipartite-play, named and versioned, so that figures stay comparable."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Name, Text, Wire

_Version = Annotated[int, Field(ge=1, lt=2**31)]


class PartnerSetRef(Wire):
    """A partner set by its name and version."""

    set: Name
    version: _Version


class PartnerSetIn(Wire):
    """Partners to keep under a name; a name that is known gets its next version."""

    name: ReadableName
    description: Annotated[Text, StringConstraints(max_length=2000)] = ""
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=200)


class PartnerOut(Wire):
    """One partner, as it was when the set was made: conversations ask exactly this version."""

    bot_id: UUID
    name: str
    version: int
    configuration_sha256: str


class PartnerSetOut(Wire):
    """One version of a partner set; it never changes."""

    id: UUID
    name: str
    version: int
    description: str
    partners: tuple[PartnerOut, ...] = Field(max_length=200)
    created_at: datetime
