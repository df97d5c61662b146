"""What happens to a conversation, as spans of a trace of its own, whose id is the conversation's.

A request for turns and a commit hold many conversations: they are spans of their collections' traces, with which those
of the conversations are linked.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

from spotthebot.contracts.conversations import ConversationState
from spotthebot.conversations.domain.transitions import Step
from spotthebot.kit.tracing import record_span_of, records_spans


def record_requests(steps: Sequence[Step], since: int) -> None:
    """Record that each step's turn was requested at `since`, in nanoseconds of the epoch, and the answer came now."""
    if records_spans():
        for each in steps:
            record_span_of(each.before.id, "request turn", _attributes(each), since)


def record_commits(steps: Sequence[Step], committed: Collection[UUID], since: int) -> None:
    """Record that those steps which were committed took from `since` until now.

    A conversation's first step begins its trace: no other is committed as the first.
    """
    if records_spans():
        for each in steps:
            if each.after.id in committed:
                _record_commit(each, since)


def _record_commit(step: Step, since: int) -> None:
    conversation = step.after
    has_ended = conversation.state is not ConversationState.RUNNING
    if not step.before.turns and (step.text is not None or has_ended):
        requested = since - round((step.latency_ms or 0) * 1e6)
        attributes = {"conversation": str(conversation.id), "collection": str(conversation.collection_id)}
        record_span_of(conversation.id, "conversation", attributes, requested, is_first=True)
    if step.text is not None:
        record_span_of(conversation.id, "commit turn", _attributes(step), since)
    if has_ended:
        record_span_of(conversation.id, f"end as {conversation.state}", {}, since)


def _attributes(step: Step) -> dict[str, str | int]:
    return {"turn": len(step.before.turns), "speaker": step.before.next_speaker}
