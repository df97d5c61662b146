"""Campaigns, claims and annotations of the release before are kept, under their new names and with their states."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from alembic import command
from psycopg.types.json import Jsonb
from sqlalchemy.engine import make_url

from spotthebot.annotation import store
from spotthebot.annotation.domain.answers import Draft
from spotthebot.annotation.domain.campaigns import Progress
from spotthebot.annotation.domain.packages import PackedConversation, PackedItem
from spotthebot.annotation.domain.work_checks import WorkCheck
from spotthebot.annotation.tables import LINEAGE
from spotthebot.annotation.use_cases.assignments import claim_package, submit_assignment
from spotthebot.contracts.annotation import Answer
from spotthebot.contracts.assignments import ClaimIn
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_id, new_ids
from spotthebot.kit.migrations import check_drift, upgrade
from spotthebot.suite.postgres.provision import Provisioned, logins, provision
from tests.factories.databases import PostgresServer
from tests.factories.schemas import migrated_and_declared


@contextmanager
def _provisioned(cluster: PostgresServer) -> Iterator[Provisioned]:
    name = f"before_{secrets.token_hex(4)}"
    passwords = {login: secrets.token_hex(8) for login in logins(["annotation"])}
    yield provision(cluster.admin_url, name, ["annotation"], passwords)
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def before(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database of the release before, without data."""
    with _provisioned(cluster) as made:
        command.upgrade(LINEAGE.config(made.owner_urls["annotation"]), "annotation_0001")
        yield made


@pytest.fixture(scope="module")
def newest_url(cluster: PostgresServer) -> Iterator[str]:
    """The superuser's URL of a database that all revisions were run on, without data."""
    with _provisioned(cluster) as made:
        upgrade(LINEAGE, made.owner_urls["annotation"])
        name = make_url(made.owner_urls["annotation"]).database
        yield make_url(cluster.admin_url).set(database=name).render_as_string(hide_password=False)


def _add_campaign(connection: psycopg.Connection, mode: str = "live", **times: str) -> UUID:
    """Add a campaign with one package of one segment that needs one annotation."""
    campaign, package, shown, segment = new_ids(4)
    columns = {"built_at": None, "closed_at": None, "failure": None} | times
    connection.execute(
        """
        INSERT INTO annotation.campaigns (id, name, domain, collection_id, mode, segments, annotations_per_segment,
            package_size, instructions, seed, built_at, closed_at, failure)
        VALUES (%s, 'old', 'd', %s, %s, '{1}', 1, 1, '', 0, %s, %s, %s)
        """,
        [campaign, new_id(), mode, *columns.values()],
    )
    connection.execute("INSERT INTO annotation.packages (id, campaign_id) VALUES (%s, %s)", [package, campaign])
    connection.execute(
        "INSERT INTO annotation.shown_conversations (campaign_id, conversation_id, opening, turns)"
        " VALUES (%s, %s, '[]', '[]')",
        [campaign, shown],
    )
    connection.execute(
        "INSERT INTO annotation.segments (id, campaign_id, package_id, conversation_id, exchanges, position)"
        " VALUES (%s, %s, %s, %s, 1, 0)",
        [segment, campaign, package, shown],
    )
    return campaign


def _complete_assignment(connection: psycopg.Connection, campaign: UUID, worker: str) -> UUID:
    """Complete an assignment of the campaign's package with one annotation."""
    assignment = new_id()
    connection.execute(
        """
        INSERT INTO annotation.assignments (id, campaign_id, package_id, worker, state, claimed_at, expires_at)
        SELECT %s, campaign_id, id, %s, 'complete', now(), now() FROM annotation.packages WHERE campaign_id = %s
        """,
        [assignment, worker, campaign],
    )
    connection.execute(
        """
        INSERT INTO annotation.annotations (id, campaign_id, segment_id, assignment_id, worker,
            label_a, label_b, fluency, sensibleness, specificity)
        SELECT %s, campaign_id, id, %s, %s, 'human', 'bot', 'A', 'B', 'tie'
        FROM annotation.segments WHERE campaign_id = %s
        """,
        [new_id(), assignment, worker, campaign],
    )
    return assignment


def _expired_assignment(connection: psycopg.Connection, campaign: UUID, worker: str) -> UUID:
    """Add an assignment that was annotated and not complete when its time was up."""
    assignment = _complete_assignment(connection, campaign, worker)
    connection.execute("UPDATE annotation.assignments SET state = 'expired' WHERE id = %s", [assignment])
    return assignment


async def test_upgrading_keeps_annotators_and_gives_every_campaign_its_state(before: Provisioned):
    owner = before.owner_urls["annotation"]
    now = "2026-01-01T00:00:00Z"
    with psycopg.connect(owner) as connection:
        expected = {
            _add_campaign(connection): "building",
            _add_campaign(connection, built_at=now): "open",
            _add_campaign(connection, mode="import", built_at=now): "open",
            _add_campaign(connection, mode="import", built_at=now, closed_at=now): "closed",
            _add_campaign(connection, failure="too short"): "failed",
        }
        annotated = _add_campaign(connection, built_at=now)
        assignment = _complete_assignment(connection, annotated, "ann")
        expected[annotated] = "complete"
        imported = _add_campaign(connection, mode="import", built_at=now)
        _complete_assignment(connection, imported, "bob")
        expected[imported] = "open"
        published = _add_campaign(connection, mode="import", built_at=now)
        named = "UPDATE annotation.campaigns SET name = 'spot-the-bot-dailydialog' WHERE id = %s"
        connection.execute(named, [published])
        expected[published] = "open"
        left = _add_campaign(connection, built_at=now)
        unfinished = _expired_assignment(connection, left, "cy")
        expected[left] = "open"
    upgrade(LINEAGE, owner)
    check_drift(LINEAGE, owner)
    with psycopg.connect(owner) as connection:
        for table, count in (("annotators", 3), ("seen_conversations", 3), ("answers", 1)):
            assert connection.execute(f"SELECT FROM annotation.{table}".encode()).rowcount == count
    database = Database(before.app_urls["annotation"], pool_size=1)
    async with database.read() as session:
        found = await store.campaigns.list_campaigns(session, name=None, after=None, limit=10)
        kept = await store.assignments.get_assignment(session, assignment, "any frontend")
        (annotation,) = await store.annotations.list_annotations(session, annotated, after=None, limit=10)
        (annotator,) = await store.annotators.list_annotators(session, annotated, after=None, limit=10)
        draft = await store.assignments.get_assignment(session, unfinished, "any frontend")
    answer: Answer = {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "B", "specificity": "tie"}
    assert {campaign.id: campaign.state for campaign in found} == expected
    progress: dict[UUID, Progress] = {campaign.id: campaign.progress for campaign in found}
    assert progress[annotated] == Progress(packages=1, items=1, annotations=1, submitted=1)
    assert progress[left] == Progress(packages=1, items=1, annotations=1, submitted=0)
    assert (kept.annotator, kept.lease.state, len(kept.items)) == ("ann", "submitted", 1)
    assert (annotation.annotator, annotation.answer, annotator.external_id, annotator.packages) == (
        *("ann", answer),
        *("ann", 1),
    )
    assert annotator.work == WorkCheck()
    assert [campaign.id for campaign in found if campaign.annotators_published] == [published]
    assert {(campaign.training, campaign.gold, campaign.min_seconds_per_item) for campaign in found} == {(None,) * 3}
    assert (draft.lease.state, draft.items[0].draft) == ("expired", Draft(answer, step=2, version=1))
    await _finish_what_was_left(database, left, unfinished)
    await database.close()


async def _finish_what_was_left(database: Database, campaign_id: UUID, assignment_id: UUID) -> None:
    """The annotator whose time was up before the upgrade goes on with what they had."""
    now = datetime.now(UTC)
    async with database.write() as session:
        again = await claim_package(session, campaign_id, "team us", ClaimIn(annotator="cy"), now=now)
        assert again.lease.id == assignment_id
        await submit_assignment(session, assignment_id, "team us", key_id=new_id(), now=now)
    async with database.read() as session:
        campaign = await store.campaigns.get_campaign(session, campaign_id)
        stored = await store.annotations.list_annotations(session, campaign_id, after=None, limit=10)
    assert (campaign.state, campaign.progress.annotations, len(stored)) == ("complete", 1, 1)


async def test_upgrading_changes_no_package_of_a_campaign_that_was_built_before(before: Provisioned):
    owner = before.owner_urls["annotation"]
    command.upgrade(LINEAGE.config(owner), "annotation_0002")
    with psycopg.connect(owner) as connection:
        campaign = _add_campaign_with_a_state(connection, "open")
        said = [json.dumps([{"speaker": each} for each in speakers]) for speakers in ("BA", "ABAB")]
        connection.execute("UPDATE annotation.shown_conversations SET opening = %s, turns = %s", said)
        query = "SELECT id, package_id, conversation_id, exchanges, position FROM annotation.segments"
        segments = connection.execute(query).fetchall()
    upgrade(LINEAGE, owner)
    database = Database(before.app_urls["annotation"], pool_size=1)
    async with database.read() as session:
        kept = await store.campaigns.get_campaign(session, campaign)
        (package,) = await store.packages.list_packages(session, campaign, after=None, limit=10)
    await database.close()
    with psycopg.connect(owner) as connection:
        assert connection.execute(query.replace("segments", "items")).fetchall() == segments
        # The opening, and the two turns of the one exchange.
        assert connection.execute("SELECT speakers FROM annotation.items").fetchall() == [("BAAB",)]
    assert (kept.state, kept.too_short, kept.progress.packages, kept.progress.items) == ("open", None, 1, 1)
    assert (len(kept.collections), kept.human_share, kept.not_selected) == (1, None, None)
    assert package.items == (PackedItem(PackedConversation(segments[0][2], 1)),)


async def test_a_campaign_of_the_release_before_gets_a_secret_when_it_is_built_and_keeps_it(before: Provisioned):
    owner = before.owner_urls["annotation"]
    command.upgrade(LINEAGE.config(owner), "annotation_0002")
    with psycopg.connect(owner) as connection:
        campaigns = [_add_campaign_with_a_state(connection, "building") for _ in range(2)]
    upgrade(LINEAGE, owner)
    database = Database(before.app_urls["annotation"], pool_size=1)
    drawn = []
    for campaign in (*campaigns, *campaigns):
        async with database.write() as session:
            drawn.append(await store.campaigns.get_secret(session, campaign))
    await database.close()
    assert drawn[:2] == drawn[2:]
    assert len(set(drawn)) == 2
    assert {len(secret) for secret in drawn} == {32}


def _add_campaign_with_a_state(connection: psycopg.Connection, state: str) -> UUID:
    connection.execute("ALTER TABLE annotation.campaigns ALTER state SET DEFAULT 'building'")
    campaign = _add_campaign(connection)
    connection.execute("ALTER TABLE annotation.campaigns ALTER state DROP DEFAULT")
    connection.execute("UPDATE annotation.campaigns SET state = %s WHERE id = %s", [state, campaign])
    return campaign


def test_the_newest_revision_leaves_the_tables_as_they_are_declared(newest_url: str):
    migrated, declared = migrated_and_declared(newest_url, LINEAGE.metadata)
    assert migrated == declared


@pytest.mark.parametrize(
    ("function", "before", "after", "is_let"),
    [
        *(
            ("change_but_erased_texts", {"why": "a", "about": {"A": "b", "B": 2}, "n": 1}, after, is_let)
            for after, is_let in (
                ({"why": "a", "about": {"A": "b", "B": 2}, "n": 1}, True),
                ({"why": "erased", "about": {"A": "b", "B": 2}, "n": 1}, True),
                ({"why": "a", "about": {"A": "erased", "B": 2}, "n": 1}, True),
                ({"why": "erased", "about": {"A": "erased", "B": 2}, "n": 1}, True),
                ({"why": "other", "about": {"A": "b", "B": 2}, "n": 1}, False),
                ({"why": "erased", "about": {"A": "b", "B": 2}, "n": "erased"}, False),
                ({"why": "erased", "about": "erased", "n": 1}, False),
                ({"why": {"A": "erased"}, "about": {"A": "b", "B": 2}, "n": 1}, False),
                ({"why": "a", "about": {"A": "other", "B": 2}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": 2, "C": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": 2}}, False),
                ({"why": "a", "about": {"A": "b", "B": 2}, "n": 1, "more": "erased"}, False),
            )
        ),
        *(
            ("change_but_erasure", {"reason": "a", "n": 1}, after, is_let)
            for after, is_let in (
                ({"reason": "a", "n": 1}, True),
                ({"reason": "erased", "n": 1}, True),
                ({"reason": "erased", "n": "erased"}, True),
                ({"reason": "other", "n": 1}, False),
                ({"reason": "erased"}, False),
                ({"reason": "erased", "n": 1, "more": "erased"}, False),
            )
        ),
    ],
)
def test_rows_that_are_only_added_let_texts_become_erased_and_nothing_else(
    newest_url: str, function: str, before: dict[str, Any], after: dict[str, Any], is_let: bool
):
    column = "answer" if function.endswith("texts") else "details"
    with psycopg.connect(newest_url) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE kept (place int, {column} jsonb)".encode())
        connection.execute(f"INSERT INTO kept VALUES (0, %s) RETURNING {column}".encode(), [Jsonb(before)])  # noqa: S608
        connection.execute(
            "CREATE TRIGGER guard BEFORE UPDATE OR DELETE ON kept FOR EACH ROW"
            f" EXECUTE FUNCTION annotation.refuse_{function}()".encode()
        )
        statements: list[tuple[str, list[Any], bool]] = [
            (f"UPDATE kept SET {column} = %s", [Jsonb(after)], is_let),  # noqa: S608
            (f"UPDATE kept SET {column} = %s, place = 1", [Jsonb(after)], False),  # noqa: S608
            ("DELETE FROM kept", [], False),
        ]
        for statement, values, passes in statements:
            try:
                with connection.transaction():
                    connection.execute(statement.encode(), values)
            except psycopg.errors.RaiseException:
                assert not passes
            else:
                assert passes
