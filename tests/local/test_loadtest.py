"""A load test: everybody works, and what they are answered is measured."""

import json
import mmap
import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import httpx
import pytest
import respx

from spotthebot.cli.commands import loadtest as command
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.loadtest.actors import Actors
from spotthebot.local.loadtest.made_data import open_campaign, prepare
from spotthebot.local.loadtest.plan import BOUNDS_MS, LoadPlan
from spotthebot.local.loadtest.record import LOAD, Record, RequestFailed, mebibytes_of, percentile
from spotthebot.local.loadtest.result import LoadResult, Memory, Requests
from spotthebot.local.loadtest.run import clients_of, load
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from tests.factories.command_line import run_stb
from tests.factories.running_suite import RunningSuite

PASSED = LoadResult(
    LoadPlan(60),
    (Requests("submit a package", 9, 20.0, 999.0, 1500.0),),
    (Memory("bots", 60, 61, ((0.0, 60.0), (1.0, 61.0))),),
    {"bots": 12.4, LOAD: 3.6},
    {},
    90,
    30,
    0,
)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


PLAN = LoadPlan(
    0.5,
    annotators=2,
    bots=2,
    chats=1,
    dashboards=1,
    warm_up_seconds=0.1,
    answer_seconds=0.02,
    turn_seconds=0.02,
    look_seconds=0.02,
    collection_seconds=0.1,
)


class TestLoad:
    async def test_is_of_every_kind_and_loses_no_label(self, suite: RunningSuite):
        keys = [await suite.keys.make(role) for role in ("admin", "annotation")]
        with showing_progress() as steps:
            result = await load(suite.urls, keys[0], keys[1], PLAN, steps, pids={"ourselves": os.getpid()})
        assert result.faults == {}
        assert all(0 < each.p50 <= each.p99 <= each.longest for each in result.requests)
        (memory,) = result.memory
        assert memory.name == "ourselves"
        assert [memory.samples[at][1] for at in (0, -1)] == pytest.approx([memory.first, memory.last], abs=0.05)
        assert set(result.processor) == {"ourselves", LOAD}
        assert result.processor["ourselves"] == pytest.approx(result.processor[LOAD], rel=0.5)  # the same process

    async def test_goes_on_with_the_next_campaign_when_one_has_no_more_packages(self, suite: RunningSuite):
        keys = [await suite.keys.make(role) for role in ("admin", "annotation")]
        record, chance = Record(), Random(1)
        async with (
            Clients(suite.urls, admin_key=keys[0], frontend_key=keys[1]) as clients,
            clients_of(suite.urls, admin=keys[0], frontend=keys[1]) as http,
        ):
            with showing_progress() as steps:
                data = await prepare(clients, PLAN, "study", steps)
            opening = partial(open_campaign, clients, PLAN, "study", data.collection)
            actors = Actors(PLAN, data, record, http, opening)
            for work in (actors.chat, actors.collect, actors.read_dashboard):
                await work("somebody", 1, chance)
            turn = 0
            while len(actors.campaigns) == 1:
                turn += 1
                await actors.annotate("somebody", turn, chance)
            await actors.annotate("somebody", turn + 1, chance)
            annotations = [(await clients.annotation.get_campaign(each)).annotations for each in actors.campaigns]
        assert record.faults == {}
        assert set(record.milliseconds) == set(BOUNDS_MS)
        assert annotations[0] == 9  # one conversation of two bots, three lengths, three annotations of each
        assert actors.labels == sum(annotations) > annotations[0]
        assert actors.turns == 20  # two bots talk to themselves in five exchanges


class TestRecord:
    @respx.mock(base_url="http://service")
    async def test_counts_answers_that_are_errors_and_requests_that_break_off(self, respx_mock: respx.MockRouter):
        problem = {"Content-Type": "application/problem+json"}
        respx_mock.get("/a").mock(return_value=httpx.Response(503))
        respx_mock.get("/b").mock(side_effect=httpx.ReadTimeout("late"))
        respx_mock.get("/c").mock(return_value=httpx.Response(409, json={"type": "urn:x:gone"}, headers=problem))
        record = Record()
        async with httpx.AsyncClient(base_url="http://service") as client:
            for path in ("/a", "/a", "/b", "/c"):
                with pytest.raises(RequestFailed):
                    await record.send(client, "figure", "GET", path)
            assert (await record.send(client, "figure", "GET", "/c", refusals=[409])).status_code == 409
        assert record.faults == {
            "figure: 503 Service Unavailable": 2,
            "figure: ReadTimeout": 1,
            "figure: 409 gone": 1,
        }
        assert len(record.milliseconds["figure"]) == 4  # all that were answered

    def test_keeps_few_kinds_of_faults_however_many_there_are(self):
        record = Record()
        for number in range(1000):
            record.fault(f"fault {number}")
        assert (len(record.faults), record.faults["others"]) == (21, 980)

    def test_has_percentiles_that_are_values(self):
        assert [percentile([5.0, 1.0, 3.0, 4.0, 2.0], share) for share in (0.0, 0.2, 0.5, 0.99, 1.0)] == [1, 1, 3, 5, 5]


class TestMemory:
    def test_is_that_of_a_process_and_its_children(self):
        assert mebibytes_of({"gone": 2**22 + 1}) == {"gone": 0.0}

    def test_leaves_out_shared_memory_whose_size_is_set_and_counts_what_a_process_made(self):
        """PostgreSQL fills its buffers for as long as it runs: what one process had touched so far counted as grown."""
        ours, filling = {"ours": os.getpid()}, b"x" * 4096 * 8192
        before = mebibytes_of(ours)["ours"]
        with mmap.mmap(-1, len(filling)) as shared:
            shared.write(filling)
            assert abs(mebibytes_of(ours)["ours"] - before) < 16
        made = bytearray(filling)
        assert 16 < mebibytes_of(ours)["ours"] - before < 48
        assert len(made) == len(filling)


class TestFailures:
    def test_are_all_that_did_not_hold(self):
        failed = replace(
            PASSED,
            requests=(Requests("submit a package", 9, 20.0, 1001.0, 1500.0),),
            faults={"figure: 503 Service Unavailable": 2},
            restarts=1,
        )
        assert PASSED.failures == []
        assert failed.failures == [
            "2 times: figure: 503 Service Unavailable",
            "1 processes died or hung",
            "submit a package: p99 1001 ms, and 1000 are allowed",
        ]

    @pytest.mark.parametrize(("result", "code"), [(PASSED, 0), (replace(PASSED, restarts=1), 1)])
    def test_are_the_exit_code(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: LoadResult, code: int):
        async def run_load(*_: object) -> LoadResult:
            return result

        monkeypatch.setattr(command, "run_load", run_load)
        monkeypatch.setattr(command, "bootstrap", lambda _folder: showing_progress())
        printed = run_stb("loadtest", "--data-dir", tmp_path / "data", "--json", tmp_path / "result.json")
        assert printed.returncode == code, printed.stderr
        assert json.loads((tmp_path / "result.json").read_text())["failures"] == result.failures
        assert "90 labels, 30 turns of bots" in printed.stdout
        assert re.search(r"bots +│ +12 │ +60 │ +61 │", printed.stdout)
        assert re.search(r"the load itself │ +4 │", printed.stdout)
