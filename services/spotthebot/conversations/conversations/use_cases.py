"""Records requests for turns and commits in the traces of conversations, as spans with the conversation's id.

A request or a commit covers many conversations at once, so each of them gets its own span.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.conversations.domain import Conversation, Step
from spotthebot.kit.telemetry.tracing import is_recording, record_span


def record_requests(steps: Sequence[Step], since: int) -> None:
    """Record for each step that its turn was requested at `since`, in nanoseconds since 1970, and answered now."""
    if is_recording():
        for each in steps:
            record_span("request turn", _ids(each.before) | _turn(each), since)


def record_commits(steps: Sequence[Step], committed: Collection[UUID], since: int) -> None:
    """Record for each committed step that its commit began at `since` and has ended now."""
    if is_recording():
        for each in steps:
            if each.after.id in committed:
                _record_commit(each, since)


def _record_commit(step: Step, since: int) -> None:
    ids = _ids(step.after)
    if step.text is not None:
        record_span("commit turn", ids | _turn(step), since)
    if step.after.state is not ConversationState.RUNNING:
        record_span(f"end as {step.after.state}", ids, since)


def _ids(conversation: Conversation) -> dict[str, str | int]:
    return {"conversation.id": str(conversation.id), "collection": str(conversation.collection_id)}


def _turn(step: Step) -> dict[str, str | int]:
    return {"turn": len(step.before.turns), "speaker": step.before.next_speaker}
