import secrets
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from spotthebot.kit.access.tables import LINEAGE as ACCESS
from spotthebot.kit.database import Database
from spotthebot.kit.migrations import Lineage, check_drift, current_revision
from spotthebot.suite.foundation import SERVICES
from spotthebot.suite.postgres.cluster import Cluster
from spotthebot.suite.postgres.provision import Provisioned, logins, provision
from tests.factories.house import DatabaseUrls

LINEAGES = [ACCESS, *(service.lineage for service in SERVICES if service.lineage)]


@pytest.fixture
def empty(cluster: Cluster) -> Iterator[Provisioned]:
    """A database with schemas and roles, and nothing in them."""
    name = f"empty_{secrets.token_hex(4)}"
    services = [service.name for service in SERVICES]
    yield provision(cluster.admin_url, name, services, {login: secrets.token_hex(8) for login in logins(services)})
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("lineage", LINEAGES, ids=lambda lineage: lineage.schema)
def test_tables_and_revisions_agree(lineage: Lineage, database_urls: DatabaseUrls):
    check_drift(lineage, database_urls.owner[lineage.schema])


def test_four_migrators_at_once_all_succeed(empty: Provisioned):
    url = empty.owner_urls["conversations"]
    environment = {"SPOTTHEBOT_CONVERSATIONS_DATABASE_URL": url, "PATH": ""}
    command = [sys.executable, "-m", "spotthebot.conversations", "migrate"]
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    told = [(each.communicate()[1], each.returncode) for each in started]
    assert [code for _, code in told] == [0] * 4, told


async def test_a_schema_without_tables_is_at_no_revision(empty: Provisioned):
    database = Database(empty.app_urls["bots"], pool_size=1)
    async with database.read() as session:
        assert await current_revision(session, "bots") is None
    await database.close()


def test_a_service_is_denied_its_neighbours_tables(database_urls: DatabaseUrls):
    with (
        psycopg.connect(database_urls.app["analytics"]) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("SELECT * FROM conversations.conversations")


def test_a_service_reads_keys_and_cannot_make_them(database_urls: DatabaseUrls):
    with psycopg.connect(database_urls.app["bots"]) as connection:
        assert connection.execute("SELECT count(*) FROM access.api_keys").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM access.api_keys")
