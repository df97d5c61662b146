"""Drafts of answers. Annotators answer steps in order; when the next step is shown, the earlier steps are locked."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from spotthebot.annotation.assignments.errors import (
    ItemsUnanswered,
    StepLocked,
    StepNotShown,
    StepUnanswered,
    VersionOutdated,
)
from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.domain.exchanges import Decision, decide
from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape, question_ids
from spotthebot.annotation.protocols.errors import InvalidAnswer
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.protocols import AnnotationProtocol


@dataclass(frozen=True)
class Draft:
    """An annotator's answer so far; `step` counts the steps shown, `version` counts the changes of the answer.

    If exchanges open one by one, `opened_at` holds the times of opening, and `decisions` the number of open exchanges
    for each answer.
    """

    answer: Answer = field(default_factory=dict)
    step: int = 1
    version: int = 0
    opened_at: tuple[datetime, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class AnsweredItem:
    """An item of an assignment with its draft and the times of work on it; `speakers` has the side of each turn.

    Gold items have no id, because they are not part of the study. For a pair, `speakers` covers only the left
    conversation; questions about pairs ask about both conversations as a whole.
    """

    id: UUID | None
    position: int
    exchanges: int
    speakers: str
    is_pair: bool
    draft: Draft
    served_at: datetime | None
    first_saved_at: datetime | None
    saved_at: datetime | None
    active_ms: int
    reported_ms: int | None

    @property
    def shape(self) -> UnitShape:
        return shape_of(self.speakers, is_pair=self.is_pair)


@lru_cache(maxsize=1024)
def shape_of(speakers: str, *, is_pair: bool) -> UnitShape:
    """Return the shape of an item; `speakers` has the sides of a conversation's turns, such as `ABAB`."""
    if is_pair:
        return PAIR_SHAPE
    return UnitShape(speakers=tuple("A" if side == "A" else "B" for side in speakers))


@dataclass(frozen=True)
class SubmittedAnswer:
    """A final answer, with times measured by the server. Answers to gold items have no item id.

    The time that a judge took is as it reports it, and only a judge has `judge_labels`.
    """

    item_id: UUID | None
    answer: Answer
    decisions: tuple[Decision, ...]
    started_at: datetime
    ended_at: datetime
    elapsed_ms: int | None
    reported_ms: int | None
    judge_labels: JudgeLabels | None = None


def revise(
    protocol: AnnotationProtocol,
    shape: UnitShape,
    draft: Draft,
    answer: Answer,
    *,
    now: datetime,
    show_step: int | None = None,
    version: int | None = None,
) -> Draft:
    """Return the draft after an answer is saved; repeating a request changes nothing.

    `show_step` is the number, from 1, of the next step to show; shown steps stay shown. `version` is the version that
    the answer replaces. Raises VersionOutdated, InvalidAnswer, StepNotShown, StepLocked, and StepUnanswered if the step
    before `show_step` is incomplete. If exchanges open one by one, it also raises the errors of `decide`.
    """
    if answer == draft.answer and (show_step is None or show_step <= draft.step):
        return draft
    if version is not None and version != draft.version:
        raise VersionOutdated(version=version, present=draft.version)
    if faults := check_answer(protocol, shape, answer, at="/answer"):
        raise InvalidAnswer(fields=faults)
    _check_order(protocol, draft, answer)
    decisions = draft.decisions
    if protocol.opens_one_by_one:
        before = (draft.answer, draft.decisions)
        decisions = decide(protocol, shape, before, answer, draft.opened_at, now)
    step = draft.step
    if show_step is not None and show_step > step:
        if show_step > step + 1 or show_step > len(protocol.steps):
            raise _not_shown(protocol, draft, show_step)
        shown = protocol.steps[step - 1].id
        if fields := missing(protocol, shape, answer, shown, at="/answer"):
            raise StepUnanswered(step=shown, fields=fields)
        step = show_step
    return replace(draft, answer=answer, step=step, version=draft.version + 1, decisions=decisions)


def submission(
    protocol: AnnotationProtocol, items: Sequence[AnsweredItem], leased_at: datetime
) -> list[SubmittedAnswer]:
    """Return the final answers of an assignment; raises ItemsUnanswered if an answer is missing.

    The work on an item starts when the frontend reports the item on the screen. Without a report, the work starts when
    the annotator last saved another item before the first save of this item. The time taken is the time that heartbeats
    counted; without heartbeats, it is the time from the start to the last change.
    """
    faults = [
        fault
        for item in items
        for fault in missing(protocol, item.shape, item.draft.answer, at=f"/items/{item.position}")
    ]
    if faults:
        count = len({fault.pointer.split("/")[2] for fault in faults})
        raise ItemsUnanswered(count=count, fields=tuple(faults))
    saves = sorted(at for item in items for at in (item.first_saved_at, item.saved_at) if at is not None)
    return [_submitted(item, _started_at(item, saves, leased_at)) for item in items]


def _started_at(item: AnsweredItem, saves: Sequence[datetime], leased_at: datetime) -> datetime:
    if item.served_at is not None:
        return item.served_at
    first = item.first_saved_at or leased_at
    before = bisect_left(saves, first)
    return saves[before - 1] if before else leased_at


def _submitted(item: AnsweredItem, started_at: datetime) -> SubmittedAnswer:
    ended_at = max(started_at, item.saved_at or started_at)  # a clock may have been set back meanwhile
    elapsed = timedelta(milliseconds=max(0, item.active_ms)) or ended_at - started_at
    return SubmittedAnswer(
        item_id=item.id,
        answer=item.draft.answer,
        decisions=item.draft.decisions,
        started_at=started_at,
        ended_at=ended_at,
        elapsed_ms=elapsed // timedelta(milliseconds=1),
        reported_ms=item.reported_ms,
    )


def _check_order(protocol: AnnotationProtocol, draft: Draft, answer: Answer) -> None:
    ids = question_ids(protocol)
    for step in protocol.steps[: draft.step - 1]:
        if _of_step(answer, ids[step.id]) != _of_step(draft.answer, ids[step.id]):
            saved = ", ".join(sorted(_of_step(draft.answer, ids[step.id]))) or "none"
            raise StepLocked(step=step.id, saved=saved)
    for step in protocol.steps[draft.step :]:
        if not ids[step.id].isdisjoint(answer):
            raise _not_shown(protocol, draft, step.id)


def _not_shown(protocol: AnnotationProtocol, draft: Draft, step: int | str) -> StepNotShown:
    remedy = f"step {protocol.steps[draft.step - 1].id} is the last one"
    if draft.step < len(protocol.steps):
        shown, following = (each.id for each in protocol.steps[draft.step - 1 : draft.step + 1])
        remedy = (
            f"save the answers up to step {shown} with `show_step: {draft.step + 1}`, then those of step {following}"
        )
    return StepNotShown(step=step, remedy=remedy)


def _of_step(answer: Answer, ids: frozenset[str]) -> Answer:
    return {name: value for name, value in answer.items() if name in ids}
