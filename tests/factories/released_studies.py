"""Campaigns over conversations of two teams' bots and a public one, imported with labels, and the standings in them."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tests.factories.annotating import WHOLE
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import ANNOTATION, conversation, created, import_conversations, until

ANNOTATORS = [*(f"ann{number}" for number in range(9)), "simulated-1"]
PAIRS = [("ours", "secretive"), ("ours", "baseline"), ("secretive", "baseline"), ("HU", "ours")]
STANDINGS = "/v1/teams/me/standings"


async def register_bots(suite: RunningSuite) -> dict[str, str]:
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


async def labelled_campaign(
    suite: RunningSuite,
    bots: Mapping[str, str],
    pairs: list[tuple[str, str]] = PAIRS,
    *,
    annotators: Sequence[str] = ANNOTATORS,
    ties: bool = True,
    closed: bool = True,
) -> str:
    """Import a campaign of three conversations for each pair, which all annotators labelled; return its path.

    The first of a pair won three of four games, and the fourth is a tie; without `ties` it won all.
    """
    held = [
        with_bots(conversation(f"{first}-{second}-{number}", first, second), bots)
        for first, second in pairs
        for number in range(3)
    ]
    collection = await import_conversations(suite, held)
    admin = await suite.client("annotation", "admin")
    more = {"collection_id": collection, "segments": [1], "seed": 7}
    body = {"mode": "import", "name": "autumn", "domain": "everyday"} | more
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
            "answer": WHOLE | {"entity": _labels(at + number if ties else 1)},
            "started_at": None,
            "ended_at": None,
            "completion_code": None,
        }
        for at, key in enumerate(keys)
        for number, annotator in enumerate(annotators)
    ]
    await created(admin, f"{path}/annotations", {"annotations": labelled})
    if closed:
        assert (await admin.post(f"{path}/close")).status_code == 200
    return path


def with_bots(held: dict[str, Any], bots: Mapping[str, str]) -> dict[str, Any]:
    """Say which registered bots speak in an imported conversation."""
    sides = [each | ({"bot_id": bots[each["name"]]} if each["name"] in bots else {}) for each in held["participants"]]
    return held | {"participants": sides}


def _labels(at: int) -> dict[str, str]:
    """Label A a human and B a bot in three of four annotations, and both a bot in the fourth."""
    return {"A": "bot" if at % 4 == 0 else "human", "B": "bot"}


async def released_campaign(suite: RunningSuite, bots: Mapping[str, str], **more: Any) -> str:
    path = await labelled_campaign(suite, bots, **more)
    admin = await suite.client("annotation", "admin")
    assert (await admin.post(f"{path}/results/release")).status_code == 200
    return path


async def list_standings(suite: RunningSuite, team: str = "us", **params: Any) -> httpx.Response:
    client = await suite.client("analytics", "team", team=team)
    return await client.get(STANDINGS, params=params)


async def get_standing(suite: RunningSuite, team: str = "us") -> dict[str, Any]:
    (standing,) = (await list_standings(suite, team)).json()["items"]
    return standing
