"""Trainings of annotators, written in short."""

from typing import Any

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
