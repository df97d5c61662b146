"""Rows that are only ever added: PostgreSQL refuses all changes but those of an erasure."""

import psycopg
import pytest

from tests.factories.annotating import campaign_of, claim, rows
from tests.factories.own_words import campaign_in_own_words, write_everywhere
from tests.factories.running_suite import RunningSuite


class TestAnswersThatAreOnlyAdded:
    @pytest.mark.parametrize("table", ["training_answers", "answer_revisions"])
    async def test_let_texts_become_erased_and_nothing_else(self, suite: RunningSuite, table: str):
        await write_everywhere(suite, await campaign_in_own_words(suite), "ann")
        url = suite.database.app["annotation"].replace("+psycopg", "")
        for change in (
            """answer = answer || '{"why": "another"}'""",
            """answer = answer || '{"about": {"A": "another"}}'""",
            """answer = answer || '{"about": "erased"}'""",
            """answer = answer || '{"more": "erased"}'""",
            """answer = answer - 'why'""",
            "position = 7",
        ):
            with (
                psycopg.connect(url) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="only ever added"),
            ):
                connection.execute(f"UPDATE annotation.{table} SET {change}".encode())  # noqa: S608 - no input
        with (
            psycopg.connect(url) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="only ever added"),
        ):
            connection.execute(f"DELETE FROM annotation.{table}".encode())  # noqa: S608 - no input
        with psycopg.connect(url) as connection:
            erased = """answer = answer || '{"why": "erased"}'"""
            connection.execute(f"UPDATE annotation.{table} SET {erased}".encode())  # noqa: S608 - no input
        assert rows(suite, f"SELECT DISTINCT answer ->> 'why' FROM annotation.{table}") == [("erased",)]  # noqa: S608


class TestAuditLog:
    async def test_lets_words_become_erased_and_nothing_else(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/annotators"
        (annotator,) = (await admin.get(path)).json()["items"]
        assert (await admin.post(f"{path}/{annotator['id']}/block", json={"reason": "r"})).status_code == 200
        url = suite.database.app["annotation"].replace("+psycopg", "")
        for change in (
            """details = '{"reason": "another"}'""",
            """details = '{}'""",
            """details = '{"reason": "erased", "more": "erased"}'""",
            """details = '{"reason": "erased"}', action = 'x'""",
            """details = '{"reason": "erased"}', annotator_id = NULL""",
        ):
            with (
                psycopg.connect(url) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="only ever added"),
            ):
                connection.execute(f"UPDATE annotation.audit_log SET {change}".encode())  # noqa: S608 - no input
        with psycopg.connect(url) as connection:
            connection.execute("""UPDATE annotation.audit_log SET details = '{"reason": "erased"}'""")
        assert rows(suite, "SELECT details FROM annotation.audit_log") == [({"reason": "erased"},)]
