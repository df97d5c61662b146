"""A service is not ready while a disk that it needs is full; who asks often costs nothing more."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import psycopg
import pytest

from spotthebot.analytics.app import SERVICE
from spotthebot.analytics.tables import LINEAGE
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service.process import migrate_access
from spotthebot.kit.web.core import requests
from spotthebot.kit.web.core.disk import free_mebibytes
from spotthebot.kit.web.database import readiness
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import logins, provision
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import served

needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")


@asynccontextmanager
async def service(url: str, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = SERVICE.create_app(SERVICE.settings(database_url=url, **settings))
    async with (
        served(app, bind("127.0.0.1", 0)) as address,
        httpx.AsyncClient(base_url=address, trust_env=False) as client,
    ):
        yield client


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 250 MB."""
    folder = Path(tempfile.mkdtemp(prefix="stb-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=250m,mode=755", "none", folder],  # noqa: S607
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)  # noqa: S607
    shutil.rmtree(folder, ignore_errors=True)


class TestDisksOfTheService:
    async def test_with_too_little_room_make_it_unready_and_leave_it_healthy(self, database_urls: DatabaseUrls):
        async with service(database_urls.app["analytics"], min_free_disk_mb=10**9) as client:
            answer = await client.get("/readyz")
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:spotthebot:problem:no-room-on-disk")
            assert (await client.get("/healthz")).status_code == 200

    async def test_log_what_is_asked_for_every_few_seconds_while_it_fails_alone(
        self, database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
    ):
        logged: list[tuple[str, int]] = []
        monkeypatch.setattr(requests, "log_request", lambda **line: logged.append((line["path"], line["status"])))
        async with service(database_urls.app["analytics"], min_free_disk_mb=10**9) as client:
            for path in ("/healthz", "/metrics", "/readyz", "/openapi.json"):
                await client.get(path)
        assert logged == [("/metrics", 401), ("/readyz", 503), ("/openapi.json", 200)]

    async def test_log_no_probe_whose_caller_left(self, monkeypatch: pytest.MonkeyPatch):
        logged: list[tuple[str, int]] = []
        monkeypatch.setattr(requests, "log_request", lambda **line: logged.append((line["path"], line["status"])))

        async def never(*_: Any) -> Any: ...

        metrics: Any = SimpleNamespace(observe=lambda *_: None)
        edge = requests.RequestContext(never, metrics=metrics, error_responses=metrics)
        for path in ("/readyz", "/v1/bots"):
            await edge({"type": "http", "path": path, "method": "GET", "headers": []}, never, never)
        assert logged == [("/v1/bots", 0)]

    async def test_with_room_leave_it_ready(self, database_urls: DatabaseUrls):
        async with service(database_urls.app["analytics"]) as client:
            assert (await client.get("/readyz")).status_code == 200

    @pytest.mark.parametrize(
        ("blocks", "files", "left", "mebibytes"),
        [(3 * 256, 9, 1, 3), (3 * 256 - 1, 9, 1, 2), (256, 9, 0, 0), (256, 0, 0, 1)],
        ids=["3 MiB", "nearly", "no file can be made", "files are not counted"],
    )
    def test_have_the_whole_mebibytes_that_are_left_to_others_than_root(
        self, monkeypatch: pytest.MonkeyPatch, blocks: int, files: int, left: int, mebibytes: int
    ):
        disk = SimpleNamespace(f_bavail=blocks, f_bfree=10**6, f_frsize=4096, f_files=files, f_favail=left)
        monkeypatch.setattr(os, "statvfs", lambda _folder: disk)
        assert free_mebibytes(Path("/")) == mebibytes

    @needs_mounts
    def test_are_full_when_nothing_can_be_written(self, small_disk: Path):
        assert 200 <= free_mebibytes(small_disk / "not" / "there" / "yet") <= 250
        with pytest.raises(OSError, match="No space"):
            (small_disk / "file").write_bytes(b"x" * 270_000_000)
        assert free_mebibytes(small_disk) == 0


class TestDiskOfTheDatabase:
    @needs_mounts
    async def test_makes_a_service_unready_while_it_is_full(self, small_disk: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(readiness, "_ROOM_SECONDS", 0.0)
        with Cluster(small_disk / "data", home=small_disk / "homes", durable=False) as cluster:
            made = provision(cluster.admin_url, "small", ["analytics"], dict.fromkeys(logins(["analytics"]), "x"))
            migrate_access(made.owner_urls["access"])
            upgrade(LINEAGE, made.owner_urls["analytics"])
            async with service(made.app_urls["analytics"]) as client:
                assert (await client.get("/readyz")).status_code == 200
                filling = small_disk / "filling"
                with pytest.raises(OSError, match="No space"), filling.open("wb", buffering=0) as file:
                    while True:
                        file.write(b"x" * 1_000_000)
                answer = await client.get("/readyz")
                assert (answer.status_code, answer.json()["type"]) == (503, "urn:spotthebot:problem:database-disk-full")
                filling.unlink()
                assert (await client.get("/readyz")).status_code == 200

    async def test_is_tried_seldom_however_often_somebody_asks(self, database_urls: DatabaseUrls):
        async with service(database_urls.app["analytics"]) as client:
            for _ in range(20):
                assert (await client.get("/readyz")).status_code == 200
        with psycopg.connect(database_urls.owner["analytics"], autocommit=True) as connection:
            connection.execute("SELECT pg_stat_clear_snapshot()")
            query = "SELECT temp_files FROM pg_stat_database WHERE datname = current_database()"
            for _ in range(50):  # statistics are written when a connection ends
                (files,) = connection.execute(query).fetchall()[0]
                if files:
                    break
                await asyncio.sleep(0.1)
        assert 0 < files < 20  # a sort of this size makes a few
