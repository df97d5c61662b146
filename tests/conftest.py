"""Fixtures for all tests: an embedded PostgreSQL, a migrated database for each test, running services on top of it."""

import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest

from spotthebot.kit.logs import configure_logs
from spotthebot.suite.postgres.provision import ACCESS, Provisioned
from tests.factories.databases import Databases, DatabaseUrls, PostgresServer, migrated_template, running_server
from tests.factories.running_suite import Keys, RunningSuite, run_suite

_SERVER = pytest.StashKey[PostgresServer]()
_RUNNING = pytest.StashKey[contextlib.ExitStack]()
configure_logs("tests", "ERROR")  # else structlog draws tracebacks with all variables, which takes seconds


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Give each test worker the one server, which the first of them starts in the process above them all."""
    config = node.config
    if _SERVER not in config.stash:
        config.stash[_RUNNING] = contextlib.ExitStack()
        config.stash[_SERVER] = config.stash[_RUNNING].enter_context(running_server())
    server = config.stash[_SERVER]
    node.workerinput["postgres"] = (server.admin_url, server.secret)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUNNING in config.stash:
        config.stash[_RUNNING].close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that it does not run alone at the end."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """The PostgreSQL of all test workers."""
    workerinput = getattr(request.config, "workerinput", None)
    if workerinput is not None:
        yield PostgresServer(*workerinput["postgres"])
        return
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def template(cluster: PostgresServer) -> Provisioned:
    """A database with every schema at its head, to be cloned."""
    return migrated_template(cluster)


@pytest.fixture(scope="session")
def databases(cluster: PostgresServer, template: Provisioned) -> Databases:
    """Lends migrated databases without rows."""
    return Databases(cluster, template)


@pytest.fixture
def database_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database of this test's own."""
    with databases.lend() as urls:
        yield urls


@pytest.fixture
def keys(database_urls: DatabaseUrls) -> Keys:
    """Makes API keys in this test's database."""
    return Keys(database_urls.owner[ACCESS])


@pytest.fixture
async def suite(database_urls: DatabaseUrls) -> AsyncIterator[RunningSuite]:
    """All services and workers, running."""
    async with run_suite(database_urls) as running:
        yield running
