"""Answers that are made from attributes: what each field is, stated from rows, so that no secret leaks."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from spotthebot.contracts.bots.hosted_models import HostedModelOut, UploadedFileOut
from spotthebot.contracts.bots.probes import ProbeOut
from spotthebot.contracts.bots.registry import BotOut, BotVersionOut
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import created
from tests.factories.wire_values import assert_is, select

WRITTEN = {
    "name": "eliza",
    "description": "Asks back.",
    "domains": ["everyday", "travel"],
    "protocol": {"kind": "builtin", "model": "eliza"},
    "public": True,
}
CHANGES = """
    UPDATE bots.bot_versions SET sealed_secret = 'sealed', training_sha256 = 'aa', files_sha256 = 'bb',
        configuration_sha256 = 'cc';
    UPDATE bots.bots SET team = 'ours', status = 'failing', status_reason = 'It broke.',
        paused_until = now() + interval '1 hour', created_at = now() - interval '1 hour', next_probe_at = NULL;
"""


@pytest.fixture
async def hosting(database_urls: DatabaseUrls, tmp_path: Path) -> AsyncIterator[RunningSuite]:
    (folder := tmp_path / "models").mkdir()
    async with run_suite(database_urls, only={"bots"}, bots=bots_settings() | {"models_folder": folder}) as suite:
        yield suite


def rows(suite: RunningSuite, query: str) -> list[dict[str, Any]]:
    return select(suite.database.owner["bots"], query)


class TestBots:
    async def test_are_shown_with_their_versions_and_probes_and_without_a_secret(self, hosting: RunningSuite):
        admin = await hosting.client("bots", "admin")
        path = f"/v1/bots/{(await created(admin, '/v1/bots', WRITTEN))['id']}"
        with psycopg.connect(hosting.database.owner["bots"]) as connection:
            connection.execute(CHANGES)
        (bot,) = rows(
            hosting,
            "SELECT id, name, team, description, domains, limits, public, status, status_reason, paused_until, version,"
            " probe, created_at FROM bots.bots",
        )
        version = {"has_secret": True, "configuration_sha256": "cc", "protocol": WRITTEN["protocol"]}
        assert_is(BotOut, (found := (await admin.get(path)).json()), bot | version)
        assert (found["team"], found["status_reason"], found["version"]) == ("ours", "It broke.", 1)
        (row,) = rows(hosting, "SELECT number, training_sha256, files_sha256, created_at FROM bots.bot_versions")
        (found,) = (await admin.get(f"{path}/versions")).json()["items"]
        assert_is(BotVersionOut, found, row | version)
        probes = rows(hosting, "SELECT id, bot_id, version, trigger, started_at, report FROM bots.probes ORDER BY id")
        assert_is(ProbeOut, (await admin.get(f"{path}/probes")).json()["items"][0], probes[0])


class TestHostedModels:
    async def test_are_shown_with_their_files(self, hosting: RunningSuite):
        admin = await hosting.client("bots", "admin")
        written = {
            "name": "mine",
            "backend": "worker",
            "max_batch_size": 7,
            "max_queue_delay_ms": 3.5,
            "device": "cpu",
            "dtype": "float32",
        }
        await created(admin, "/v1/hosted-models", written)
        file = (await admin.put("/v1/hosted-models/mine/files/config.json", content=b"{}")).json()
        stated = {"name": "config.json", "bytes": 2, "sha256": hashlib.sha256(b"{}").hexdigest()}
        assert_is(UploadedFileOut, file, stated)
        (row,) = rows(hosting, "SELECT id, files_sha256, created_at FROM bots.hosted_models")
        more = {"directory": None, "files": [stated], "state": "unloaded", "statistics": None}
        assert_is(HostedModelOut, (await admin.get("/v1/hosted-models/mine")).json(), written | row | more)
