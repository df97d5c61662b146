"""Studies over chats that people rated: their tasks are imported, with answers that a seeded rule gives.

The better a bot, the higher its points, the rarer its false facts, and the more often it is preferred.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import psycopg

from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.conversations.transfers import lines_of, upload
from tests.factories.campaigns import DIMENSIONS
from tests.factories.rated_chats import NOON, QUALITY, exported_chats, points
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, until

EXCHANGES = 3
TASKS = ("factual_behaviour", "dialogue_likert", "comparative")
Answered = tuple[str, str | None, str, Mapping[str, Any]]
"""A conversation, the one on the right of a pair, the annotator, and the answer."""


async def import_chats(suite: RunningSuite, chats: Sequence[ExportedConversation]) -> str:
    admin = await suite.client("conversations", "admin")
    body = {"mode": "import", "name": "talks", "domain": "everyday", "held_as": "human_bot"}
    collection = (await created(admin, "/v1/collections", body))["id"]
    await upload(suite, collection, lines_of(*chats))
    return collection


async def import_task(
    suite: RunningSuite,
    collection: str,
    name: str,
    protocol: str,
    answers: Sequence[Answered],
    *,
    answered: bool = True,
    closed: bool = True,
    **settings: Any,
) -> str:
    """Import a campaign whose annotators worked a minute for an item, and more for each later one.

    Unless it is `answered`, it only shows what the answers are about.
    """
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": name, "domain": "everyday", "collection_id": collection, "protocol": protocol}
    campaign = (await created(admin, "/v1/campaigns", body | settings))["id"]
    path = f"/v1/campaigns/{campaign}"
    await until(admin, path, "open")
    items = dict.fromkeys((conversation, right) for conversation, right, *_ in answers)
    segments = [_segment(conversation, right) for conversation, right in items]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
    rows = [
        {
            "external_id": f"a{number}",
            "package": "p",
            "annotator": annotator,
            "answer": answer,
            "elapsed_ms": 60_000 + 1234 * number,
            "started_at": NOON.isoformat(),
            "ended_at": (NOON + timedelta(minutes=5)).isoformat(),
            "completion_code": None,
            **_segment(conversation),
        }
        for number, (conversation, _, annotator, answer) in enumerate(answers)
    ]
    if answered:
        await created(admin, f"{path}/annotations", {"annotations": rows})
    if closed:
        assert (await admin.post(f"{path}/close")).status_code == 200
    return campaign


def _segment(conversation: str, right: str | None = None) -> dict[str, Any]:
    shown = {"conversation": conversation, "exchanges": EXCHANGES}
    return shown | ({} if right is None else {"right": {"conversation": right, "exchanges": EXCHANGES}})


def answers_to(
    protocol: str, chats: Sequence[ExportedConversation], *, annotators: Sequence[str] = ("ann", "ben"), seed: int = 1
) -> list[Answered]:
    """Answer a protocol about each chat, or about each person's two chats."""
    chance = np.random.default_rng(seed)
    if protocol == "comparative":
        pairs = [(one, other) for one, other in pairwise(chats) if one.id[:3] == other.id[:3]]
        return [
            (one.id, other.id, annotator, {name: _better(chance, one, other) for name in DIMENSIONS})
            for one, other in pairs
            for annotator in annotators
        ]
    answer = _likert if protocol == "dialogue_likert" else _facts
    return [(chat.id, None, annotator, answer(chance, chat)) for chat in chats for annotator in annotators]


def _likert(chance: np.random.Generator, chat: ExportedConversation) -> dict[str, Any]:
    return {name: {"A": 3, "B": points(chance, chat.bots[1])} for name in DIMENSIONS}


def _facts(chance: np.random.Generator, chat: ExportedConversation) -> dict[str, Any]:
    turns = [str(at) for at in range(2 * EXCHANGES)]
    stated = {turn: "yes" if chance.random() < 0.6 else "no" for turn in turns}
    asked = [turn for turn in turns if stated[turn] == "yes"]
    false = {turn: chance.random() > QUALITY[chat.bots[1]] / 5 for turn in asked}
    accuracy = {turn: "false" if false[turn] else "true" for turn in asked}
    return {"facts": stated} | ({"accuracy": accuracy} if accuracy else {})


def _better(chance: np.random.Generator, one: ExportedConversation, other: ExportedConversation) -> str:
    lead = points(chance, one.bots[1]) - points(chance, other.bots[1])
    return "tie" if lead == 0 else "A" if lead > 0 else "B"


async def create_study(suite: RunningSuite, campaigns: Sequence[str], **settings: Any) -> str:
    admin = await suite.client("annotation", "admin")
    return (await created(admin, "/v1/studies", {"name": "small", "campaigns": campaigns} | settings))["id"]


def store_scores(suite: RunningSuite, study: str, *score_sets: object) -> None:
    """Give a study score sets that nobody checks, as if they had been complete once."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        ids = [*map(str, score_sets)]
        connection.execute("UPDATE annotation.studies SET scores = %s::uuid[] WHERE id = %s", [ids, study])


async def chat_study(suite: RunningSuite, people: int = 12, tasks: Sequence[str] = TASKS, **settings: Any) -> str:
    """Create a study of these tasks over chats, whose ratings belong to it; return its id."""
    chats = exported_chats(people)
    collection = await import_chats(suite, chats)
    campaigns = [
        await import_task(suite, collection, f"small.{protocol}", protocol, answers_to(protocol, chats))
        for protocol in tasks
    ]
    return await create_study(suite, campaigns, **{"chats": [collection], "outcome": "quality", "seed": 11} | settings)
