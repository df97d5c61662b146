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

    set: Name = Field(description="Name of the partner set.")
    version: _Version = Field(description="Its version.")


class PartnerSetIn(Wire):
    """Partners to store under a name. If the name is known, they become its next version."""

    name: ReadableName
    description: Annotated[Text, StringConstraints(max_length=2000)] = ""
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=200)


class PartnerOut(Wire):
    """One partner, in the version that it had when the set was made.

    Conversations use exactly this version of the bot.
    """

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
