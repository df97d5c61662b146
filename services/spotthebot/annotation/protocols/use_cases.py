"""Protocols: store a version, read a version, list built-in and stored versions."""

from uuid import UUID

from spotthebot.annotation.protocols import store
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols, is_built_in
from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.annotation.protocols.domain.versions import ProtocolSummary, ProtocolVersion, built_in_summaries
from spotthebot.annotation.protocols.errors import (
    ProtocolBuiltIn,
    ProtocolFaulty,
    ProtocolVersionStored,
    UnknownProtocol,
)
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner

_MAX_VERSIONS = 1000


async def create_protocol(
    session: WriteSession, protocol: AnnotationProtocol, *, at: str = "/protocol"
) -> ProtocolVersion:
    """Store a version of a protocol; storing the same document again changes nothing.

    `at` is the JSON pointer to the protocol in the request. Raises ProtocolFaulty, ProtocolVersionStored, and
    ProtocolBuiltIn for a different document under a built-in name.
    """
    if faults := check_protocol(protocol, at=at):
        raise ProtocolFaulty(fields=faults)
    if is_built_in(protocol.name):
        if built_in_protocols().get((protocol.name, protocol.version)) != protocol:
            raise ProtocolBuiltIn(name=protocol.name)
        return ProtocolVersion(protocol, created_at=None)
    await store.add_protocol(session, protocol)
    stored = await store.get_protocol(session, protocol.name, protocol.version)
    if stored.protocol != protocol:
        raise ProtocolVersionStored(name=protocol.name, version=protocol.version)
    return stored


async def get_protocol(runner: Runner, name: str, version: int) -> ProtocolVersion:
    """Return a version of a protocol, built in or stored; raises NoSuchProtocol."""
    built_in = built_in_protocols().get((name, version))
    if built_in is not None:
        return ProtocolVersion(built_in, created_at=None)
    return await store.get_protocol(runner, name, version)


async def list_protocols(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[ProtocolSummary]:
    """List versions of protocols: first built-in versions by name, then stored versions, oldest first."""
    found = [each for each in built_in_summaries(name=name) if after is None or each.id > after][:limit]
    if len(found) < limit:
        found += await store.list_protocols(session, name=name, after=after, limit=limit - len(found))
    return found


async def require_protocol(session: ReadSession, name: str, version: int | None) -> AnnotationProtocol:
    """Return a version of a protocol, or its newest version; raises UnknownProtocol."""
    versions = [each.version for each in await list_protocols(session, name=name, after=None, limit=_MAX_VERSIONS)]
    if not versions or version not in {None, *versions}:
        raise UnknownProtocol(name=name, version="" if version is None else f" of version {version}")
    return (await get_protocol(session, name, max(versions) if version is None else version)).protocol
