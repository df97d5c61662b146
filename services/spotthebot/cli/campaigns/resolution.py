"""Replaces the names in a campaign's declaration by the ids of the services."""

from collections import defaultdict
from collections.abc import Sequence

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, CampaignTerms
from spotthebot.cli.declarations.names import UnknownName, instead_of
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.cli.resources.directories import Collections
from spotthebot.cli.resources.resolver import find_declared
from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.annotation.protocols import ProtocolIn
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.kit.plugins import NoSuchPlugin, find_plugin
from spotthebot.local.plugin_protocols import protocol_of
from spotthebot.local.runtime.session import Clients


async def resolve(clients: Clients, declared: CampaignDeclared, *, opens: bool) -> CampaignIn:
    """Return the request that creates the campaign, which only the service validates.

    Nothing is stored but a plug-in's protocol that is named first.

    Raises DeclarationFaulty with all unknown names.
    """
    faults: list[tuple[Place, str]] = []
    collections: list[CollectionOut] = []
    for number, name in enumerate(declared.request.collections):
        try:
            collections.append(_checked(await find_declared(Collections(clients), name), collections))
        except UnknownName as unknown:
            faults.append((("collections", number), str(unknown)))
    if declared.files.protocol is None:
        try:
            if unknown_version := await _check_protocol(clients, declared.request):
                faults.append((("protocol_version",), unknown_version))
        except UnknownName as unknown:
            faults.append((("protocol",), str(unknown)))
    if faults:
        raise declared.faulty(*faults)
    said, document = declared.request, declared.files.protocol
    shared = {name: getattr(said, name) for name in CampaignSettings.model_fields}
    return CampaignIn(
        **shared,
        name=said.name,
        domain=collections[0].domain,
        collections=tuple(each.id for each in collections),
        mode="uploaded" if said.packages else "live",
        open=opens and not said.packages,
        pay_per_package=said.pay and said.pay.per_package,
        currency=said.pay and said.pay.currency,
        protocol=said.protocol if document is None else document.name,
        protocol_version=said.protocol_version if document is None else document.version,
        instructions=declared.files.instructions,
        consent=declared.files.consent,
    )


def _checked(collection: CollectionOut, before: Sequence[CollectionOut]) -> CollectionOut:
    """Return the collection if it can be combined with the collections `before` it; raises UnknownName otherwise."""
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


async def _check_protocol(clients: Clients, said: CampaignTerms) -> str | None:
    """Return why the service does not have the named version of a protocol, None if it does.

    Raises UnknownName if it has no protocol of this name.
    """
    name, known = said.protocol, defaultdict[str, list[int]](list)
    async for each in clients.annotation.list_protocols():
        known[each.name].append(each.version)
    if said.protocol_version not in {None, *known[name]} or not known[name]:
        known[name] += await _store_plugin(clients, name)
    if not known[name]:
        known.pop(name)
        message = f"there is no protocol '{name}': {instead_of(name, known, 'name a file that ends in .json')}"
        raise UnknownName(message)
    if said.protocol_version in {None, *known[name]}:
        return None
    versions = ", ".join(map(str, sorted(known[name])))
    return f"the protocol '{name}' has no version {said.protocol_version}: choose one of {versions}."


async def _store_plugin(clients: Clients, name: str) -> list[int]:
    """Store the protocol that an installed plug-in of this name brings, if there is one; return its version.

    Raises PluginFails.
    """
    try:
        plugin = find_plugin(PluginGroup.PROTOCOLS, name)
    except NoSuchPlugin:
        return []
    found = await clients.annotation.create_protocol(ProtocolIn(protocol=protocol_of(plugin)))
    return [found.protocol.version]
