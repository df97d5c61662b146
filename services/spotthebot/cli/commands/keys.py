"""`stb keys`: makes, lists, shows and revokes API keys."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer

from spotthebot.cli.commands.local_commands import with_the_database
from spotthebot.cli.commands.options import AsJson, DataDir, folder_at, suite_at, write_json
from spotthebot.cli.commands.resource_tables import ID, print_facts, print_list
from spotthebot.cli.errors import TeamNameLooksAlike
from spotthebot.cli.resources.resolver import Directory, find
from spotthebot.contracts.access import Role
from spotthebot.contracts.names import fault_of_name, find_look_alike
from spotthebot.kit.access import store
from spotthebot.kit.access.keys import ApiKey, parse_key
from spotthebot.kit.database.sessions import Database, ReadSession
from spotthebot.kit.text.characters import printable
from spotthebot.kit.waits.clock import system_clock
from spotthebot.local.errors import NotAKey
from spotthebot.local.postgres.provision import ACCESS
from spotthebot.local.progress import say, screen
from spotthebot.local.runtime.bootstrap import bootstrap
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR
from spotthebot.operations.deployment import access_url

Answer = TypeVar("Answer")
_NAMED = "The key's id, its beginning or end, its note, or its text."


@with_the_database
def create(
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    team: Annotated[str | None, typer.Option(help="Team that the key belongs to: role team or annotation.")] = None,
    days: Annotated[float | None, typer.Option(min=0, help="Days until the key expires; never without it.")] = None,
    note: Annotated[str, typer.Option(help="What the key is for.")] = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> None:
    """Make an API key. Its text is shown only once; the suite stores only a hash."""
    if role is Role.TEAM and team is None:
        message = "--role team needs --team NAME"
        raise typer.BadParameter(message)
    if team is not None and role not in {Role.TEAM, Role.ANNOTATION}:
        message = "--team is for --role team and --role annotation: leave it out, or choose one of these roles"
        raise typer.BadParameter(message)
    key, text = make_key(data_dir, role, team=team, days=days, note=note)
    if as_json:
        write_json(Path("-"), {**_facts(key), "key": text})
        return
    screen.print(f"Key {key.id}, role {key.role}. Keep it safe: it is not shown again.")
    typer.echo(text)


def make_key(
    data_dir: Path, role: Role, *, team: str | None = None, days: float | None = None, note: str = ""
) -> tuple[ApiKey, str]:
    """Make an API key and return it with its text. The text is not stored."""
    if team is not None and (fault := fault_of_name(team)) is not None:
        message = f"the team's name {fault}"
        raise typer.BadParameter(message)
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)

    async def make(database: Database) -> tuple[ApiKey, str]:
        async with database.write() as session:
            teams = {key.team for key in await store.list_keys(session) if key.team is not None}
            if team is not None and (other := find_look_alike(team, teams)) is not None:
                raise TeamNameLooksAlike(name=team, other=other)
            return await store.create_key(session, role=role, team=team, note=note, expires_at=expires_at)

    return _with_access(data_dir, make)


@with_the_database
def list_keys(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """List API keys, without their texts."""

    async def read(database: Database) -> list[ApiKey]:
        async with database.read() as session:
            return await store.list_keys(session)

    keys = _with_access(data_dir, read, of_suite=True)
    if as_json:
        write_json(Path("-"), {"keys": [_facts(key) for key in keys]})
        return
    now = system_clock()
    rows = ((key.note, _holder(key), _state_in_list(key, now), f"{key.created_at:%Y-%m-%d}", key.id) for key in keys)
    print_list(("Note", "Role", "State", "Created", ID), rows, empty="There is no key: ./stb keys create makes one.")


@with_the_database
def show(
    named: Annotated[str, typer.Argument(metavar="KEY", help=_NAMED)],
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> None:
    """Show an API key, without its text."""

    async def read(database: Database) -> ApiKey:
        async with database.read() as session:
            return (await find(_Keys(session), _name_of(named))).key

    found = _with_access(data_dir, read, of_suite=True)
    if as_json:
        write_json(Path("-"), _facts(found))
        return
    facts: dict[str, Any] = {
        "Note": found.note or None,
        "Id": found.id,
        "Role": found.role,
        "Team": found.team,
        "State": _state(found, system_clock()),
        "Created": found.created_at,
        "Expires": found.expires_at,
        "Revoked": found.revoked_at,
    }
    print_facts(facts)


@with_the_database
def revoke(
    named: Annotated[str, typer.Argument(metavar="KEY", help=_NAMED)], data_dir: DataDir = DEFAULT_DATA_DIR
) -> None:
    """Revoke an API key at once."""

    async def end(database: Database) -> ApiKey:
        async with database.write() as session:
            found = await find(_Keys(session), _name_of(named))
            return await store.revoke_key(session, found.id, system_clock())

    revoked = _with_access(data_dir, end, of_suite=True)
    note = f" ({printable(revoked.note)})" if revoked.note else ""
    say(f"Key {revoked.id}{note} is revoked.")


def _name_of(key: str) -> str:
    """Return the name by which to look up a key; raises NotAKey.

    For the text of a key this is the key's id, so that no error message contains the text.
    """
    if not key.startswith("stb_"):
        return key
    if (parsed := parse_key(key)) is None:
        raise NotAKey
    return str(parsed[0])


@dataclass(frozen=True)
class _NamedKey:
    """An API key as a resource with a name: its name is its note."""

    key: ApiKey

    @property
    def id(self) -> UUID:
        return self.key.id

    @property
    def name(self) -> str:
        return self.key.note


class _Keys(Directory[_NamedKey]):
    """All API keys. If several keys have the same note, the note stands for the valid one."""

    noun, plural, otherwise = "API key", "API keys", "make one with ./stb keys create"

    def __init__(self, session: ReadSession) -> None:
        self._session = session

    async def get(self, resource_id: UUID) -> _NamedKey:
        for each in await store.list_keys(self._session):
            if each.id == resource_id:
                return _NamedKey(each)
        raise store.NoSuchKey(key_id=resource_id)

    async def list(self, name: str | None = None) -> AsyncIterator[_NamedKey]:
        for each in await store.list_keys(self._session):
            if name is None or (name and name == each.note):
                yield _NamedKey(each)

    def describe(self, resource: _NamedKey) -> str:
        key = resource.key
        return f"{_state(key, system_clock())}, {_holder(key)}"

    def gives_way(self, resource: _NamedKey) -> bool:
        return _state(resource.key, system_clock()) != "valid"


def _holder(key: ApiKey) -> str:
    return f"{key.role} of {key.team}" if key.team else key.role


def _state_in_list(key: ApiKey, now: datetime) -> str:
    state = _state(key, now)
    return f"{state} to {key.expires_at:%Y-%m-%d}" if state == "valid" and key.expires_at is not None else state


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "valid"


def _with_access(data_dir: Path, do: Callable[[Database], Awaitable[Answer]], *, of_suite: bool = False) -> Answer:
    """Call `do` with the database of API keys: the running suite's database, or a database started for this call.

    If the environment or a file of secrets has the database's URL, that database is used and the data folder is
    ignored. With `of_suite`, raises NoSuite if the data folder has no suite.
    """
    if (url := access_url()) is not None:
        return asyncio.run(_with_database(url, do))
    folder = suite_at(data_dir) if of_suite else folder_at(data_dir)
    state = folder.read_state()
    if state is not None:
        return asyncio.run(_with_database(state.database_owner_urls[ACCESS], do))
    folder.create()
    with folder.lock(), bootstrap(folder) as prepared:
        return asyncio.run(_with_database(prepared.urls.owner_urls[ACCESS], do))


async def _with_database(url: str, do: Callable[[Database], Awaitable[Answer]]) -> Answer:
    database = Database(url, pool_size=1)
    try:
        return await do(database)
    finally:
        await database.close()


def _facts(key: ApiKey) -> dict[str, str | None]:
    return {
        "id": str(key.id),
        "role": key.role,
        "team": key.team,
        "note": key.note,
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "expires_at": key.expires_at.isoformat(timespec="seconds") if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat(timespec="seconds") if key.revoked_at else None,
    }
