"""What the store keeps of corpora: what is new, what is known, and what it adds up to."""

from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from spotthebot.contracts.conversations.corpora import CorpusChangesIn, CorpusIn, CorpusVisibility
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.corpora import Dialogue, DialogueOutcome, SplitStatistics
from spotthebot.conversations.corpora.errors import CorpusNameTaken, NoSuchCorpus
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase

STORED, KNOWN, OTHER_TURNS = DialogueOutcome


async def _corpus(session: WriteSession, name: str) -> UUID:
    request = CorpusIn(name=name, domain="small-talk", origin="us", licence="CC0")
    return (await corpora_store.add_corpus(session, request)).id


class TestCorpora:
    async def test_have_a_name_of_their_own_and_changes_of_their_own(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, other = await _corpus(session, "mine"), await _corpus(session, "other")
            with pytest.raises(CorpusNameTaken):
                await _corpus(session, "mine")
            states = [
                await corpora_store.change_corpus(session, mine, changes)
                for changes in (
                    CorpusChangesIn(),
                    CorpusChangesIn(owner="red"),
                    CorpusChangesIn(visibility=CorpusVisibility.SHARED),
                )
            ]
            untouched = await corpora_store.get_corpus(session, other)
            for find in (
                corpora_store.get_corpus(session, new_id()),
                corpora_store.change_corpus(session, new_id(), CorpusChangesIn(owner="red")),
            ):
                with pytest.raises(NoSuchCorpus):
                    await find
        private, shared = CorpusVisibility.PRIVATE, CorpusVisibility.SHARED
        assert [(each.owner, each.visibility) for each in states] == [
            (None, private),
            ("red", private),
            ("red", shared),
        ]
        assert (untouched.owner, untouched.visibility, untouched.splits) == (None, private, {})

    async def test_take_each_dialogue_once_and_count_what_they_took(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, other = await _corpus(session, "mine"), await _corpus(session, "other")
            a, b = Dialogue("a", "train", ("Hi.", "Hello you.")), Dialogue("b", "test", ("One two three.",))
            same, unlike = Dialogue("a", "test", a.turns), Dialogue("b", "test", ("Four.",))
            spoken = Dialogue("c", "train", ("A.", "B.", "C."), ("likes tea", "likes rain"), {"id": 7})
            add = corpora_store.add_dialogues
            assert await add(session, mine, [a, b, same, unlike]) == [STORED, STORED, KNOWN, OTHER_TURNS]
            assert await add(session, mine, [unlike, spoken, a, spoken]) == [OTHER_TURNS, STORED, KNOWN, KNOWN]
            assert await add(session, other, [unlike]) == [STORED]
            corpora = await corpora_store.list_corpora(session, name=None, after=None, limit=9)
            dialogues = await corpora_store.list_dialogues(session, mine, split=None)
            of_test = await corpora_store.list_dialogues(session, mine, split="test", limit=1)
        assert [corpora[place].splits for place in (0, 1)] == [
            {"test": SplitStatistics(1, 1, 0, 3), "train": SplitStatistics(2, 5, 2, 6)},
            {"test": SplitStatistics(1, 1, 0, 1)},
        ]
        assert [each.key for each in dialogues] == ["a", "b", "c"]
        assert [(each.persona, each.metadata) for each in dialogues] == [
            (None, None),
            (None, None),
            (spoken.persona, {"id": 7}),
        ]
        assert [each.turns for each in of_test] == [b.turns]

    async def test_are_gone_once_removed_and_deleted_in_parts(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, other = await _corpus(session, "mine"), await _corpus(session, "other")
            for corpus in (mine, other):
                dialogues = [Dialogue(key, "train", (key, "and so?")) for key in ("a", "b", "c")]
                await corpora_store.add_dialogues(session, corpus, dialogues)
            assert (await corpora_store.mark_removed(session, mine)).name == "mine"
            assert await corpora_store.list_corpora(session, name="mine", after=None, limit=9) == []
            for use in (
                corpora_store.get_corpus(session, mine),
                corpora_store.mark_removed(session, mine),
                corpora_store.add_dialogues(session, mine, dialogues),
            ):
                with pytest.raises(NoSuchCorpus):
                    await use
            await _corpus(session, "mine")
            delete = corpora_store.delete_dialogues
            assert await corpora_store.list_removed(session) == [mine]
            assert [await delete(session, mine, 2) for _ in range(4)] == [2, 1, 0, 0]
            assert await corpora_store.list_removed(session) == []
            assert await delete(session, other, 2) == 0
            whole = await corpora_store.get_corpus(session, other)
            kept = await corpora_store.list_dialogues(session, other, split=None)
        assert (whole.splits["train"].dialogues, len(kept)) == (3, 3)

    async def test_are_not_removed_while_a_transaction_uses_them(self, outbox_alone: Database):
        async with outbox_alone.write() as session:
            mine = await _corpus(session, "mine")
        async with outbox_alone.write() as session:
            await corpora_store.lock_corpora(session, [mine])
            with pytest.raises(OperationalError, match="lock timeout"):
                async with outbox_alone.write() as removing:
                    await removing.execute(text("SET LOCAL lock_timeout = '20ms'"))
                    await corpora_store.mark_removed(removing, mine)
