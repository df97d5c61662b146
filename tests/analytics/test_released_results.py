"""Results are seen by teams from their release to their withdrawal; names stay hidden in whatever else is shown."""

import csv
import io
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.factories.annotating import WHOLE
from tests.factories.campaigns import (
    STANDINGS,
    Segment,
    get_standing,
    import_campaign,
    imported_annotation,
    labelled_campaign,
    list_standings,
    open_campaign,
    rated_campaign,
    released_campaign,
)
from tests.factories.running_suite import RunningSuite, SharedSuites
from tests.factories.studies import conversation, created, import_conversations, register_bots, with_bots

PUBLIC = "/v1/leaderboards"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """Those that a standing is made from."""
    return "bots", "conversations", "annotation", "analytics"


class TestStandings:
    async def test_figures_that_the_annotations_do_not_allow_are_missing_for_a_reason(self, suite: RunningSuite):
        bots = await register_bots(suite)
        await released_campaign(suite, bots, pairs=[("HU", "ours")])
        standing = await get_standing(suite)
        assert standing["reasons"] == [
            "A ranking needs annotated conversations of at least two bots: there are 1 bots so far."
        ]
        assert [(each["bot"], each["win_rate"], each["labels"]) for each in standing["bots"]] == [
            ("ours", None, 30),
            ("HU", None, 30),
        ]

    async def test_a_campaign_by_another_protocol_without_annotations_is_listed_with_the_reason(
        self, suite: RunningSuite
    ):
        bots = await register_bots(suite)
        collection = await import_conversations(suite, [with_bots(conversation("c", "ours", "secretive"), bots)])
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{(await open_campaign(suite, collection, protocol='dialogue_likert'))['id']}"
        for change in ("close", "results/release"):
            assert (await admin.post(f"{path}/{change}")).status_code == 200
        standing = await get_standing(suite)
        assert standing["protocol"] == "dialogue_likert"
        assert (standing["measure"], standing["bots"]) == (None, [])
        (said,) = standing["reasons"]
        assert "Nobody has submitted a package" in said
        us = await suite.client("analytics", "team", team="us")
        answer = await us.get(STANDINGS, headers={"Accept": "text/csv"})
        (row,) = csv.DictReader(io.StringIO(answer.text, newline=""))
        assert row["protocol"] == "dialogue_likert"
        assert row["reasons"] == said
        assert row["bot"] == ""
        assert row["rank_low"] == ""

    async def test_a_team_whose_bots_nobody_rated_sees_no_figures_of_others(self, suite: RunningSuite):
        path = await rated_campaign(suite, await register_bots(suite), speakers=("secretive", "baseline"))
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/results/release")).status_code == 200
        assert (await list_standings(suite)).json()["items"] == []


@pytest.fixture(scope="class")
async def rated(module_suite: RunningSuite, shared_suites: SharedSuites) -> AsyncIterator[str]:
    """The path of a campaign by ratings whose results are released and published; all tests of a class read it."""
    path = await rated_campaign(module_suite, await register_bots(module_suite))
    admin = await module_suite.client("annotation", "admin")
    for change in ("release", "publish"):
        assert (await admin.post(f"{path}/results/{change}")).status_code == 200
    yield path
    await shared_suites.empty(module_suite)


class TestRatedCampaigns:
    """ours 5 and 4, secretive 2 and 1, baseline 3 and 3: each from two annotators."""

    async def test_show_their_headline_measure_under_the_names_of_a_team(self, module_suite: RunningSuite, rated: str):
        analyst = await module_suite.client("analytics", "analyst")
        standing = await get_standing(module_suite)
        measure = standing["measure"]
        assert (measure["measure"], measure["level"], measure["kind"]) == ("quality", "dialogue", "scale")
        shown = {each["shown_as"]: each for each in measure["bots"]}
        assert [each["value"]["estimate"] for each in measure["bots"]] == [4.5, 3.0, 1.5]
        assert (shown["own"]["bot"], shown["public"]["bot"]) == ("ours", "baseline")
        assert shown["pseudonym"]["bot"].startswith("bot-")
        assert "secretive" not in (await list_standings(module_suite)).text
        operators = (await analyst.get(f"{rated}/measures/quality")).json()
        assert shown["own"]["value"]["low"] == operators["bots"][0]["low"]
        assert standing["counts"]["annotators"] == 2

    @pytest.mark.usefixtures("rated")
    async def test_are_a_table_of_their_headline_measure(self, module_suite: RunningSuite):
        us = await module_suite.client("analytics", "team", team="us")
        answer = await us.get(STANDINGS, headers={"Accept": "text/csv"})
        rows = [*csv.DictReader(io.StringIO(answer.text, newline=""))]
        assert [(row["measure"], row["value_estimate"]) for row in rows] == [
            ("quality", "4.5"),
            ("quality", "3.0"),
            ("quality", "1.5"),
        ]

    @pytest.mark.usefixtures("rated")
    async def test_show_the_public_their_headline_measure_with_hidden_names(self, module_suite: RunningSuite):
        async with httpx.AsyncClient(base_url=module_suite.urls["analytics"]) as stranger:
            answer = await stranger.get(PUBLIC)
        (board,) = answer.json()["items"]
        assert [each["value"]["estimate"] for each in board["measure"]["bots"]] == [4.5, 3.0, 1.5]
        assert [each["shown_as"] for each in board["measure"]["bots"]] == ["pseudonym", "public", "pseudonym"]
        assert "secretive" not in answer.text


class TestPublicResults:
    async def test_are_read_without_a_key_from_their_publication_to_their_withdrawal(self, suite: RunningSuite):
        bots = await register_bots(suite)
        path = await released_campaign(suite, bots)
        admin = await suite.client("annotation", "admin")
        async with httpx.AsyncClient(base_url=suite.urls["analytics"]) as stranger:
            assert (await stranger.get(PUBLIC)).json()["items"] == []
            for _ in range(2):
                assert (await admin.post(f"{path}/results/publish")).status_code == 200
            (board,) = (await stranger.get(PUBLIC)).json()["items"]
            analyst = await suite.client("analytics", "analyst")
            ranking = (await analyst.get(f"{path}/ranking")).json()
            shown = [each for each in board["bots"] if each["shown_as"] != "people"]
            assert [each["win_rate"] for each in shown] == [each["win_rate"] for each in ranking["ranking"]["bots"]]
            assert board["data_sha256"] == ranking["data_sha256"]
            assert board["method"] == ranking["ranking"]["method"]
            assert sorted(each["shown_as"] for each in shown) == ["pseudonym", "pseudonym", "public"]
            assert all(each["performance"] is None for each in board["bots"])
            for hidden in ("secretive", "ours", *(bots[name] for name in ("secretive", "ours"))):
                assert hidden not in (await stranger.get(PUBLIC)).text
            entries = (await admin.get(f"{path}/audit")).json()["items"]
            assert [each["action"] for each in entries] == ["results.released", "results.published"]
            assert (await admin.post(f"{path}/results/withdraw")).json()["published_at"] is None
            assert (await stranger.get(PUBLIC)).json()["items"] == []
        assert (await list_standings(suite)).json()["items"] == []

    async def test_come_page_by_page_those_published_last_first(self, suite: RunningSuite):
        bots = await register_bots(suite)
        paths = [await labelled_campaign(suite, bots, pairs=[("ours", "baseline")]) for _ in range(2)]
        admin = await suite.client("annotation", "admin")
        for path in paths:
            assert (await admin.post(f"{path}/results/publish")).status_code == 200
        async with httpx.AsyncClient(base_url=suite.urls["analytics"]) as stranger:
            first = (await stranger.get(PUBLIC, params={"limit": 1})).json()
            rest = (await stranger.get(PUBLIC, params={"limit": 1, "cursor": first["next_cursor"]})).json()
            shown = [each["campaign_id"] for page in (first, rest) for each in page["items"]]
            assert shown == [path.rpartition("/")[2] for path in reversed(paths)]
            assert rest["next_cursor"] is None
            assert (await stranger.get(PUBLIC, params={"cursor": "-1"})).status_code == 422


class TestNames:
    async def test_pseudonyms_stay_in_a_campaign_and_change_in_the_next(self, suite: RunningSuite):
        bots = await register_bots(suite)
        for _ in range(2):
            await released_campaign(suite, bots)
        first, second = [(await list_standings(suite)).json()["items"] for _ in range(2)]
        assert first == second
        hidden = [[each["bot"] for each in standing["bots"] if each["shown_as"] == "pseudonym"] for standing in first]
        assert len({name for (name,) in hidden}) == 2
        page = (await list_standings(suite, limit=1)).json()
        rest = (await list_standings(suite, limit=1, cursor=page["next_cursor"])).json()
        assert [*page["items"], *rest["items"]] == first
        assert rest["next_cursor"] is None

    async def test_no_reason_names_a_hidden_bot(self, suite: RunningSuite):
        """Two bots that never met are named by the operator's ranking, which says why there are no ranks."""
        bots = await register_bots(suite)
        path = await released_campaign(suite, bots, pairs=[("ours", "secretive"), ("baseline", "ours")], ties=False)
        assert "secretive" in (await _get_ranking(suite, path))["reason"]
        answer = await list_standings(suite)
        assert "secretive" not in answer.text
        assert answer.json()["items"][0]["reasons"] == [
            "Some bots of this campaign never met: win rates are over different opponents, and nobody has a rank."
        ]

    async def test_no_reason_of_a_bot_names_a_hidden_bot(self, suite: RunningSuite):
        """Two bots that met nobody else are named by the operator's ranking, which ranks the others."""
        bots = await register_bots(suite)
        pairs = [("ours", "third"), ("third", "baseline"), ("secretive", "fourth")]
        path = await released_campaign(suite, bots, pairs=pairs)
        reasons = {each["bot"]: each["reason"] for each in (await _get_ranking(suite, path))["bots"]}
        assert "secretive" in reasons["fourth"]
        assert reasons["ours"] is None
        standing = await list_standings(suite)
        assert len(standing.json()["items"][0]["bots"]) == 5
        assert "secretive" not in standing.text
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/results/publish")).status_code == 200
        async with httpx.AsyncClient(base_url=suite.urls["analytics"]) as stranger:
            board = await stranger.get(PUBLIC)
        assert len(board.json()["items"][0]["bots"]) == 5
        assert "secretive" not in board.text

    async def test_a_name_that_two_owners_use_is_a_pseudonym(self, suite: RunningSuite):
        """A team can't claim another's figures with a bot of its name in another collection of the campaign."""
        bots = await register_bots(suite)
        thief = await suite.client("bots", "team", team="us")
        protocol = {"kind": "builtin", "model": "eliza"}
        body = {"name": "secretive", "domains": ["everyday"], "protocol": protocol, "public": True}
        stolen = await created(thief, "/v1/bots?probe=false", body)
        mixed = [
            await import_conversations(suite, [with_bots(conversation(f"c{at}", "ours", "secretive"), each)])
            for at, each in enumerate((bots, bots | {"secretive": stolen["id"]}))
        ]
        rows = [imported_annotation(f"a{at}", conversation=f"c{at}", answer=WHOLE) for at in range(2)]
        shown: dict[str, list[Segment]] = {"p": [("c0", 1), ("c1", 1)]}
        path = await import_campaign(suite, None, shown, rows, collections=mixed)
        admin = await suite.client("annotation", "admin")
        for action in ("close", "results/release"):
            assert (await admin.post(f"{path}/{action}")).status_code == 200
        answer = await list_standings(suite)
        assert {each["shown_as"] for each in answer.json()["items"][0]["bots"]} == {"own", "pseudonym"}
        assert "secretive" not in answer.text

    async def test_the_list_of_bots_by_team_gives_a_team_its_own_alone(self, suite: RunningSuite):
        await register_bots(suite)
        us = await suite.client("bots", "team", team="us")
        assert (await us.get("/v1/bots", params={"team": "them"})).json()["items"] == []
        for client in (us, await suite.client("bots", "admin")):
            listed = (await client.get("/v1/bots", params={"team": "us"})).json()["items"]
            assert [(each["name"], each["team"]) for each in listed] == [("ours", "us")]
        changed = await us.patch(f"/v1/bots/{listed[0]['id']}", json={"public": True})
        assert changed.json()["public"] is True


class TestRelease:
    async def test_the_list_of_bots_needs_no_release(self, suite: RunningSuite):
        await labelled_campaign(suite, await register_bots(suite))
        names = {}
        for team in ("us", "them", "others"):
            client = await suite.client("analytics", "team", team=team)
            names[team] = [each["name"] for each in (await client.get("/v1/teams/me/bots")).json()["items"]]
        assert names == {"us": ["ours"], "them": ["secretive"], "others": []}
        admin = await suite.client("analytics", "admin")
        assert (await admin.get("/v1/teams/me/bots")).status_code == 403

    async def test_results_that_are_not_released_or_no_more_are_seen_by_nobody(self, suite: RunningSuite):
        bots = await register_bots(suite)
        await labelled_campaign(suite, bots)
        path = await labelled_campaign(suite, bots)
        assert (await list_standings(suite, limit=1)).json() == {"items": [], "next_cursor": None}
        admin = await suite.client("annotation", "admin")
        await admin.post(f"{path}/results/release")
        assert (await get_standing(suite))["campaign"] == "autumn"
        await admin.post(f"{path}/results/withdraw")
        assert (await list_standings(suite)).json() == {"items": [], "next_cursor": None}

    async def test_a_campaign_that_has_not_ended_is_not_released(self, suite: RunningSuite):
        path = await labelled_campaign(suite, await register_bots(suite), closed=False)
        admin = await suite.client("annotation", "admin")
        refused = await admin.post(f"{path}/results/release")
        assert refused.status_code == 409
        assert refused.json()["detail"] == (
            "The campaign 'autumn' is open: its results can be released once it is complete, or after you close it."
        )
        assert (await admin.get(path)).json()["released_at"] is None

    async def test_release_and_withdrawal_are_noted_once_however_often_they_are_requested(self, suite: RunningSuite):
        path = await labelled_campaign(suite, {})
        admin = await suite.client("annotation", "admin")
        released = [(await admin.post(f"{path}/results/release")).json()["released_at"] for _ in range(2)]
        assert released[0] is not None
        assert released[0] == released[1]
        listed = (await admin.get("/v1/campaigns", params={"released": "true"})).json()["items"]
        assert [each["released_at"] for each in listed] == released[:1]
        assert (await admin.get("/v1/campaigns", params={"released": "false"})).json()["items"] == []
        for _ in range(2):
            assert (await admin.post(f"{path}/results/withdraw")).json()["released_at"] is None
        noted = (await admin.get(f"{path}/audit")).json()["items"]
        assert [each["action"] for each in noted] == ["results.released", "results.withdrawn"]

    async def test_only_administrators_release_results(self, suite: RunningSuite):
        path = await labelled_campaign(suite, {})
        for role in ("annotation", "analyst", "service"):
            client = await suite.client("annotation", role)
            for action in ("release", "withdraw"):
                assert (await client.post(f"{path}/results/{action}")).status_code == 403, (role, action)
        unknown = "/v1/campaigns/00000000-0000-7000-8000-000000000000/results/release"
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(unknown)).status_code == 404
        assert (await admin.get(path)).json()["released_at"] is None


async def _get_ranking(suite: RunningSuite, path: str) -> dict[str, Any]:
    analyst = await suite.client("analytics", "analyst")
    ranking: dict[str, Any] = (await analyst.get(f"{path}/ranking")).json()["ranking"]
    return ranking
