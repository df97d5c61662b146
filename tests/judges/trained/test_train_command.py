"""`stb judge train`: trains a judge on the labels of a campaign of running services."""

import json
from collections.abc import AsyncIterator

import pytest

from spotthebot.judges.trained.folds import shown_of
from spotthebot.judges.trained.judge import TrainedJudge
from tests.factories.campaigns import rated_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.judge_campaigns import import_units
from tests.factories.judge_units import SPEAKERS, units
from tests.factories.running_suite import RunningSuite


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    monkeypatch.setenv("SPOTTHEBOT_FRONTEND_KEY", await suite.keys.make("annotation"))
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestTrain:
    async def test_writes_a_judge_of_all_segments_of_the_campaign(self, stb: Stb, suite: RunningSuite, tmp_path):
        some = units(per_pair=3)
        await import_units(suite, some)
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert done.returncode == 0, done.stderr
        assert "Training the model that judges ada" in done.stderr
        card = json.loads((tmp_path / "judge" / "judge.json").read_text())
        assert [each["speaker"] for each in card["folds"]] == list(SPEAKERS)
        assert (card["campaign"], card["labels_by"]) == ("autumn", "person")
        assert None not in TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))
        assert "./stb judge run trained --campaign autumn" in done.stderr
        again = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert again.returncode == 1
        assert "holds files already" in again.stderr

    async def test_writes_a_judge_that_labels_the_campaign_and_is_reported(
        self, stb: Stb, suite: RunningSuite, tmp_path
    ):
        path = await import_units(suite, units(per_pair=3), judge_annotations_per_segment=1)
        out = str(tmp_path / "judge")
        assert (await stb("judge", "train", "--campaign", "autumn", "--out", out)).returncode == 0
        added = await stb("judge", "add", f"{out}/judge.yaml")
        assert added.returncode == 0, added.stderr
        lacking = await stb("judge", "run", "trained", "--campaign", "autumn")
        assert "is a trained model: name the folder of its training by --folder" in lacking.stderr
        done = await stb("judge", "run", "trained", "--campaign", "autumn", "--folder", out)
        assert done.returncode == 0, done.stderr
        analyst = await suite.client("analytics", "admin")
        found = (await analyst.get(f"{path}/judges", params={"filter": "none"})).json()
        (judge,) = found["judges"]
        assert (judge["name"], judge["version"], judge["kind"], judge["missing"]) == ("trained", 1, "trained", 0)
        assert found["refused"] == []
        shown = await stb("campaigns", "judges", "autumn", "--filter", "none")
        assert shown.returncode == 0, shown.stderr
        assert "trained version 1: 18 segments, 0.000 of the answers missing" in shown.stdout
        lines = shown.stdout.splitlines()
        lines = lines[next(at for at, line in enumerate(lines) if line.startswith("Judge ")) :]
        assert [line.split()[3] for line in lines[1:5]] == ["ada", "bob", "cyd", "dan"]
        at = next(at for at, line in enumerate(lines) if line.split()[:3] == ["Judge", "Ranks", "Bot"])
        assert {bot for bot in SPEAKERS if any(f" {bot} " in line for line in lines[at:])} == set(SPEAKERS)
        said = "people labelled all of its units, so nothing is left for the judge to save"
        assert f"ada, bob, cyd, dan: {said}" in shown.stdout
        written = json.loads((await stb("campaigns", "judges", "autumn", "--filter", "none", "--json", "-")).stdout)
        assert [each["name"] for each in written["judges"]] == ["trained"]
        (tmp_path / "judge" / "README.md").write_text("changed")
        other = await stb("judge", "run", "trained", "--campaign", "autumn", "--folder", out)
        assert "are not those of version 1 of the judge 'trained'" in other.stderr

    async def test_says_that_labels_are_simulated(self, stb: Stb, suite: RunningSuite, tmp_path):
        await import_units(suite, units(per_pair=3), kind="simulated")
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert "The labels are simulated" in done.stderr

    async def test_refuses_labels_of_judges_alone(self, stb: Stb, suite: RunningSuite, tmp_path):
        await import_units(suite, units(per_pair=3), kind="judge")
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert done.returncode == 1
        assert "has no labels of people, so there is nothing to learn from." in done.stderr
        assert not (tmp_path / "judge").exists()

    async def test_refuses_protocols_that_ask_for_other_things(self, stb: Stb, suite: RunningSuite, tmp_path):
        await rated_campaign(suite, {})
        done = await stb("judge", "train", "--campaign", "spring", "--out", str(tmp_path / "judge"))
        assert done.returncode == 1
        assert "asks by the protocol dialogue_likert" in done.stderr
