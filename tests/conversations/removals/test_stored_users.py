"""What the store knows of who uses a corpus."""

from typing import Any
from uuid import UUID

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.corpora import CorpusIn
from spotthebot.contracts.conversations.quality import TrainingSplit
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.removals import store as removals_store
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase


async def _corpus(session: WriteSession, name: str) -> UUID:
    request = CorpusIn(name=name, domain="small-talk", origin="us", licence="CC0")
    return (await corpora_store.add_corpus(session, request)).id


class TestCorpora:
    async def test_are_used_by_collections_that_took_texts_of_them_or_were_compared(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, other = await _corpus(session, "mine"), await _corpus(session, "other")
            part = {"corpus_id": str(mine)}
            plans: tuple[dict[str, Any], ...] = (
                {},
                {"opening": part},
                {"humans": part, "opening": None},
                {"opening": {"corpus_id": str(other)}},
            )
            made = [
                await collections_store.add_collection(
                    session, name=f"c{number}", domain="x", mode="x", plan=each, state=CollectionState.COMPLETE
                )
                for number, each in enumerate(plans)
            ]
            split = TrainingSplit(corpus_id=mine, split="train")
            await checks_store.request_check_against(session, made[3], split)
            assert await removals_store.list_users(session, mine) == ["c1", "c2", "c3"]
            assert await removals_store.list_users(session, new_id()) == []
