"""Resolves the names of a campaign's declaration to what the services know."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.annotation.campaigns.domain import unit_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.cli.declarations import Place, UnknownName, instead_of
from spotthebot.cli.resources import Collections, find_declared
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignSettings
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.local.runtime.session import Clients


@dataclass(frozen=True)
class Resolved:
    """A declaration as the service takes it, and what an item shows."""

    request: CampaignIn
    unit: Unit


async def resolve(clients: Clients, declared: CampaignDeclared, *, opens: bool) -> Resolved:
    """Return the request for the campaign; nothing is stored.

    Raises DeclarationFaulty with every name that is unknown, and what `annotation` raises of a collection that is not
    complete.
    """
    faults: list[tuple[Place, str]] = []
    collections: list[CollectionOut] = []
    protocol, unit = declared.protocol, None
    for number, name in enumerate(declared.request.collections):
        try:
            collections.append(_checked(await find_declared(Collections(clients), name), collections))
        except UnknownName as unknown:
            faults.append((("collections", number), str(unknown)))
    try:
        protocol = protocol or await _find_protocol(clients, declared.request.protocol)
        unit = unit_of(protocol, declared.request.segments)
    except UnknownName as unknown:
        faults.append((("protocol",), str(unknown)))
    if faults or protocol is None or unit is None:
        raise declared.faulty(*faults)
    for collection in collections:
        await Conversations(clients.conversations).require_complete(collection.id)
    said = declared.request
    shared = {name: getattr(said, name) for name in CampaignSettings.model_fields}
    request = CampaignIn(
        **shared,
        name=said.name,
        domain=collections[0].domain,
        collections=tuple(each.id for each in collections),
        open=opens,
        pay_per_package=said.pay and said.pay.per_package,
        currency=said.pay and said.pay.currency,
        protocol=protocol.name,
        protocol_version=protocol.version if declared.protocol else None,
        instructions=declared.instructions,
        consent=declared.consent,
    )
    return Resolved(request, unit)


def _checked(collection: CollectionOut, before: Sequence[CollectionOut]) -> CollectionOut:
    """Return a collection that goes with those before; raises UnknownName."""
    if collection.id in {each.id for each in before}:
        message = f"the collection '{collection.name}' is named twice: name it once."
        raise UnknownName(message)
    if before and collection.domain != before[0].domain:
        message = (
            f"'{collection.name}' is of the domain '{collection.domain}', '{before[0].name}' of '{before[0].domain}': "
            "a campaign has one domain, so make a campaign for each."
        )
        raise UnknownName(message)
    return collection


async def _find_protocol(clients: Clients, name: str) -> AnnotationProtocol:
    """Return the newest version of a protocol."""
    there = [each async for each in clients.annotation.list_protocols()]
    versions = [each.version for each in there if each.name == name]
    if not versions:
        known = (each.name for each in there)
        message = f"there is no protocol '{name}': {instead_of(name, known, 'name a file that ends in .json')}"
        raise UnknownName(message)
    return (await clients.annotation.get_protocol(name, max(versions))).protocol
