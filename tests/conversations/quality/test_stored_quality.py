"""What the store keeps, selects and sums up of quality flags: rows on both sides of each condition."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert, update

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.quality import FlagKind, TrainingSplit
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.conversations.corpora.tables import CorpusRow
from spotthebot.conversations.quality.domain.flags import RULES, PersonalDataKind, TextFlags, UnflaggedConversation
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.store import summaries as summaries_store
from spotthebot.conversations.quality.tables import QualityCheckRow, QualityFlagsRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations, store_flags, store_pairs

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")
PERSON = Participant(kind=ParticipantKind.HUMAN, name="HU")
EMAIL, PHONE = {"position": 0, "kind": "email"}, {"position": 1, "kind": "phone"}


async def _flagged(session: WriteSession, collection: UUID, **values: Any) -> UUID:
    """Store a complete conversation with flags; `values` are of these."""
    (made,) = await store_conversations(session, collection, 1, state="complete")
    await store_flags(session, collection, [made], **values)
    return made


async def _flags(session: ReadSession, collection: UUID, name: str, only: FlagKind | None = None) -> list[Any]:
    """Return one flag of each conversation."""
    found = await flags_store.list_flags(session, collection, only=only, after=None, limit=99)
    return [getattr(each, name) for each in found]


class TestUnflagged:
    async def test_are_complete_and_have_no_flags_of_the_present_rules(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            await store_conversations(session, mine, 1)
            await _flagged(session, mine, rules=RULES)
            older = await _flagged(session, mine, rules=RULES - 1)
            people = await store_collection(session, (PERSON, PERSON))
            both = await store_collection(session, (PERSON, SIDES[0]))
            for each in (people, both):
                await store_conversations(session, each, 1, turns=("a", "b"), state="complete")
            lists = flags_store.list_unflagged
            found = [await lists(session, each, after=None, limit=9) for each in (mine, people, both)]
        assert [each.conversation_id for each in found[0]] == [older]
        assert [(each.bot_speaks, each.turns) for (each,) in found[1:]] == [(False, ("a", "b")), (True, ("a", "b"))]

    async def test_get_what_their_texts_say_in_place_of_what_older_rules_said(self, stored: SavepointDatabase):
        hashes = {"text_hash": b"t", "signature": b"s", "exchange_hashes": b"e"}
        said = TextFlags(
            turns=2,
            words=7,
            language=("de", 0.5),
            profanity=(1,),
            personal_data=((1, PersonalDataKind.PHONE),),
            **hashes,
        )
        nothing = TextFlags(turns=0, words=0, language=None, profanity=(), personal_data=(), **hashes)
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            first = await _flagged(session, mine, rules=RULES - 1, in_training=3)
            (second,) = await store_conversations(session, mine, 1, state="complete")
            conversations = [UnflaggedConversation(each, bot_speaks=True, turns=()) for each in (first, second)]
            await flags_store.add_flags(session, mine, list(zip(conversations, (said, nothing), strict=True)))
            one, other = await flags_store.list_flags(session, mine, only=None, after=None, limit=9)
            assert await flags_store.list_unflagged(session, mine, after=None, limit=9) == []
        assert one.turns == 2
        assert one.words == 7
        assert one.language == "de"
        assert one.language_probability == 0.5
        assert one.profanity == [1]
        assert one.personal_data == [PHONE]
        assert one.exchanges == 1
        assert one.in_training == 3
        assert (other.language, other.language_probability, other.exchanges) == (None, None, 0)


class TestFlags:
    @pytest.mark.parametrize(
        ("kind", "flagged", "not_flagged"),
        [
            ("exact_duplicate", {"exact_duplicate_of": ONE}, {"near_duplicate_of": ONE}),
            ("near_duplicate", {"near_duplicate_of": ONE}, {"exact_duplicate_of": ONE}),
            ("in_training", {"in_training": 1}, {"in_training": 0}),
            ("profanity", {"profanity": [0]}, {"personal_data": [EMAIL]}),
            ("personal_data", {"personal_data": [EMAIL]}, {"profanity": [0]}),
        ],
    )
    async def test_those_of_one_kind_are_listed_without_others(
        self, stored: SavepointDatabase, kind: FlagKind, flagged: dict[str, Any], not_flagged: dict[str, Any]
    ):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            expected = await _flagged(session, mine, **flagged)
            await _flagged(session, mine, **not_flagged)
            await _flagged(session, mine)
            assert await _flags(session, mine, "conversation_id", only=kind) == [expected]

    async def test_name_conversations_as_the_export_does(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            (named,) = await store_conversations(session, mine, 1, state="complete", external_id="c1")
            await store_flags(session, mine, [named])
            unnamed = await _flagged(session, mine, exact_duplicate_of=named)
            last = await _flagged(session, mine, near_duplicate_of=unnamed, similarity=0.75)
            names = [await _flags(session, mine, name) for name in ("exported_id", "exact_duplicate_of_exported")]
            near = [await _flags(session, mine, name) for name in ("near_duplicate_of_exported", "similarity")]
        assert names == [["c1", str(unnamed), str(last)], [None, "c1", None]]
        assert near == [[None, None, str(unnamed)], [None, None, 0.75]]

    async def test_those_of_exact_duplicates_point_to_the_first_of_the_same_collection(self, stored: SavepointDatabase):
        async with stored.write() as session:
            others, mine = [await store_collection(session, SIDES) for _ in range(2)]
            elsewhere = [await _flagged(session, others, text_hash=b"a") for _ in range(2)]
            first = await _flagged(session, mine, text_hash=b"a")
            await _flagged(session, mine, text_hash=b"b", exact_duplicate_of=first)  # of texts that were others
            for _ in range(2):
                await _flagged(session, mine, text_hash=b"a")
            await flags_store.flag_exact_duplicates(session, mine)
            assert await _flags(session, mine, "exact_duplicate_of") == [None, None, first, first]
            assert await _flags(session, others, "exact_duplicate_of") == [None, None]
            await flags_store.flag_exact_duplicates(session, others)
            assert await _flags(session, others, "exact_duplicate_of") == [None, elsewhere[0]]
            signatures = await flags_store.list_signatures(session, others, after=None, limit=9)
            repeated = await summaries_store.list_repeated_texts(session, mine)
        assert [each for each, _ in signatures] == elsewhere[:1]
        names = tuple(sorted(side.name for side in SIDES))
        assert repeated == (RepeatedTexts(speakers=names, conversations=4, texts=2),)

    async def test_repeated_texts_are_counted_for_both_orders_of_a_pair_together(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            await store_pairs(session, mine, SIDES[::-1], numbers=[1])
            for pair in (0, 1):
                (each,) = await store_conversations(session, mine, 1, state="complete", pair=pair)
                await store_flags(session, mine, [each], text_hash=b"a")
            (repeated,) = await summaries_store.list_repeated_texts(session, mine)
        assert (repeated.conversations, repeated.texts) == (2, 1)

    async def test_those_of_comparisons_are_renewed_and_cleared_in_one_collection(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            ids = [await _flagged(session, mine, in_training=count) for count in (None, 2, 3)]
            await _flagged(session, others, in_training=4, near_duplicate_of=ONE, similarity=1.0)
            await flags_store.flag_training_overlap(session, [(ids[0], 1), (ids[1], 0)])
            assert await _flags(session, mine, "in_training") == [1, 0, 3]
            for found in ([(ids[1], ids[0], 0.9)], [(ids[2], ids[0], 0.8)], []):
                await flags_store.flag_near_duplicates(session, mine, found)
                expected = {one: (other, similarity) for one, other, similarity in found}
                pairs = [await _flags(session, mine, name) for name in ("near_duplicate_of", "similarity")]
                assert list(zip(*pairs, strict=True)) == [expected.get(each, (None, None)) for each in ids]
            await flags_store.clear_training_overlap(session, mine)
            assert await _flags(session, mine, "in_training") == [None] * 3
            assert await _flags(session, others, "in_training") == [4]
            assert await _flags(session, others, "near_duplicate_of") == [ONE]


class TestSummaries:
    async def test_count_flags_and_spread_numbers_over_the_conversations_of_one_collection(
        self, stored: SavepointDatabase
    ):
        """Of the numbers 1 to 11 the tenth is the second, the ninetieth the tenth, and the mean the median."""
        split = TrainingSplit(corpus_id=new_id(), split="train")
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            await _flagged(session, others, words=1000, profanity=[0])
            for number in range(1, 12):
                await _flagged(session, mine, turns=number, words=10 * number, language="en" if number > 2 else None)
            flagged = await _flags(session, mine, "conversation_id")
            for place, values in (
                (0, {"in_training": 0, "personal_data": [EMAIL, EMAIL], "language": "de"}),  # of no exchange
                (1, {"in_training": None, "personal_data": [EMAIL, PHONE], "profanity": [0, 1]}),
                (4, {"in_training": 3, "exact_duplicate_of": ONE, "language": "de"}),
                (5, {"in_training": 1, "near_duplicate_of": ONE, "language": "de"}),
                (10, {"in_training": 10, "bot_speaks": False}),
            ):
                row = QualityFlagsRow.conversation_id == flagged[place]
                await session.execute(update(QualityFlagsRow).where(row).values(**values))
            found = await summaries_store.summarise(session, mine, split)
            untrained = await summaries_store.summarise(session, mine, None)
        spread = {"mean": 6.0, "minimum": 1, "tenth": 2, "median": 6, "ninetieth": 10, "maximum": 11}
        assert found.conversations == 11
        assert found.turns is not None
        assert found.turns.model_dump() == spread
        assert found.words is not None
        assert found.words.model_dump() == {name: 10 * number for name, number in spread.items()}
        assert found.words_per_turn == 10
        assert list(found.languages.items()) == [("en", 7), ("de", 3), ("unknown", 1)]
        counts = {"exact_duplicates": 1, "near_duplicates": 1, "profanity": 1, "personal_data": 2}
        for name, count in counts.items():
            assert getattr(found, name).model_dump() == {"conversations": count, "share": count / 11}
        assert list(found.personal_data_kinds.items()) == [("email", 2), ("phone", 1)]
        assert found.training is not None
        assert (found.training.corpus_id, found.training.split) == (split.corpus_id, "train")
        # Conversations of 1, 5 and 6 turns have 0, 4 and 5 exchanges.
        assert found.training.exchanges == 9
        assert found.training.in_training == 4
        assert found.training.share == 4 / 9
        assert untrained.training is None

    async def test_those_of_nothing_have_neither_numbers_nor_shares(self, stored: SavepointDatabase):
        split = TrainingSplit(corpus_id=new_id(), split="train")
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            found = await summaries_store.summarise(session, mine, split)
            await _flagged(session, mine, turns=0, words=0, in_training=0)
            silent = await summaries_store.summarise(session, mine, split)
        assert found.conversations == 0
        assert found.turns is None
        assert found.words is None
        assert found.words_per_turn is None
        assert found.languages == {}
        assert found.personal_data_kinds == {}
        assert found.profanity.share is None
        for each in (found, silent):
            assert each.training is not None
            assert each.training.exchanges == 0
            assert each.training.in_training == 0
            assert each.training.share is None
        assert silent.conversations == 1
        assert silent.words_per_turn is None
        assert silent.profanity.share == 0


class TestChecks:
    async def test_compare_with_the_split_of_the_latest_request_that_named_one_or_none(self, stored: SavepointDatabase):
        corpus = new_id()
        split = TrainingSplit(corpus_id=corpus, split="train")
        row = {"id": corpus, "name": "c", "domain": "small-talk", "origin": "us", "licence": "CC0"}
        async with stored.write() as session:
            await session.execute(insert(CorpusRow).values(row))
            mine = await store_collection(session, SIDES)
            await checks_store.request_check_against(session, mine, split)
            requests = [await checks_store.start_check(session, mine)]
            await checks_store.request_check(session, mine)
            requests.append(await checks_store.start_check(session, mine))
            assert (await checks_store.get_check(session, mine)).training == split
            await checks_store.request_check_against(session, mine, None)
            requests.append(await checks_store.start_check(session, mine))
        assert [each.training for each in requests] == [split, split, None]
        assert requests[0].requested_at < requests[1].requested_at < requests[2].requested_at

    async def test_show_how_many_are_flagged_by_the_present_rules_and_the_last_summary(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, complete=5) for _ in range(2)]
            for rules in (RULES, RULES - 1, RULES):
                await _flagged(session, mine, rules=rules)
            for each in (mine, others):
                await checks_store.request_check(session, each)
            request = await checks_store.start_check(session, mine)
            found = await checks_store.get_check(session, mine)
            assert found.conversations == 5
            assert found.flagged == 2
            assert found.checked_at is None
            assert found.summary is None
            summary = await summaries_store.summarise(session, mine, None)
            await session.execute(update(QualityCheckRow).values(state="comparing"))
            await checks_store.finish_check(session, request, summary)
            found, other = [await checks_store.get_check(session, each) for each in (mine, others)]
        assert found.state == "done"
        assert found.summary == summary
        assert found.checked_at is not None
        assert (other.state, other.summary, other.checked_at) == ("comparing", None, None)
