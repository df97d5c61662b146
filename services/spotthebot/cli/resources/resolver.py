"""Finds the resource that a user names: by its name, its id, or the beginning or end of its id."""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import ClassVar, Final, Generic, Protocol, TypeVar
from uuid import UUID

from spotthebot.cli.declarations.names import UnknownName, instead_of, is_id, listed
from spotthebot.cli.errors import NameIsAmbiguous, NoSuchName, PrefixIsAmbiguous
from spotthebot.clients import Invalid
from spotthebot.clients import NotFound as NotFoundByPeer
from spotthebot.kit.errors import NotFound

_PREFIX: Final = re.compile(r"[0-9a-f-]{4,35}", re.IGNORECASE)
"""The beginning or end of an id. A shorter text is more likely a typing error."""


class NamedBy(Protocol):
    """A resource with an id and a name."""

    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...


Resource = TypeVar("Resource", bound=NamedBy)


class Directory(ABC, Generic[Resource]):
    """All resources of one kind that the caller may see."""

    noun: ClassVar[str]
    plural: ClassVar[str]
    otherwise: ClassVar[str]
    """The advice if no resource has the name, such as 'register it first'."""

    @abstractmethod
    async def get(self, resource_id: UUID) -> Resource:
        """Return the resource with this id; raises NotFound of the client or of the kit."""

    @abstractmethod
    def list(self, name: str | None = None) -> AsyncIterator[Resource]:
        """Yield the resources, oldest first; with `name`, only those of this name."""

    @abstractmethod
    def describe(self, resource: Resource) -> str:
        """Return a description that distinguishes the resource from others of the same name."""

    def gives_way(self, _resource: Resource) -> bool:
        """Whether a name means other resources rather than this one, if several resources have the name."""
        return False


async def find(directory: Directory[Resource], text: str, *, also: Iterable[str] = ()) -> Resource:
    """Return the resource with this name or id, or with an id that begins or ends with this text.

    Names are tried before the beginnings of ids, and these before the ends. `also` has more names for suggestions.
    Raises NoSuchName, NameIsAmbiguous or PrefixIsAmbiguous; their messages suggest a name or an id.
    """
    try:
        if is_id(text):
            return await directory.get(UUID(text))
        named = [each async for each in directory.list(text)]
    except (NotFoundByPeer, NotFound, Invalid):  # a text that can't be a name is the name of nothing
        named = []
    named = [each for each in named if not directory.gives_way(each)] or named
    if len(named) == 1:
        return named[0]
    if named:
        ids = _candidates(directory, named)
        raise NameIsAmbiguous(count=len(named), plural=directory.plural, name=text, ids=ids)
    everything = [each async for each in directory.list()]
    if _PREFIX.fullmatch(text):
        part = text.replace("-", "").lower()
        found = [each for each in everything if each.id.hex.startswith(part)]
        found = found or [each for each in everything if each.id.hex.endswith(part)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = _candidates(directory, found)
            raise PrefixIsAmbiguous(count=len(found), plural=directory.plural, prefix=text, ids=ids)
    names = [*(each.name for each in everything if each.name and not directory.gives_way(each)), *also]
    raise NoSuchName(noun=directory.noun, name=text, instead=instead_of(text, names, directory.otherwise))


async def find_declared(directory: Directory[Resource], text: str, *, also: Iterable[str] = ()) -> Resource:
    """Return the resource that a declaration names; raises UnknownName."""
    try:
        return await find(directory, text, also=also)
    except (NoSuchName, NameIsAmbiguous, PrefixIsAmbiguous) as unknown:
        sentence = str(unknown)
        raise UnknownName(sentence[0].lower() + sentence[1:]) from unknown


async def find_addable(directory: Directory[Resource], text: str, addable: Sequence[str]) -> Resource | None:
    """Return the resource that a declaration names; raises UnknownName.

    None if no resource has the name yet, and the name is in `addable`.
    """
    try:
        return await find_declared(directory, text, also=addable)
    except UnknownName as unknown:
        if text in addable and isinstance(unknown.__cause__, NoSuchName):
            return None
        raise


def _candidates(directory: Directory[Resource], found: Sequence[Resource]) -> str:
    return listed(f"{each.id} ({directory.describe(each)})" for each in found)
