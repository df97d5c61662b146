"""Answers that are made from attributes: what each field is, stated from rows, so that nothing leaks."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import insert

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chat_entries import ChatLinkOut, ChatPersonOut, PersonsChatOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationOut, LatenciesOut, SpeakersOut, TextsOut
from spotthebot.contracts.conversations.corpora import CorpusOut, DialogueOut, UploadOut
from spotthebot.contracts.conversations.exports import ImportedOut
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut
from spotthebot.contracts.conversations.performance import BotConversationOut, FailureReasonOut
from spotthebot.contracts.conversations.progress import ChatBotOut, FailureOut, MixOut, PairOut
from spotthebot.contracts.conversations.quality import QualityCheckOut, QualityFlagsOut, QualityOut
from spotthebot.contracts.conversations.ratings import RatingsRevisionOut
from spotthebot.conversations.chats.domain.chats import BotProgress, RatingsRevision
from spotthebot.conversations.chats.domain.people import ChatPerson
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import links as links_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.api import collection_out
from spotthebot.conversations.conversations.api import conversation_out, texts_out
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.mixes.domain import Selection
from spotthebot.conversations.participants import store as partner_sets_store
from spotthebot.conversations.participants.tables import PartnerSetRow
from spotthebot.conversations.performance import store as performance_store
from spotthebot.conversations.performance.api import bot_conversation_out
from spotthebot.conversations.progress import store as progress_store
from spotthebot.conversations.progress.api import failure_out
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.tables import QualityCheckRow
from spotthebot.kit.events.wire import DeliveryOut, SubscriptionOut
from spotthebot.kit.ids import new_id
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import (
    NOON,
    bot,
    store_chats,
    store_collection,
    store_conversations,
    store_flags,
)
from tests.factories.studies import created
from tests.factories.wire_values import assert_is, select

ELIZA, PARRY = bot(UUID(int=1), "ELIZA"), bot(UUID(int=2), "PARRY")
SPEAKERS = [
    {"kind": "bot", "name": "ELIZA", "bot_id": UUID(int=1)},
    {"kind": "bot", "name": "PARRY", "bot_id": UUID(int=2)},
]
COUNTS = {"conversations": 31, "complete": 5, "failed": 7, "cancelled": 11, "turns": 13, "turns_planned": 101}


class TestCollections:
    async def test_have_their_counts(self, stored: SavepointDatabase):
        more = {"name": "large", "domain": "d", "mode": "self_play", "state": "paused", "priority": 3}
        times = {"created_at": NOON, "finished_at": NOON + timedelta(hours=1)}
        async with stored.write() as session:
            collection = await store_collection(session, [ELIZA, PARRY], **more, **times, **COUNTS)
            found = await collections_store.get_collection(session, collection)
        none = {"waiting": 0, "rate_turns_per_second": None, "seconds_left": None}
        assert_is(CollectionOut, collection_out(found), {"id": collection, **more, **times, **COUNTS, **none})

    async def test_have_pairs_and_failures(self, stored: SavepointDatabase):
        async with stored.write() as session:
            collection = await store_collection(session, [ELIZA, PARRY])
            await store_conversations(session, collection, 2, state="failed", failure="It broke.")
            (pair,) = await progress_store.list_pairs(session, collection, after=-1, limit=9)
            (failure,) = await progress_store.list_failures(session, collection, offset=0, limit=9)
            performance = await performance_store.get_performance(session, UUID(int=1), [collection], None)
        stated = {"number": 0, "participants": ("ELIZA", "PARRY"), "conversations": {"failed": 2}}
        assert_is(PairOut, PairOut.of(pair), stated)
        stated = {"state": "failed", "reason": "It broke.", "bot": "ELIZA", "conversations": 2, "until": None}
        assert_is(FailureOut, failure_out(failure, 5.0), stated)
        assert_is(FailureReasonOut, performance.failures[0], {"reason": "It broke.", "conversations": 2})


class TestConversations:
    async def test_show_their_turns_and_who_speaks_to_those_who_may_know(self, stored: SavepointDatabase):
        async with stored.write() as session:
            collection = await store_collection(session, [ELIZA, PARRY])
            values = {"opening": ["Yo.", "Hey."], "opening_shown": True, "external_id": "x1", "state": "complete"}
            ending = {"ended_by": "farewell", "failure": "none", "personas": ["a nurse", ""]}
            (one,) = await store_conversations(session, collection, 1, turns=["Hi.", "Bye."], **values, **ending)
            found = await conversations_store.get_conversation(session, one)
            (speakers,) = await conversations_store.list_speakers(session, collection, after=None, limit=9)
            (latencies,) = await conversations_store.list_latencies(session, collection, after=None, limit=9)
        texts = {
            "id": one,
            "external_id": "x1",
            "state": "complete",
            "opening": [{"speaker": "A", "text": "Yo."}, {"speaker": "B", "text": "Hey."}],
            "opening_shown": True,
            "turns": [{"speaker": "A", "text": "Hi."}, {"speaker": "B", "text": "Bye."}],
        }
        assert_is(TextsOut, texts_out(found), texts)
        whole = texts | ending | {"collection_id": collection, "participants": SPEAKERS}
        assert_is(ConversationOut, conversation_out(found), whole)
        assert_is(BotConversationOut, bot_conversation_out(found, "large"), whole | {"collection": "large"})
        assert_is(SpeakersOut, SpeakersOut.of(speakers), {"id": one, "state": "complete", "participants": SPEAKERS})
        assert_is(LatenciesOut, LatenciesOut.of(latencies), {"id": one, "latencies_ms": [None, None]})

    async def test_have_quality_flags(self, stored: SavepointDatabase):
        flags = {"turns": 6, "words": 40, "language": "de", "language_probability": 0.5, "similarity": 0.25}
        lists = {"in_training": 2, "profanity": [1, 3], "personal_data": [{"position": 4, "kind": "email"}]}
        check = {"state": "failed", "failure": "It broke.", "requested_at": NOON}
        async with stored.write() as session:
            collection = await store_collection(session, [ELIZA, PARRY], complete=9)
            near, exact, one = await store_conversations(session, collection, 3, external_id=None)
            duplicate = {"exact_duplicate_of": exact, "near_duplicate_of": near}
            await store_flags(session, collection, [one], **flags, **lists, **duplicate)
            checked = check | {"checked_at": NOON + timedelta(minutes=1)}
            await session.execute(insert(QualityCheckRow).values(collection_id=collection, **checked))
            (found,) = await flags_store.list_flags(session, collection, only=None, after=None, limit=9)
            progress = await checks_store.get_check(session, collection)
        names = {
            "exported_id": str(one),
            "exact_duplicate_of_exported": str(exact),
            "near_duplicate_of_exported": str(near),
        }
        stated = {"conversation_id": one, "exchanges": 5, **flags, **lists, **duplicate, **names}
        assert_is(QualityFlagsOut, QualityFlagsOut.of(found), stated)
        stated = checked | {"collection_id": collection, "training": None, "conversations": 9, "flagged": 0}
        assert_is(QualityCheckOut, QualityCheckOut.of(progress), stated)
        whole: dict[str, Any] = {"check": stated, "summary": None, "repeated_texts": ()}
        assert_is(QualityOut, QualityOut.of(progress, check=progress, repeated_texts=()), whole)

    def test_are_counted_for_a_mix(self):
        counts = {"long_enough": 1, "too_short": 2, "repeated": 3, "not_drawn": 4}
        assert_is(MixOut, MixOut.of(Selection(**counts, left_out=frozenset({uuid4()}))), counts)


class TestChats:
    async def test_are_listed_for_a_person_and_by_their_links(self, stored: SavepointDatabase):
        async with stored.write() as session:
            collection = await store_collection(session, [ELIZA, PARRY], mode="human_bot")
            (chat,) = await store_chats(session, collection, 1, link="mail", state="rated", created_at=NOON)
            (found,) = await chats_store.list_chats_of(session, collection, "ann")
            revoked_at = await links_store.revoke_link(session, collection, "mail")
            (link,) = await links_store.list_links(session, collection, limit=9)
        assert_is(PersonsChatOut, PersonsChatOut.of(found), {"id": chat, "state": "rated", "created_at": NOON})
        stated = {"link": "mail", "people": 1, "chats": 1, "revoked_at": revoked_at}
        assert_is(ChatLinkOut, ChatLinkOut.of(link), stated)

    def test_are_counted_for_each_person(self):
        stated: dict[str, Any] = {"id": uuid4(), "consent_sha256": "0" * 64, "consented_at": NOON, "created_at": NOON}
        stated |= {"consent_withdrawn_at": NOON}
        stated |= {"erased_at": None, "conversations_started": 3, "chats_rated": 1}
        named = {"person": "ann", "interactor": "p-1", "pay": Decimal(5), "currency": "USD"}
        found = ChatPersonOut.of(ChatPerson(interactor="ann", kind=AnnotatorKind.JUDGE, **stated), **named)
        assert_is(ChatPersonOut, found, stated | named | {"kind": "judge"})

    def test_have_a_revision_of_their_ratings(self):
        found = RatingsRevisionOut.of(RatingsRevision(2, "2-00ff"))
        assert_is(RatingsRevisionOut, found, {"ratings": 2, "revision": "2-00ff"})

    def test_are_counted_for_each_bot(self):
        bot_id, counts = uuid4(), {"complete": 3, "failed": 1}
        found = ChatBotOut.of(BotProgress(counts, 2), bot_id=bot_id, name="eliza")
        assert_is(ChatBotOut, found, {"bot_id": bot_id, "name": "eliza", "conversations": counts, "rated": 2})


class TestPartnerSets:
    async def test_have_their_partners(self, stored: SavepointDatabase):
        partner = {"bot_id": str(UUID(int=1)), "name": "ELIZA", "version": 7, "configuration_sha256": "c0"}
        values = {"name": "p", "version": 2, "description": "Old ones.", "partners": [partner], "created_at": NOON}
        row = {"id": new_id(), **values}
        async with stored.write() as session:
            await session.execute(insert(PartnerSetRow).values(row))
            found = await partner_sets_store.get_partner_set(session, "p", 2)
        assert_is(PartnerSetOut, PartnerSetOut.of(found), row)


class TestCorpora:
    async def test_have_their_statistics_dialogues_and_uploads(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        written = {"name": "small", "domain": "everyday", "origin": "A test.", "licence": "MIT", "visibility": "shared"}
        corpus = await created(admin, "/v1/corpora", written)
        path = f"/v1/corpora/{corpus['id']}"
        dialogue = {
            "key": "k",
            "split": "train",
            "turns": ["Hi you.", "Hello.", "So?", "Bye now then."],
            "persona": ["I sing.", "I dance."],
            "metadata": {"mood": "good"},
        }
        await created(admin, f"{path}/dialogues", {"dialogues": [dialogue]})
        (found,) = (await admin.get(f"{path}/dialogues")).json()["items"]
        assert_is(DialogueOut, found, dialogue)
        statistics = {"dialogues": 1, "utterances": 4, "mean_exchanges": 2.0, "words_per_turn": 7 / 4}
        stated = {
            **written,
            "id": corpus["id"],
            "owner": None,
            "dialogues": {"train": 1},
            "statistics": {"train": statistics},
            "created_at": corpus["created_at"],
        }
        assert_is(CorpusOut, (await admin.get(path)).json(), stated)
        lines = [json.dumps(dialogue), json.dumps(dialogue | {"key": "other"}), "[]"]
        params = {"format": "jsonl"}
        answer = await admin.post(f"{path}/uploads", params=params, content="\n".join(lines).encode())
        rejected = answer.json()["rejected"]
        counts = {"read": 3, "stored": 1, "already_there": 1, "skipped": 0}
        first = [{"line": 3, "reason": rejected["first"][0]["reason"]}]
        assert_is(UploadOut, answer.json(), counts | {"rejected": {"count": 1, "first": first}})


class TestImports:
    async def test_say_what_became_of_each_line(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        body = {"mode": "import", "name": "im", "domain": "everyday"}
        collection = await created(admin, "/v1/collections", body)
        line = exported(1).model_dump_json()
        content = f"{line}\n[]\n{exported(2).model_dump_json()}\n{line}\n".encode()
        answer = await admin.post(f"/v1/collections/{collection['id']}/uploads", content=content)
        rejected = answer.json()["rejected"]
        counts = {"read": 4, "stored": 2, "already_there": 1}
        first = [{"line": 2, "reason": rejected["first"][0]["reason"]}]
        assert_is(ImportedOut, answer.json(), counts | {"rejected": {"count": 1, "first": first}})


class TestEvents:
    async def test_have_subscriptions_and_deliveries_without_secrets(self, suite: RunningSuite):
        url = suite.database.owner["conversations"]
        admin = await suite.client("conversations", "admin")
        body = {"url": "http://127.0.0.1:9/hooks", "events": ["collection.finished"]}
        path = f"/v1/subscriptions/{(await created(admin, '/v1/subscriptions', body))['id']}"
        await created(admin, f"{path}/secret", {})
        stated = (
            "UPDATE conversations.subscriptions SET active = false, inactive_reason = 'It is gone.', team = 'ours'"
            " RETURNING id, team, url, events, active, inactive_reason, old_secret_until, created_at"
        )
        (row,) = select(url, stated)
        found = (await admin.get(path)).json()
        assert_is(SubscriptionOut, found, row)
        assert (found["team"], found["inactive_reason"]) == ("ours", "It is gone.")
        event = (
            "INSERT INTO conversations.events (id, type, data, distributed)"
            " VALUES (%s, 'collection.finished', '{}', true)"
            " RETURNING id, type"
        )
        (published,) = select(url, event, new_id())
        delivery = (
            "INSERT INTO conversations.deliveries (id, subscription_id, event_id, state, attempts, status, error,"
            " last_attempt_at, next_attempt_at) VALUES (%s, %s, %s, 'failed', 4, 503, 'It is down.', now(), NULL)"
            " RETURNING id, event_id, state, attempts, status, error, last_attempt_at, next_attempt_at, created_at"
        )
        (row,) = select(url, delivery, new_id(), found["id"], published["id"])
        (sent,) = (await admin.get(f"{path}/deliveries")).json()["items"]
        assert_is(DeliveryOut, sent, row | {"type": published["type"]})
