"""`stb keys`: make, list and revoke API keys."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import typer
from rich.table import Table

from spotthebot.contracts.access import Role
from spotthebot.kit.access import store
from spotthebot.kit.access.keys import ApiKey
from spotthebot.kit.clock import system_clock
from spotthebot.kit.database import Database
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, AsJson, DataDir, folder_at, suite_at, write_json
from spotthebot.suite.postgres.provision import ACCESS
from spotthebot.suite.progress import screen
from spotthebot.suite.runtime.bootstrap import bootstrap
from spotthebot.suite.runtime.data_folder import DataFolder

Answer = TypeVar("Answer")


def create(
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    team: Annotated[str | None, typer.Option(help="Team that the key belongs to: role team or annotation.")] = None,
    days: Annotated[float | None, typer.Option(min=0, help="Days until the key expires; never without it.")] = None,
    note: Annotated[str, typer.Option(help="What the key is for.")] = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> None:
    """Make an API key. Its text is shown this once; only a hash is kept."""
    if role is Role.TEAM and team is None:
        message = "--role team needs --team"
        raise typer.BadParameter(message)
    if team is not None and role not in {Role.TEAM, Role.ANNOTATION}:
        message = "--team goes with --role team or --role annotation"
        raise typer.BadParameter(message)
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)

    async def make(database: Database) -> tuple[ApiKey, str]:
        async with database.write() as session:
            return await store.create_key(session, role=role, team=team, note=note, expires_at=expires_at)

    key, text = _with_access(folder_at(data_dir), make)
    if as_json:
        write_json(Path("-"), {**_facts(key), "key": text})
        return
    screen.print(f"Key {key.id}, role {key.role}. Keep it safe: it is not shown again.")
    typer.echo(text)


def list_keys(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """List API keys, without their texts."""

    async def read(database: Database) -> list[ApiKey]:
        async with database.read() as session:
            return await store.list_keys(session)

    keys = [_facts(key) for key in _with_access(suite_at(data_dir), read)]
    if as_json:
        write_json(Path("-"), {"keys": keys})
        return
    table = Table("Id", "Role", "Team", "Note", "Created", "Expires", "Revoked")
    for key in keys:
        table.add_row(*(value or "" for value in key.values()))
    screen.print(table)


def revoke(key_id: Annotated[UUID, typer.Argument(help="The key's id.")], data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Revoke an API key at once."""

    async def end(database: Database) -> ApiKey:
        async with database.write() as session:
            return await store.revoke_key(session, key_id, system_clock())

    key = _with_access(suite_at(data_dir), end)
    screen.print(f"Key {key.id} is revoked.")


def _with_access(folder: DataFolder, do: Callable[[Database], Awaitable[Answer]]) -> Answer:
    """Do something with the keys of the suite that runs, or of the database that would serve it."""
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
