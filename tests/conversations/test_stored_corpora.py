"""What the store keeps of corpora and partner sets: what is new, what is known, and what it adds up to."""

from uuid import UUID

import pytest

from spotthebot.contracts.conversations import CorpusChangesIn, CorpusIn, CorpusVisibility
from spotthebot.conversations import store
from spotthebot.conversations.domain.corpora import Dialogue, DialogueOutcome, SplitStatistics
from spotthebot.conversations.domain.errors import CorpusNameTaken, NoSuchCorpus, NoSuchPartnerSet
from spotthebot.conversations.domain.partner_sets import Partner
from spotthebot.kit.database import WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase

STORED, KNOWN, OTHER_TURNS = DialogueOutcome


async def _corpus(session: WriteSession, name: str) -> UUID:
    request = CorpusIn(name=name, domain="small-talk", origin="us", licence="CC0")
    return (await store.corpora.add_corpus(session, request)).id


class TestCorpora:
    async def test_have_a_name_of_their_own_and_changes_of_their_own(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, other = await _corpus(session, "mine"), await _corpus(session, "other")
            with pytest.raises(CorpusNameTaken):
                await _corpus(session, "mine")
            states = [
                await store.corpora.change_corpus(session, mine, changes)
                for changes in (
                    CorpusChangesIn(),
                    CorpusChangesIn(owner="red"),
                    CorpusChangesIn(visibility=CorpusVisibility.SHARED),
                )
            ]
            untouched = await store.corpora.get_corpus(session, other)
            for find in (
                store.corpora.get_corpus(session, new_id()),
                store.corpora.change_corpus(session, new_id(), CorpusChangesIn(owner="red")),
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
            add = store.corpora.add_dialogues
            assert await add(session, mine, [a, b, same, unlike]) == [STORED, STORED, KNOWN, OTHER_TURNS]
            assert await add(session, mine, [unlike, spoken, a, spoken]) == [OTHER_TURNS, STORED, KNOWN, KNOWN]
            assert await add(session, other, [unlike]) == [STORED]
            corpora = await store.corpora.list_corpora(session, name=None, after=None, limit=9)
            dialogues = await store.corpora.list_dialogues(session, mine, split=None)
            of_test = await store.corpora.list_dialogues(session, mine, split="test", limit=1)
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


class TestPartnerSets:
    async def test_are_numbered_from_one_under_each_name(self, stored: SavepointDatabase):
        partners = [Partner(new_id(), name, 3, 64 * "a") for name in ("one", "two")]
        async with stored.write() as session:
            made = [
                await store.partner_sets.add_partner_set(session, name=name, description=name[0], partners=partners[:n])
                for name, n in (("mine", 2), ("other", 1), ("mine", 1))
            ]
            found = await store.partner_sets.get_partner_set(session, "mine", 2)
            for name, version in (("mine", 3), ("mine", 0), ("third", 1)):
                with pytest.raises(NoSuchPartnerSet):
                    await store.partner_sets.get_partner_set(session, name, version)
            lists = store.partner_sets.list_partner_sets
            pages = [
                await lists(session, name=name, after=after, limit=limit)
                for name, after, limit in (
                    (None, None, 2),
                    (None, made[1].id, 9),
                    ("mine", None, 9),
                    ("mine", made[0].id, 9),
                )
            ]
        assert [(each.name, each.version, each.description) for each in made] == [
            ("mine", 1, "m"),
            ("other", 1, "o"),
            ("mine", 2, "m"),
        ]
        assert [each.partners for each in made] == [(*partners,), (partners[0],), (partners[0],)]
        assert found == made[2]
        assert pages == [made[:2], made[2:], [made[0], made[2]], made[2:]]
