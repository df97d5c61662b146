"""A team sees its own bots in a campaign whose results were released, others under pseudonyms, and nothing else."""

import csv
import io
from dataclasses import dataclass
from uuid import UUID

import httpx
import pytest

from spotthebot.analytics.standings.domain.standings import Names, Results, standing_speakers
from tests.factories.analyses import analysis
from tests.factories.campaigns import STANDINGS, get_standing, list_standings, released_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, register_bots, with_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """Those that a standing is made from."""
    return "bots", "conversations", "annotation", "analytics"


@dataclass(frozen=True)
class Study:
    """A campaign with released results, and its bots by name."""

    suite: RunningSuite
    path: str
    bots: dict[str, str]


@pytest.fixture(scope="module")
async def study(module_suite: RunningSuite) -> Study:
    """One for all tests of this file, which only read."""
    bots = await register_bots(module_suite)
    others = await module_suite.client("bots", "team", team="others")
    protocol = {"kind": "builtin", "model": "eliza"}
    body = {"name": "elsewhere", "domains": ["everyday"], "protocol": protocol}
    elsewhere = {"elsewhere": (await created(others, "/v1/bots?probe=false", body))["id"]}
    await import_conversations(module_suite, [with_bots(conversation("c", "elsewhere", "HU"), elsewhere)])
    return Study(module_suite, await released_campaign(module_suite, bots), bots)


class TestFigures:
    async def test_figures_are_those_that_the_operator_reads(self, study: Study):
        standing = await get_standing(study.suite)
        analyst = await study.suite.client("analytics", "analyst")
        ranking = (await analyst.get(f"{study.path}/ranking")).json()
        (ours,) = (each for each in ranking["ranking"]["bots"] if each["bot"] == "ours")
        (seen,) = (each for each in standing["bots"] if each["shown_as"] == "own")
        assert seen["bot"] == "ours"
        assert (seen["rank_low"], seen["rank_high"]) == (ours["rank_low"], ours["rank_high"]) == (1, 1)
        assert seen["win_rate"] == ours["win_rate"]
        # 6 conversations x 10 annotators as side A, of which a quarter are ties: all decided games are won.
        assert seen["win_rate"]["estimate"] == 1
        assert 0 < seen["win_rate"]["low"] < seen["win_rate"]["high"] == 1
        rates = (await analyst.get(f"{study.path}/fooling-rates")).json()["fooling_rates"]
        (rate,) = (each for each in rates if each["bot"] == "ours")
        fooling = seen["fooling_rate"]
        assert fooling["estimate"] == rate["rate"]
        assert fooling["low"] == rate["low"]
        assert fooling["high"] == rate["high"]
        assert seen["labels"] == rate["n"] == 90
        survival = (await analyst.get(f"{study.path}/survival")).json()["survival"]
        (curve,) = (each for each in survival["curves"] if each["bot"] == "ours")
        assert [(each["exchanges"], each["survival"]["estimate"]) for each in seen["survival"]] == [
            *zip(survival["times"], curve["survival"], strict=True)
        ]
        assert standing["settings"]["seed"] == ranking["seed"] == 7
        assert standing["counts"] == ranking["counts"]
        assert (standing["counts"]["annotators"], standing["counts"]["simulated_annotators"]) == (10, 1)

    async def test_everybody_has_the_mark_that_the_operator_sees_under_the_name_that_the_team_reads(self, study: Study):
        analyst = await study.suite.client("analytics", "analyst")
        of_operator = (await analyst.get(f"{study.path}/ranking")).json()["speakers"]
        standing = await get_standing(study.suite)
        hidden = next(each["bot"] for each in standing["bots"] if each["shown_as"] == "pseudonym")
        read_as = {"secretive": hidden}
        assert standing["speakers"] == [
            each | {"name": read_as.get(each["name"], each["name"])} for each in of_operator
        ]

    async def test_pairs_are_counted_from_the_side_of_the_team(self, study: Study):
        pairs = (await get_standing(study.suite, "them"))["pairs"]
        assert {each["bot"] for each in pairs} == {"secretive"}
        (lost,) = (each for each in pairs if each["wins"] == 0)
        # Three conversations x 10 annotators; ties are annotators 0, 4 and 8 of the first, 3 and 7, and 2 and 6.
        assert (lost["losses"], lost["ties"]) == (23, 7)
        assert (lost["win_rate"]["estimate"], lost["win_rate"]["low"]) == (0, 0)
        assert 0 < lost["win_rate"]["high"] < 1

    async def test_pairs_keep_the_verdicts_that_were_given_seen_from_the_team(self, study: Study):
        analyst = await study.suite.client("analytics", "analyst")
        given = {
            frozenset((each["bot"], each["other"])): each
            for each in (await analyst.get(f"{study.path}/verdicts")).json()["items"]
        }
        lost = given[frozenset(("ours", "secretive"))]
        assert (lost["bot"], lost["verdict"]) == ("ours", "ahead")
        pairs = (await get_standing(study.suite, "them"))["pairs"]
        assert {each["verdict"] for each in pairs if each["wins"] == 0} == {"behind"}
        of_ours = (await get_standing(study.suite))["pairs"]
        assert {each["bot"] for each in of_ours if each["verdict"] == "ahead"} == {"ours"}

    async def test_a_team_reads_the_performance_of_its_own_bots_alone(self, study: Study):
        seen = {each["shown_as"]: each["performance"] for each in (await get_standing(study.suite))["bots"]}
        # Nine conversations of three pairs; all were imported, which have no times.
        assert seen["own"]["conversations"] == {"complete": 9}
        assert (seen["own"]["collections"], seen["own"]["failed"], seen["own"]["latency"]) == (1, 0, None)
        assert [seen[each] for each in ("public", "pseudonym", "people")] == [None, None, None]
        us = await study.suite.client("analytics", "team", team="us")
        (listed,) = (await us.get("/v1/teams/me/bots")).json()["items"]
        assert (listed["id"], listed["name"], listed["public"]) == (study.bots["ours"], "ours", False)
        assert listed["performance"] == seen["own"]

    async def test_standings_and_bots_are_served_as_csv(self, study: Study):
        us = await study.suite.client("analytics", "team", team="us")
        rows = {}
        for path in (STANDINGS, "/v1/teams/me/bots"):
            answer = await us.get(path, headers={"Accept": "text/csv"})
            rows[path] = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        shown = [(row["shown_as"], row["rank_low"], row["win_rate_estimate"]) for row in rows[STANDINGS]]
        assert shown[0] == ("own", "1", "1.0")
        assert {(row["annotators"], row["simulated_annotators"]) for row in rows[STANDINGS]} == {("10", "1")}
        assert shown[-1] == ("people", "", "")
        assert "secretive" not in str(rows)
        (bot,) = rows["/v1/teams/me/bots"]
        assert bot["name"] == "ours"
        assert bot["complete"] == "9"
        assert bot["failed"] == "0"
        assert bot["median_ms"] == ""


class TestNames:
    async def test_other_bots_have_pseudonyms_unless_they_are_public(self, study: Study):
        answer = await list_standings(study.suite)
        shown = {each["shown_as"]: each["bot"] for each in answer.json()["items"][0]["bots"]}
        assert set(shown) == {"own", "public", "pseudonym", "people"}
        assert (shown["own"], shown["public"], shown["people"]) == ("ours", "baseline", "HU")
        assert shown["pseudonym"].startswith("bot-")
        assert "secretive" not in answer.text
        assert study.bots["secretive"] not in answer.text
        theirs = {each["shown_as"]: each["bot"] for each in (await get_standing(study.suite, "them"))["bots"]}
        assert theirs["own"] == "secretive"
        assert theirs["pseudonym"] not in {"ours", shown["pseudonym"]}

    @pytest.mark.parametrize(
        ("rates", "marked"),
        [
            ({"A": 0.5, "B": 0.6, "C": 0.4}, ["A", "hidden B", "hidden C", "HU"]),
            ({"A": 0.5, "B": 0.4, "C": 0.4}, ["A", "HU"]),  # their colours would say which name comes first
            ({"A": 0.4, "B": 0.5, "C": 0.4}, ["hidden B", "HU"]),
            ({"A": 0.5, "B": 0.4, "C": None}, ["A", "hidden B", "hidden C", "HU"]),
            ({"A": None, "B": 0.4, "C": None}, ["hidden B", "HU"]),
        ],
    )
    def test_bots_that_are_equal_have_marks_only_where_all_are_named(
        self, rates: dict[str, float | None], marked: list[str]
    ):
        found = analysis()
        bots = tuple(
            each.model_copy(update={"win_rate": each.win_rate.model_copy(update={"estimate": rates[each.bot]})})
            for each in found.ranking.bots
        )
        rated = found.model_copy(update={"ranking": found.ranking.model_copy(update={"bots": bots})})
        results = Results(ranking=rated, win_rates=None, fooling_rates=rated, survival=None)
        own = UUID(int=1)
        names = Names({"A": {own}, "B": {None}, "C": {None}}, {own}, frozenset(), b"key")
        hidden = {names.shown(each).text: f"hidden {each}" for each in ("B", "C")}
        seen = [hidden.get(each.name, each.name) for each in standing_speakers(results, names)]
        assert sorted(seen) == sorted(marked)
        all_named = Names({"A": {own}, "B": {own}, "C": {own}}, {own}, frozenset(), b"key")
        assert len(standing_speakers(results, all_named)) == 4


class TestAttacks:
    async def test_a_team_without_a_bot_in_a_campaign_does_not_learn_of_it(self, study: Study):
        for team in ("others", "u", "us%", "US", " us", "us "):
            answer = await list_standings(study.suite, team)
            assert (answer.status_code, answer.json()["items"]) == (200, []), team

    async def test_only_a_key_of_a_team_is_let_in(self, study: Study):
        async with httpx.AsyncClient(base_url=study.suite.urls["analytics"]) as nobody:
            assert (await nobody.get(STANDINGS)).status_code == 401
        for role in ("admin", "analyst", "annotation", "service"):
            assert (await (await study.suite.client("analytics", role)).get(STANDINGS)).status_code == 403
        for team in (None, ""):
            teamless = await (await study.suite.client("analytics", "team", team=team)).get(STANDINGS)
            assert (teamless.status_code, teamless.json()["title"]) == (403, "Forbidden")
            assert "names no team" in teamless.json()["detail"]

    async def test_a_team_reads_no_result_of_the_operator(self, study: Study):
        us = await study.suite.client("analytics", "team", team="us")
        for result in ("win-rates", "ranking", "survival", "analysis", "leaderboard", "figures/ranking.json"):
            assert (await us.get(f"{study.path}/{result}")).status_code == 403, result
        assert (await us.get("/v1/analyses")).status_code == 403
        assert (await us.get(STANDINGS, params={"team": "them"})).status_code == 422
