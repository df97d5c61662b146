"""`/v1/analyses`: analyses that take minutes run as step jobs, can be cancelled and continue after a kill."""

import asyncio
import contextlib
import csv
import io
import json
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from spotthebot.analytics.analyses import store as analyses_store
from spotthebot.analytics.analyses import use_cases as analyses
from spotthebot.analytics.analyses.domain.analyses import AnalysisJob
from spotthebot.analytics.analyses.tables import STEP_JOBS
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.stats.pair_power import Design
from spotthebot.analytics.stats.sample_size import plan_annotators, plan_conversations
from spotthebot.clients import AsyncAnalytics, AsyncAnnotation, AsyncConversations
from spotthebot.contracts.analytics.analyses import AnalysisState, StabilityIn
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from spotthebot.kit.step_jobs.lifecycle import StepJob, StepJobState
from spotthebot.kit.step_jobs.runner import PreparedWork
from spotthebot.kit.step_jobs.store import StepJobStore
from tests.factories.campaigns import import_campaign, imported_annotation
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

BOTS = ("X", "Y", "Z")
PAIRS = [(a, b) for at, a in enumerate(BOTS) for b in BOTS[at + 1 :]]


async def _study(suite: RunningSuite, per_pair: int = 4, annotated: bool = True, seed: int = 0) -> str:
    """Import `per_pair` conversations of each pair; the first bot of a pair always wins."""
    keys = [(f"{a}{b}{i}", a, b) for a, b in PAIRS for i in range(per_pair)]
    collection = await import_conversations(suite, [conversation(*key) for key in keys])
    rows = [imported_annotation(key, conversation=key) for key, *_ in keys] if annotated else []
    path = await import_campaign(suite, collection, {"p": [(key, 1) for key, *_ in keys]}, rows, seed=seed)
    return path.rpartition("/")[2]


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests analyse one campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite) -> str:
    return await _study(suite)


async def _start(suite: RunningSuite, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    analyst = await suite.client("analytics", "analyst")
    answer = await analyst.post("/v1/analyses", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    started: dict[str, Any] = answer.json()
    return started


async def _run(suite: RunningSuite, body: dict[str, Any], state: str = "complete") -> dict[str, Any]:
    analyst = await suite.client("analytics", "analyst")
    started = await _start(suite, body)
    return await until(analyst, f"/v1/analyses/{started['id']}", state)


class TestManyJobs:
    async def test_are_limited_by_key_and_let_a_small_one_of_another_key_pass(self, suite: RunningSuite, campaign: str):
        flooding, honest = await suite.client("analytics", "admin"), await suite.client("analytics", "analyst")
        large = {"kind": "stability", "campaign_id": campaign, "subsets": 10_000, "resamples": 10_000}
        answers = [await flooding.post("/v1/analyses", json=large | {"seed": seed}) for seed in range(22)]
        assert [each.status_code for each in answers] == [202] * 20 + [429] * 2
        assert answers[-1].json()["type"].endswith("too-many-jobs")
        assert int(answers[-1].headers["Retry-After"]) > 0
        small = {"kind": "stability", "campaign_id": campaign, "subsets": 2, "resamples": 10, "seed": 1}
        started = await honest.post("/v1/analyses", json=small)
        await until(honest, f"/v1/analyses/{started.json()['id']}", "complete", 60)
        states = [(await flooding.get(f"/v1/analyses/{each.json()['id']}")).json()["state"] for each in answers[:20]]
        assert states.count("queued") == 19
        for each in answers[:20]:
            cancelled = await flooding.post(f"/v1/analyses/{each.json()['id']}/cancel")
            assert cancelled.status_code == 200


class TestCallersThatLeave:
    async def test_have_nothing_computed_for_them(self, suite: RunningSuite):
        """Sixty connections that are closed after a moment, as an impatient or hostile program does it."""
        campaign = await _study(suite, per_pair=20)
        leaving, staying = await suite.client("analytics", "admin"), await suite.client("analytics", "analyst")

        async def leave(seed: int) -> None:
            with contextlib.suppress(httpx.TimeoutException):
                path = f"/v1/campaigns/{campaign}/analysis?resamples=100000&seed={seed}"
                await leaving.get(path, timeout=httpx.Timeout(60, read=0.5))

        await asyncio.gather(*(leave(seed) for seed in range(60)))
        answer = await staying.get(f"/v1/campaigns/{campaign}/ranking?seed=1000", timeout=60)
        assert answer.status_code == 200
        url = suite.database.owner["analytics"]
        async with await psycopg.AsyncConnection.connect(url) as connection:
            found = await connection.execute("SELECT count(*) FROM analytics.results WHERE subject_id = %s", [campaign])
            ((count,),) = await found.fetchall()
        assert count <= 1 + 5  # the ranking, and what a thread had begun before its caller left


class TestStability:
    async def test_runs_size_by_size_and_can_be_drawn_afterwards(self, suite: RunningSuite, campaign: str):
        found = await _run(
            suite, {"kind": "stability", "campaign_id": campaign, "subsets": 20, "resamples": 50, "seed": 3}
        )
        # Sizes 3 and 4, of all bots and without each of three.
        assert (found["done"], found["steps"]) == (8, 8)
        whole, *partly = found["stability"]["curves"]
        assert [point["conversations"] for point in whole["points"]] == [3, 4]
        assert whole["points"][1]["clusters"] == [["X"], ["Y"], ["Z"]]
        assert [curve["without"] for curve in partly] == ["X", "Y", "Z"]
        assert found["counts"]["annotations"] == 12
        analyst = await suite.client("analytics", "analyst")
        drawn = await analyst.get(f"/v1/campaigns/{campaign}/figures/stability.svg")
        assert (drawn.status_code, drawn.content[:4]) == (200, b"<svg")
        table = await analyst.get(f"/v1/analyses/{found['id']}", headers={"Accept": "text/csv"})
        rows = csv.DictReader(io.StringIO(table.text, newline=""))
        shown = [(row["without"], int(row["conversations"]), float(row["rate"]), row["clusters"]) for row in rows]
        points = [(curve, point) for curve in found["stability"]["curves"] for point in curve["points"]]
        assert shown == [
            (curve["without"] or "", point["conversations"], point["rate"], json.dumps(point["clusters"]))
            for curve, point in points
        ]

    async def test_gives_the_same_result_for_the_same_request(self, suite: RunningSuite, campaign: str):
        body = {"kind": "stability", "campaign_id": campaign, "subsets": 10, "resamples": 20, "leave_one_out": False}
        one, other = [await _run(suite, body) for _ in range(2)]
        assert one["stability"] == other["stability"]
        assert one["data_sha256"] == other["data_sha256"]

    async def test_draws_from_the_seed_of_the_campaign_unless_another_is_named(self, suite: RunningSuite):
        campaign = await _study(suite, seed=11)
        analyst = await suite.client("analytics", "analyst")
        body = {"kind": "stability", "campaign_id": campaign}
        seeds = []
        for named in ({}, {"seed": None}, {"seed": 0}):
            made = await analyst.post("/v1/analyses", json=body | named)
            seeds.append(made.json()["request"]["seed"])
            await analyst.post(f"/v1/analyses/{made.json()['id']}/cancel")
        assert seeds == [11, 11, 0]

    async def test_is_started_by_a_program_that_leaves_its_kind_to_the_client(self, suite: RunningSuite, campaign: str):
        async with AsyncAnalytics(suite.urls["analytics"], await suite.keys.make("analyst")) as analytics:
            started = await analytics.create_analysis(StabilityIn(campaign_id=UUID(campaign)))
            assert started.kind == "stability"
            await analytics.cancel_analysis(started.id)

    async def test_continues_after_the_steps_that_an_earlier_worker_stored(self, suite: RunningSuite, campaign: str):
        database = Database(suite.database.app["analytics"], pool_size=2)
        key = await suite.keys.make("service")
        request = StabilityIn(campaign_id=UUID(campaign), seed=0, subsets=10, resamples=20, leave_one_out=False)
        jobs = StepJobStore(STEP_JOBS)
        try:
            async with (
                AsyncAnnotation(suite.urls["annotation"], key) as annotation,
                AsyncConversations(suite.urls["conversations"], key) as conversations,
            ):

                async def run(analysis_id: UUID) -> AnalysisJob:
                    async def prepare(job: StepJob) -> PreparedWork:
                        return await analyses.prepare_analysis(CampaignData(annotation, conversations), job)

                    await analyses.STEP_JOBS.run(database, analysis_id, prepare)
                    async with asyncio.timeout(60):  # a worker that finds no task for it may take it over meanwhile
                        while True:
                            async with database.read() as reading:
                                found = await analyses_store.get_analysis(reading, analysis_id)
                            if found.state not in {AnalysisState.QUEUED, AnalysisState.RUNNING}:
                                return found
                            await asyncio.sleep(0.05)

                body, subject = request.model_dump(mode="json"), request.campaign_id
                async with database.write() as session:
                    one = await jobs.add_job(session, "stability", body, subject_id=subject, version="0")
                done = await run(one)
                # The first step of the other is there already, with a rate that no computation gives. It is stored with
                # the job, since a worker may take the job over at once.
                marked = dict.fromkeys(("low", "high", "confidence_level"), 0.5) | {
                    "size": 3,
                    "estimate": 0.123,
                    "clusters": [["X"]],
                    "n": 10,
                    "n_resamples": 20,
                    "rule": "published",
                    "method": "",
                    "seed": 0,
                }
                async with database.write() as session:
                    other = await jobs.add_job(session, "stability", body, subject_id=subject, version="0")
                    run_id = new_id()
                    await jobs.begin_run(session, other, run_id, steps=2, inputs=None, fingerprint=done.data_sha256)
                    assert await jobs.put_result(session, other, run_id, 0, marked)
                resumed = await run(other)
        finally:
            await database.close()
        assert (resumed.state, resumed.done) == (AnalysisState.COMPLETE, 2)
        assert done.stability is not None
        assert resumed.stability is not None
        assert [point.rate for point in resumed.stability.curves[0].points] == [
            0.123,
            done.stability.curves[0].points[1].rate,
        ]

    async def test_fails_with_the_reason_without_annotations(self, suite: RunningSuite):
        campaign = await _study(suite, annotated=False)
        found = await _run(suite, {"kind": "stability", "campaign_id": campaign}, state="failed")
        assert "Nobody has submitted a package" in found["failure"]
        assert found["stability"] is None


class TestPlans:
    async def test_plans_ahead_of_the_data(self, suite: RunningSuite):
        body = {"kind": "planning", "win_rates": [0.6, 0.55], "tie_rate": 0.5, "annotations_per_conversation": 1}
        # Without correlations and with an annotation of each annotator all games count.
        alone = {"conversation_correlation": 0, "annotator_correlation": 0, "annotations_per_annotator": 1}
        found = await _run(suite, body | alone)
        # By the normal approximation, two pairs: (2.2414 + 0.8416)² / (2p - 1)² decided games, half of all.
        plan = found["plan"]
        first, second = (pair["conversations"] for pair in plan["pairs"])
        assert first == pytest.approx(3.083**2 / 0.2**2 / 0.5, rel=0.03)
        assert second == pytest.approx(3.083**2 / 0.1**2 / 0.5, rel=0.01)
        assert [pair["more"] for pair in plan["pairs"]] == [first, second]
        assert [pair["annotators"] for pair in plan["pairs"]] == [2 * first, 2 * second]
        assert (plan["conversations_per_pair"], plan["annotators"]) == (second, 2 * second)
        assert (plan["significance_level"], plan["confidence_level"]) == (0.05, None)
        assert found["campaign_id"] is None
        analyst = await suite.client("analytics", "analyst")
        table = await analyst.get(f"/v1/analyses/{found['id']}", headers={"Accept": "text/csv"})
        rows = [*csv.DictReader(io.StringIO(table.text, newline=""))]
        assert [int(row["conversations"]) for row in rows] == [first, second]

    async def test_plans_the_conversations_of_a_number_of_annotators(self, suite: RunningSuite):
        body = {"kind": "planning", "win_rates": [0.75] * 6, "power": 0.7, "significance_level": 0.1}
        few, enough = [(await _run(suite, body | {"annotators": n}))["plan"] for n in (8, 40)]
        assert few["pairs"][0]["reason"] == "8 annotators are too few, whatever the number of conversations"
        assert (few["conversations_per_pair"], few["annotations_per_annotator"]) == (None, None)
        expected = plan_conversations(0.75, Design(annotators=40), power=0.7, significance_level=0.1, n_pairs=6)
        assert (enough["conversations_per_pair"], enough["annotators"]) == (expected.conversations, 40)
        assert enough["pairs"][0]["design_effect"] == expected.design_effect

    async def test_plans_the_annotators_of_a_number_of_conversations(self, suite: RunningSuite):
        body = {"kind": "planning", "win_rates": [0.75, 0.9], "conversations": 60}
        plan = (await _run(suite, body))["plan"]
        expected = [plan_annotators(rate, 60, n_pairs=2).annotators for rate in (0.75, 0.9)]
        assert [pair["annotators"] for pair in plan["pairs"]] == expected
        assert [pair["more"] for pair in plan["pairs"]] == [None, None]
        assert (plan["conversations_per_pair"], plan["annotators"]) == (60, expected[0])

    async def test_plans_more_data_for_a_campaign(self, suite: RunningSuite, campaign: str):
        body = {"kind": "more_data", "campaign_id": campaign, "significance_level": 0.01, "confidence_level": 0.9}
        plan = (await _run(suite, body))["plan"]
        assert {(pair["bot"], pair["other"]) for pair in plan["pairs"]} == set(PAIRS)
        assert all(pair["win_rate"] == 1 for pair in plan["pairs"])
        # All 12 annotations are one annotator's.
        assert (plan["annotations_per_annotator"], plan["annotators_per_game"]) == (12, 1)
        assert (plan["significance_level"], plan["confidence_level"]) == (0.01, 0.9)


class TestAnalysisState:
    def test_has_the_states_of_step_jobs(self):
        assert {state.value for state in AnalysisState} == {state.value for state in StepJobState}


class TestJobs:
    async def test_stay_cancelled(self, suite: RunningSuite):
        campaign = await _study(suite, per_pair=12)
        body = {"kind": "stability", "campaign_id": campaign, "subsets": 10_000, "resamples": 10_000}
        started = await _start(suite, body)
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/analyses/{started['id']}"
        for _ in range(2):
            answer = await analyst.post(f"{path}/cancel")
            assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
        assert (await analyst.get(path)).json()["stability"] is None
        table = await analyst.get(path, headers={"Accept": "text/csv"})
        assert (table.status_code, table.json()["type"]) == (409, "urn:spotthebot:problem:no-table-yet")

    async def test_cannot_be_cancelled_once_they_have_ended(self, suite: RunningSuite):
        found = await _run(suite, {"kind": "planning", "win_rates": [0.7]})
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.post(f"/v1/analyses/{found['id']}/cancel")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:analysis-has-ended")

    async def test_are_started_once_for_one_idempotency_key(self, suite: RunningSuite):
        body = {"kind": "planning", "win_rates": [0.7]}
        one, again = [await _start(suite, body, **{"Idempotency-Key": "k1"}) for _ in range(2)]
        assert one["id"] == again["id"]

    async def test_are_listed_by_campaign_page_by_page(self, suite: RunningSuite):
        campaign = await _study(suite)
        ids = [
            (await _start(suite, {"kind": "more_data", "campaign_id": campaign, "power": power}))["id"]
            for power in (0.7, 0.8, 0.9)
        ]
        await _start(suite, {"kind": "planning", "win_rates": [0.7]})
        analyst = await suite.client("analytics", "analyst")
        query: dict[str, str | int] = {"campaign_id": campaign, "limit": 2}
        first = (await analyst.get("/v1/analyses", params=query)).json()
        rest = (await analyst.get("/v1/analyses", params=query | {"cursor": first["next_cursor"]})).json()
        assert [each["id"] for each in first["items"] + rest["items"]] == ids
        assert rest["next_cursor"] is None

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"kind": "stability", "campaign_id": "00000000-0000-7000-8000-000000000000"}, 404),
            ({"kind": "magic"}, 422),
            ({"kind": "planning", "win_rates": []}, 422),
            ({"kind": "planning", "win_rates": [1.2]}, 422),
            ({"kind": "planning", "win_rates": [0.7], "power": 1}, 422),
            ({"kind": "planning", "win_rates": [0.7], "conversations": 1}, 422),
            ({"kind": "planning", "win_rates": [0.7], "conversations": 40, "annotators": 20}, 422),
        ],
    )
    async def test_are_refused_for_bad_input(self, suite: RunningSuite, body: dict[str, Any], status: int):
        analyst = await suite.client("analytics", "analyst")
        assert (await analyst.post("/v1/analyses", json=body)).status_code == status

    async def test_are_not_found_by_an_unknown_id(self, suite: RunningSuite):
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get("/v1/analyses/00000000-0000-7000-8000-000000000000")
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:no-such-analysis")
