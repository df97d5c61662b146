"""Prepares services before they start: the database, its migrated schemas, the suite's own API keys."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spotthebot.contracts.access import Role
from spotthebot.contracts.services import SCHEMAS, SERVICES
from spotthebot.kit.access.store import Authenticator, create_key
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Unauthenticated
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.service.process import migrate_access
from spotthebot.kit.waits.clock import system_clock
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import ACCESS, Provisioned, logins, provision
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.services import load_lineage

DATABASE_URL_VARIABLE = "SPOTTHEBOT_DATABASE_URL"
DATABASE_NAME = "spotthebot"
OWN_KEYS = (Role.ADMIN, Role.SERVICE, Role.ANNOTATION)


@dataclass(frozen=True)
class Bootstrap:
    """A migrated database and the suite's own keys. `cluster` is None if the environment names a server."""

    urls: Provisioned
    cluster: Cluster | None
    keys: dict[str, str]


@contextmanager
def bootstrap(folder: DataFolder) -> Iterator[Bootstrap]:
    """Start the database, unless the environment names a server, provision its schemas and migrate them."""
    with database_server(folder) as (admin_url, cluster):
        yield prepare_database(folder, admin_url, cluster)


def prepare_database(folder: DataFolder, admin_url: str, cluster: Cluster | None) -> Bootstrap:
    """Provision the schemas, migrate them, and make the suite's keys if they are missing."""
    urls = provision(admin_url, DATABASE_NAME, SCHEMAS, database_passwords(folder))
    migrate_access(urls.owner_urls[ACCESS])
    for service in SERVICES:
        if service.schema is not None:
            upgrade(load_lineage(service.name), urls.owner_urls[service.schema])
    keys = {role.value: _own_key(folder, urls.owner_urls[ACCESS], role) for role in OWN_KEYS}
    return Bootstrap(urls, cluster, keys)


def describe_database() -> str:
    """Return a description of the PostgreSQL that a suite would use if it started now."""
    return "the server in SPOTTHEBOT_DATABASE_URL" if os.environ.get(DATABASE_URL_VARIABLE) else "embedded"


def database_passwords(folder: DataFolder) -> dict[str, str]:
    """Return the passwords of all logins of the database, and make missing passwords."""
    return {login: folder.secret(f"database/{login}") for login in logins(SCHEMAS)}


@contextmanager
def database_server(folder: DataFolder) -> Iterator[tuple[str, Cluster | None]]:
    """Yield the admin's URL, and the embedded server, which runs during the block.

    The embedded server is None if the environment names another server.
    """
    if given := os.environ.get(DATABASE_URL_VARIABLE):
        yield given, None
        return
    with Cluster(folder.path) as cluster:
        yield cluster.admin_url, cluster


def _own_key(folder: DataFolder, owner_url: str, role: Role) -> str:
    """Return the suite's API key with a role; make a new key if the stored key is not valid in this database."""
    return asyncio.run(_find_or_make_key(folder, owner_url, role))


async def _find_or_make_key(folder: DataFolder, owner_url: str, role: Role) -> str:
    database = Database(owner_url, pool_size=1)
    try:
        if known := folder.known_secret(f"key/{role}"):
            try:
                await Authenticator(database.statements).authenticate(known, system_clock())
            except Unauthenticated:
                pass
            else:
                return known
        async with database.write() as session:
            _, text = await create_key(session, role=role, team=None, note="the suite's own")
        folder.keep_secret(f"key/{role}", text)
        return text
    finally:
        await database.close()
