"""Drafts of answers: steps are answered in their order, and a step is locked once the next one is shown."""

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
from spotthebot.annotation.protocols.domain.exchanges import Decision, decide, opens_one_by_one
from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape, question_ids
from spotthebot.annotation.protocols.errors import InvalidAnswer
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol


@dataclass(frozen=True)
class Draft:
    """What was answered so far; `step` counts the steps that were shown, `version` the changes.

    Where exchanges are opened one by one, `opened_at` says when, and `decisions` how many were for each answer.
    """

    answer: Answer = field(default_factory=dict)
    step: int = 1
    version: int = 0
    opened_at: tuple[datetime, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class AnsweredItem:
    """An item of an assignment with its draft and when it was worked on; `speakers` has the side of each turn.

    Gold items have no id, as they are no part of the study. Pairs are asked about as a whole, so `speakers` says
    nothing of the conversation on the right.
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
    """Return the shape of an item; of one conversation, from the sides of its turns, such as `ABAB`."""
    if is_pair:
        return PAIR_SHAPE
    return UnitShape(speakers=tuple("A" if side == "A" else "B" for side in speakers))


@dataclass(frozen=True)
class SubmittedAnswer:
    """An answer as it counts from now on, with times that the server took; one to a gold item has no item id."""

    item_id: UUID | None
    answer: Answer
    decisions: tuple[Decision, ...]
    started_at: datetime
    ended_at: datetime
    elapsed_ms: int
    reported_ms: int | None


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
    """Return the draft after an answer was saved; the same request again leaves it as it is.

    `show_step` shows the step of this number, from 1, if it is the next one; what is shown stays shown. `version` is
    the one that the answer replaces. Raises VersionOutdated, InvalidAnswer, StepNotShown, StepLocked, StepUnanswered
    where the next step is asked for too early, and what `decide` raises where exchanges are opened one by one.
    """
    if answer == draft.answer and (show_step is None or show_step <= draft.step):
        return draft
    if version is not None and version != draft.version:
        raise VersionOutdated(version=version, present=draft.version)
    if faults := check_answer(protocol, shape, answer, at="/answer"):
        raise InvalidAnswer(fields=faults)
    _check_order(protocol, draft, answer)
    decisions = draft.decisions
    if opens_one_by_one(protocol):
        before = (draft.answer, draft.decisions)
        decisions = decide(protocol, shape, before, answer, draft.opened_at, now)
    step = draft.step
    if show_step is not None and show_step > step:
        if show_step > step + 1 or show_step > len(protocol.steps):
            raise StepNotShown(step=show_step)
        shown = protocol.steps[step - 1].id
        if fields := missing(protocol, shape, answer, shown, at="/answer"):
            raise StepUnanswered(step=shown, fields=fields)
        step = show_step
    return replace(draft, answer=answer, step=step, version=draft.version + 1, decisions=decisions)


def submission(
    protocol: AnnotationProtocol, items: Sequence[AnsweredItem], leased_at: datetime
) -> list[SubmittedAnswer]:
    """Return the answers of an assignment as they count from now on; raises ItemsUnanswered where one is missing.

    An item was started when its frontend said that it was on the screen, else with the last save of another item
    before its own first one. The time that it took is the one that heartbeats counted, else the one from its start to
    its last change.
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
    ended_at = max(started_at, item.saved_at or started_at)  # a clock may have been set back in between
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
            raise StepLocked(step=step.id)
    for step in protocol.steps[draft.step :]:
        if not ids[step.id].isdisjoint(answer):
            raise StepNotShown(step=step.id)


def _of_step(answer: Answer, ids: frozenset[str]) -> Answer:
    return {name: value for name, value in answer.items() if name in ids}
