"""Replaces the names in a collection's declaration by ids.

Registers missing built-in bots and uploads the sample corpus.
"""

from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, Final, TypeVar, overload
from uuid import UUID

from spotthebot.cli.collections.declaration import Declaration
from spotthebot.cli.collections.declaration_file import ChatsDeclaration, ChatsDeclared, CollectionDeclared
from spotthebot.cli.declarations.names import UnknownName, listed
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.cli.resources.directories import Bots, Corpora
from spotthebot.cli.resources.resolver import NamedBy, find_addable
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import (
    AllPlayAllIn,
    BipartiteIn,
    PlannedIn,
    SelfPlayIn,
    TargetVersion,
)
from spotthebot.contracts.conversations.openings import HumanPool, Opening, PersonaPool
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.local import sample
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import BUILT_IN, LEARNING, register_built_in, upload_sample

API_KEYS: Final = {"corpus_id": "corpus"}
"""The API's keys that have other names in a declaration."""
_REQUESTS: Mapping[str, type[SelfPlayIn | AllPlayAllIn | BipartiteIn]] = {
    "self_play": SelfPlayIn,
    "all_play_all": AllPlayAllIn,
    "bipartite": BipartiteIn,
}
_Found = TypeVar("_Found")


@overload
async def resolve(clients: Clients, declared: CollectionDeclared) -> PlannedIn: ...


@overload
async def resolve(clients: Clients, declared: CollectionDeclared | ChatsDeclared) -> PlannedIn | HumanBotIn: ...


async def resolve(clients: Clients, declared: CollectionDeclared | ChatsDeclared) -> PlannedIn | HumanBotIn:
    """Return the request that starts the collection. Only the service validates it.

    Raises DeclarationFaulty with all unknown names. Bots are registered and the corpus is uploaded only if all names
    are valid.
    """
    request = declared.request
    faults: list[tuple[Place, str]] = []

    async def found(place: Place, finding: Awaitable[_Found]) -> _Found | None:
        try:
            return await finding
        except UnknownName as unknown:
            faults.append((place, str(unknown)))
            return None

    known_bots, known_corpora = Bots(clients), Corpora(clients)
    bots = {
        name: await found(place, _id_of(find_addable(known_bots, name, BUILT_IN)))
        for place, name in _bots_named(request)
    }
    corpora = {
        name: await found(place, _id_of(find_addable(known_corpora, name, (sample.NAME,))))
        for place, name in _corpora_named(request)
    }
    if isinstance(request, Declaration) and isinstance(request.partners, PartnerSetRef):
        await found(("partners",), _find_partner_set(clients, request.partners))
    if faults:
        raise declared.faulty(*faults)
    missing = [name for name, known in bots.items() if known is None]
    if LEARNING.intersection(missing) or None in corpora.values():
        corpora[sample.NAME] = await upload_sample(clients)
    for name in missing:
        corpus_id = corpora.get(sample.NAME)
        bots[name] = await register_built_in(clients, name, domain=request.domain, corpus_id=corpus_id)
    if isinstance(request, ChatsDeclaration):
        ids, known = _ids(bots), _ids(corpora)
        values = dict(request) | {"bots": tuple(ids[name] for name in request.bots)}
        if request.personas is not None:
            corpus_id = known[request.personas.corpus]
            values["personas"] = PersonaPool.model_construct(corpus_id=corpus_id, split=request.personas.split)
        return HumanBotIn.model_construct(**values)
    return _planned(request, _ids(bots), _ids(corpora))


async def _id_of(finding: Awaitable[NamedBy | None]) -> UUID | None:
    found = await finding
    return None if found is None else found.id


async def _find_partner_set(clients: Clients, request: PartnerSetRef) -> str:
    versions: dict[str, list[int]] = {}
    async for each in clients.conversations.list_partner_sets():
        versions.setdefault(each.name, []).append(each.version)
    if request.version in versions.get(request.set, ()):
        return request.set
    if request.set in versions:
        there = ", ".join(map(str, versions[request.set]))
        message = f"the partner set '{request.set}' has no version {request.version}: there is {there}."
    else:
        there = f"name one of {listed(versions)}" if versions else "there is none yet"
        message = f"there is no partner set '{request.set}': {there}; POST /v1/partner-sets makes one."
    raise UnknownName(message)


def _bots_named(request: Declaration | ChatsDeclaration) -> Iterator[tuple[Place, str]]:
    for number, name in enumerate(request.bots):
        yield ("bots", number), name
    if isinstance(request, Declaration) and not isinstance(request.partners, PartnerSetRef):
        for number, name in enumerate(request.partners):
            yield ("partners", number), name


def _corpora_named(request: Declaration | ChatsDeclaration) -> Iterator[tuple[Place, str]]:
    if isinstance(request, ChatsDeclaration):
        if request.personas is not None:
            yield ("personas", "corpus"), request.personas.corpus
        return
    if request.opening is not None and request.opening.corpus is not None:
        yield ("opening", "corpus"), request.opening.corpus
    if request.humans is not None:
        yield ("humans", "corpus"), request.humans.corpus


def _planned(request: Declaration, bots: Mapping[str, UUID], corpora: Mapping[str, UUID]) -> PlannedIn:
    """Replace the names by ids without validation. A fault is found by the service and reported by the file's line."""
    values: dict[str, Any] = dict(request) | {"bots": tuple(bots[name] for name in request.bots)}
    for key, kind in (("opening", Opening), ("humans", HumanPool)):
        if (said := values[key]) is not None:
            fields = dict(said)
            if (corpus := fields.pop("corpus")) is not None:
                fields["corpus_id"] = corpora[corpus]
            values[key] = kind.model_construct(**fields)
    versions = values.pop("versions")
    if request.mode == "bipartite":
        values["versions"] = tuple(TargetVersion(bot_id=bots[name], version=each) for name, each in versions.items())
    if isinstance(request.partners, PartnerSetRef):
        values["partners"] = PartnerSetRef.model_construct(**dict(request.partners))
    elif request.partners:
        values["partners"] = tuple(bots[name] for name in request.partners)
    else:
        del values["partners"]
    return _REQUESTS[request.mode].model_construct(**values)


def _ids(found: Mapping[str, UUID | None]) -> dict[str, UUID]:
    return {name: known for name, known in found.items() if known is not None}
