"""A suite is upgraded to a release with more revisions while conversations and labels keep coming: nothing is lost."""

import asyncio
import contextlib
import json
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet

from spotthebot.contracts.services import SCHEMAS
from spotthebot.kit.migrations.lineage import Lineage, read_state, upgrade
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service.process import migrate_access
from spotthebot.local.postgres.provision import Provisioned, logins, provision
from spotthebot.local.runtime.services import load_lineage
from tests.e2e import old_services
from tests.factories.annotating import DECISION, WHOLE
from tests.factories.databases import DatabaseUrls, PostgresServer
from tests.factories.lineages import lineage_with
from tests.factories.running_suite import run_suite

GROWING = {"bots": "bots", "conversations": "turns", "annotation": "annotations"}
"""The services that are upgraded, and a table of each."""
ANNOTATORS, EXCHANGES = 2, 2
LONGEST_SECONDS = 300


@pytest.fixture
def urls(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database with schemas and roles, and nothing in them."""
    name = f"upgraded_{secrets.token_hex(4)}"
    yield provision(cluster.admin_url, name, SCHEMAS, {login: secrets.token_hex(8) for login in logins(SCHEMAS)})
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Upstream:
    """Where requests go, as a reverse proxy knows it; what fails is asked again, as every client of ours does."""

    def __init__(self, addresses: dict[str, str], key: str) -> None:
        self.addresses = addresses
        self.mended: Counter[str] = Counter()
        self._key = key
        self._http = httpx.AsyncClient(timeout=30, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, service: str, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._key}", "Idempotency-Key": uuid4().hex}
        deadline = time.monotonic() + LONGEST_SECONDS / 3
        while True:
            try:
                answer = await self._http.request(
                    method, f"{self.addresses[service]}{path}", json=body, headers=headers
                )
            except httpx.TransportError as error:
                trouble = type(error).__name__
            else:
                if answer.status_code < 500:
                    return answer
                trouble = str(answer.status_code)
            assert time.monotonic() < deadline, f"{method} {path}: {trouble}, again and again"
            self.mended[trouble] += 1
            await asyncio.sleep(0.1)

    async def made(self, service: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await self.ask(service, "POST", path, body)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def found(self, service: str, path: str) -> dict[str, Any]:
        answer = await self.ask(service, "GET", path)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


class Work:
    """Annotators who label packages, and collections of conversations, one after the other, until the block ends."""

    def __init__(self, operator: Upstream, frontend: Upstream) -> None:
        self._operator, self._frontend = operator, frontend
        self.labels: set[tuple[str, int]] = set()
        """Annotator and item of each label that was acknowledged."""
        self.collections: list[str] = []
        self._stops = False

    async def prepare(self) -> None:
        """Register two bots, and open a campaign over what they say."""
        self._bots = [
            (await self._operator.made("bots", "/v1/bots", _bot(model)))["id"] for model in ("eliza", "parrot")
        ]
        first = await self._collect("all_play_all", conversations_per_pair=6)
        request = {"name": "labels", "domain": "everyday", "collection_id": first, "segments": [1, 2]}
        sizes = {"package_size": 2, "annotations_per_segment": 50}
        self._campaign = (await self._operator.made("annotation", "/v1/campaigns", request | sizes))["id"]
        while (await self._operator.found("annotation", f"/v1/campaigns/{self._campaign}"))["state"] != "open":
            await asyncio.sleep(0.05)

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Keep labels and conversations coming while the block lasts; all that began ends."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._converse())
            for _ in range(ANNOTATORS):
                group.create_task(self._label())
            try:
                yield
            finally:
                self._stops = True

    async def go_on(self) -> None:
        """Wait for more of both."""
        labels, collections = len(self.labels) + 2, len(self.collections) + 1
        deadline = time.monotonic() + LONGEST_SECONDS
        while len(self.labels) < labels or len(self.collections) < collections:
            assert time.monotonic() < deadline, self._operator.mended + self._frontend.mended
            await asyncio.sleep(0.02)

    async def _converse(self) -> None:
        while not self._stops:
            self.collections.append(await self._collect("self_play", conversations_per_pair=1))

    async def _collect(self, mode: str, **more: Any) -> str:
        request = {"mode": mode, "name": uuid4().hex, "domain": "everyday", "bots": self._bots, "exchanges": EXCHANGES}
        collection = await self._operator.made("conversations", "/v1/collections", request | {"seed": 1} | more)
        path = f"/v1/collections/{collection['id']}"
        while collection["state"] != "complete":
            await asyncio.sleep(0.05)
            collection = await self._operator.found("conversations", path)
        assert collection["failed"] == 0
        assert collection["turns"] == 2 * EXCHANGES * collection["conversations"]
        return str(collection["id"])

    async def _label(self) -> None:
        while not self._stops:
            annotator = uuid4().hex
            path = f"/v1/campaigns/{self._campaign}/assignments"
            assignment = await self._frontend.made("annotation", path, {"annotator": annotator})
            path = f"/v1/assignments/{assignment['id']}"
            for item in assignment["items"]:
                for answer in ({"answer": DECISION, "show_step": 2}, {"answer": WHOLE}):
                    saved = await self._frontend.ask("annotation", "PUT", f"{path}/items/{item['position']}", answer)
                    assert saved.status_code == 200, saved.text
            await self._frontend.made("annotation", f"{path}/submit", {})
            self.labels |= {(annotator, item["position"]) for item in assignment["items"]}


def _bot(model: str) -> dict[str, Any]:
    return {"name": model, "domains": ["everyday"], "protocol": {"kind": "builtin", "model": model}}


@dataclass(frozen=True)
class Release:
    """A release by the revisions of its services."""

    lineages: dict[str, Lineage]

    def migrate(self, urls: Provisioned) -> None:
        """Migrate as the job before a rollout does."""
        migrate_access(urls.owner_urls["access"])
        for name, lineage in self.lineages.items():
            upgrade(lineage, urls.owner_urls[name])

    def heads(self) -> dict[str, str | None]:
        return {name: lineage.head for name, lineage in self.lineages.items()}


def two_releases(folder: Path) -> tuple[Release, Release]:
    """Return two releases: the second adds a column to a table of each service, and removes one that the first made."""
    first, second = {}, {}
    for name, table in GROWING.items():
        changed = f"ALTER TABLE {name}.{table}"
        first[name] = lineage_with(
            load_lineage(name),
            folder / "first" / name,
            "pre_colours",
            pre_colours=f"op.execute(\"{changed} ADD COLUMN colour text DEFAULT 'red' NOT NULL\")",
        )
        second[name] = lineage_with(
            first[name],
            folder / "second" / name,
            "pre_shades",
            "post_colours",
            pre_shades=f"op.execute(\"{changed} ADD COLUMN shade text DEFAULT 'dark' NOT NULL\")",
            post_colours=f"op.execute('{changed} DROP COLUMN colour')",
            post_colours_works_with=f"OLDEST_HEAD = {first[name].head!r}",
        )
    return Release(first), Release(second)


@contextlib.contextmanager
def running(given: dict[str, Any]) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run the services of a release in a process of its own; yield the process and API keys by role."""
    process = subprocess.Popen(
        [sys.executable, Path(old_services.__file__), json.dumps(given)],
        pass_fds=tuple(given["sockets"].values()),
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def revisions_of(urls: Provisioned) -> dict[str, str | None]:
    return {name: read_state(name, urls.owner_urls[name]).revision for name in GROWING}


def columns_of(urls: Provisioned) -> dict[str, set[str]]:
    """Return which of the added columns the tables have."""
    found = {}
    for name, table in GROWING.items():
        with psycopg.connect(urls.owner_urls[name]) as connection:
            rows = connection.execute(_COLUMNS, [name, table]).fetchall()
        found[name] = {column for (column,) in rows} & {"colour", "shade"}
    return found


async def are_ready(addresses: dict[str, str]) -> bool:
    async with httpx.AsyncClient(trust_env=False) as client:
        answers = [await client.get(f"{address}/readyz") for address in addresses.values()]
    return all(each.status_code == 200 for each in answers)


_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
_LABELS = """
    SELECT people.external_id, items.position FROM annotation.annotations
    JOIN annotation.annotators AS people ON people.id = annotations.annotator_id
    JOIN annotation.items ON items.id = annotations.item_id
"""


class TestUpgrade:
    async def test_to_the_next_release_under_load_loses_nothing(
        self, urls: Provisioned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """The first release works on what the migrations made until the second has taken its place."""
        first, second = two_releases(tmp_path)
        secrets_key = Fernet.generate_key().decode()
        own = {"secrets_key": secrets_key, "database_pool_size": 3, "quality_checks_at_once": 0}
        async with contextlib.AsyncExitStack() as stack:
            sockets = {name: stack.enter_context(contextlib.closing(bind("127.0.0.1", 0))) for name in GROWING}
            addresses = {name: f"http://127.0.0.1:{each.getsockname()[1]}" for name, each in sockets.items()}
            peers = {f"{name}_url": address for name, address in addresses.items()}
            given = {
                "settings": {name: own | peers | {"database_url": urls.app_urls[name]} for name in GROWING},
                "revisions": {name: str(lineage.revisions) for name, lineage in first.lineages.items()},
                "sockets": {name: each.fileno() for name, each in sockets.items()},
                "owners": dict(urls.owner_urls),
            }
            old, keys = stack.enter_context(running(given))
            assert (revisions_of(urls), columns_of(urls)) == (first.heads(), {name: {"colour"} for name in GROWING})
            operator = await stack.enter_async_context(Upstream(addresses, keys["admin"]))
            frontend = await stack.enter_async_context(Upstream(addresses, keys["annotation"]))
            work = Work(operator, frontend)
            await work.prepare()
            async with work.under_way():
                await work.go_on()
                await asyncio.to_thread(second.migrate, urls)
                assert (revisions_of(urls), columns_of(urls)) == (second.heads(), {name: {"shade"} for name in GROWING})
                assert await are_ready(addresses)
                await work.go_on()
                for name, lineage in second.lineages.items():
                    monkeypatch.setattr(f"spotthebot.{name}.app.LINEAGE", lineage)
                new = await stack.enter_async_context(
                    run_suite(
                        DatabaseUrls(urls.owner_urls, urls.app_urls),
                        only=[*GROWING],
                        **{name: {"secrets_key": secrets_key} for name in GROWING},
                    )
                )
                assert await are_ready(new.urls)
                addresses.update(new.urls)
                old.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(old.wait, LONGEST_SECONDS) == 0
                await work.go_on()
        with psycopg.connect(urls.owner_urls["annotation"]) as connection:
            assert {*connection.execute(_LABELS)} == work.labels
