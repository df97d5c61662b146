"""Runs a version of a judge on a campaign: claims packages, labels their items, submits. A run can be repeated."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.clients import AsyncAnnotation, Conflict
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.assignments import (
    AssignmentOut,
    ClaimIn,
    HeartbeatIn,
    ItemOut,
    JudgeItemIn,
    JudgeSubmissionIn,
)
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import JudgeRef, JudgeVersionOut, MissingReason
from spotthebot.judges.errors import EndpointSilent
from spotthebot.judges.items import label_item
from spotthebot.judges.opinions import Labeller, Usage

AT_ONCE: Final = 8
"""The items of a package that are labelled at the same time, unless the caller says otherwise."""
_SIGN_OF_LIFE_SECONDS: Final = 20.0


@dataclass(frozen=True)
class JudgeRun:
    """What a run did: packages, items, answers that are missing by reason, tokens and cost."""

    packages: int
    items: int
    answers: int
    missing: Mapping[str, int]
    usage: Usage


def annotator_of(judge: JudgeVersionOut, repeat: int = 1) -> str:
    """Return the annotator that a version of a judge is in a campaign; each repeat is another annotator."""
    return f"{judge.name}-v{judge.version}" + ("" if repeat == 1 else f"-repeat-{repeat}")


async def run_judge(
    tasks: AsyncAnnotation,
    campaign: CampaignOut,
    judge: JudgeVersionOut,
    labeller: Labeller,
    on_package: Callable[[], object],
    *,
    repeat: int = 1,
    at_once: int = AT_ONCE,
) -> JudgeRun:
    """Label all packages that this version of a judge has not labelled, and return what was done.

    A package that an earlier run left is claimed first. Raises EndpointSilent if a whole package got no answer, because
    a wrong key or a server that is down is no opinion. Raises the refusals of the service.
    """
    claim = ClaimIn(
        annotator=annotator_of(judge, repeat),
        kind=AnnotatorKind.JUDGE,
        judge=JudgeRef(name=judge.name, version=judge.version),
    )
    packages = items = answers = 0
    missing: Counter[str] = Counter()
    usage = Usage()
    while (assignment := await _claim(tasks, campaign, claim)) is not None:
        labelled, used = await _label(tasks, assignment, labeller, at_once)
        _require_an_answer(labelled)
        await _submit(tasks, campaign, claim, assignment, labelled)
        stated = [each for item in labelled for each in item.labels.answers]
        packages, items, answers = packages + 1, items + len(labelled), answers + len(stated)
        missing.update(each.missing.value for each in stated if each.missing is not None)
        usage += used
        on_package()
    return JudgeRun(packages, items, answers, dict(missing), usage)


async def _claim(tasks: AsyncAnnotation, campaign: CampaignOut, claim: ClaimIn) -> AssignmentOut | None:
    """Return the next package; None if nothing is left. Raises other refusals."""
    try:
        return await tasks.claim_package(campaign.id, claim)
    except Conflict as refused:
        if refused.problem.type.endswith(":nothing-left"):
            return None
        raise


async def _label(
    tasks: AsyncAnnotation, assignment: AssignmentOut, labeller: Labeller, at_once: int
) -> tuple[list[JudgeItemIn], Usage]:
    free = asyncio.Semaphore(at_once)

    async def label(item: ItemOut) -> tuple[JudgeItemIn, Usage]:
        async with free:
            return await label_item(labeller, assignment, item)

    alive = asyncio.create_task(_stay_alive(tasks, assignment))
    try:
        async with asyncio.TaskGroup() as group:
            labelling = [group.create_task(label(item)) for item in assignment.items]
    finally:
        alive.cancel()
    done = [each.result() for each in labelling]
    return [item for item, _ in done], sum((used for _, used in done), Usage())


async def _stay_alive(tasks: AsyncAnnotation, assignment: AssignmentOut) -> None:
    """Extend the lease while the judge works; if it ends all the same, the package is claimed again."""
    while True:
        await asyncio.sleep(_SIGN_OF_LIFE_SECONDS)
        try:
            await tasks.keep_assignment(assignment.id, HeartbeatIn())
        except Conflict:
            return


async def _submit(
    tasks: AsyncAnnotation,
    campaign: CampaignOut,
    claim: ClaimIn,
    assignment: AssignmentOut,
    labelled: Sequence[JudgeItemIn],
) -> None:
    labels = JudgeSubmissionIn(items=tuple(labelled))
    try:
        await tasks.submit_judge_labels(assignment.id, labels)
    except Conflict as refused:
        if not refused.problem.type.endswith(":assignment-expired"):
            raise
        again = await _claim(tasks, campaign, claim)
        if again is None or again.id != assignment.id:
            raise
        await tasks.submit_judge_labels(assignment.id, labels)


def _require_an_answer(labelled: Sequence[JudgeItemIn]) -> None:
    """Raise EndpointSilent if every answer of a package failed."""
    stated = [each for item in labelled for each in item.labels.answers]
    if stated and all(each.missing is MissingReason.FAILED for each in stated):
        raise EndpointSilent(items=len(labelled), reason=stated[-1].detail)
