"""Versions of judges by name: all of one, the newest, or the one that a user names."""

from spotthebot.cli.declarations.names import instead_of
from spotthebot.cli.errors import NoSuchName
from spotthebot.clients import Invalid, NotFound
from spotthebot.contracts.annotation.judges import JudgeVersionOut
from spotthebot.local.runtime.session import Clients


async def versions_of(clients: Clients, name: str) -> list[JudgeVersionOut]:
    """Return all versions of a judge, oldest first; raises NoSuchName."""
    try:
        found = [each async for each in clients.annotation.list_judges(name=name)]
    except Invalid:  # no judge can have this name
        found = []
    if not found:
        known = list(dict.fromkeys([each.name async for each in clients.annotation.list_judges()]))
        raise NoSuchName(
            noun="judge", name=name, instead=instead_of(name, known, otherwise="add one with ./stb judge add")
        )
    return found


async def version_of(clients: Clients, name: str, version: int | None) -> JudgeVersionOut:
    """Return a version of a judge, or the newest; raises NoSuchName."""
    versions = await versions_of(clients, name)
    if version is None:
        return versions[-1]
    try:
        return await clients.annotation.get_judge(name, version)
    except NotFound:
        numbers = ", ".join(str(each.version) for each in versions)
        raise NoSuchName(
            noun="judge", name=f"{name}, version {version}", instead=f"its versions are {numbers}."
        ) from None
