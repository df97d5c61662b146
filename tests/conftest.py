"""Fixtures for all tests: an embedded PostgreSQL, a migrated database for each test, running services on top of it."""

import contextlib
import functools
import gc
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

_FACTORIES = Path(__file__).with_name("factories").glob("*.py")
pytest.register_assert_rewrite(*(f"tests.factories.{file.stem}" for file in _FACTORIES))  # before they are imported

from httpx._transports import default as http_transports
from hypothesis import HealthCheck, settings
from playwright.async_api import Browser

from spotthebot.kit.processes import forks
from spotthebot.kit.telemetry.logs import configure_logs
from spotthebot.local.postgres.provision import ACCESS, Provisioned
from tests.factories import processes
from tests.factories.browsing import running_browser
from tests.factories.databases import Databases, DatabaseUrls, PostgresServer, migrated_template, running_server
from tests.factories.running_suite import Keys, RunningSuite, SharedSuites, run_suite

pytest_plugins = ["tests.factories.forked_workers"]
_SERVER = pytest.StashKey[PostgresServer]()
_RUNNING = pytest.StashKey[contextlib.ExitStack]()
_SHARED = pytest.StashKey[SharedSuites]()
_WAITING = (
    "/e2e/",
    "/faults/",
    "/local/postgres/",
    "/kit/processes/",
    "test_lost_jobs",
    "test_real_peers",
    "test_steering",
)
_LONGEST = (
    "test_forked_workers",
    "test_fuzz",
    "test_hosting",
    "test_killed_processes",
    "test_no_leaks",
    "test_real_peers",
    "test_steering",
    "test_stb",
)
_MODELS = "spotthebot.inference.models.likelihood.batch_model"  # with torch and transformers
_LAST_WAITING = 0.8  # of the files: the last ones compute
_GARBAGE_THRESHOLDS = (100_000, 50, 50)
configure_logs("tests", "ERROR")  # else structlog draws tracebacks with all variables, which takes seconds
gc.disable()  # while test files are imported: what they import stays
# One for all clients: to read the certificates takes longer than most requests.
http_transports.create_ssl_context = functools.cache(httpx.create_ssl_context)  # type: ignore[attr-defined] # private
# The program that forks models stays from one file with models to the next: it has imported torch, which takes seconds.
forks._UNUSED_SECONDS = 3600.0
processes.IMPORTED_ONCE = True  # a service's modules take a second of processor in each of its processes
# How long an example takes, or its making, is the machine's affair: it may be busy.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")
# Test workers share the processors: threads of BLAS and torch would wait for each other, and compute meanwhile.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_before_fork(session: pytest.Session) -> None:
    """Import what many tests import while they run, and start the one server of all, unless no test needs any."""
    if find_spec("torch"):
        import_module(_MODELS)
    if any("cluster" in getattr(item, "fixturenames", ()) for item in session.items):
        session.config.stash[_RUNNING] = contextlib.ExitStack()
        session.config.stash[_SERVER] = session.config.stash[_RUNNING].enter_context(running_server())


def pytest_collection_finish() -> None:
    """Leave all that was imported out of later searches for garbage, which are rare: tests leave little behind."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUNNING in config.stash:
        config.stash[_RUNNING].close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files whose tests wait for other processes among those that compute, and begin with the longest.

    So test workers keep the processors busy all the time, and none runs alone at the end.
    """
    files = sorted(dict.fromkeys(item.path for item in items), key=lambda file: file.stem not in _LONGEST)
    waiting = [file for file in files if file.stem != "test_fuzz" and any(each in str(file) for each in _WAITING)]
    computing = [file for file in files if file not in waiting]
    place = {file: number / len(computing) for number, file in enumerate(computing)}
    place |= {file: _LAST_WAITING * number / len(waiting) for number, file in enumerate(waiting)}
    items.sort(key=lambda item: place[item.path])


@pytest.fixture(autouse=True)
def own_logs() -> Iterator[None]:
    """Give the root logger and the fields of all lines back as they were: a test may configure the logs of a service.

    A handler writes to a stream that ends with its test.
    """
    root = logging.getLogger()
    handlers, level, fields = root.handlers[:], root.level, structlog.contextvars.get_contextvars()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**fields)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """The PostgreSQL of all test workers."""
    if _SERVER in request.config.stash:
        yield request.config.stash[_SERVER]
        return
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def template(cluster: PostgresServer) -> Provisioned:
    """A database with every schema at its head, to be cloned."""
    return migrated_template(cluster)


@pytest.fixture(scope="session")
def databases(cluster: PostgresServer, template: Provisioned) -> Iterator[Databases]:
    """Lends migrated databases without rows."""
    with closing(Databases(cluster, template)) as lending:
        yield lending


@pytest.fixture(scope="session")
def shared_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database for tests that roll back what they write."""
    with databases.lend() as urls:
        yield urls


@pytest.fixture
def database_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database of this test's own."""
    with databases.lend() as urls:
        yield urls


@pytest.fixture
async def keys(database_urls: DatabaseUrls) -> AsyncIterator[Keys]:
    """Makes API keys in this test's database."""
    async with Keys(database_urls.owner[ACCESS]) as made:
        yield made


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services that a file's tests need, where they don't need all: a file or folder overrides it."""
    return ()


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    """Settings that a file's tests need, by service: a file overrides it."""
    return {}


@pytest.fixture(scope="session")
async def shared_suites(databases: Databases, request: pytest.FixtureRequest) -> AsyncIterator[SharedSuites]:
    """Keeps services running from one file to the next."""
    suites = request.config.stash[_SHARED] = SharedSuites(databases)
    yield suites
    await suites.stop()


@pytest.fixture(scope="module")
async def no_services(request: pytest.FixtureRequest) -> None:
    """Stop those of the file before, for tests that change what services in this process use, or count tasks."""
    if _SHARED in request.config.stash:
        await request.config.stash[_SHARED].stop()


@pytest.fixture(scope="module")
async def module_suite(
    shared_suites: SharedSuites, services_of: tuple[str, ...], settings_of: dict[str, dict[str, Any]]
) -> AsyncIterator[RunningSuite]:
    """Services and workers that run as long as the tests of a file do, at least."""
    yield await shared_suites.start(services_of, settings_of)
    await shared_suites.clean()


@pytest.fixture
async def suite(module_suite: RunningSuite, shared_suites: SharedSuites) -> AsyncIterator[RunningSuite]:
    """The file's running services, without a row of the test before."""
    yield module_suite
    await shared_suites.empty(module_suite)


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser of this process."""
    async with running_browser() as browser:
        yield browser


@pytest.fixture
async def fresh_suite(database_urls: DatabaseUrls, services_of: tuple[str, ...]) -> AsyncIterator[RunningSuite]:
    """Services and workers of this test alone, for those that stop them, count connections or read their memory."""
    async with run_suite(database_urls, only=services_of) as running:
        yield running
