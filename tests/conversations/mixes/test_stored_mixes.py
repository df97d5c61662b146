"""What the store compares of the conversations of several collections."""

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.mixes import store as mixes_store
from spotthebot.conversations.mixes.domain import MixedPair
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations, store_pairs

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")
PEOPLE = (Participant(kind=ParticipantKind.HUMAN, name="HU"),) * 2


class TestConversations:
    async def test_those_of_bots_are_compared_whole_and_of_people_by_their_first_two_exchanges(
        self, stored: SavepointDatabase
    ):
        same, longer = ("b", "c", "d", "e"), ("b", "c", "d", "x", "y")
        async with stored.write() as session:
            bots, people = [await store_collection(session, sides, name=sides[0].name) for sides in (SIDES, PEOPLE)]
            await store_pairs(session, people, (SIDES[1], PEOPLE[0]), numbers=[1])
            opened = {"state": "complete", "opening": ["a"]}
            for collection in (bots, people):
                await store_conversations(session, collection, 1, turns=same, **opened, opening_shown=True)
                await store_conversations(session, collection, 1, turns=longer, **opened, external_id="long")
                await store_conversations(session, collection, 1, turns=same)
            await store_conversations(session, people, 1, turns=same, **opened, pair=1)
            found = await mixes_store.list_mixed(session, [people, bots])
            speakers = await mixes_store.list_bots(session, [people, bots])
        pairs = MixedPair.of(PEOPLE), MixedPair.of((SIDES[1], PEOPLE[0])), MixedPair.of(SIDES)
        assert [(each.collection_id, each.external_id, each.pair) for each in found] == [
            (people, None, pairs[0]),
            (people, "long", pairs[0]),
            (people, None, pairs[1]),
            (bots, None, pairs[2]),
            (bots, "long", pairs[2]),
        ]
        assert [(each.exchanges, each.shown_opening) for each in found] == [(2, 1), (2, 0), (2, 0), (2, 1), (2, 0)]
        of_people, longer_of_people, of_both, of_bots, longer_of_bots = [each.words for each in found]
        assert of_people == longer_of_people != of_bots
        assert of_both == of_bots != longer_of_bots
        assert speakers == [
            (f"HU ({people})", SIDES[1]),
            (f"one ({bots})", SIDES[0]),
            (f"one ({bots})", SIDES[1]),
        ]
