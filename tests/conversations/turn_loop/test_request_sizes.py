"""Requests for turns fit into what `bots` reads: they are cut by bytes, and what fits into none fails alone."""

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from spotthebot.clients.requests import encoded
from spotthebot.contracts.bots.replies import MAX_REPLIES_BYTES, ContextIn, RepliesIn
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.turn_loop.use_cases import bot_requests as bot_requests_use_cases
from spotthebot.conversations.turn_loop.use_cases.bot_requests import split_into_requests
from spotthebot.kit.web.core.bodies import BodyLimits
from tests.conversations.domain_conversations import running
from tests.factories.bot_servers import bot, webhook
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import add_bot, created, plan, until

BOT, COLLECTION = uuid4(), CollectionId(uuid4())
LIMIT = 60_000
"""Bytes of a request in these tests: 15 turns of 4,000 letters."""
LONG = {"longest_reply_characters": 4_000}


def _conversation(*turns: str) -> Conversation:
    return running(*turns, bot=BOT, collection_id=COLLECTION, seed=2**63 - 1)


def _bytes_of(conversations: Any) -> int:
    contexts = tuple(
        ContextIn(turns=each.history, seed=each.seed, conversation_id=each.id, speaker="A", domain=each.domain)
        for each in conversations
    )
    return len(encoded(RepliesIn(contexts=contexts, version=1)))


class TestSplitIntoRequests:
    @pytest.mark.parametrize("letter", ["a", "ä", "語", "😀", '"', "\n", "\x01"])
    def test_each_request_is_within_the_bytes_that_are_read(self, letter: str):
        """Whatever a letter takes in JSON: from one byte to six."""
        conversations = [_conversation(*[letter * 20_000] * (2 * number)) for number in range(1, 20)]
        requests = [list(request) for request in split_into_requests(conversations, 32)]
        assert [each for request in requests for each in request] == conversations
        assert max(map(_bytes_of, requests)) <= MAX_REPLIES_BYTES
        together = [_bytes_of([*request, after[0]]) for request, after in itertools.pairwise(requests)]
        assert all(size > MAX_REPLIES_BYTES - 32_000 for size in together)  # none could have held one more

    def test_short_conversations_stay_in_one_request(self):
        conversations = [_conversation(*["Hello. How are you?"] * 20) for _ in range(64)]
        assert [len(request) for request in split_into_requests(conversations, 32)] == [32, 32]

    def test_a_persona_counts(self):
        """The next speaker's, of 20,000 letters: as many to a request as conversations with a turn of that length."""
        letters = "a" * 20_000
        given = [replace(_conversation("Hello.", "Hi."), personas=(letters, "")) for _ in range(2000)]
        said = [_conversation("Hello.", letters) for _ in range(2000)]
        sizes = [[len(each) for each in split_into_requests(made, 2000)] for made in (given, said)]
        assert sizes[0] == sizes[1]
        assert len(sizes[0]) > 1

    def test_a_request_holds_conversations_of_one_collection(self):
        others = CollectionId(uuid4())
        mixed = [replace(_conversation("Hello."), collection_id=each) for each in (COLLECTION, others, COLLECTION)]
        requests = [list(request) for request in split_into_requests(mixed, 32)]
        assert requests == [[mixed[0], mixed[2]], [mixed[1]]]

    def test_a_conversation_that_fits_into_none_stands_alone(self):
        huge = _conversation(*["a" * 20_000] * 500)
        small = [_conversation("Hello.") for _ in range(3)]
        requests = [list(request) for request in split_into_requests([small[0], huge, *small[1:]], 32)]
        assert [huge] in requests
        assert sum(map(len, requests)) == 4


@pytest.fixture
async def suite(database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningSuite]:
    """A service `bots` that reads little, as one behind a proxy with a limit of its own."""
    monkeypatch.setattr(BodyLimits, "bytes_allowed", lambda _limits, _settings: LIMIT)
    async with run_suite(database_urls, only=("bots", "conversations")) as running:
        yield running


async def _ended(suite: RunningSuite, others: list[str], **how: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Let a bot of long replies talk to others, and return the collection and its conversations."""
    async with bot(lambda question: {"text": f"{len(question['turns'])} {'a' * 3_990}"}) as (_, url):
        admin = await suite.client("conversations", "admin")
        long = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url, limits=LONG))
        collection = await created(admin, "/v1/collections", plan([long["id"], *others], **how))
        path = f"/v1/collections/{collection['id']}"
        done = await until(admin, path, "complete", seconds=90)
        listed = (await admin.get(f"{path}/conversations?limit=100")).json()["items"]
    return done, listed


class TestTurnLoop:
    @pytest.mark.parametrize("is_cut_before", [True, False], ids=["cut before they are sent", "cut when refused"])
    async def test_long_replies_end_no_collection(
        self,
        suite: RunningSuite,
        monkeypatch: pytest.MonkeyPatch,
        is_cut_before: bool,
    ):
        if is_cut_before:
            monkeypatch.setattr(bot_requests_use_cases, "MAX_REPLIES_BYTES", LIMIT)
        others = [await add_bot(suite, "dull")]
        done, _ = await _ended(suite, others, exchanges=4, conversations_per_pair=12)
        assert (done["complete"], done["failed"]) == (12, 0)

    async def test_a_conversation_that_is_too_large_fails_alone_with_the_reason(self, suite: RunningSuite):
        others = [await add_bot(suite, "dull"), await add_bot(suite, "eliza")]
        _, listed = await _ended(suite, others, exchanges=18, conversations_per_pair=2)
        ended = [(each["state"], each["failure"]) for each in listed]
        failed = [failure for state, failure in ended if state == "failed"]
        assert len(failed) == 4  # two pairs, in both orders
        assert {failure.split("turns so far")[1] for failure in failed} == {
            " are too large for one request to the bot."
        }
        assert sum(state == "complete" for state, _ in ended) == 2
