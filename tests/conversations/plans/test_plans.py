from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.contracts.conversations.collections import AllPlayAllIn, BipartiteIn
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.plans.domain import HUMANS, Source, plan_conversations
from spotthebot.conversations.plans.errors import DialoguesTooShort, TooFewDialogues
from spotthebot.kit.ids import new_ids

NAMES = ("one", "two", "three", "four")
DIALOGUES = [Source(tuple(f"{number}/{turn}" for turn in range(10))) for number in range(12)]


def _bots() -> list[Participant]:
    ids = new_ids(len(NAMES))
    return [
        Participant(kind=ParticipantKind.BOT, name=name, bot_id=each) for name, each in zip(NAMES, ids, strict=True)
    ]


def _plan(
    bots: list[Participant], *, opening: dict[str, Any] | None = None, humans: int = 0, **more: object
) -> AllPlayAllIn:
    corpus = new_ids(1)[0]
    return AllPlayAllIn.model_validate(
        {
            "mode": "all_play_all",
            "name": "p",
            "domain": "everyday",
            "bots": [bot.bot_id for bot in bots],
            "exchanges": 3,
            "conversations_per_pair": 4,
            "opening": {"corpus_id": corpus} | opening if opening is not None else None,
            "humans": {"corpus_id": corpus, "conversations": humans} if humans else None,
            "seed": 1,
        }
        | more
    )


class TestPlan:
    def test_every_pair_talks_and_each_begins_half_the_time(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots), bots, [], [], [])
        assert len(planned) == 4 * 6  # 6 = 4 choose 2 pairs
        for first, second in combinations(NAMES, 2):
            orders = [tuple(side.name for side in each.participants) for each in planned]
            assert orders.count((first, second)) == orders.count((second, first)) == 2

    def test_targets_that_are_added_at_the_end_change_nothing_of_those_before(self):
        bots, partners = _bots(), _bots()

        def planned(targets: int):
            fields = _plan(bots[:targets], opening={}).model_dump()
            listed = [each.bot_id for each in partners]
            plan = BipartiteIn.model_validate(fields | {"mode": "bipartite", "order": "both", "partners": listed})
            return plan_conversations(plan, bots[:targets], partners, DIALOGUES, [])

        fewer, more = planned(2), planned(4)
        assert more[: len(fewer)] == fewer
        assert len({each.seed for each in more}) == len(more) == 4 * 4 * 4

    @given(st.integers(1, 30), st.integers(2, 4))
    def test_with_an_odd_number_the_first_named_begins_once_more(self, per_pair: int, count: int):
        bots = _bots()[:count]
        planned = plan_conversations(_plan(bots, conversations_per_pair=per_pair), bots, [], [], [])
        orders = Counter(tuple(side.name for side in each.participants) for each in planned)
        for first, second in combinations(NAMES[:count], 2):
            assert orders[first, second] + orders[second, first] == per_pair
            assert orders[first, second] - orders[second, first] == per_pair % 2

    def test_no_two_conversations_have_the_same_seed(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, conversations_per_pair=50), bots, [], [], [])
        assert len({each.seed for each in planned}) == len(planned) == 50 * 6

    def test_order_first_lets_the_first_named_begin(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, order="first"), bots, [], [], [])
        assert {tuple(side.name for side in each.participants) for each in planned} == set(combinations(NAMES, 2))

    def test_openings_are_used_up_before_one_comes_again(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, opening={}), bots, [], DIALOGUES, [])
        openings = [each.opening for each in planned]
        assert sorted(openings[:12]) == sorted(openings[12:24]) == sorted(each.turns[:2] for each in DIALOGUES)

    def test_a_first_utterance_is_one_turn(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, opening={"take": "first_utterance"}), bots, [], DIALOGUES, [])
        assert {len(each.opening) for each in planned} == {1}

    def test_dialogues_of_people_open_nothing_and_keep_their_own_beginning(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, opening={}, humans=5), bots, [], DIALOGUES, DIALOGUES)
        people = [each for each in planned if each.participants == HUMANS]
        assert len(people) == 5
        assert all(len(each.turns) == 6 for each in people)  # 3 exchanges
        assert all(each.opening + each.turns in {source.turns[:8] for source in DIALOGUES} for each in people)
        assert not {each.opening for each in people} & {each.opening for each in planned if not each.turns}

    @pytest.mark.parametrize("take", [1, 2, 3])
    def test_a_shown_opening_is_as_long_for_people_as_for_bots(self, take: int):
        bots = _bots()
        opening = {"shown": True, "take": take}
        planned = plan_conversations(_plan(bots, opening=opening, humans=5), bots, [], DIALOGUES, DIALOGUES)
        people = [each for each in planned if each.participants == HUMANS]
        assert {len(each.opening) for each in planned} == {take}
        assert all(each.opening + each.turns in {source.turns[: take + 6] for source in DIALOGUES} for each in people)

    def test_only_dialogues_as_long_as_the_bots_conversations_are_drawn(self):
        bots = _bots()
        short = [Source(tuple(f"short {number}/{turn}" for turn in range(5))) for number in range(30)]
        planned = plan_conversations(_plan(bots, humans=12), bots, [], [], [*short, *DIALOGUES])
        assert [len(each.turns) for each in planned if each.participants == HUMANS] == [6] * 12  # 3 exchanges

    def test_people_talk_among_the_bots_not_after_them(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, humans=12), bots, [], [], DIALOGUES)
        places = [place for place, each in enumerate(planned) if each.participants == HUMANS]
        assert len(places) == 12
        assert min(places) < len(planned) / 2 < max(places)

    def test_openings_come_from_people_if_none_are_left(self):
        bots = _bots()
        planned = plan_conversations(_plan(bots, opening={}, humans=12), bots, [], DIALOGUES, DIALOGUES)
        assert {each.opening for each in planned if not each.turns} == {source.turns[:2] for source in DIALOGUES}

    def test_the_same_seed_gives_the_same_plan_whatever_the_ids(self):
        def shape(seed: int) -> list[tuple[object, ...]]:
            bots = _bots()
            planned = plan_conversations(_plan(bots, opening={}, humans=3, seed=seed), bots, [], DIALOGUES, DIALOGUES)
            return [
                (*(side.name for side in each.participants), each.opening, each.turns, each.seed) for each in planned
            ]

        assert shape(1) == shape(1)
        assert shape(1) != shape(2)

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"humans": 13}, "13 dialogues of 6 turns or more are needed: 'openings' has 12, and 0 shorter"),
            (
                {"exchanges": 6, "humans": 1},
                "1 dialogues of 12 turns or more are needed: 'openings' has 0, and 12 shorter",
            ),
            ({"exchanges": 4, "opening": {"take": 3}, "humans": 1}, "1 dialogues of 12 turns or more"),
            ({"exchanges": 4, "opening": {"take": 3, "shown": True}, "humans": 1}, "1 dialogues of 11 turns or more"),
        ],
    )
    def test_too_few_dialogues_as_long_as_the_bots_are_refused_with_how_many_are_too_short(
        self, more: dict[str, Any], words: str
    ):
        bots = _bots()
        with pytest.raises(TooFewDialogues, match=words):
            plan_conversations(_plan(bots, **more), bots, [], DIALOGUES, DIALOGUES)

    def test_dialogues_too_short_for_an_opening_are_refused(self):
        bots = _bots()
        with pytest.raises(DialoguesTooShort):
            plan_conversations(_plan(bots, opening={}), bots, [], [Source(("alone",))], [])
