"""A team sees its own bots in campaigns whose results were released, others under pseudonyms, and nothing else."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.factories.annotating import WHOLE
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import ANNOTATION, conversation, created, import_conversations, until

ANNOTATORS = [*(f"ann{number}" for number in range(9)), "simulated-1"]
PAIRS = [("ours", "secretive"), ("ours", "baseline"), ("secretive", "baseline"), ("HU", "ours")]
STANDINGS = "/v1/teams/me/standings"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """Those that a standing is made from."""
    return "bots", "conversations", "annotation", "analytics"


async def _bots(suite: RunningSuite) -> dict[str, str]:
    """Register a bot of the team `us`, one of `them`, and a public one of the operator; return their ids by name."""
    owners = {
        "ours": await suite.client("bots", "team", team="us"),
        "secretive": await suite.client("bots", "team", team="them"),
        "baseline": await suite.client("bots", "admin"),
    }
    protocol = {"kind": "builtin", "model": "eliza"}
    return {
        name: (
            await created(
                owner,
                "/v1/bots?probe=false",
                {"name": name, "domains": ["everyday"], "protocol": protocol, "public": name == "baseline"},
            )
        )["id"]
        for name, owner in owners.items()
    }


async def _campaign(
    suite: RunningSuite, bots: Mapping[str, str], pairs: list[tuple[str, str]] = PAIRS, *, closed: bool = True
) -> str:
    """Import a campaign of three conversations for each pair, which ten annotators labelled; return its path."""
    held = [
        _with_bots(conversation(f"{first}-{second}-{number}", first, second), bots)
        for first, second in pairs
        for number in range(3)
    ]
    collection = await import_conversations(suite, held)
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": "autumn", "domain": "everyday", "collection_id": collection, "segments": [1]}
    path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body))['id']}"
    await until(admin, path, "open")
    keys = [each["external_id"] for each in held]
    package = {"external_id": "p", "segments": [{"conversation": key, "exchanges": 1} for key in keys]}
    await created(admin, f"{path}/packages", {"packages": [package]})
    labelled = [
        ANNOTATION
        | {
            "external_id": f"{key}/{annotator}",
            "package": "p",
            "conversation": key,
            "exchanges": 1,
            "annotator": annotator,
            "answer": WHOLE | {"entity": _labels(at, number)},
            "started_at": None,
            "ended_at": None,
            "completion_code": None,
        }
        for at, key in enumerate(keys)
        for number, annotator in enumerate(ANNOTATORS)
    ]
    await created(admin, f"{path}/annotations", {"annotations": labelled})
    if closed:
        assert (await admin.post(f"{path}/close")).status_code == 200
    return path


def _with_bots(held: dict[str, Any], bots: Mapping[str, str]) -> dict[str, Any]:
    """Say which registered bots speak in an imported conversation."""
    sides = [each | ({"bot_id": bots[each["name"]]} if each["name"] in bots else {}) for each in held["participants"]]
    return held | {"participants": sides}


def _labels(conversation_at: int, annotator_at: int) -> dict[str, str]:
    """Label A a human and B a bot in three of four annotations, and both a bot in the fourth."""
    return {"A": "bot" if (conversation_at + annotator_at) % 4 == 0 else "human", "B": "bot"}


async def _released(suite: RunningSuite, bots: Mapping[str, str], **more: Any) -> str:
    path = await _campaign(suite, bots, **more)
    admin = await suite.client("annotation", "admin")
    assert (await admin.post(f"{path}/results/release")).status_code == 200
    return path


async def _standings(suite: RunningSuite, team: str = "us", **params: Any) -> httpx.Response:
    client = await suite.client("analytics", "team", team=team)
    return await client.get(STANDINGS, params=params)


async def _standing(suite: RunningSuite, team: str = "us") -> dict[str, Any]:
    (standing,) = (await _standings(suite, team)).json()["items"]
    return standing


class TestFigures:
    async def test_figures_are_those_that_the_operator_reads(self, suite: RunningSuite):
        path = await _released(suite, await _bots(suite))
        standing = await _standing(suite)
        analyst = await suite.client("analytics", "analyst")
        ranking = (await analyst.get(f"{path}/ranking")).json()
        (ours,) = (each for each in ranking["ranking"]["bots"] if each["bot"] == "ours")
        (seen,) = (each for each in standing["bots"] if each["shown_as"] == "own")
        assert seen["bot"] == "ours"
        assert (seen["rank_low"], seen["rank_high"]) == (ours["rank_low"], ours["rank_high"]) == (1, 1)
        assert seen["win_rate"] == ours["win_rate"]
        # 6 conversations x 10 annotators as side A, of which a quarter are ties: all decided games are won.
        assert seen["win_rate"]["estimate"] == 1
        assert 0 < seen["win_rate"]["low"] < seen["win_rate"]["high"] == 1
        rates = (await analyst.get(f"{path}/fooling-rates")).json()["fooling_rates"]
        (rate,) = (each for each in rates if each["bot"] == "ours")
        fooling = seen["fooling_rate"]
        assert (fooling["estimate"], fooling["low"], fooling["high"]) == (rate["rate"], rate["low"], rate["high"])
        assert seen["labels"] == rate["n"] == 90
        survival = (await analyst.get(f"{path}/survival")).json()["survival"]
        (curve,) = (each for each in survival["curves"] if each["bot"] == "ours")
        assert [(each["exchanges"], each["survival"]["estimate"]) for each in seen["survival"]] == [
            *zip(survival["times"], curve["survival"], strict=True)
        ]
        assert standing["settings"]["seed"] == ranking["seed"]
        assert standing["counts"] == ranking["counts"]
        assert (standing["counts"]["annotators"], standing["counts"]["simulated_annotators"]) == (10, 1)

    async def test_pairs_are_counted_from_the_side_of_the_team(self, suite: RunningSuite):
        await _released(suite, await _bots(suite))
        pairs = (await _standing(suite, "them"))["pairs"]
        assert {each["bot"] for each in pairs} == {"secretive"}
        (lost,) = (each for each in pairs if each["wins"] == 0)
        # Three conversations x 10 annotators; ties are annotators 0, 4 and 8 of the first, 3 and 7, and 2 and 6.
        assert (lost["losses"], lost["ties"]) == (23, 7)
        assert (lost["win_rate"]["estimate"], lost["win_rate"]["low"]) == (0, 0)
        assert 0 < lost["win_rate"]["high"] < 1

    async def test_figures_that_the_annotations_do_not_allow_are_missing_for_a_reason(self, suite: RunningSuite):
        bots = await _bots(suite)
        await _released(suite, bots, pairs=[("HU", "ours")])
        standing = await _standing(suite)
        assert standing["reasons"] == [
            "There are annotated conversations of 1 bots only: two that met are needed to rank."
        ]
        assert [(each["bot"], each["win_rate"], each["labels"]) for each in standing["bots"]] == [
            ("ours", None, 30),
            ("HU", None, 30),
        ]


class TestPerformance:
    async def test_a_team_reads_the_performance_of_its_own_bots_alone(self, suite: RunningSuite):
        bots = await _bots(suite)
        await _released(suite, bots)
        seen = {each["shown_as"]: each["performance"] for each in (await _standing(suite))["bots"]}
        # Nine conversations of three pairs; all were imported, which have no times.
        assert seen["own"]["conversations"] == {"complete": 9}
        assert (seen["own"]["collections"], seen["own"]["failed"], seen["own"]["latency"]) == (1, 0, None)
        assert [seen[each] for each in ("public", "pseudonym", "people")] == [None, None, None]
        us = await suite.client("analytics", "team", team="us")
        (listed,) = (await us.get("/v1/teams/me/bots")).json()["items"]
        assert (listed["id"], listed["name"], listed["public"]) == (bots["ours"], "ours", False)
        assert listed["performance"] == seen["own"]

    async def test_the_list_of_bots_needs_no_release(self, suite: RunningSuite):
        await _campaign(suite, await _bots(suite))
        names = {}
        for team in ("us", "them", "others"):
            client = await suite.client("analytics", "team", team=team)
            names[team] = [each["name"] for each in (await client.get("/v1/teams/me/bots")).json()["items"]]
        assert names == {"us": ["ours"], "them": ["secretive"], "others": []}
        admin = await suite.client("analytics", "admin")
        assert (await admin.get("/v1/teams/me/bots")).status_code == 403


class TestNames:
    async def test_other_bots_have_pseudonyms_unless_they_are_public(self, suite: RunningSuite):
        bots = await _bots(suite)
        await _released(suite, bots)
        answer = await _standings(suite)
        shown = {each["shown_as"]: each["bot"] for each in answer.json()["items"][0]["bots"]}
        assert set(shown) == {"own", "public", "pseudonym", "people"}
        assert (shown["own"], shown["public"], shown["people"]) == ("ours", "baseline", "HU")
        assert shown["pseudonym"].startswith("bot-")
        assert "secretive" not in answer.text
        assert bots["secretive"] not in answer.text
        theirs = {each["shown_as"]: each["bot"] for each in (await _standing(suite, "them"))["bots"]}
        assert theirs["own"] == "secretive"
        assert theirs["pseudonym"] not in {"ours", shown["pseudonym"]}

    async def test_pseudonyms_stay_in_a_campaign_and_change_in_the_next(self, suite: RunningSuite):
        bots = await _bots(suite)
        for _ in range(2):
            await _released(suite, bots)
        first, second = [(await _standings(suite)).json()["items"] for _ in range(2)]
        assert first == second
        hidden = [[each["bot"] for each in standing["bots"] if each["shown_as"] == "pseudonym"] for standing in first]
        assert len({name for (name,) in hidden}) == 2
        page = (await _standings(suite, limit=1)).json()
        rest = (await _standings(suite, limit=1, cursor=page["next_cursor"])).json()
        assert [*page["items"], *rest["items"]] == first
        assert rest["next_cursor"] is None

    async def test_no_reason_names_a_hidden_bot(self, suite: RunningSuite):
        """Two bots that never met are named by the operator's ranking, which says why there are no ranks."""
        bots = await _bots(suite)
        path = await _released(suite, bots, pairs=[("ours", "secretive"), ("ours", "baseline")])
        analyst = await suite.client("analytics", "analyst")
        assert "secretive" in (await analyst.get(f"{path}/ranking")).json()["ranking"]["reason"]
        answer = await _standings(suite)
        assert "secretive" not in answer.text
        assert answer.json()["items"][0]["reasons"] == [
            "Some bots of this campaign never met: win rates are over different opponents, and nobody has a rank."
        ]

    async def test_a_name_that_two_owners_use_is_a_pseudonym(self, suite: RunningSuite):
        """A team can't claim another's figures with a bot of its name in another collection of the campaign."""
        bots = await _bots(suite)
        thief = await suite.client("bots", "team", team="us")
        protocol = {"kind": "builtin", "model": "eliza"}
        body = {"name": "secretive", "domains": ["everyday"], "protocol": protocol, "public": True}
        stolen = await created(thief, "/v1/bots?probe=false", body)
        mixed = [
            await import_conversations(suite, [_with_bots(conversation(f"c{at}", "ours", "secretive"), each)])
            for at, each in enumerate((bots, bots | {"secretive": stolen["id"]}))
        ]
        admin = await suite.client("annotation", "admin")
        body = {"mode": "import", "name": "mixed", "domain": "everyday", "collections": mixed, "segments": [1]}
        path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body))['id']}"
        await until(admin, path, "open")
        segments = [{"conversation": f"c{at}", "exchanges": 1} for at in range(2)]
        await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
        rows = [
            ANNOTATION
            | {
                "external_id": f"a{at}",
                "package": "p",
                "conversation": f"c{at}",
                "exchanges": 1,
                "annotator": "ann",
                "answer": WHOLE | {"entity": {"A": "human", "B": "bot"}},
                "started_at": None,
                "ended_at": None,
                "completion_code": None,
            }
            for at in range(2)
        ]
        await created(admin, f"{path}/annotations", {"annotations": rows})
        for action in ("close", "results/release"):
            assert (await admin.post(f"{path}/{action}")).status_code == 200
        answer = await _standings(suite)
        assert {each["shown_as"] for each in answer.json()["items"][0]["bots"]} == {"own", "pseudonym"}
        assert "secretive" not in answer.text


class TestAttacks:
    async def test_results_that_are_not_released_or_no_more_are_seen_by_nobody(self, suite: RunningSuite):
        bots = await _bots(suite)
        path = await _campaign(suite, bots)
        assert (await _standings(suite)).json() == {"items": [], "next_cursor": None}
        admin = await suite.client("annotation", "admin")
        await admin.post(f"{path}/results/release")
        assert (await _standing(suite))["campaign"] == "autumn"
        await admin.post(f"{path}/results/withdraw")
        assert (await _standings(suite)).json() == {"items": [], "next_cursor": None}

    async def test_a_team_without_a_bot_in_a_campaign_does_not_learn_of_it(self, suite: RunningSuite):
        await _released(suite, await _bots(suite))
        for team in ("others", "u", "us%", "US", " us", "us "):
            answer = await _standings(suite, team)
            assert (answer.status_code, answer.json()["items"]) == (200, []), team

    async def test_only_a_key_of_a_team_is_let_in(self, suite: RunningSuite):
        await _released(suite, await _bots(suite))
        async with httpx.AsyncClient(base_url=suite.urls["analytics"]) as nobody:
            assert (await nobody.get(STANDINGS)).status_code == 401
        for role in ("admin", "analyst", "annotation", "service"):
            assert (await (await suite.client("analytics", role)).get(STANDINGS)).status_code == 403
        for team in (None, ""):
            teamless = await (await suite.client("analytics", "team", team=team)).get(STANDINGS)
            assert (teamless.status_code, teamless.json()["title"]) == (403, "Forbidden")
            assert "names no team" in teamless.json()["detail"]

    async def test_a_team_reads_no_result_of_the_operator(self, suite: RunningSuite):
        path = await _released(suite, await _bots(suite))
        us = await suite.client("analytics", "team", team="us")
        for result in ("win-rates", "ranking", "survival", "analysis", "leaderboard", "figures/ranking.json"):
            assert (await us.get(f"{path}/{result}")).status_code == 403, result
        assert (await us.get("/v1/analyses")).status_code == 403
        assert (await us.get(STANDINGS, params={"team": "them"})).status_code == 422

    async def test_the_list_of_bots_by_team_gives_a_team_its_own_alone(self, suite: RunningSuite):
        await _bots(suite)
        us = await suite.client("bots", "team", team="us")
        assert (await us.get("/v1/bots", params={"team": "them"})).json()["items"] == []
        for client in (us, await suite.client("bots", "admin")):
            listed = (await client.get("/v1/bots", params={"team": "us"})).json()["items"]
            assert [(each["name"], each["team"]) for each in listed] == [("ours", "us")]
        changed = await us.patch(f"/v1/bots/{listed[0]['id']}", json={"public": True})
        assert changed.json()["public"] is True


class TestRelease:
    async def test_a_campaign_that_has_not_ended_is_not_released(self, suite: RunningSuite):
        path = await _campaign(suite, await _bots(suite), closed=False)
        admin = await suite.client("annotation", "admin")
        refused = await admin.post(f"{path}/results/release")
        assert refused.status_code == 409
        assert refused.json()["detail"] == (
            "The campaign 'autumn' is open: its results can be released once it is complete, or after you close it."
        )
        assert (await admin.get(path)).json()["released_at"] is None

    async def test_release_and_withdrawal_are_noted_once_however_often_they_are_requested(self, suite: RunningSuite):
        path = await _campaign(suite, {})
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
        path = await _campaign(suite, {})
        for role in ("annotation", "analyst", "service"):
            client = await suite.client("annotation", role)
            for action in ("release", "withdraw"):
                assert (await client.post(f"{path}/results/{action}")).status_code == 403, (role, action)
        unknown = "/v1/campaigns/00000000-0000-7000-8000-000000000000/results/release"
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(unknown)).status_code == 404
        assert json.loads((await admin.get(path)).text)["released_at"] is None
