"""A study of chats alone: what people said of their partners is ranked, and no campaign is needed."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.factories.chat_studies import create_study, import_chats, store_scores
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite

STUDY = """\
name: talks
chats: [talks]
outcome: quality
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    await import_chats(suite, exported_chats(6))
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestStudyOfChats:
    async def test_is_made_ranked_exported_and_reported_without_a_task(self, stb: Stb, tmp_path: Path):
        file = tmp_path / "study.yaml"
        file.write_text(STUDY)
        planned = await stb("study", file, "--dry-run")
        assert (planned.returncode, planned.stdout) == (0, ""), planned.stderr
        made = await stb("study", file, "--open")
        assert made.returncode == 0, made.stderr
        assert made.stderr.endswith("People rated the chats: ./stb rank talks\n")
        assert "Nothing was changed." in (await stb("study", file)).stderr
        ranked = await stb("rank", "talks")
        assert "By mean quality, " in ranked.stdout, ranked.stderr
        found = json.loads((await stb("rank", "talks", "--measure", "preferred", "--json", "-")).stdout)
        assert {each["bot"] for each in found["bots"]} == {"ada", "bob", "cid"}
        table = tmp_path / "values.csv"
        await stb("studies", "values", "talks", "--out", table)
        # 6 people rated two partners each.
        rows = csv.DictReader(table.read_text().splitlines())
        assert sum(row["dimension"] == "quality" for row in rows) == 12
        annotated = await stb("annotate", "talks", "--simulated", "3")
        assert annotated.returncode == 1
        assert "The study talks has no task to annotate: " in annotated.stderr
        reported = await stb("report", "talks", "--out", tmp_path / "report")
        assert reported.returncode == 0, reported.stderr
        assert "quality" in (tmp_path / "report" / "report.html").read_text()

    @pytest.mark.parametrize(
        ("written", "said"),
        [
            ("name: none\n", "tasks: a study needs a task, or `chats` whose people rated their partners."),
            (
                "name: none\ntasks: [{protocol: dialogue_likert}]\n",
                "collections: tasks need a collection whose conversations annotators see.",
            ),
        ],
    )
    async def test_is_refused_with_what_is_missing(self, stb: Stb, tmp_path: Path, written: str, said: str):
        file = tmp_path / "study.yaml"
        file.write_text(written)
        refused = await stb("study", file, "--dry-run")
        assert refused.returncode == 2
        assert said in refused.stderr


class TestMeasuresWithoutPeople:
    async def test_are_declared_in_the_file_and_changed_by_it(self, stb: Stb, tmp_path: Path):
        file = tmp_path / "study.yaml"
        file.write_text(f"{STUDY}latency: true\n")
        made = await stb("study", file)
        assert made.returncode == 0, made.stderr
        assert "Nothing was changed." in (await stb("study", file)).stderr
        ranked = json.loads((await stb("rank", "talks", "--measure", "latency", "--json", "-")).stdout)
        assert (ranked["measure"], ranked["n"]) == ("latency", 0)  # the imported chats have no times
        file.write_text(STUDY)
        refused = await stb("study", file)
        assert "latency is true there, false here" in refused.stderr
        assert (await stb("study", file, "--change")).returncode == 0
        assert (await stb("rank", "talks", "--measure", "latency")).returncode == 1

    async def test_need_the_service_that_scores(self, suite: RunningSuite):
        """No `fed` runs here."""
        chats = await import_chats(suite, exported_chats(2))
        admin = await suite.client("annotation", "admin")
        body = {"name": "scored", "campaigns": [], "chats": [chats], "scores": [str(uuid4())]}
        refused = await admin.post("/v1/studies", json=body)
        assert (refused.status_code, "fed" in refused.json()["detail"]) == (503, True)
        study = await create_study(suite, [], name="scored", chats=[chats])
        store_scores(suite, study, uuid4())
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get(f"/v1/studies/{study}/measures")
        assert (answer.status_code, "fed" in answer.json()["detail"]) == (503, True)
