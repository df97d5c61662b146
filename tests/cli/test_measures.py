"""A campaign by ratings on the command line: its ranking by a measure, and its report."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.analytics.studies.test_values_without_people import SECONDS, timed
from tests.factories.campaigns import DIMENSIONS, labelled_campaign, rated_campaign
from tests.factories.chat_studies import answers_to, import_chats, import_task
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots

BOTS = ["ours", "baseline", "secretive"]
"""The bots of a rated campaign, by mean quality 4.5, 3 and 1.5: two annotators tell no pair apart."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(scope="module")
async def stb(module_suite: RunningSuite) -> AsyncIterator[Stb]:
    """Run a command that only reads, as an administrator.

    There are campaigns by ratings, `spring` and `likert` of chats, and of labels of the bots of `spring`, `autumn`.
    """
    bots = await register_bots(module_suite)
    await rated_campaign(module_suite, bots)
    await labelled_campaign(module_suite, bots)
    chats = timed(exported_chats(2))
    collection = await import_chats(module_suite, chats)
    await import_task(module_suite, collection, "likert", "dialogue_likert", answers_to("dialogue_likert", chats))
    with pytest.MonkeyPatch.context() as patched:
        async with stb_of_admin(module_suite, patched) as run:
            yield run


class TestRank:
    async def test_goes_by_the_headline_and_shows_every_measure(self, stb: Stb):
        done = await stb("rank", "spring")
        assert done.returncode == 0, done.stderr
        assert "By mean quality, none of the 3 pairs of bots can be told apart." in done.stdout
        assert "By quality:" in done.stdout
        assert "All measures: --measure NAME shows one" in done.stdout
        assert all(f" {name} " in done.stdout for name in DIMENSIONS)
        assert "Krippendorff's alpha:" in done.stdout

    async def test_goes_by_another_measure_that_is_named(self, stb: Stb):
        done = await stb("rank", "spring", "--measure", "engaging")
        assert done.returncode == 0, done.stderr
        assert "By mean engaging, none of the 3 pairs of bots can be told apart." in done.stdout
        assert "By engaging:" in done.stdout
        assert "Published form" in done.stdout
        assert "mean with Student's t interval" in " ".join(done.stdout.split())
        assert "All measures" not in done.stdout

    async def test_fits_a_mixed_model_of_a_measure(self, stb: Stb):
        done = await stb("rank", "spring", "--measure", "engaging", "--mixed-model", "cumulative_link")
        assert done.returncode == 0, done.stderr
        assert "Mixed model" in done.stdout
        asked = await stb("rank", "spring", "--measure", "engaging", "--mixed-model", "linear", "--json", "-")
        model = json.loads(asked.stdout)["mixed_model"]
        assert [each["bot"] for each in model["bots"]] == sorted(BOTS)
        assert "published form, not the suite's inference" in model["method"]

    async def test_fits_no_mixed_model_without_a_measure(self, stb: Stb):
        done = await stb("rank", "spring", "--mixed-model", "linear")
        assert done.returncode == 2
        assert "name it with --measure" in " ".join(done.stderr.split())

    async def test_by_an_unknown_measure_names_the_known_ones_in_one_sentence(self, stb: Stb):
        done = await stb("rank", "spring", "--measure", "kindness")
        assert done.returncode == 1
        known = ", ".join(DIMENSIONS)
        assert done.stderr.strip() == f"Error: 'spring' has no measure 'kindness': there are {known}."

    @pytest.mark.parametrize("measure", [[], ["--measure", "engaging"]])
    async def test_takes_no_options_of_labels(self, stb: Stb, measure: list[str]):
        done = await stb("rank", "spring", *measure, "--unit", "conversation", "--test", "sign")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.strip() == (
            "Error: Results by the measures of the protocol 'dialogue_likert' take no --unit and no --test:"
            " repeat the command without."
        )

    async def test_has_measures_without_annotators_where_they_are_asked_for(self, stb: Stb):
        done = await stb("rank", "likert", "--measure", "latency", "--latency", "--json", "-")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)["bots"]
        # A bot's replies are turns 1, 3 and 5 of six; each took .1 s more for each turn before it: .3 s on average.
        assert {each["bot"]: each["estimate"] for each in found} == {
            bot: pytest.approx(seconds + 0.3) for bot, seconds in SECONDS.items()
        }
        assert " latency " in (await stb("rank", "likert", "--latency")).stdout
        assert " latency " not in (await stb("rank", "likert")).stdout

    async def test_by_labels_takes_no_measures_without_annotators(self, stb: Stb):
        done = await stb("rank", "autumn", "--latency")
        assert done.returncode == 1
        assert "takes no --latency: add --measure with the name of a measure" in done.stderr
        assert (await stb("rank", "autumn", "--measure", "latency", "--latency")).returncode == 0

    async def test_as_json_has_the_bots_the_pairs_and_the_methods(self, stb: Stb):
        done = await stb("rank", "spring", "--json", "-")
        found = json.loads(done.stdout)
        assert (found["measure"], found["kind"], found["campaign"]) == ("quality", "scale", "spring")
        assert [(each["bot"], each["estimate"]) for each in found["bots"]] == list(
            zip(BOTS, (4.5, 3, 1.5), strict=True)
        )
        assert {frozenset((each["bot"], each["other"])) for each in found["pairs"]} == {
            frozenset(pair) for pair in (BOTS[:2], BOTS[1:], BOTS[::2])
        }
        assert [each["published"]["estimate"] for each in found["bots"]] == [4.5, 3, 1.5]
        assert "mean of all ratings" in found["method"]
        assert found["rank_method"]
        assert found["pairs_method"]


class TestReport:
    async def test_has_the_measures_and_the_design(self, stb: Stb, tmp_path: Path):
        folder = tmp_path / "report"
        done = await stb("report", "spring", "--out", folder)
        assert done.returncode == 0, done.stderr
        text = (folder / "report.html").read_text()
        assert "<b>By mean quality, none of the 3 pairs of bots can be told apart.</b>" in text
        assert (
            "Bots were evaluated by the protocol dialogue_likert, version 2: 2 annotators saw 3 conversations" in text
        )
        ranking = list(csv.DictReader((folder / "csv" / "ranking.csv").read_text().splitlines()))
        assert [(row["bot"], row["estimate"]) for row in ranking] == list(zip(BOTS, ("4.5", "3.0", "1.5"), strict=True))
        design = dict(csv.reader((folder / "csv" / "design.csv").read_text().splitlines()))
        expected = {
            "Protocol": "dialogue_likert, version 2",
            "Exchanges shown to annotators": "all",
            "Annotations of a conversation": "2.00 on average",
            "Conversations": "3 complete, 0 of them between people (0 %); 3 annotated",
        }
        assert {fact: design[fact] for fact in expected} == expected
        document = json.loads((folder / "report.json").read_text())
        assert document["headline"] == "quality"
        assert [each["measure"] for each in document["measures"]] == list(DIMENSIONS)
        assert len(document["pairs"]) == 3

    async def test_has_no_mixed_models_of_labels(self, stb: Stb, tmp_path: Path):
        done = await stb("report", "autumn", "--out", tmp_path / "report", "--mixed-model", "linear")
        assert done.returncode == 1
        assert "has no mixed models: use './stb rank CAMPAIGN --measure NAME --mixed-model KIND'" in done.stderr
        done = await stb("report", "autumn", "--out", tmp_path / "report", "--latency")
        assert "use './stb rank CAMPAIGN --measure NAME --latency'" in done.stderr

    async def test_has_measures_without_annotators_where_they_are_asked_for(self, stb: Stb, tmp_path: Path):
        for options, added in (((), set()), (("--latency",), {"latency"})):
            done = await stb("report", "spring", "--out", tmp_path / "report", *options)
            assert done.returncode == 0, done.stderr
            measures = json.loads((tmp_path / "report" / "report.json").read_text())["measures"]
            assert {each["measure"] for each in measures} == {*DIMENSIONS} | added

    async def test_has_mixed_models_where_they_are_asked_for(self, stb: Stb, tmp_path: Path):
        folder = tmp_path / "report"
        done = await stb("report", "spring", "--out", folder, "--mixed-model", "linear")
        assert done.returncode == 0, done.stderr
        document = json.loads((folder / "report.json").read_text())
        assert [*document["mixed_models"]] == [*DIMENSIONS]
        rows = [*csv.DictReader((folder / "csv" / "mixed_models.csv").read_text().splitlines())]
        assert {(row["measure"], row["bot"]) for row in rows} == {(name, bot) for name in DIMENSIONS for bot in BOTS}

    async def test_takes_no_options_of_spot_the_bot(self, stb: Stb, tmp_path: Path):
        folder = tmp_path / "report"
        done = await stb("report", "spring", "--out", folder, "--stability", "--samples", "5")
        assert done.returncode == 1
        assert done.stderr.strip() == (
            "Error: Results by the measures of the protocol 'dialogue_likert' take no --stability and no --samples:"
            " repeat the command without."
        )
        assert not (folder / "report.html").exists()
