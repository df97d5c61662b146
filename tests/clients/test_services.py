"""The typed clients on real services: one call of each kind, from an event loop and from a thread without one."""

import asyncio
import time
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from spotthebot.clients import Annotation, Bots, Conflict, Conversations, Forbidden, Invalid, NotFound, Unauthenticated
from spotthebot.contracts.annotation.assignments import ClaimIn
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.bots.hosted_models import HostedModelIn
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.bots.replies import ContextIn, RepliesIn
from spotthebot.contracts.conversations.chat_entries import ChatIn
from spotthebot.contracts.conversations.chats import ChatTurnIn, HumanBotIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn, CollectionState, ImportIn
from spotthebot.contracts.conversations.conversations import (
    ConversationBatchIn,
    ConversationIn,
    Participant,
    ParticipantKind,
)
from spotthebot.contracts.conversations.corpora import CorpusFormat, CorpusIn
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.turns import Turn
from tests.factories.running_suite import RunningSuite

ELIZA = BuiltinProtocol(kind="builtin", model="eliza")
CORPUS = CorpusIn(name="small", domain="everyday", origin="Written for a test.", licence="Apache-2.0")
HELD = [
    ConversationIn(
        external_id=f"c{number}",
        participants=(
            Participant(kind=ParticipantKind.BOT, name="anna"),
            Participant(kind=ParticipantKind.HUMAN, name="HU"),
        ),
        turns=tuple(Turn(speaker="AB"[turn % 2], text=f"Turn\u2028{turn}\u0085 of {number}.") for turn in range(4)),
    )
    for number in range(5)
]


def bot(name: str) -> BotIn:
    return BotIn(name=name, domains=("everyday",), protocol=ELIZA)


async def imported(suite: RunningSuite, name: str = "im") -> UUID:
    conversations = await suite.conversations("admin")
    collection = await conversations.create_collection(ImportIn(mode="import", name=name, domain="everyday"))
    await conversations.import_conversations(collection.id, ConversationBatchIn(conversations=tuple(HELD)))
    return collection.id


class TestReading:
    async def test_returns_contracts(self, suite: RunningSuite):
        bots = await suite.bots("admin")
        registered = await bots.register_bot(bot("eliza"))
        assert registered.probe is not None
        assert registered.probe.passed
        assert await bots.get_bot(registered.id) == registered
        request = RepliesIn(contexts=(ContextIn(turns=("Hello!",)), ContextIn(turns=())))
        replies = await bots.reply(registered.id, request)
        assert [each.failure for each in replies.replies] == [None, None]
        assert (await bots.readiness()).status == "ready"
        assert "http_requests" in await bots.metrics()

    async def test_walks_all_pages(self, suite: RunningSuite):
        bots = await suite.bots("admin")
        names = [f"eliza-{number}" for number in range(5)]
        for name in names:
            await bots.register_bot(bot(name), probe=False)
        assert [each.name async for each in bots.list_bots(page_size=2)] == names
        first = await bots.list_bots(page_size=2).page()
        assert [each.name for each in first.items] == names[:2]
        assert [each.name async for each in bots.list_bots(cursor=first.next_cursor)] == names[2:]
        assert [each.name async for each in bots.list_bots(name="eliza-3")] == ["eliza-3"]

    async def test_streams_whole_lists(self, suite: RunningSuite):
        collection_id = await imported(suite)
        conversations = await suite.conversations("analyst")
        annotation = await suite.conversations("service")
        texts = [each.turns async for each in annotation.stream_texts(collection_id)]
        assert texts == [each.turns for each in HELD]
        listed = [each.turns async for each in conversations.list_conversations(collection_id, page_size=2)]
        assert listed == texts
        speakers = [each.participants[0].name async for each in conversations.stream_speakers(collection_id)]
        assert speakers == ["anna"] * 5


class TestCreating:
    async def test_twice_with_one_idempotency_key_creates_once(self, suite: RunningSuite):
        bots = await suite.bots("admin")
        once = await bots.register_bot(bot("eliza"), idempotency_key="k")
        assert await bots.register_bot(bot("eliza"), idempotency_key="k") == once
        with pytest.raises(Invalid, match="Idempotency-Key") as caught:
            await bots.register_bot(bot("another"), idempotency_key="k")
        assert caught.value.problem.type == "urn:spotthebot:problem:idempotency-key-reused"
        with pytest.raises(Conflict):
            await bots.register_bot(bot("eliza"))


class TestRefusals:
    async def test_have_types(self, suite: RunningSuite):
        conversations = await suite.conversations("admin")
        with pytest.raises(NotFound):
            await conversations.get_collection(uuid4())
        with pytest.raises(Forbidden, match="role annotation"):
            [each async for each in (await suite.conversations("annotation")).list_collections()]
        with pytest.raises(Forbidden):
            [each async for each in (await suite.conversations("annotation")).stream_texts(uuid4())]
        collection = await imported(suite)
        with pytest.raises(Conflict):
            await conversations.pause_collection(collection)
        with pytest.raises(Unauthenticated), Bots(suite.urls["bots"], "stb_nobody") as bots:
            await asyncio.to_thread(bots.list_bots().page)

    async def test_name_each_fault_of_the_body(self, suite: RunningSuite):
        conversations = await suite.conversations("admin")
        # What the contract itself would refuse reaches the service only like this.
        collection = ImportIn.model_construct(mode="import", name="", domain="Every day")
        with pytest.raises(Invalid) as caught:
            await conversations.create_collection(collection)
        assert {each.pointer for each in caught.value.problem.errors} == {"/name", "/domain"}


class TestFiles:
    async def test_go_up_and_come_down(self, suite: RunningSuite, tmp_path: Path):
        conversations = await suite.conversations("admin")
        collection_id = await imported(suite)
        pieces = [piece async for piece in conversations.export_collection(collection_id)]
        file = tmp_path / "conversations.jsonl"
        file.write_bytes(b"".join(pieces))
        lines = file.read_bytes().strip().split(b"\n")
        assert [ExportedConversation.model_validate_json(each).id for each in lines] == [
            each.external_id for each in HELD
        ]
        copy = await conversations.create_collection(ImportIn(mode="import", name="copy", domain="everyday"))
        assert (await conversations.upload_export(copy.id, file)).stored == len(HELD)
        assert (await conversations.upload_export(copy.id, iter([file.read_bytes()]))).already_there == len(HELD)

    async def test_corpora_are_read_by_their_format(self, suite: RunningSuite):
        conversations = await suite.conversations("admin")
        corpus = await conversations.create_corpus(CORPUS)
        text = "Hi . __eou__ Hello there . __eou__\nHow are you ? __eou__ Fine . __eou__\n"
        uploaded = await conversations.upload_dialogues(
            corpus.id, text.encode(), CorpusFormat.DAILYDIALOG, splits="train:0.5,openings:0.5"
        )
        assert uploaded.stored == 2
        assert len([each async for each in conversations.list_dialogues(corpus.id)]) == 2

    async def test_models_can_be_sent_again(self, suite: RunningSuite):
        bots = await suite.bots("admin")
        await bots.host_model(HostedModelIn.model_validate({"name": "gpt", "backend": "worker"}))
        sent = [await bots.upload_model_file("gpt", "config.json", b"{}") for _ in range(2)]
        assert sent[0] == sent[1]
        assert [each.name for each in (await bots.get_hosted_model("gpt")).files] == ["config.json"]
        await bots.remove_hosted_model("gpt")
        with pytest.raises(NotFound):
            await bots.get_hosted_model("gpt")


class TestEvents:
    async def test_a_collections_events_end_when_it_has_finished(self, suite: RunningSuite):
        bots, conversations = await suite.bots("admin"), await suite.conversations("admin")
        ids = [(await bots.register_bot(bot(name), probe=False)).id for name in ("one", "two")]
        collection = await conversations.create_collection(
            AllPlayAllIn(
                mode="all_play_all",
                name="x",
                domain="everyday",
                bots=tuple(ids),
                exchanges=2,
                conversations_per_pair=2,
            )
        )
        seen = [event async for event in conversations.watch_collection(collection.id)]
        assert [each.event for each in seen[:-1]] == ["progress"] * (len(seen) - 1)
        assert seen[-1].event == "finished"
        assert seen[-1].data.state is CollectionState.COMPLETE
        assert seen[-1].data == await conversations.get_collection(collection.id)

    async def test_a_chats_events_continue_where_a_reader_was_cut_off(self, suite: RunningSuite):
        bots, conversations = await suite.bots("admin"), await suite.conversations("admin")
        ids = tuple([(await bots.register_bot(bot(name), probe=False)).id for name in ("one", "two")])
        study = await conversations.create_collection(
            HumanBotIn(mode="human_bot", name="people", domain="everyday", bots=ids, minimum_turns=2, maximum_turns=4)
        )
        frontend = await suite.conversations("annotation")
        chat = await frontend.start_chat(ChatIn(collection_id=study.id, interactor="p1"))
        await frontend.say_in_chat(chat.id, ChatTurnIn(number=1, text="Hello there!"), idempotency_key="turn-1")
        await frontend.say_in_chat(chat.id, ChatTurnIn(number=1, text="Hello there!"), idempotency_key="turn-1")
        heard = []
        async for event in frontend.watch_chat(chat.id):
            heard.append((event.id, event.event))
            if len(heard) == 2:
                break
        async for event in frontend.watch_chat(chat.id, last_event_id=2):
            heard.append((event.id, event.event))
            assert event.data["speaker"] == "partner"
            break
        assert heard == [("1", "turn"), ("2", "typing"), ("3", "turn")]


class TestBlockingClients:
    async def test_do_the_same_without_an_event_loop(self, suite: RunningSuite, tmp_path: Path):
        admin = await suite.keys.make("admin")
        frontend = await suite.keys.make("annotation")

        def study() -> None:
            with (
                Conversations(suite.urls["conversations"], admin) as conversations,
                Annotation(suite.urls["annotation"], admin) as annotation,
                Annotation(suite.urls["annotation"], frontend) as tasks,
            ):
                collection = conversations.create_collection(
                    ImportIn(mode="import", name="im", domain="everyday"), idempotency_key="im"
                )
                batch = ConversationBatchIn(conversations=tuple(HELD))
                assert conversations.import_conversations(collection.id, batch).stored == 5
                assert len(list(conversations.list_conversations(collection.id, page_size=2))) == 5
                assert len(list(conversations.stream_speakers(collection.id))) == 5
                file = tmp_path / "conversations.jsonl"
                with file.open("wb") as opened:
                    opened.writelines(conversations.export_collection(collection.id))
                assert conversations.upload_export(collection.id, file).already_there == 5
                (finished,) = conversations.watch_collection(collection.id)
                assert finished.data.complete == 5
                campaign = annotation.create_campaign(
                    CampaignIn(name="c", domain="everyday", collection_id=collection.id, segments=(1, 2))
                )
                with pytest.raises(NotFound):
                    tasks.get_assignment(campaign.id)
                while annotation.get_campaign(campaign.id).state == "building":
                    time.sleep(0.05)
                claim = ClaimIn(annotator="w1")
                assert tasks.claim_package(campaign.id, claim).items

        await asyncio.to_thread(study)
