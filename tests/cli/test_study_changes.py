"""The commands that make a study, refuse it and delete it, and what others say of a study without results."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.declared_studies import STUDY, import_talks
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "study.yaml"
    written.write_text(STUDY)
    return written


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    """Run a command as an administrator, with twelve conversations between three bots."""
    await import_talks(suite)
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestStudy:
    async def test_prints_what_it_costs_makes_it_and_says_that_it_was_made_before(self, stb: Stb, file: Path):
        tried = await stb("study", file, "--dry-run")
        assert tried.returncode == 0, tried.stderr
        assert [line.split()[0] for line in tried.stdout.splitlines()] == ["Task", "dialogue_likert", "pairs", "all"]
        made = await stb("study", file, "--json", "-")
        account = json.loads(made.stdout)
        assert (account["name"], account["outcome"]) == ("small", "dialogue_likert.quality")
        assert [(each["task"], each["name"], each["conversations"]["used"]) for each in account["tasks"]] == [
            ("dialogue_likert", "small.dialogue_likert", 12),
            ("pairs", "small.pairs", 12),
        ]
        again = await stb("study", file, "--open")
        assert "Nothing was changed" not in again.stderr
        assert f"Study small ({account['study']}), made before" in again.stderr
        last = await stb("study", file)
        assert "Nothing was changed." in last.stderr
        assert "Try it: ./stb annotate small --simulated 12" in last.stderr

    async def test_refuses_another_file_of_the_name_with_one_sentence(self, stb: Stb, file: Path):
        await stb("study", file)
        file.write_text(STUDY.replace("seed: 3", "seed: 4"))
        done = await stb("study", file)
        assert done.returncode == 1
        assert "seed is 3 there, 4 here" in done.stderr
        assert done.stderr.splitlines()[-1].endswith("choose another name, or change it with --change.")

    async def test_delete_leaves_the_campaigns(self, stb: Stb, file: Path):
        await stb("study", file)
        refused = await stb("studies", "delete", "small")
        assert refused.returncode == 1
        done = await stb("studies", "delete", "small", "--yes")
        assert "is deleted; its campaigns are still there." in done.stderr
        assert (await stb("studies")).stderr == "There is no study: ./stb study FILE makes one.\n"
        assert "small.pairs" in (await stb("campaigns")).stdout


class TestWithoutAnOutcome:
    async def test_measures_are_shown_alone_and_nothing_is_assessed(self, stb: Stb, file: Path, tmp_path: Path):
        file.write_text(STUDY.replace("outcome: dialogue_likert.quality\n", ""))
        await stb("study", file)
        assessed = await stb("studies", "assess", "small")
        assert assessed.returncode == 1
        assert "names no outcome" in assessed.stderr
        found = json.loads((await stb("rank", "small", "--json", "-")).stdout)
        assert (found["outcome"], len(found["measures"])) == (None, 16)
        ranked = await stb("rank", "small")
        assert "All measures: --measure NAME shows one" in ranked.stdout
        assert "Pairs" not in ranked.stdout
        await require_reason(stb, tmp_path, "The study names no outcome")


class TestOutcomeWithoutRatings:
    @pytest.mark.parametrize(
        ("outcome", "reason"),
        [
            ("dialogue_likert.quality", "Nobody has rated &#39;dialogue_likert.quality&#39;, the outcome of"),
            ("kindness", "&#39;small&#39; has no measure &#39;kindness&#39;: there are dialogue_likert."),
        ],
    )
    async def test_is_the_reason_why_nothing_is_assessed(
        self, stb: Stb, file: Path, tmp_path: Path, outcome: str, reason: str
    ):
        file.write_text(STUDY.replace("dialogue_likert.quality", outcome))
        await stb("study", file)
        await require_reason(stb, tmp_path, reason)


async def require_reason(stb: Stb, folder: Path, reason: str) -> None:
    """Require that the report says why nothing is assessed."""
    done = await stb("report", "small", "--out", folder / "report")
    assert done.returncode == 0, done.stderr
    text = (folder / "report" / "report.html").read_text()
    assert reason in text
    assert "Preliminary" in text
    assert 'id="assessment-section"' not in text
