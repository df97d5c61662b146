"""The judge `fed`: scores of the service as P(human), less what length predicts, without knowing who speaks."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.turns import Turn
from spotthebot.judges.labellers import FedScores
from spotthebot.kit.text.words import text_hash
from tests.factories import tiny_models
from tests.factories.campaigns import CONVERSATIONS, open_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations

SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))
TURNS = tuple(Turn(speaker=speaker, text=f"Turn {at}.") for at, speaker in enumerate("ABAB"))


pytestmark = needs_models


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "fed")


@pytest.fixture(scope="module")
def settings_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("models")
    tiny_models.gpt2(folder / "gpt2", positions=256)
    return {"fed": {"models_folder": folder, "device": "cpu"}}


class TestFedScores:
    def test_place_a_side_among_all_scores_by_its_last_turn_shown(self):
        """Of 1, 2, 2 and 5 the last turn of A has 2, above one and level with two; B's has 5, above three."""
        shown, other = uuid4(), uuid4()
        scores = {(shown, 3): 2.0, (shown, 4): 5.0, (other, 2): 1.0, (other, 4): 2.0}
        found = FedScores(scores, {text_hash([turn.text for turn in TURNS]).hex(): shown})
        assert found.of_side(TURNS, "A") == (1 + 3) / 2 / 4
        assert found.of_side(TURNS, "B") == (3 + 4) / 2 / 4
        assert found.of_side(TURNS[:2], "A") is None, "a text that the campaign does not show"


class TestRuns:
    @pytest.fixture
    async def stb(self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
        monkeypatch.setenv("SPOTTHEBOT_FRONTEND_KEY", await suite.keys.make("annotation"))
        async with stb_of_admin(suite, monkeypatch) as run:
            yield run

    async def test_label_who_is_a_person_and_nothing_else(self, suite: RunningSuite, stb: Stb, tmp_path: Path):
        collection = await import_conversations(suite, CONVERSATIONS[:2])
        campaign = await open_campaign(suite, collection, segments=[1, 2])
        fed = await suite.fed("admin")
        job = await fed.create_score_job(ScoreJobIn(collection_id=UUID(collection), scorer=SCORER))
        async with asyncio.timeout(60):
            while (state := (await fed.get_score_job(job.id)).state) not in {"complete", "failed"}:
                await asyncio.sleep(0.1)
        assert state == "complete"
        file = tmp_path / "judge.yaml"
        file.write_text(f"name: baseline\nsettings: {{kind: fed, score_set: {job.id}, dimension: overall}}\n")
        assert (await stb("judge", "add", file)).returncode == 0
        done = await stb("judge", "run", "baseline", "--campaign", "c")
        assert done.returncode == 0, done.stderr
        client = await suite.client("annotation", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/annotations"
        found = (await client.get(path, params={"judges": "baseline"})).json()["items"]
        assert len(found) == campaign["items"]
        for row in found:
            by_key = {(each["question"], each["target"]): each for each in row["judge_labels"]["answers"]}
            opens = by_key["entity", "A"]
            assert (opens["missing"] == "unsuited") is (row["exchanges"] == 1), "a first turn answers nothing"
            for side in ("A", "B") if row["exchanges"] > 1 else ("B",):
                shares = by_key["entity", side]["probabilities"]
                assert 0 < shares["human"] < 1
                assert shares["human"] + shares["bot"] == pytest.approx(1)
            assert by_key["fluency", None]["missing"] == "unsuited"
        file.write_text(f"name: lost\nsettings: {{kind: fed, score_set: {uuid4()}, dimension: overall}}\n")
        await stb("judge", "add", file)
        lost = await stb("judge", "run", "lost", "--campaign", "c")
        assert (lost.returncode, "the service `fed` does not know it" in lost.stderr) == (1, True)
        file.write_text(f"name: odd\nsettings: {{kind: fed, score_set: {job.id}, dimension: beauty}}\n")
        await stb("judge", "add", file)
        assert "it has no dimension 'beauty'" in (await stb("judge", "run", "odd", "--campaign", "c")).stderr
