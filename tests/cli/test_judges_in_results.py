"""`--judges` of `./stb rank` and `./stb report`: labels of judges next to people's."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.factories.campaigns import rated_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.judge_campaigns import import_units
from tests.factories.judge_units import units
from tests.factories.running_suite import RunningSuite

EVERY = ("--filter", "none")
TITLES = ("Fooling rates, and what each judge saves", "Win rates, and ranks by the corrected ones")
INCLUDED = "Labels of judges are included: judges are programs"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(scope="module")
async def stb(module_suite: RunningSuite) -> AsyncIterator[Stb]:
    """Run a command that only reads, as an administrator.

    There are the campaigns `autumn`, which two judges labelled next to people, and `spring`, which one judge rated.
    """
    judges = {"kind": lambda _: "human", "strict": lambda _: "bot"}
    await import_units(module_suite, units(per_pair=3), judges=judges)
    await rated_campaign(module_suite, {}, judges=["oracle"])
    with pytest.MonkeyPatch.context() as patched:
        async with stb_of_admin(module_suite, patched) as run:
            yield run


class TestRank:
    async def test_counts_the_labels_of_the_judges_that_are_named(self, stb: Stb):
        found = {}
        for names in ((), ("kind",), ("kind", "strict"), ("*",)):
            asked = [each for name in names for each in ("--judges", name)]
            done = await stb("rank", "autumn", *EVERY, *asked, "--json", "-")
            assert done.returncode == 0, done.stderr
            found[names] = json.loads(done.stdout)["counts"]
        people = found[()]["annotators"]
        counted = {names: (each["judges"], each["annotators"] - people) for names, each in found.items()}
        assert counted == {(): (0, 0), ("kind",): (1, 1), ("kind", "strict"): (2, 2), ("*",): (2, 2)}
        # Each judge labelled each of the 18 segments once.
        assert found["*",]["annotations"] == found[()]["annotations"] + 2 * 18

    async def test_says_that_labels_of_programs_are_included(self, stb: Stb):
        assert INCLUDED in (await stb("rank", "autumn", *EVERY, "--judges", "kind")).stderr
        assert "judges" not in (await stb("rank", "autumn", *EVERY)).stderr

    async def test_says_that_there_is_no_judge_of_such_a_name(self, stb: Stb):
        done = await stb("rank", "autumn", *EVERY, "--judges", "nobody")
        assert done.returncode == 0, done.stderr
        assert "there are none by a judge of such a name" in done.stderr


class TestReport:
    async def test_counts_the_labels_of_judges_and_says_so(self, stb: Stb, tmp_path: Path):
        done = await stb("report", "autumn", *EVERY, "--judges", "*", "--samples", "1", "--out", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert INCLUDED in done.stderr
        assert json.loads((tmp_path / "report.json").read_text())["counts"]["judges"] == 2
        page = (tmp_path / "report.html").read_text()
        assert "<strong>Judges.</strong> 2 of the " in page
        assert "Labels of judges are left out." in page

    async def test_has_no_stability_with_judges(self, stb: Stb, tmp_path: Path):
        done = await stb("report", "autumn", *EVERY, "--judges", "*", "--stability", "--out", str(tmp_path))
        assert done.returncode == 2
        assert "Stability is of people's labels alone" in " ".join(done.stderr.split())
        assert list(tmp_path.iterdir()) == []


class TestCampaignsJudges:
    async def test_shows_labels_and_win_rates(self, stb: Stb):
        done = await stb("campaigns", "judges", "autumn", *EVERY)
        assert done.returncode == 0, done.stderr
        assert "Ceiling, the largest share of people's labels" in done.stdout
        assert "Win rate by people" in done.stdout
        for said in (
            "Share of equal labels: 0.",
            "worse than a constant's by 0.",
            "people labelled all of its units",
            "Alternative annotator test: could not be made (no annotator has 30 units",
        ):
            assert said in done.stdout
        assert "Measure" not in done.stdout
        rates, ranks = (done.stdout.split(f"\n{title}\n")[1].split("\nJudge ")[0] for title in TITLES)
        assert "kind, ada, bob, cyd, dan: people labelled all of its units" in rates
        assert "people labelled all of its units" in ranks

    async def test_shows_the_measures_of_another_protocol(self, stb: Stb):
        done = await stb("campaigns", "judges", "spring", *EVERY, "--json", "-")
        measures = {each["measure"]: each for each in json.loads(done.stdout)["measures"]}
        assert [each["name"] for each in measures["quality"]["judges"]] == ["oracle"]
        done = await stb("campaigns", "judges", "spring", *EVERY)
        assert done.returncode == 0, done.stderr
        assert "Measure" in done.stdout
        assert "quality, oracle, " in done.stdout
        assert "Ceiling of quality: " in done.stdout
