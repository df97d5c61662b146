from dataclasses import replace
from uuid import UUID

import pytest

from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.contracts.conversations.collections import StopRules
from spotthebot.contracts.conversations.conversations import ConversationState, Ending, Participant, ParticipantKind
from spotthebot.contracts.conversations.ids import CollectionId, ConversationId
from spotthebot.conversations.conversations.domain import MAX_ATTEMPTS, Conversation, step

FIRST, SECOND = (
    Participant(kind=ParticipantKind.BOT, name=name, bot_id=UUID(int=number))
    for number, name in enumerate(("first", "second"), start=1)
)
RUNNING = Conversation(
    id=ConversationId(UUID(int=5)),
    collection_id=CollectionId(UUID(int=6)),
    external_id=None,
    state=ConversationState.RUNNING,
    failure=None,
    participants=(FIRST, SECOND),
    opening=(),
    opening_shown=False,
    turns=("Hello.", "Hi there."),
    turns_planned=10,
    seed=0,
    domain="everyday",
)


def _said(text: str) -> ReplyOut:
    return ReplyOut.said(text, latency_ms=12.0)


def _silent(failure: ReplyFailure) -> ReplyOut:
    return ReplyOut.failed(failure, "because")


def _with(*turns: str, **rules: object) -> Conversation:
    return replace(RUNNING, turns=turns, stop=StopRules.model_validate(rules))


class TestAReply:
    def test_is_the_next_turn(self):
        found = step(RUNNING, _said("How are you?"))
        assert found.after.turns == (*RUNNING.turns, "How are you?")
        assert (found.text, found.raw, found.after.state) == ("How are you?", None, ConversationState.RUNNING)
        assert found.after.next_bot == SECOND.bot_id

    def test_loses_its_special_tokens_and_is_stored_raw_beside(self):
        found = step(RUNNING, _said("How are you?<|endoftext|>"))
        assert (found.text, found.raw) == ("How are you?", "How are you?<|endoftext|>")

    def test_with_a_failure_adds_no_turn_though_it_has_a_text(self):
        found = step(RUNNING, _said("How are you?").model_copy(update={"failure": ReplyFailure.INVALID}))
        assert (found.text, found.after.attempts, found.after.turns) == (None, 1, RUNNING.turns)

    def test_is_empty_where_it_has_nothing_but_special_tokens(self):
        found = step(RUNNING, _said("</s><pad>"))
        assert (found.text, found.after.attempts, found.after.turns) == (None, 1, RUNNING.turns)

    def test_completes_the_conversation_with_its_last_turn(self):
        found = step(replace(RUNNING, turns_planned=3), _said("Bye."))
        assert (found.after.state, found.after.ended_by) == (ConversationState.COMPLETE, Ending.EXCHANGES)

    def test_resets_the_count_of_failed_attempts(self):
        assert step(replace(RUNNING, attempts=5), _said("At last.")).after.attempts == 0


class TestStopRules:
    def test_no_rule_ends_a_conversation_unless_it_is_requested(self):
        found = step(_with("Goodbye!", "Goodbye!"), _said("Goodbye!"))
        assert found.after.state is ConversationState.RUNNING

    @pytest.mark.parametrize(("before", "ends"), [("Goodbye!", True), ("Where to?", False)])
    def test_a_farewell_ends_it_when_both_say_it(self, before: str, ends: bool):
        found = step(_with("So.", before, farewell=True), _said("See you tomorrow!"))
        assert (found.after.ended_by is Ending.FAREWELL) is ends

    @pytest.mark.parametrize(("times", "ends"), [(2, True), (3, True), (4, False)])
    def test_the_same_thing_over_and_over_ends_it(self, times: int, ends: bool):
        found = step(_with("Yes.", "a?", "Yes.", "b?", repeated=times), _said("yes"))
        assert (found.after.ended_by is Ending.REPEATED) is ends

    def test_what_the_other_side_repeats_is_not_counted(self):
        found = step(_with("Yes.", "No.", "Yes.", "No.", repeated=3), _said("Maybe."))
        assert found.after.ended_by is None

    def test_a_bot_with_nothing_to_say_ends_it_after_as_many_attempts(self):
        once = step(_with("Hello.", "Hi.", empty=2), _silent(ReplyFailure.EMPTY))
        assert (once.after.state, once.after.attempts) == (ConversationState.RUNNING, 1)
        twice = step(once.after, _silent(ReplyFailure.EMPTY))
        assert (twice.after.state, twice.after.ended_by) == (ConversationState.COMPLETE, Ending.EMPTY)


class TestAFailure:
    @pytest.mark.parametrize(
        "failure", [ReplyFailure.TIMEOUT, ReplyFailure.HTTP_ERROR, ReplyFailure.UNREACHABLE, ReplyFailure.INVALID]
    )
    def test_is_retried_with_a_growing_backoff_and_in_the_end_fails_the_conversation(self, failure: ReplyFailure):
        waits, now = [], RUNNING
        for _ in range(MAX_ATTEMPTS - 1):
            found = step(now, _silent(failure))
            waits.append(found.wait_seconds)
            now = found.after
        assert waits == [0.5, 1, 2, 4, 8, 16, 30]
        last = step(now, _silent(failure)).after
        assert (last.state, last.failure, last.turns) == (
            ConversationState.FAILED,
            f"{failure}: because",
            RUNNING.turns,
        )

    def test_counts_no_attempt_while_the_bots_circuit_is_open(self):
        found = step(replace(RUNNING, attempts=7), _silent(ReplyFailure.CIRCUIT_OPEN))
        assert (found.unavailable_bot, found.reason) == (FIRST.bot_id, "because")
        assert found.after == found.before

    def test_counts_no_attempt_at_a_bots_rate_limit(self):
        found = step(replace(RUNNING, attempts=7), _silent(ReplyFailure.RATE_LIMITED))
        assert (found.after.attempts, found.wait_seconds, found.after.state) == (7, 5.0, ConversationState.RUNNING)
