"""A campaign whose annotators answer in their own words, and a person who does so wherever one can."""

from typing import Any

from tests.factories.annotating import claim, save, submit
from tests.factories.annotator_trainings import gold_dialogue, respond, start, store_training
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

WORDS = "I live in Zermatt"


async def campaign_in_own_words(suite: RunningSuite) -> dict[str, Any]:
    """Open a campaign, with a training, whose annotators say why: once, and of each side."""
    questions: list[dict[str, Any]] = [
        {
            "id": "entity",
            "kind": "single",
            "per": "side",
            "text": "Who?",
            "choices": [{"value": each, "text": each} for each in ("human", "bot")],
        },
        {"id": "why", "kind": "text", "text": "Why?"},
        {"id": "about", "kind": "text", "per": "side", "text": "What else?"},
    ]
    document = {"format": 1, "name": "own_words", "version": 1, "title": "Own words", "source": "a test"}
    document |= {"unit": {"kind": "segment"}, "steps": [{"id": "all", "title": "All", "questions": questions}]}
    admin = await suite.client("annotation", "admin")
    await created(admin, "/v1/protocols", {"protocol": document})
    gold = {"entity": {"A": "human", "B": "bot"}, "why": "It says so.", "about": {"A": "It.", "B": "Says."}}
    dialogues = [gold_dialogue(f"training {number}") | {"gold": gold} for number in range(2)]
    await store_training(suite, protocol="own_words", dialogues=dialogues)
    return await campaign_of(suite, protocol="own_words", training={"name": "first_steps"})


async def write_everywhere(suite: RunningSuite, campaign: dict[str, Any], person: str) -> dict[str, Any]:
    """Have a person answer in their own words: the training, a package that they submit, and one that they hold."""
    answer = {"entity": {"A": "human", "B": "bot"}, "why": WORDS, "about": {"A": WORDS, "B": f"{WORDS}, too"}}
    assert (await start(suite, campaign, person)).status_code == 200
    for position in range(2):
        assert (await respond(suite, campaign, person, position, answer)).status_code == 200
    submitted = await claim(suite, campaign, person)
    for item in submitted["items"]:
        for change in ({"about": {"A": WORDS}}, {}):  # what it said before is kept as well
            assert (await save(suite, submitted, item["position"], answer | change)).status_code == 200
    assert (await submit(suite, submitted)).status_code == 200
    assert (await save(suite, await claim(suite, campaign, person), 0, answer)).status_code == 200
    return submitted
