"""How often a learning built-in bot is trained, counted."""

import asyncio
import threading
from typing import Any
from uuid import UUID

import pytest

from spotthebot.bots.builtin_bots.domain.builders import build
from spotthebot.bots.builtin_bots.domain.contract import BuiltinBot, BuiltinModel
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.protocols.builtin import BuiltinBots
from spotthebot.bots.questions.domain.dialogue import Dialogue
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus


class TestTraining:
    @pytest.fixture
    def trained(self, monkeypatch: pytest.MonkeyPatch) -> list[BuiltinModel]:
        counted: list[BuiltinModel] = []

        def count(model: BuiltinModel, **made_from: Any) -> BuiltinBot:
            counted.append(model)
            return build(model, **made_from)

        monkeypatch.setattr("spotthebot.bots.protocols.builtin.build", count)
        return counted

    async def test_happens_once_for_the_check_the_probe_and_the_questions(
        self, fresh_suite: RunningSuite, trained: list[BuiltinModel]
    ) -> None:
        bot = await add_bot(fresh_suite, "ngram", corpus_id=await add_corpus(fresh_suite))
        admin = await fresh_suite.client("bots", "admin")
        for _ in range(2):
            answer = await admin.post(f"/v1/bots/{bot}/replies", json={"contexts": [{"turns": ["Hi."]}] * 8})
            assert {reply["failure"] for reply in answer.json()["replies"]} == {None}
        assert (await admin.post(f"/v1/bots/{bot}/probes")).json()["report"]["passed"] is True
        assert trained == [BuiltinModel.NGRAM]

    async def test_happens_once_for_bots_that_learn_the_same(
        self, fresh_suite: RunningSuite, trained: list[BuiltinModel]
    ) -> None:
        corpus = await add_corpus(fresh_suite)
        for name in ("one", "two"):
            await add_bot(fresh_suite, "retrieval", corpus_id=corpus, name=name)
        await add_bot(fresh_suite, "stray", corpus_id=corpus)
        assert trained == [BuiltinModel.RETRIEVAL, BuiltinModel.STRAY]

    async def test_is_kept_when_a_caller_gives_up_and_repeated_when_it_failed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started, may_end, failures = threading.Event(), threading.Event(), [CorpusIsNeeded(model="ngram")]
        builds = 0

        def slowly(model: BuiltinModel, **made_from: Any) -> BuiltinBot:
            nonlocal builds
            builds += 1
            if failures:
                raise failures.pop()
            started.set()
            may_end.wait(10)
            return build(model, **made_from)

        monkeypatch.setattr("spotthebot.bots.protocols.builtin.build", slowly)
        bots = BuiltinBots(_Corpus())  # type: ignore[arg-type]
        protocol = BuiltinProtocol(kind="builtin", model="ngram", corpus_id=UUID(int=1))
        with pytest.raises(CorpusIsNeeded):
            await bots.train(protocol, None)
        training = asyncio.create_task(bots.train(protocol, None))
        await asyncio.to_thread(started.wait, 10)
        training.cancel()
        with pytest.raises(asyncio.CancelledError):
            await training
        may_end.set()
        sha256 = await bots.train(protocol, None)
        assert await bots.find(protocol, sha256) is not None
        assert builds == 2

    async def test_forgets_the_least_recently_used_bot(self) -> None:
        bots = BuiltinBots(_Corpus(), max_kept=2)  # type: ignore[arg-type]
        protocols = [
            BuiltinProtocol(kind="builtin", model="ngram", corpus_id=UUID(int=1), seed=seed) for seed in range(3)
        ]
        sha256 = [await bots.train(protocol, None) for protocol in protocols[:2]]
        assert await bots.find(protocols[0], sha256[0]) is not None
        await bots.train(protocols[2], None)
        kept = [await bots.find(protocol, sha256[0]) is not None for protocol in protocols]
        assert kept == [True, False, True]


class _Corpus:
    """A corpus of one dialogue, in place of the service `conversations`."""

    async def dialogues(self, _corpus_id: UUID, _split: str, _team: str | None) -> list[Dialogue]:
        return [("Hello there, how are you?", "I am fine, thank you.")]
