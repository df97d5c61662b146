"""A conversation's own trace tells what was committed, once, whichever runner requested it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from time import time_ns
from uuid import UUID

import pytest

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.conversations.domain.conversations import Reply
from spotthebot.conversations.domain.transitions import Step, fail, step
from spotthebot.conversations.use_cases.conversation_traces import record_commits, record_requests
from spotthebot.kit import tracing
from tests.factories.domain_conversations import running

SAID = Reply("Hello.", None, None, 250.0)


class Listed:
    """A recorder that lists names of spans, and which of them began a trace."""

    def __init__(self) -> None:
        self.spans: list[tuple[UUID, str, bool]] = []
        self.began: dict[str, int] = {}

    def present(self) -> None:
        return None

    def span(self, *_: object) -> AbstractContextManager[None]:
        return nullcontext()

    span_of = span

    def record(self, subject: UUID, name: str, _: Mapping[str, str | int], since: int, *, is_first: bool) -> None:
        self.spans.append((subject, name, is_first))
        self.began[name] = since


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Listed:
    recorder = Listed()
    monkeypatch.setattr(tracing, "_recorders", [recorder])
    return recorder


class TestCommits:
    def test_begin_the_trace_with_the_request_of_the_first_turn(self, listed: Listed):
        conversation, since = running(), time_ns()
        record_commits([step(conversation, SAID)], {conversation.id}, since)
        assert listed.spans == [(conversation.id, "conversation", True), (conversation.id, "commit turn", False)]
        assert listed.began == {"conversation": since - 250_000_000, "commit turn": since}

    def test_begin_no_trace_with_a_later_turn(self, listed: Listed):
        conversation = running("Hi.", "Hello.")
        record_commits([step(conversation, SAID)], {conversation.id}, time_ns())
        assert listed.spans == [(conversation.id, "commit turn", False)]

    def test_count_only_where_no_other_runner_was_first(self, listed: Listed):
        """Another runner committed the same turn: only the step that counts is a span."""
        mine, others = running(), running()
        record_commits([step(mine, SAID), step(others, SAID)], {mine.id}, time_ns())
        assert {subject for subject, _, _ in listed.spans} == {mine.id}

    def test_leave_out_an_attempt_in_vain(self, listed: Listed):
        again = step(running(), Reply(None, ReplyFailure.TIMEOUT, "No reply.", 1.0))
        assert again.wait_seconds is not None
        record_commits([again], {again.after.id}, time_ns())
        assert listed.spans == []

    @pytest.mark.parametrize(
        ("turns", "expected"), [((), ["conversation", "end as failed"]), (("Hi.",), ["end as failed"])]
    )
    def test_say_how_a_conversation_ended(self, listed: Listed, turns: tuple[str, ...], expected: list[str]):
        failed = fail(running(*turns), "The bot is gone.")
        record_commits([failed], {failed.after.id}, time_ns())
        assert [name for _, name, _ in listed.spans] == expected

    def test_say_that_the_last_turn_ended_it(self, listed: Listed):
        last = step(running("Hi.", turns_planned=2), SAID)
        record_commits([last], {last.after.id}, time_ns())
        assert [name for _, name, _ in listed.spans] == ["commit turn", "end as complete"]


class TestRequests:
    def test_are_recorded_for_each_conversation_that_was_answered(self, listed: Listed):
        steps: list[Step] = [step(running(), SAID), step(replace(running(), attempts=1), SAID)]
        record_requests(steps, time_ns())
        assert listed.spans == [(each.before.id, "request turn", False) for each in steps]
