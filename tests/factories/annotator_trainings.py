"""Trainings of annotators, written in short."""

from collections.abc import Mapping
from typing import Any

import httpx

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

RIGHT: dict[str, Any] = {
    "entity": {"A": "human", "B": "bot"},
    "fluency": "A",
    "sensibleness": "A",
    "specificity": "A",
}
WRONG = RIGHT | {"entity": {"A": "bot", "B": "human"}}
_PREFERENCES = built_in_protocols()["comparative", 2].steps[0].questions


def gold_dialogue(name: str, *, exchanges: int = 2, **more: Any) -> dict[str, Any]:
    """Write a dialogue of its own texts, of which a person is A and a bot B."""
    turns = [{"speaker": "AB"[turn % 2], "text": f"{name} says {turn}"} for turn in range(2 * exchanges)]
    explanations = {"A": "Who has a name like that is a person.", "B": f"{name} repeats itself."}
    return {"turns": turns, "gold": RIGHT, "explanations": explanations} | more


def preferring(side: str) -> dict[str, Any]:
    """Answer every question of the protocol `comparative` alike."""
    return {question.id: side for question in _PREFERENCES}


def gold_pair(name: str, *, exchanges: int = 2, right_exchanges: int | None = None, **more: Any) -> dict[str, Any]:
    """Write two dialogues of their own texts, of which the one on the left is better."""
    right = gold_dialogue(f"{name} on the right", exchanges=right_exchanges or exchanges)["turns"]
    explanations = {"unit": f"{name} repeats itself on the right."}
    return gold_dialogue(name, exchanges=exchanges, gold=preferring("A"), explanations=explanations) | {
        "right_turns": right,
        **more,
    }


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


def training_of_pairs(**more: Any) -> dict[str, Any]:
    """Write a training for `comparative` in which one question alone is compared."""
    pairs = [gold_pair(f"training {number}") for number in range(3)]
    return training(
        **{"protocol": "comparative", "protocol_version": 2, "questions": ["relevant"], "dialogues": pairs} | more
    )


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


async def training_campaign(suite: RunningSuite, *, attempts: int = 1, **more: Any) -> dict[str, Any]:
    """Open a campaign with a training of three dialogues, the last of which has to be without a mistake."""
    await store_training(suite, **more)
    rules = {
        "protocol": more.get("protocol", "spot_the_bot"),
        "training": {"name": "first_steps", "attempts": attempts},
    }
    conversations = [conversation(f"c{number}", f"ONE-{number % 2}", f"TWO-{number % 2}") for number in range(4)]
    return await open_campaign(suite, await import_conversations(suite, conversations), package_size=2, **rules)


async def respond_to_all(suite: RunningSuite, campaign: dict[str, Any], last: dict[str, Any], **more: Any) -> str:
    """Answer the training, all but its last dialogue wrongly, and return its state."""
    for position, answer in enumerate((WRONG, WRONG, last)):
        answered = await respond(suite, campaign, "w", position, answer, **more)
        assert answered.status_code == 200, answered.text
    return answered.json()["state"]
