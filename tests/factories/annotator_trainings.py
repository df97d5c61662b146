"""Trainings of annotators, written in short."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

RIGHT: dict[str, Any] = {
    "entity": {"A": "human", "B": "bot"},
    "fluency": "A",
    "sensibleness": "A",
    "specificity": "A",
}
WRONG = RIGHT | {"entity": {"A": "bot", "B": "human"}}


def gold_dialogue(name: str, *, exchanges: int = 2, **more: Any) -> dict[str, Any]:
    """Write a dialogue of its own texts, of which a person is A and a bot B."""
    turns = [{"speaker": "AB"[turn % 2], "text": f"{name} says {turn}"} for turn in range(2 * exchanges)]
    explanations = {"A": "Who has a name like that is a person.", "B": f"{name} repeats itself."}
    return {"turns": turns, "gold": RIGHT, "explanations": explanations} | more


def training(**more: Any) -> dict[str, Any]:
    """Write a training for Spot The Bot in which the answer about the sides alone is right or wrong."""
    return {
        "format": 1,
        "name": "first_steps",
        "version": 1,
        "title": "First steps",
        "protocol": "spot_the_bot",
        "protocol_version": 1,
        "questions": ["entity"],
        "allowed_mistakes": 0,
        "dialogues": [gold_dialogue(f"training {number}") for number in range(3)],
    } | more


async def store_training(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    return (await created(admin, "/v1/trainings", {"training": training(**more)}))["training"]


async def store_gold(suite: RunningSuite, dialogues: int, **more: Any) -> dict[str, Any]:
    """Store dialogues for gold items."""
    written = [gold_dialogue(f"gold {number}") for number in range(dialogues)]
    return await store_training(suite, name="gold_set", dialogues=written, **more)


def is_gold(item: Mapping[str, Any]) -> bool:
    return item["turns"][0]["text"].startswith("gold ")


async def start(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str) -> httpx.Response:
    """Begin the campaign's training, or go on with it."""
    frontend = await suite.client("annotation", "annotation")
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/training", json={"annotator": annotator})


async def respond(
    suite: RunningSuite,
    campaign: Mapping[str, Any],
    annotator: str,
    position: int,
    answer: Mapping[str, Any] = RIGHT,
    *,
    attempt: int = 1,
) -> httpx.Response:
    """Answer a dialogue of the training."""
    frontend = await suite.client("annotation", "annotation")
    path = f"/v1/campaigns/{campaign['id']}/training/dialogues/{position}"
    return await frontend.put(path, json={"annotator": annotator, "attempt": attempt, "answer": answer})
