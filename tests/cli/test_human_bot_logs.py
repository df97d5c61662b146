"""The case study of docs/autojudge.md: logs of people's chats with bots are imported, labelled and ranked again."""

import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from scipy import stats as scipy_stats

from tests.docs.following import blocks, commands
from tests.factories.command_line import Printed, Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite

ROOT = Path(__file__).parents[2]
BOTS = {"gardener", "listener", "wanderer", "echo"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stb]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    frontend = await suite.keys.make("annotation")
    async with stb_of_admin(suite, monkeypatch) as run:

        async def run_with_its_key(command: str, *arguments: str | Path) -> Printed:
            with pytest.MonkeyPatch.context() as patched:
                if command == "annotate":  # on a machine of one's own, the suite has both keys
                    patched.setenv("SPOTTHEBOT_KEY", frontend)
                return await run(command, *arguments)

        yield run_with_its_key


def _commands() -> list[list[str]]:
    """Return the commands of the section's first block."""
    section = (ROOT / "docs/autojudge.md").read_text().split("## Human-bot logs ranked again")[1]
    return [shlex.split(line.removeprefix("./stb ")) for line in commands(blocks(section)[0])]


def _scores() -> dict[str, list[int]]:
    """Return the scores in the file by the names that the commands give the bots."""
    names = dict(each.split("=") for each in _commands()[0] if each.startswith("bot-"))
    found: dict[str, list[int]] = {}
    for dialogue in json.loads((ROOT / "docs/examples/human_bot_logs.json").read_text()):
        if dialogue["eval_score"] is not None:
            found.setdefault(names[dialogue["participant2_id"]["user_id"]], []).append(dialogue["eval_score"])
    return found


class TestCaseStudy:
    async def test_commands_of_the_page_rank_the_bots_by_fooling_rate_next_to_their_ratings(
        self, stb: Stb, tmp_path: Path
    ):
        imported, *others = _commands()
        first = await stb(*imported, "--json", "-")
        assert first.returncode == 0, first.stderr
        scores = _scores()
        account = json.loads(first.stdout)
        assert (account["ratings"], account["rejected"]) == (sum(map(len, scores.values())), [])
        for command in others:
            done = await stb(*command)
            assert done.returncode == 0, done.stderr
            if command[0] == "rank":
                assert "No two bots met, so there are no win rates" in " ".join(done.stdout.split())
                assert "Ratings of" in done.stdout
        document = json.loads((await stb("rank", "logs-again", "--json", "-")).stdout)
        _require_fooling_ranks(document)
        _require_ratings(document, scores)
        page = (tmp_path / "logs-report" / "report.html").read_text()
        for words in ("Ranking by fooling rate", "Ratings by those who chatted", "No two bots met"):
            assert words in page
        assert "TrueSkill" not in page
        refused = await stb("report", "logs-again", "--out", "other", "--stability")
        assert refused.returncode == 1
        assert "no two bots met" in " ".join(refused.stderr.split())


def _require_fooling_ranks(document: dict[str, Any]) -> None:
    ranking = document["ranking"]
    assert (ranking["ranked_by"], ranking["reason"], ranking["comparisons"]) == ("fooling_rates", None, 6)
    *bots, people = ranking["bots"]
    assert {each["bot"] for each in bots} == BOTS
    assert (people["bot"], people["rank_low"], people["cluster"]) == ("HU", None, None)
    rates = {each["bot"]: each for each in document["fooling_rates"]}
    for each in ranking["bots"]:
        own = rates[each["bot"]]
        assert [each["fooling_rate"][name] for name in ("estimate", "low", "high")] == [
            own[name] for name in ("rate", "low", "high")
        ]
        assert own["rate"] == own["human"] / own["n"]
        assert (each["win_rate"]["estimate"], each["trueskill"], each["bradley_terry"]) == (None, None, None)
    # A bot ranks behind as many bots as are significantly ahead of it.
    behind = dict.fromkeys(BOTS, 1)
    for pair in ranking["fooling_pairs"]:
        difference = rates[pair["bot"]]["rate"] - rates[pair["other"]]["rate"]
        assert pair["estimate"] == pytest.approx(difference)
        if pair["significant"]:
            behind[pair["other"] if difference > 0 else pair["bot"]] += 1
    assert {each["bot"]: each["rank_low"] for each in bots} == behind


def _require_ratings(document: dict[str, Any], scores: dict[str, list[int]]) -> None:
    ratings = document["interactor_ratings"]
    (question,) = ratings["questions"]
    assert (question["measure"], ratings["rated"]) == ("eval_score", sum(map(len, scores.values())))
    means = {bot: sum(given) / len(given) for bot, given in scores.items()}
    assert {each["bot"]: each["estimate"] for each in question["bots"]} == pytest.approx(means)
    rates = {each["bot"]: each["rate"] for each in document["fooling_rates"]}
    expected = scipy_stats.spearmanr([means[bot] for bot in sorted(BOTS)], [rates[bot] for bot in sorted(BOTS)])
    assert question["correlation"]["estimate"] == pytest.approx(expected.statistic)
    assert (question["correlation"]["low"], question["correlation"]["reason"]) == (None, "an interval needs 5 pairs")
    assert (question["correlation"]["n"], question["correlation"]["method"]) == (4, "Spearman, exact")
