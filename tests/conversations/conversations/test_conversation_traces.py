"""The spans of a conversation tell what was committed, once, whichever runner requested it."""

from dataclasses import replace
from time import time_ns

import pytest

from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.conversations.conversations import use_cases as conversations_use_cases
from spotthebot.conversations.conversations.domain import Step, fail, step
from spotthebot.conversations.conversations.use_cases import record_commits, record_requests
from spotthebot.kit.telemetry.tracing import Attributes
from tests.conversations.domain_conversations import running

SAID = ReplyOut.said("Hello.", latency_ms=250.0)


class Listed:
    """Lists names of spans with the conversations that they tell of."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, object]] = []
        self.began: dict[str, int] = {}

    def record(self, name: str, attributes: Attributes, since: int) -> None:
        self.spans.append((name, attributes["conversation.id"]))
        self.began[name] = since


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Listed:
    made = Listed()
    monkeypatch.setattr(conversations_use_cases, "is_recording", lambda: True)
    monkeypatch.setattr(conversations_use_cases, "record_span", made.record)
    return made


class TestCommits:
    def test_are_recorded_with_the_id_of_the_conversation(self, listed: Listed):
        conversation, since = running("Hi.", "Hello."), time_ns()
        record_commits([step(conversation, SAID)], {conversation.id}, since)
        assert listed.spans == [("commit turn", str(conversation.id))]
        assert listed.began == {"commit turn": since}

    def test_count_only_where_no_other_runner_was_first(self, listed: Listed):
        """Another runner committed the same turn: only the step that counts is a span."""
        mine, others = running(), running()
        record_commits([step(mine, SAID), step(others, SAID)], {mine.id}, time_ns())
        assert listed.spans == [("commit turn", str(mine.id))]

    def test_leave_out_an_attempt_in_vain(self, listed: Listed):
        again = step(running(), ReplyOut.failed(ReplyFailure.TIMEOUT, "No reply.", latency_ms=1.0))
        assert again.wait_seconds is not None
        record_commits([again], {again.after.id}, time_ns())
        assert listed.spans == []

    @pytest.mark.parametrize("turns", [(), ("Hi.",)])
    def test_say_how_a_conversation_ended(self, listed: Listed, turns: tuple[str, ...]):
        failed = fail(running(*turns), "The bot is gone.")
        record_commits([failed], {failed.after.id}, time_ns())
        assert [name for name, _ in listed.spans] == ["end as failed"]

    def test_say_that_the_last_turn_ended_it(self, listed: Listed):
        last = step(running("Hi.", turns_planned=2), SAID)
        record_commits([last], {last.after.id}, time_ns())
        assert [name for name, _ in listed.spans] == ["commit turn", "end as complete"]


class TestRequests:
    def test_are_recorded_for_each_conversation_that_was_answered(self, listed: Listed):
        steps: list[Step] = [step(running(), SAID), step(replace(running(), attempts=1), SAID)]
        record_requests(steps, time_ns())
        assert listed.spans == [("request turn", str(each.before.id)) for each in steps]
