"""Simulated people chat with bots, rate them and say which was better, as interactors of ABC-Eval do.

They are programs: they say lines of the sample dialogues, whatever the bot replies, and rate by the rule of simulated
annotators. `python simulated_chats.py BOTS CONVERSATIONS ANNOTATION ADMIN_KEY KEY [PEOPLE]`, where KEY is a frontend's.
A second run with the same keys continues the first.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from spotthebot.clients import Annotation, Bots, Conversations
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.conversations.chat_entries import ChatIn
from spotthebot.contracts.conversations.chats import (
    ChatConversationOut,
    ChatOut,
    ChatRatingsIn,
    ChatState,
    ChatTurnIn,
    ConversationRatingIn,
    HumanBotIn,
)
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.turns import Turn
from spotthebot.local.sample import sample_dialogues
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.annotator import SimulatedAnnotator
from spotthebot.simulation.answers import ShownItem, answer_steps

BOTS = ("retrieval", "ngram", "eliza", "dull")
TURNS = 10
LINES = [each["turns"][::2] for each in sample_dialogues() if each["split"] == "openings"]


def main(
    bots_url: str, conversations_url: str, annotation_url: str, admin_key: str, key: str, people: str = "16"
) -> None:
    """Make the collection `talks`, let people chat in it, and finish it."""
    with Bots(bots_url, admin_key) as bots, Annotation(annotation_url, admin_key) as annotation:
        known = {bot.name: bot.id for bot in bots.list_bots()}
        if missing := [name for name in BOTS if name not in known]:
            sys.exit(f"Collect conversations of {', '.join(missing)} first: docs/collecting.md")
        protocol = annotation.get_protocol("dialogue_likert", 1).protocol
    request = HumanBotIn(
        mode="human_bot",
        name="talks",
        domain="everyday",
        bots=tuple(known[name] for name in BOTS),
        minimum_turns=TURNS,
        maximum_turns=TURNS,
        seed=7,
    )
    with Conversations(conversations_url, admin_key) as admin, Conversations(conversations_url, key) as frontend:
        collection = next(iter(admin.list_collections(name=request.name)), None) or admin.create_collection(request)
        if collection.state is CollectionState.COMPLETE:
            sys.exit(f"The collection {request.name} is complete already.")
        for number, annotator in enumerate(simulated_annotators(int(people), seed=7)):
            # Nobody annotates their own chats, so these people have other names than annotators.
            person = replace(annotator, name=f"simulated-{1001 + number}")
            chat(frontend, collection.id, person, number, protocol)
            print(f"{number + 1} of {people} simulated people have chatted and rated")
        admin.finish_collection(collection.id)


def chat(
    frontend: Conversations, collection_id: UUID, person: SimulatedAnnotator, number: int, protocol: AnnotationProtocol
) -> None:
    """Let a person talk to each partner to the end, and rate the conversations."""
    request = ChatIn(collection_id=collection_id, interactor=person.name, kind=AnnotatorKind.SIMULATED)
    now = frontend.start_chat(request, idempotency_key=f"{collection_id}-{person.name}")
    now = frontend.get_chat(now.id)
    while now.state is ChatState.CHATTING:
        now = say(frontend, now, LINES[(2 * number + len(now.conversations)) % len(LINES)])
    if now.state is ChatState.RATING:
        frontend.rate_chat(now.id, ratings(person, protocol, now.conversations))


def say(frontend: Conversations, now: ChatOut, lines: Sequence[str]) -> ChatOut:
    """Wait for the partner, say the next line, or go on to the next partner; returns the chat afterwards."""
    if now.awaits_reply:
        time.sleep(0.05)
        return frontend.get_chat(now.id)
    going_on = now.conversations[-1]
    if going_on.over:
        return frontend.advance_chat(now.id)
    said = len(going_on.turns) // 2
    turn = ChatTurnIn(number=going_on.number, text=lines[said % len(lines)])
    return frontend.say_in_chat(now.id, turn, idempotency_key=f"{now.id}-{going_on.number}-{said}")


def ratings(
    person: SimulatedAnnotator, protocol: AnnotationProtocol, conversations: Sequence[ChatConversationOut]
) -> ChatRatingsIn:
    """Rate the partner, who is side B, by the rule of simulated annotators; the higher quality is preferred."""
    rated = []
    for each in conversations:
        turns = [Turn(speaker="A" if turn.speaker == "you" else "B", text=turn.text) for turn in each.turns]
        *_, (answer, _) = answer_steps(person, protocol, ShownItem(turns, None), {})
        scores = {question: given["B"] for question, given in answer.items() if isinstance(given, dict)}
        rated.append(ConversationRatingIn.model_validate({"number": each.number, "scores": scores}))
    first, second = (each.scores["quality"] for each in rated)
    return ChatRatingsIn(conversations=tuple(rated), preferred=None if first == second else 1 if first > second else 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
