"""Campaigns, made through the services' own API: open for annotators, or imported with labels, and their standings."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import httpx
import psycopg

from tests.factories.annotating import WHOLE, state_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until, with_bots

ANNOTATION = {
    "answer": {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "tie", "specificity": "B"},
    "elapsed_ms": 1200,
}
ANNOTATORS = [*(f"ann{number}" for number in range(9)), "simulated-1"]
"""Nine people, and a program."""
CONVERSATIONS = [conversation(f"c{number}", "SECRET-GPT", "SECRET-DR") for number in range(4)]
PAIRS = [("ours", "secretive"), ("ours", "baseline"), ("secretive", "baseline"), ("HU", "ours")]
SMALL_TALK = (
    "Hi! Did you get the train in the end, or were you stuck at the office?",
    "I got it, just. I ran from the lift to the platform and the doors closed on my bag.",
    "Oh no! Is the bag all right?",
    "It has a scar now. I like bags. Do you like bags?",
    "I suppose I do. Mine is falling apart, though. I should buy a new one before the trip.",
    "I have a trip too. It is falling apart.",
)
STANDINGS = "/v1/teams/me/standings"
Segment = tuple[str, int]
"""A conversation, and the exchanges that are shown of it."""
UNLABELLED: Mapping[str, Sequence[Segment]] = {"p": [("c0", 1), ("c1", 2)], "q": [("c0", 2)]}
"""Two packages over two conversations of three exchanges."""


async def open_campaign(suite: RunningSuite, collection_id: str | None = None, **settings: Any) -> dict[str, Any]:
    return await create_campaign(suite, "open", collection_id, **settings)


async def create_campaign(
    suite: RunningSuite, state: str, collection_id: str | None = None, **settings: Any
) -> dict[str, Any]:
    """Create a campaign over a collection and return it once it is in a state."""
    admin = await suite.client("annotation", "admin")
    body = {"name": "c", "domain": "everyday", "collection_id": collection_id, "segments": [1, 2]} | settings
    campaign = await created(admin, "/v1/campaigns", body)
    return await until(admin, f"/v1/campaigns/{campaign['id']}", state)


async def campaign_of(suite: RunningSuite, conversations: int = 4, **settings: Any) -> dict[str, Any]:
    """Open a campaign over up to four conversations of three exchanges, shown at one and at two."""
    collection = await import_conversations(suite, CONVERSATIONS[:conversations])
    return await open_campaign(suite, collection, **{"package_size": 2} | settings)


def talk(key: str, *texts: str) -> dict[str, Any]:
    """Write a conversation of two bots with these turns, or with small talk."""
    turns = [{"speaker": "AB"[number % 2], "text": text} for number, text in enumerate(texts or SMALL_TALK)]
    participants = [{"kind": "bot", "name": name} for name in ("SECRET-GPT", "SECRET-DR")]
    return {"external_id": key, "participants": participants, "turns": turns}


async def campaign_of_talks(suite: RunningSuite, *talks: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Open a campaign that shows each conversation whole; all in one package."""
    collection = await import_conversations(suite, list(talks))
    exchanges = min(len(each["turns"]) for each in talks) // 2
    return await open_campaign(suite, collection, **{"segments": [exchanges], "package_size": 20} | settings)


def make_turk_campaign(suite: RunningSuite, campaign_id: str) -> None:
    """Give a campaign the panel Mechanical Turk, which campaigns had before it closed."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        panel = 'UPDATE annotation.campaigns SET panel = \'{"kind": "mturk"}\' WHERE id = %s'
        connection.execute(panel, [campaign_id])


async def turk_campaign(suite: RunningSuite, **settings: Any) -> dict[str, Any]:
    """Open a campaign of Mechanical Turk."""
    campaign = await campaign_of(suite, **settings)
    make_turk_campaign(suite, campaign["id"])
    return await state_of(suite, campaign)


def package_rows(shown: Mapping[str, Iterable[Segment]]) -> list[dict[str, Any]]:
    """Write packages for an upload, from the segments that each shows."""
    return [
        {"external_id": name, "segments": [{"conversation": key, "exchanges": length} for key, length in segments]}
        for name, segments in shown.items()
    ]


def imported_annotation(external_id: str, **change: Any) -> dict[str, Any]:
    """Write an annotation for an upload: of one exchange of the conversation `c0`, in the package `p`, by `ann`."""
    unmeasured = {"started_at": None, "ended_at": None, "completion_code": None}
    segment = {"package": "p", "conversation": "c0", "exchanges": 1, "annotator": "ann"}
    return ANNOTATION | {"external_id": external_id} | segment | unmeasured | change


async def import_campaign(
    suite: RunningSuite,
    collection_id: str | None,
    shown: Mapping[str, Iterable[Segment]],
    annotations: Sequence[Mapping[str, Any]] = (),
    **settings: Any,
) -> str:
    """Open a campaign of mode `import`, upload its packages and annotations, and return its path."""
    campaign = await open_campaign(suite, collection_id, **{"mode": "import", "segments": [1]} | settings)
    path = f"/v1/campaigns/{campaign['id']}"
    admin = await suite.client("annotation", "admin")
    await created(admin, f"{path}/packages", {"packages": package_rows(shown)})
    if annotations:
        await created(admin, f"{path}/annotations", {"annotations": annotations})
    return path


async def unlabelled_campaign(suite: RunningSuite) -> str:
    """Import a campaign of the packages `UNLABELLED` and return its path; annotators' ids are published."""
    collection = await import_conversations(suite, [conversation(key, "X", "Y") for key in ("c0", "c1")])
    return await import_campaign(suite, collection, UNLABELLED, segments=[1, 2], annotators_published=True)


async def upload(suite: RunningSuite, path: str, kind: str, rows: list[dict[str, Any]]) -> httpx.Response:
    """Upload packages or annotations to an imported campaign."""
    admin = await suite.client("annotation", "admin")
    return await admin.post(f"{path}/{kind}", json={kind: rows})


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
    keys = [each["external_id"] for each in held]
    labelled = [
        imported_annotation(
            f"{key}/{annotator}",
            conversation=key,
            annotator=annotator,
            annotator_kind="simulated" if annotator == "simulated-1" else "person",
            answer=WHOLE | {"entity": _labels(at + number if ties else 1)},
        )
        for at, key in enumerate(keys)
        for number, annotator in enumerate(annotators)
    ]
    collection = await import_conversations(suite, held)
    shown = {"p": [(key, 1) for key in keys]}
    path = await import_campaign(suite, collection, shown, labelled, name="autumn", seed=7)
    if closed:
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/close")).status_code == 200
    return path


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


RATINGS = {"ours": (5, 4), "secretive": (2, 1), "baseline": (3, 3)}
DIMENSIONS = (
    *("grammatical", "relevant", "informative", "emotion_aware", "engaging", "consistent", "proactive"),
    "quality",
)


async def rated_campaign(
    suite: RunningSuite,
    bots: Mapping[str, str],
    *,
    speakers: tuple[str, ...] = ("ours", "secretive", "baseline"),
    judges: Sequence[str] = (),
) -> str:
    """Import and close a campaign by `dialogue_likert`: two annotators rate each speaker of each pair of speakers.

    Each of the `judges` rates as the first annotator does.
    """
    pairs = [*combinations(speakers, 2)]
    held = [with_bots(conversation(f"{first}-{second}", first, second), bots) for first, second in pairs]
    collection = await import_conversations(suite, held)
    admin = await suite.client("annotation", "admin")
    more = {"collection_id": collection, "protocol": "dialogue_likert"}
    body = {"mode": "import", "name": "spring", "domain": "everyday"} | more
    path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body))['id']}"
    await until(admin, path, "open")
    segments = [{"conversation": each["external_id"], "exchanges": 3} for each in held]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
    rated = [
        ANNOTATION
        | {
            "external_id": f"{first}-{second}/{annotator}",
            "package": "p",
            "conversation": f"{first}-{second}",
            "exchanges": 3,
            "annotator": annotator,
            "annotator_kind": kind,
            "answer": {each: {"A": RATINGS[first][number], "B": RATINGS[second][number]} for each in DIMENSIONS},
            "started_at": None,
            "ended_at": None,
            "completion_code": None,
        }
        for first, second in pairs
        for annotator, number, kind in (
            ("ann0", 0, "person"),
            ("ann1", 1, "person"),
            *((name, 0, "judge") for name in judges),
        )
    ]
    await created(admin, f"{path}/annotations", {"annotations": rated})
    assert (await admin.post(f"{path}/close")).status_code == 200
    return path
