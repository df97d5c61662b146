"""Who is drawn for a chat, and what ratings have to hold: pure rules."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from spotthebot.contracts.conversations.chats import ChatRatingsIn, HumanBotIn
from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.conversations.chats.domain.chats import Drawn, check_ratings, draw
from spotthebot.conversations.chats.errors import RatingsIncomplete
from spotthebot.conversations.conversations.domain import Conversation
from tests.conversations.domain_conversations import running
from tests.factories.frontends import QUESTIONS, SCORES, ratings

BOTS = [UUID(int=number) for number in range(1, 6)]


def _plan(bots: list[UUID], **more: Any) -> HumanBotIn:
    body = {"mode": "human_bot", "name": "x", "domain": "everyday", "bots": bots, "questions": QUESTIONS}
    return HumanBotIn.model_validate(body | more)


def _draw_many(plan: HumanBotIn, times: int) -> list[tuple[UUID, ...]]:
    used: Counter[Drawn] = Counter()
    held: Counter[UUID] = Counter()
    drawn = []
    for chats in range(times):
        choice = next(iter(draw(plan, used=used, held=held, seen=(), chats=chats)))
        used[frozenset(choice)] += 1
        held.update(choice)
        drawn.append(choice)
    return drawn


class TestDraw:
    def test_uses_all_pairs_about_alike(self):
        """Bots come first: two pairs of bots that are behind may be drawn once more than a pair that is due."""
        drawn = Counter(frozenset(each) for each in _draw_many(_plan(BOTS), 100))
        assert len(drawn) == 10  # 5 * 4 / 2
        assert set(drawn.values()) <= {9, 10, 11}  # 100 / 10 each, one more or less

    @pytest.mark.parametrize("bots", [3, 4, 5])
    def test_keeps_no_bot_more_than_one_conversation_ahead(self, bots: int):
        held: Counter[UUID] = Counter(dict.fromkeys(BOTS[:bots], 0))
        for choice in _draw_many(_plan(BOTS[:bots]), 60):
            held.update(choice)
            assert max(held.values()) - min(held.values()) <= 1, held

    def test_makes_up_for_conversations_that_a_bot_lost(self):
        """Three bots with 5, 5 and 3 conversations: the pairs have 10, 8 and 8, so the third bot is in both best."""
        held = dict(zip(BOTS[:3], (5, 5, 3), strict=True))
        pair, both = frozenset(BOTS[:2]), list(draw(_plan(BOTS[:3]), used={}, held=held, seen=(), chats=0))
        assert frozenset(both[-1]) == pair

    def test_lets_each_of_a_pair_begin_about_as_often(self):
        """Of 400 chats with one pair a fair lot lets the first begin 200 +- 10; six deviations off is no lot."""
        firsts = Counter(each[0] for each in _draw_many(_plan(BOTS[:2]), 400))
        assert all(140 < number < 260 for number in firsts.values()), firsts

    def test_is_the_same_for_a_seed_and_another_for_another(self):
        plans = [_plan(BOTS, seed=seed) for seed in (1, 1, 2)]
        first, again, other = (_draw_many(plan, 30) for plan in plans)
        assert first == again
        assert first != other

    def test_gives_nobody_a_pair_again_while_others_are_left(self):
        plan, seen, used = _plan(BOTS), set[Drawn](), Counter[Drawn]()
        for chats in range(10):
            choice = frozenset(next(iter(draw(plan, used=used, held={}, seen=seen, chats=chats))))
            assert choice not in seen
            seen.add(choice)
        assert frozenset(next(iter(draw(plan, used=used, held={}, seen=seen, chats=10)))) in seen

    def test_prefers_bots_the_person_has_not_met_even_if_used_more(self):
        first, second = (frozenset(each) for each in ((BOTS[0], BOTS[1]), (BOTS[0], BOTS[2])))
        third = frozenset((BOTS[1], BOTS[2]))
        choice = next(iter(draw(_plan(BOTS[:3]), used={third: 9}, held={}, seen={first, second}, chats=9)))
        assert frozenset(choice) == third

    def test_goes_on_to_the_next_best_choice(self):
        choices = [frozenset(each) for each in draw(_plan(BOTS), used={}, held={}, seen=(), chats=0)]
        assert len(set(choices)) == len(choices) == 10


class TestPlans:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"bots": []}, "at least 1"),
            ({"bots": [BOTS[0], BOTS[0]]}, "named twice"),
            ({"bots": BOTS[:1]}, "each chat is with 2 bots"),
            ({"minimum_turns": 8, "maximum_turns": 6}, "minimum_turns must be at most maximum_turns"),
            ({"maximum_turns": 5, "minimum_turns": 2}, "multiple of 2"),
            ({"bots_per_chat": 3}, "less than or equal to 2"),
            ({"questions": [QUESTIONS[0]] * 2}, "same name"),
            ({"compares": "each_question", "bots_per_chat": 1}, "nothing to compare"),
            ({"opening": {"begins": "bot"}, "minimum_turns": 6, "maximum_turns": 6}, "where the bot begins"),
            ({"opening": {"begins": "bot", "first_words": " "}}, "at least 1 character"),
            ({"pay_per_chat": "5"}, "both pay_per_chat and currency"),
            ({"pay_per_chat": "5", "currency": "dollars"}, "three capital letters"),
            ({"conversations_per_person": 1}, "a chat has 2 conversations"),
        ],
    )
    def test_an_impossible_plan_is_refused(self, change: dict[str, Any], words: str):
        with pytest.raises(ValueError, match=words):
            _plan(**({"bots": BOTS} | change))

    def test_ask_abc_evals_questions_unless_others_are_given(self):
        plan = HumanBotIn.model_validate({"mode": "human_bot", "name": "x", "domain": "everyday", "bots": BOTS})
        request = "grammatical relevant informative emotion_aware engaging consistent proactive quality"
        assert [question.name for question in plan.questions] == request.split()
        assert (plan.minimum_turns, plan.maximum_turns, plan.bots_per_chat) == (30, 60, 2)
        assert plan.compares == "overall"


class TestRatings:
    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            (ratings(1), "/conversations"),
            (ratings(1, 1), "/conversations/1/number"),
            (ratings(1, 3), "/conversations/1/number"),
            ({"conversations": [{"number": 1, "scores": {"engaging": 1}}]}, "/conversations/0/scores"),
            ({"conversations": [{"number": 1, "scores": SCORES | {"fun": 1}}]}, "/conversations/0/scores/fun"),
        ],
    )
    def test_incomplete_ratings_are_reported_by_field(self, body: dict[str, Any], pointer: str):
        held = [_conversation(ConversationState.COMPLETE)] * 2
        with pytest.raises(RatingsIncomplete) as error:
            check_ratings(_plan(BOTS), held, ChatRatingsIn.model_validate(body))
        assert pointer in {fault.pointer for fault in error.value.fields}

    def test_may_leave_out_a_conversation_that_was_broken_off(self):
        held = [_conversation(ConversationState.FAILED), _conversation(ConversationState.COMPLETE)]
        check_ratings(_plan(BOTS), held, ChatRatingsIn.model_validate(ratings(2)))
        check_ratings(_plan(BOTS), held, ChatRatingsIn.model_validate(ratings(1, 2, preferred=2)))

    def test_prefer_a_conversation_of_the_chat(self):
        with pytest.raises(RatingsIncomplete) as error:
            check_ratings(
                _plan(BOTS, bots_per_chat=1),
                [_conversation(ConversationState.COMPLETE)],
                ChatRatingsIn.model_validate(ratings(1, preferred=2)),
            )
        assert [fault.pointer for fault in error.value.fields] == ["/preferred"]

    @pytest.mark.parametrize(
        ("preferences", "pointers"),
        [
            ({}, {"/preferences"}),
            ({"engaging": 1}, {"/preferences"}),
            ({"engaging": 1, "quality": 2, "fun": None}, {"/preferences/fun"}),
        ],
    )
    def test_without_a_comparison_on_each_question_are_reported_where_it_is_asked_for(
        self, preferences: dict[str, int | None], pointers: set[str]
    ):
        plan, held = _plan(BOTS, compares="each_question"), [_conversation(ConversationState.COMPLETE)] * 2
        check_ratings(plan, held, _ratings(1, 2, preferences={"engaging": None, "quality": 2}))
        with pytest.raises(RatingsIncomplete) as error:
            check_ratings(plan, held, _ratings(1, 2, preferences=preferences))
        assert {fault.pointer for fault in error.value.fields} == pointers

    def test_compare_on_each_question_only_what_was_held_to_its_end(self):
        plan = _plan(BOTS, compares="each_question")
        one, broken = _conversation(ConversationState.COMPLETE), _conversation(ConversationState.FAILED)
        check_ratings(plan, [one, broken], _ratings(1))
        with pytest.raises(RatingsIncomplete, match="do not fit"):
            check_ratings(plan, [one], _ratings(1, preferences={"engaging": 1, "quality": 2}))

    def test_compare_on_each_question_only_where_it_is_asked_for(self):
        with pytest.raises(RatingsIncomplete) as error:
            check_ratings(
                _plan(BOTS), [_conversation(ConversationState.COMPLETE)] * 2, _ratings(1, 2, preferences={"quality": 2})
            )
        assert [fault.pointer for fault in error.value.fields] == ["/preferences"]


def _ratings(*numbers: int, **more: Any) -> ChatRatingsIn:
    return ChatRatingsIn.model_validate(ratings(*numbers, **more))


def _conversation(state: ConversationState) -> Conversation:
    side = Participant(kind=ParticipantKind.HUMAN, name="HU")
    return running(state=state, participants=(side, side))
