import json
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID

import pytest
import scipy
from rich.console import Console
from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.cli.commands.evaluation_results import Extras, Result, compute, print_evaluation
from spotthebot.cli.commands.evaluations import read_table_of_ratings
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.evaluations.comparison import compare_modes
from spotthebot.cli.evaluations.declaration_file import PlayMode, read_evaluation
from spotthebot.cli.evaluations.run import Evaluation, evaluate
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.local.errors import JobFailed, NoSuchModelDirectory, NotAModelDirectory, OtherModelDirectory
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from spotthebot.local.scoring.collections import offer_model
from tests.factories import tiny_models
from tests.factories.command_line_fixtures import clients_of
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite

pytestmark = needs_models

LEAGUE = """\
name: league
domain: everyday
bots: [parrot, dull]
partners: [eliza]
exchanges: 2
conversations_per_pair: 2
scorer: {model: scorer, dimensions: [fluency, overall]}
resamples: 200
seed: 3
"""
OF_THREE = (
    LEAGUE.replace("name: league", "name: three").replace("dull]", "dull, stray]").replace("per_pair: 2", "per_pair: 5")
)
"""Three targets, with five dialogues of each pair."""


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


@pytest.fixture(scope="module")
async def clients(module_suite: RunningSuite) -> AsyncIterator[Clients]:
    """All tests play on one suite: what one has played, another finds there, as a second call of a user does."""
    async with clients_of(module_suite) as opened:
        yield opened


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
            own = defaultdict(list)
            for score in scores:
                if score.bot == each["bot"]:
                    own[score.conversation_id].append(score.scores["fluency"])
            assert each["score"] == pytest.approx(fmean(map(fmean, own.values())))

    async def test_names_whose_conversations_repeat(self, play, capsys: pytest.CaptureFixture[str]):
        found = await play()
        repeated = RepeatedTexts(speakers=("dull", "eliza"), conversations=4, texts=3)
        scores = found.scores.model_copy(update={"repeated_texts": (repeated,)})
        repeating = Evaluation(found.mode, scores, found.partner_set)
        assert repeating.to_json()["repeated_texts"] == [repeated.model_dump(mode="json")]
        print_evaluation(Console(quiet=True), repeating)
        assert f"Warning: {repeated.sentence}" in " ".join(capsys.readouterr().err.split())

    async def test_a_second_call_makes_nothing_and_writes_the_same(self, play, clients):
        async def made() -> list[UUID]:
            lists = (
                clients.conversations.list_collections(),
                clients.fed.list_score_jobs(),
                clients.conversations.list_partner_sets(),
            )
            return [each.id for listed in lists async for each in listed]

        first = await play()
        before = await made()
        again = await play()
        assert json.dumps(again.to_json()) == json.dumps(first.to_json())
        assert await made() == before

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
        modes = [await play(OF_THREE, mode) for mode in PlayMode]
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

    async def test_a_stacked_pool_changes_no_score_of_bipartite_play(self, play):
        opened = LEAGUE.replace("name: league", "name: opened").replace(
            "scorer:", "opening: {corpus: sample, split: openings}\nscorer:"
        )
        fair = await play(opened)
        stacked = await play(opened, bots=("parrot", "dull", "stray"))
        assert fair.fingerprint == stacked.fingerprint
        for before, after in zip(fair.scores.dimensions, stacked.scores.dimensions, strict=True):
            scores = {bot.bot: bot.score for bot in after.bots}
            assert len(scores) == 3
            assert [scores[bot.bot] for bot in before.bots] == [bot.score for bot in before.bots]


class TestExtras:
    @pytest.fixture
    def computed(self, play, read, clients):
        async def compute_with(**extras: Any):
            async def mode_of(mode: PlayMode, bots: tuple[str, ...] = ()):
                return await play(OF_THREE, mode, bots)

            tables = [read_table_of_ratings(Path(each)) for each in extras.get("people", ())]
            declared = read(OF_THREE)
            return await compute(clients, mode_of, declared, PlayMode.BIPARTITE, Extras(**extras), tables)

        return compute_with

    async def test_people_s_ratings_of_a_table_stand_beside_three_modes(self, computed, place):
        """Ann and ben rate parrot over dull over stray; `overall` alone has ratings."""
        rows = [f"{at},{who},{bot},overall,{points + at % 2}" for at in (1, 2) for who in ("ann", "ben")
                for bot, points in (("parrot", 4), ("dull", 2), ("stray", 1))]  # fmt: skip
        (place / "ratings.csv").write_text("\n".join(["item,annotator,bot,dimension,value", *rows]))
        found = await computed(compare=True, people=(str(place / "ratings.csv"),))
        assert found.people is not None
        (overall,) = found.people.dimensions
        assert [(each.bot, each.rating, each.annotators) for each in overall.systems] == [
            ("parrot", 4.5, 2),
            ("dull", 2.5, 2),
            ("stray", 1.5, 2),
        ]
        assert [each.mode for each in found.people.score_sets] == ["self_play", "all_play_all", "bipartite"]
        for number, played in enumerate([*found.modes, found.main]):
            scores = {bot.bot: bot.score for bot in played.scores.dimensions[1].bots}
            assert {each.bot: each.scores[number] for each in overall.systems} == pytest.approx(scores)
        shown = shown_of(found)
        assert "Do scores rank bots as people do?" in shown
        assert "self-play" in shown

    async def test_the_order_s_stability_and_scores_by_partner_are_shown(self, computed):
        found = await computed(stability=True, by_partner=True)
        written = found.to_json()
        assert [each["conversations"] for each in written["stability"]["points"]] == [1, 2, 3, 4, 5]
        assert [each["bot"] for each in written["by_partner"]] == [each["bot"] for each in written["ranking"]]
        assert {each["partners"][0]["partner"] for each in written["by_partner"]} == {"eliza"}
        assert "by partner" in shown_of(found)

    async def test_an_unfair_pool_is_played_and_nothing_flips_in_bipartite_play(self, computed):
        found = await computed(unfavoured="dull", similar=("retrieval",))
        assert [each.mode for each in found.stacked] == [PlayMode.ALL_PLAY_ALL, PlayMode.BIPARTITE]
        all_play_all, bipartite = found.pools
        assert {each.bot for each in all_play_all.favoured} == {"parrot", "stray"}
        assert (bipartite.wins_fair_only, bipartite.wins_unfair_only, bipartite.p_value) == (0, 0, 1.0)
        scores = {bot.bot: bot.score for bot in found.stacked[1].scores.dimensions[0].bots}
        assert {each.bot: each.unfair_lead for each in bipartite.favoured} == pytest.approx(
            {bot: scores[bot] - scores["dull"] for bot in ("parrot", "stray")}
        )
        assert "favoured loses" in shown_of(found)


def shown_of(found: Result) -> str:
    console = Console(record=True, width=300)
    found.show(console)
    return console.export_text()


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
        ("unfavoured", "similar", "said"),
        [
            ("parrot", "mirror,eliza", "'eliza' is a partner"),
            ("parrot", "dull", "'dull' is a target"),
            ("parrot", "a, a", "'a' is named twice"),
            ("nobody", "a", "'nobody' is not one of the file's bots: parrot, dull"),
            ("parrot", "", "bots that resemble it with --similar"),
        ],
    )
    def test_bots_that_can_not_stack_the_pool_are_refused_before_anything_is_played(
        self, place: Path, unfavoured: str, similar: str, said: str
    ):
        (place / "league.yaml").write_text(LEAGUE)
        data = place / "unused"
        options = ["--unfavoured", unfavoured, "--similar", similar, "--data-dir", str(data)]
        done = CliRunner().invoke(app, ["evaluate", "bipartite", str(place / "league.yaml"), *options])
        assert done.exit_code == 2
        assert said in " ".join(done.stderr.replace("│", " ").split())
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
