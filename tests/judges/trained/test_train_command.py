"""`stb judge train`: trains a judge on the labels of a campaign of running services."""

import json
from collections.abc import AsyncIterator
from itertools import groupby

import pytest

from spotthebot.judges.trained.folds import shown_of
from spotthebot.judges.trained.judge import TrainedJudge
from tests.factories.campaigns import import_campaign, imported_annotation, rated_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.judge_units import SPEAKERS, units
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


async def _labelled(suite: RunningSuite, some, kind="person") -> None:
    """Import a campaign that shows the units' segments, with their labels."""
    both = [(name, list(sides)) for name, sides in groupby(some, key=lambda unit: unit.conversation)]
    held = [
        {
            "external_id": name,
            "participants": [{"kind": "bot", "name": each.speaker} for each in sides],
            "turns": [turn.model_dump() for turn in sides[0].turns],
        }
        for name, sides in both
    ]
    # Of each annotator of a side: this label, and "unsure" for the other side, unless the annotator labelled it, too.
    annotations = []
    for name, sides in both:
        given = [{label.annotator: "human" if label.human else "bot" for label in each.labels} for each in sides]
        annotations += [
            imported_annotation(
                f"{name}/{who}",
                conversation=name,
                exchanges=2,
                annotator=who,
                annotator_kind=kind,
                answer={"entity": {side: labels.get(who, "unsure") for side, labels in zip("AB", given, strict=True)}},
            )
            for who in sorted(given[0] | given[1])
        ]
    collection = await import_conversations(suite, held)
    shown = {"p": [(name, 2) for name, _ in both]}
    labelled = {"name": "autumn", "protocol": "spot_the_bot_labels", "segments": [2]}
    await import_campaign(suite, collection, shown, annotations, **labelled)


class TestTrain:
    async def test_writes_a_judge_of_all_segments_of_the_campaign(self, stb: Stb, suite: RunningSuite, tmp_path):
        some = units(per_pair=3)
        await _labelled(suite, some)
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert done.returncode == 0, done.stderr
        assert "Training the model that judges ada" in done.stderr
        card = json.loads((tmp_path / "judge" / "judge.json").read_text())
        assert [each["speaker"] for each in card["folds"]] == list(SPEAKERS)
        assert (card["campaign"], card["labels_by"]) == ("autumn", "person")
        assert None not in TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))
        again = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert again.returncode == 1
        assert "holds files already" in again.stderr

    async def test_says_that_labels_are_simulated(self, stb: Stb, suite: RunningSuite, tmp_path):
        await _labelled(suite, units(per_pair=3), kind="simulated")
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert "The labels are simulated" in done.stderr

    async def test_refuses_labels_of_judges_alone(self, stb: Stb, suite: RunningSuite, tmp_path):
        await _labelled(suite, units(per_pair=3), kind="judge")
        done = await stb("judge", "train", "--campaign", "autumn", "--out", str(tmp_path / "judge"))
        assert done.returncode == 1
        assert "has no labels of people, so there is nothing to learn from." in done.stderr
        assert not (tmp_path / "judge").exists()

    async def test_refuses_protocols_that_ask_for_other_things(self, stb: Stb, suite: RunningSuite, tmp_path):
        await rated_campaign(suite, {})
        done = await stb("judge", "train", "--campaign", "spring", "--out", str(tmp_path / "judge"))
        assert done.returncode == 1
        assert "asks by the protocol dialogue_likert" in done.stderr
