import json
from pathlib import Path
from typing import Any

import pytest
import scipy
from rich.console import Console
from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.cli.commands.evaluations import print_evaluation
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.evaluations.comparison import compare_modes, find_flips
from spotthebot.cli.evaluations.declaration_file import PlayMode, read_evaluation
from spotthebot.cli.evaluations.run import Evaluation, evaluate
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.local.errors import JobFailed, NoSuchModelDirectory, NotAModelDirectory, OtherModelDirectory
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.scoring.collections import offer_model
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models

pytestmark = needs_models

LEAGUE = """\
name: league
domain: everyday
bots: [parrot, dull]
partners: [eliza]
exchanges: 2
conversations_per_pair: 4
scorer: {model: scorer, dimensions: [fluency, overall]}
resamples: 200
seed: 3
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "fed"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny scorer in it, and a data folder beside it."""
    place = tmp_path_factory.mktemp("evaluations")
    tiny_models.gpt2(place / "scorer", positions=256)
    return place


@pytest.fixture(scope="module")
def folder(place: Path) -> DataFolder:
    folder = DataFolder(place / "data")
    folder.create()
    return folder


@pytest.fixture(scope="module")
def settings_of(folder: DataFolder) -> dict[str, dict[str, Any]]:
    return {"fed": {"models_folder": folder.path / "models", "device": "cpu"}}


@pytest.fixture
def read(place: Path):
    def read_text(text: str, mode: PlayMode = PlayMode.BIPARTITE):
        file = place / "league.yaml"
        file.write_text(text)
        return read_evaluation(file, mode)

    return read_text


@pytest.fixture
def play(clients, folder, read):
    async def play_text(text: str = LEAGUE, mode: PlayMode = PlayMode.BIPARTITE, bots: tuple[str, ...] = ()):
        with showing_progress() as steps:
            return await evaluate(clients, folder, read(text, mode), mode, steps, bots=bots)

    return play_text


class TestBipartite:
    async def test_ranks_the_targets_and_not_their_partners(self, play, clients):
        found = await play()
        written = found.to_json()
        assert set(written) >= {"collection", "score_set", "partner_set", "ranking", "dimensions"}
        assert written["ranked_by"] == "fluency"
        assert {each["bot"] for each in written["ranking"]} == {"parrot", "dull"}
        assert written["repeated_texts"] == []
        assert set(written["dimensions"]) == {"fluency", "overall"}
        scores = [each async for each in clients.fed.list_scores(found.scores.id)]
        for each in written["ranking"]:
            own = [score.scores["fluency"] for score in scores if score.bot == each["bot"]]
            assert each["score"] == pytest.approx(sum(own) / len(own))

    async def test_names_whose_conversations_repeat(self, play, capsys: pytest.CaptureFixture[str]):
        found = await play()
        repeated = RepeatedTexts(speakers=("dull", "eliza"), conversations=4, texts=3)
        scores = found.scores.model_copy(update={"repeated_texts": (repeated,)})
        repeating = Evaluation(found.mode, scores, found.partner_set)
        assert repeating.to_json()["repeated_texts"] == [repeated.model_dump(mode="json")]
        print_evaluation(Console(quiet=True), repeating)
        assert f"Warning: {repeated.sentence}" in " ".join(capsys.readouterr().err.split())

    async def test_a_second_call_makes_nothing_and_writes_the_same(self, play, clients):
        first = await play()
        again = await play()
        assert json.dumps(again.to_json()) == json.dumps(first.to_json())
        assert len([each async for each in clients.conversations.list_collections()]) == 1
        assert len([each async for each in clients.fed.list_score_jobs()]) == 1
        assert len([each async for each in clients.conversations.list_partner_sets()]) == 1

    async def test_another_scorer_scores_the_same_conversations(self, play):
        first = await play()
        other = await play(LEAGUE.replace("dimensions:", "polarity: positives, dimensions:"))
        assert other.scores.collection_id == first.scores.collection_id
        assert other.scores.id != first.scores.id

    async def test_the_fingerprint_is_that_of_the_partners_and_not_of_their_name(self, play):
        first = await play()
        same = await play(LEAGUE.replace("name: league", "name: another"))
        more = await play(LEAGUE.replace("name: league", "name: third").replace("[eliza]", "[eliza, stray]"))
        assert same.partner_set is not None
        assert same.partner_set.name != "league partners"
        assert same.fingerprint == first.fingerprint != more.fingerprint
        named = LEAGUE.replace("name: league", "name: fourth").replace("[eliza]", "{set: league partners, version: 1}")
        assert (await play(named)).fingerprint == first.fingerprint


class TestModes:
    async def test_are_compared_by_the_scores_of_the_same_bots(self, play):
        text = LEAGUE.replace("[parrot, dull]", "[parrot, dull, stray]")
        modes = [await play(text, mode) for mode in PlayMode]
        found = compare_modes(modes)
        assert [(each.dimension, each.modes) for each in found[:2]] == [
            ("fluency", (PlayMode.SELF_PLAY, PlayMode.ALL_PLAY_ALL)),
            ("overall", (PlayMode.SELF_PLAY, PlayMode.ALL_PLAY_ALL)),
        ]
        scores = [{bot.bot: bot.score for bot in each.scores.dimensions[0].bots} for each in modes[:2]]
        bots = sorted(scores[0])
        assert bots == ["dull", "parrot", "stray"]
        rho = scipy.stats.spearmanr([scores[0][bot] for bot in bots], [scores[1][bot] for bot in bots]).statistic
        assert found[0].spearman == pytest.approx(rho)

    async def test_flips_are_pairs_whose_order_a_stacked_pool_reverses(self, play):
        fair = await play(mode=PlayMode.ALL_PLAY_ALL)
        stacked = await play(mode=PlayMode.ALL_PLAY_ALL, bots=("parrot", "dull", "stray"))
        assert fair.scores.collection_id != stacked.scores.collection_id
        for each, before, after in zip(
            find_flips(fair, stacked), fair.scores.dimensions, stacked.scores.dimensions, strict=True
        ):
            first, second = (bot.bot for bot in before.bots)
            scores = {bot.bot: bot.score for bot in after.bots}
            assert each.pairs == 1
            assert each.flipped == (((first, second),) if scores[second] > scores[first] else ())

    async def test_a_stacked_pool_changes_no_score_of_bipartite_play(self, play):
        opened = LEAGUE.replace("scorer:", "opening: {corpus: sample, split: openings}\nscorer:")
        fair = await play(opened)
        stacked = await play(opened, bots=("parrot", "dull", "stray"))
        assert fair.fingerprint == stacked.fingerprint
        for before, after in zip(fair.scores.dimensions, stacked.scores.dimensions, strict=True):
            scores = {bot.bot: bot.score for bot in after.bots}
            assert len(scores) == 3
            assert [scores[bot.bot] for bot in before.bots] == [bot.score for bot in before.bots]
        assert [(each.mode, each.pairs, each.flipped) for each in find_flips(fair, stacked)] == [
            (PlayMode.BIPARTITE, 1, ())
        ] * 2


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "line", "said"),
        [
            (LEAGUE.replace("partners: [eliza]\n", ""), 1, "bipartite needs partners"),
            (LEAGUE.replace("[eliza]", "[dull]"), 4, "it would talk to itself"),
            (LEAGUE.replace("exchanges: 2", "exchanges: many"), 5, "whole number"),
            (LEAGUE.replace("model: scorer, ", ""), 7, "the key is missing"),
            (LEAGUE.replace("model: scorer", "model: scorer, mode: best"), 7, "followup_mean"),
            (LEAGUE.replace("model: scorer", "modell: scorer"), 7, "model"),
        ],
    )
    def test_a_fault_of_a_file_is_named_with_its_line(self, read, text, line, said):
        with pytest.raises(DeclarationFaulty) as faulty:
            read(text)
        assert f"line {line}" in str(faulty.value)
        assert said in str(faulty.value)

    @pytest.mark.parametrize(
        ("unfair", "said"),
        [("mirror,eliza", "'eliza' is a partner"), ("dull", "'dull' is a target"), ("a, a", "'a' is named twice")],
    )
    def test_bots_that_can_not_stack_the_pool_are_refused_before_anything_is_played(
        self, place: Path, unfair: str, said: str
    ):
        (place / "league.yaml").write_text(LEAGUE)
        data = place / "unused"
        options = ["--unfair", unfair, "--data-dir", str(data)]
        done = CliRunner().invoke(app, ["evaluate", "bipartite", str(place / "league.yaml"), *options])
        assert done.exit_code == 2
        assert said in done.stderr
        assert not data.exists()

    async def test_an_unknown_dimension_or_model_ends_with_the_reason(self, play, place):
        with pytest.raises(Exception, match="kindness"):
            await play(LEAGUE.replace("fluency", "kindness"))
        with pytest.raises(NoSuchModelDirectory, match="nowhere"):
            await play(LEAGUE.replace("model: scorer", "model: ./nowhere"))
        (place / "models" / "made").mkdir(parents=True)
        with pytest.raises(OtherModelDirectory, match="name 'models/made' instead"):
            await play(LEAGUE.replace("model: scorer", "model: made"))
        with pytest.raises(NoSuchModelDirectory, match="models/unmade"):
            await play(LEAGUE.replace("model: scorer", "model: models/unmade"))
        with pytest.raises(NotAModelDirectory, match=r"config\.json"):
            await play(LEAGUE.replace("model: scorer", "model: data"))
        (place / "broken").mkdir()
        (place / "broken" / "config.json").write_text("{}")
        with pytest.raises(JobFailed, match="can't be loaded"):
            await play(LEAGUE.replace("model: scorer", "model: broken"))

    def test_a_name_of_a_hub_or_of_triton_is_left_as_it_is(self, folder, place):
        assert offer_model(folder, "microsoft/DialoGPT-large", beside=place) == "microsoft/DialoGPT-large"
        assert offer_model(folder, "triton:scorer", beside=place) == "triton:scorer"
