"""Analyses of the release before, their steps and their queued jobs are kept as step jobs."""

import json
import secrets
from collections.abc import Iterator

import psycopg
import pytest
from alembic import command

from spotthebot.analytics import store
from spotthebot.analytics.tables import LINEAGE, STEP_JOBS
from spotthebot.contracts.analytics import AnalysisState, MoreDataIn, Plan, PlanningIn
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_id, new_ids
from spotthebot.kit.migrations import upgrade
from spotthebot.kit.step_jobs.store import StepJobStore
from spotthebot.suite.postgres.provision import Provisioned, logins, provision
from tests.factories.databases import PostgresServer
from tests.factories.known import known

REQUEST = {
    "kind": "planning",
    "win_rates": [0.7],
    "tie_rate": 0.6,
    "annotations_per_conversation": 6,
    "conversation_correlation": 0.1,
    "annotator_correlation": 0.2,
    "annotators": None,
    "power": 0.8,
    "confidence_level": 0.99,
    "seed": 3,
}
MORE = {
    "kind": "more_data",
    "filter": "none",
    "unit": "segment",
    "power": 0.8,
    "confidence_level": 0.9,
    "resamples": 200,
    "seed": 3,
}
PAIR = {
    "bot": "A",
    "other": "B",
    "win_rate": 0.7,
    "conversations": 40,
    "low": 20,
    "high": None,
    "more": 30,
    "reason": None,
}
PLAN = {
    "tie_rate": 0.6,
    "annotations_per_conversation": 6.0,
    "conversation_correlation": 0.1,
    "method": "the method of before",
    "power": 0.8,
    "confidence_level": 0.9,
    "conversations_per_pair": 40,
    "pairs": [PAIR, PAIR | {"bot": "C"}],
}
COUNTS = {
    "conversations": 3,
    "annotated_conversations": 3,
    "annotations": 6,
    "annotators": 2,
    "segments": 3,
    "simulated_annotators": 0,
}


@pytest.fixture
def before(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database of the release before, without data."""
    name = f"before_{secrets.token_hex(4)}"
    passwords = {login: secrets.token_hex(8) for login in logins(["analytics"])}
    made = provision(cluster.admin_url, name, ["analytics"], passwords)
    command.upgrade(LINEAGE.config(made.owner_urls["analytics"]), "analytics_0001")
    yield made
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_upgrading_keeps_analyses_their_steps_and_their_place_in_the_queue(before: Provisioned):
    owner = before.owner_urls["analytics"]
    analysis, campaign = new_ids(2)
    with psycopg.connect(owner) as connection:
        connection.execute(
            """
            INSERT INTO analytics.analyses (id, kind, campaign_id, request, state, steps, counts, data_sha256, version)
            VALUES (%s, 'planning', %s, %s, 'running', 2, %s, 'hash', '0')
            """,
            [analysis, campaign, json.dumps(REQUEST), json.dumps(COUNTS)],
        )
        connection.execute(
            "INSERT INTO analytics.analysis_steps (analysis_id, step, result) VALUES (%s, 0, '{\"a\": 1}')", [analysis]
        )
        connection.execute("SET LOCAL search_path TO analytics")
        connection.execute(
            "INSERT INTO analytics.procrastinate_jobs (queue_name, task_name, args) VALUES ('default', %s, %s)",
            ["analytics:run_analysis", json.dumps({"analysis_id": str(analysis)})],
        )
    upgrade(LINEAGE, owner)
    database = Database(before.app_urls["analytics"], pool_size=1)
    async with database.write() as session:
        (found,) = await store.analyses.list_analyses(session, campaign_id=campaign, after=None, limit=10)
        stored = await StepJobStore(STEP_JOBS).begin_run(
            session, analysis, new_id(), steps=2, inputs=COUNTS, fingerprint="hash"
        )
    await database.close()
    assert (found.id, found.state, found.done, found.steps) == (analysis, AnalysisState.RUNNING, 1, 2)
    assert found.counts is not None
    assert (found.counts.annotations, found.data_sha256) == (6, "hash")
    assert stored == {0: {"a": 1}}
    with psycopg.connect(owner) as connection:
        queued = connection.execute("SELECT args FROM analytics.procrastinate_jobs").fetchall()
    assert queued == [({"job_id": str(analysis)},)]


def test_upgrading_forgets_results_that_hold_ids_of_annotators(before: Provisioned):
    owner = before.owner_urls["analytics"]
    with psycopg.connect(owner) as connection:
        connection.execute(
            "INSERT INTO analytics.results (key, campaign_id, revision, body) VALUES ('k', %s, 'r', 'Ada Lovelace')",
            [new_id()],
        )
    upgrade(LINEAGE, owner)
    with psycopg.connect(owner) as connection:
        assert connection.execute("SELECT count(*) FROM analytics.results").fetchone() == (0,)


async def test_upgrading_keeps_plans_with_the_significance_level_that_they_had(before: Provisioned):
    owner = before.owner_urls["analytics"]
    ahead, more, campaign = new_ids(3)
    with psycopg.connect(owner) as connection:
        of_campaign = MORE | {"campaign_id": str(campaign)}
        for analysis, kind, request in ((ahead, "planning", REQUEST), (more, "more_data", of_campaign)):
            connection.execute(
                """
                INSERT INTO analytics.analyses (id, kind, campaign_id, request, state, steps, result, version)
                VALUES (%s, %s, %s, %s, 'complete', 1, %s, '0')
                """,
                [analysis, kind, campaign, json.dumps(request), json.dumps(PLAN)],
            )
            connection.execute(
                "INSERT INTO analytics.analysis_steps (analysis_id, step, result) VALUES (%s, 0, %s)",
                [analysis, json.dumps(PLAN)],
            )
    upgrade(LINEAGE, owner)
    database = Database(before.app_urls["analytics"], pool_size=1)
    async with database.read() as session:
        planned, needed = [await store.analyses.get_analysis(session, each) for each in (ahead, more)]
    await database.close()
    assert isinstance(planned.request, PlanningIn)
    assert isinstance(needed.request, MoreDataIn)
    assert (
        planned.request.model_dump()
        == PlanningIn(win_rates=(0.7,), tie_rate=0.6, annotator_correlation=0.2, significance_level=0.01).model_dump()
    )
    assert (needed.request.significance_level, needed.request.confidence_level) == (0.1, 0.9)
    assert planned.plan == needed.plan
    plan = known(planned.plan)
    assert (plan.significance_level, plan.confidence_level, plan.annotators) == (0.1, 0.9, None)
    assert [(pair.bot, pair.conversations, pair.annotators) for pair in plan.pairs] == [
        ("A", 40, None),
        ("C", 40, None),
    ]
    with psycopg.connect(owner) as connection:
        steps = connection.execute("SELECT result FROM analytics.step_job_results").fetchall()
    assert [Plan.model_validate(step) for (step,) in steps] == [plan, plan]
