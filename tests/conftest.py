"""Fixtures for all tests: an embedded PostgreSQL, a migrated database for each test, the house on top of it."""

import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from spotthebot.kit.logs import configure_logs
from spotthebot.kit.migrations import upgrade
from spotthebot.kit.process import migrate_access
from spotthebot.suite.postgres.cluster import Cluster
from spotthebot.suite.postgres.provision import ACCESS, Provisioned, logins, provision
from tests.factories.running_suite import DatabaseUrls, Keys, RunningSuite, run_suite
from tests.factories.services import SERVICES

_TEMPLATE = "template_stb"
configure_logs("tests", "ERROR")  # else structlog draws tracebacks with all variables, which takes seconds


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that it does not run alone at the end."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """An embedded PostgreSQL that trades safety for speed."""
    parent = Path(tempfile.mkdtemp(prefix="stb-tests-"))
    parent.chmod(0o755)  # root's PostgreSQL runs as another account, which has to pass
    try:
        with Cluster(parent / "data", home=parent / "homes", durable=False) as running:
            yield running
    finally:
        shutil.rmtree(parent, ignore_errors=True)


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> Provisioned:
    """A database with every schema at its head, to be cloned."""
    names = [service.name for service in SERVICES]
    passwords = {login: secrets.token_hex(8) for login in logins(names)}
    urls = provision(cluster.admin_url, _TEMPLATE, names, passwords)
    migrate_access(urls.owner_urls[ACCESS])
    for service in SERVICES:
        if service.lineage is not None:
            upgrade(service.lineage, urls.owner_urls[service.name])
    return urls


@pytest.fixture
def database_urls(cluster: Cluster, template: Provisioned) -> Iterator[DatabaseUrls]:
    """A clone of the template for one test."""
    name = f"test_{secrets.token_hex(6)}"
    clone = sql.Identifier(name)
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(clone, sql.Identifier(_TEMPLATE)))
        yield DatabaseUrls(
            owner={schema: _in(name, url) for schema, url in template.owner_urls.items()},
            app={schema: _in(name, url) for schema, url in template.app_urls.items()},
        )
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(clone))


@pytest.fixture
def keys(database_urls: DatabaseUrls) -> Keys:
    """Makes API keys in this test's database."""
    return Keys(database_urls.owner[ACCESS])


@pytest.fixture
async def suite(database_urls: DatabaseUrls) -> AsyncIterator[RunningSuite]:
    """All services and workers, running."""
    async with run_suite(database_urls) as opened:
        yield opened


def _in(database: str, url: str) -> str:
    return make_url(url).set(database=database).render_as_string(hide_password=False)
