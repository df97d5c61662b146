"""Simulated annotators work on a campaign through the task API, as a frontend for people does."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from spotthebot.annotation.entry_links.domain.panels import require_id
from spotthebot.annotation.entry_links.errors import AnnotatorIdUnusable
from spotthebot.clients import AsyncAnnotation, Conflict
from spotthebot.contracts.annotation.annotations import AnnotatorKind, Label
from spotthebot.contracts.annotation.assignments import AnswerIn, AssignmentOut, ClaimIn, ExchangeIn, ItemOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.entries import ConsentIn
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.turns import Turn
from spotthebot.simulation.annotator import SimulatedAnnotator
from spotthebot.simulation.answers import ShownItem, answer_steps
from spotthebot.simulation.errors import PanelNotSimulated

_SPOT_THE_BOT: Final = "spot_the_bot"
"""The protocol that gives annotators points."""
_KIND: Final = AnnotatorKind.SIMULATED
_AT_ONCE = 8
_LAST_STEP = 2
_SIDES: Final = ("A", "B")


@dataclass(frozen=True)
class SimulatedWork:
    """The work of simulated annotators. Each annotator worked until a package was refused."""

    annotators: int
    assignments: int
    annotations: int
    refused: Mapping[str, int]
    """The number of annotators by the reason of the refusal."""


async def annotate(
    tasks: AsyncAnnotation,
    campaign: CampaignOut,
    annotators: Sequence[SimulatedAnnotator],
    on_answer: Callable[[], object],
) -> SimulatedWork:
    """Let annotators claim, answer and submit packages until each annotator is refused a package.

    The annotators claim in turns, so that the seed alone decides which annotator gets which package. Raises
    PanelNotSimulated.
    """
    await _introduce(tasks, campaign, annotators)
    refused: Counter[str] = Counter()
    assignments = annotations = 0
    waiting = list(annotators)
    while waiting:
        for annotator in list(waiting):
            assignment = await _claim(tasks, campaign, annotator)
            if isinstance(assignment, str):
                refused[assignment] += 1
                waiting.remove(annotator)
            else:
                await _submit(tasks, assignment, annotator, on_answer)
                assignments += 1
                annotations += len(assignment.items)
    return SimulatedWork(len(annotators), assignments, annotations, dict(refused))


async def _introduce(tasks: AsyncAnnotation, campaign: CampaignOut, annotators: Sequence[SimulatedAnnotator]) -> None:
    """Store the annotators' consent if the campaign asks for consent; raises PanelNotSimulated."""
    for annotator in annotators:
        try:
            require_id(campaign.panel, annotator.name)
        except AnnotatorIdUnusable as unusable:
            raise PanelNotSimulated(name=campaign.name, panel=unusable.facts["panel"]) from unusable
        if campaign.consent_sha256 is not None:
            given = ConsentIn(annotator=annotator.name, kind=_KIND, sha256=campaign.consent_sha256)
            await tasks.give_consent(campaign.id, given)


async def _claim(tasks: AsyncAnnotation, campaign: CampaignOut, annotator: SimulatedAnnotator) -> AssignmentOut | str:
    """Return the claimed package, or the reason of a refusal."""
    try:
        return await tasks.claim_package(campaign.id, ClaimIn(annotator=annotator.name, kind=_KIND))
    except Conflict as refused:
        return refused.problem.type.rpartition(":")[2].replace("-", "_")


async def _submit(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, on_answer: Callable[[], object]
) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(item: ItemOut) -> None:
        async with free:
            if assignment.protocol.name == _SPOT_THE_BOT:
                await _annotate(tasks, assignment, annotator, item)
            elif assignment.protocol.name == GAME:
                await _play(tasks, assignment, annotator, item, item.opened or 0)
            else:
                await _answer(tasks, assignment, annotator, item)
        on_answer()

    await asyncio.gather(*(answer(item) for item in assignment.items))
    await tasks.submit_assignment(assignment.id)


async def _annotate(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, item: ItemOut
) -> None:
    """Answer both steps of an item by the protocol `spot_the_bot`. The item shows all its turns."""
    said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in item.turns))
    decision = said.decision
    if item.step < _LAST_STEP:
        await tasks.save_answer(assignment.id, item.position, AnswerIn(answer=decision, show_step=_LAST_STEP))
    else:  # an earlier call was interrupted here, perhaps with another seed
        decision = {"entity": item.answer["entity"]}
    whole = AnswerIn(answer=said.answer | decision, elapsed_ms=said.elapsed_ms)
    await tasks.save_answer(assignment.id, item.position, whole)


async def _answer(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, item: ItemOut
) -> None:
    """Open all exchanges of an item, and answer the steps of any protocol one after the other.

    Steps that an interrupted call has locked keep their answers.
    """
    turns: Sequence[Turn] = item.turns
    if item.opened is not None:
        exchange, is_last = max(1, item.opened), False
        while not is_last:
            turns, is_last = await _open(tasks, assignment, item.position, exchange)
            exchange += 1
    protocol, shown = assignment.protocol, ShownItem(turns, item.right_turns)
    steps = answer_steps(annotator, protocol, shown, item.answer, step=item.step)
    for number, (answer, elapsed_ms) in enumerate(steps, start=item.step):
        following = number + 1 if number < len(protocol.steps) else None
        request = AnswerIn(answer=answer, show_step=following, elapsed_ms=elapsed_ms)
        await tasks.save_answer(assignment.id, item.position, request)


async def _play(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, item: ItemOut, opened: int
) -> None:
    """Open exchanges of an item until both sides are decided. Then compare the speakers, if the game asks for it.

    A side is decided as soon as the rule says human or bot. After the last exchange, unsure is a decision too.
    Exchanges opened and decisions made before an interruption are kept.
    """
    kept = item.answer.get("entity", {})
    labels: dict[str, JsonValue] = dict(kept) if isinstance(kept, dict) else {}
    turns: Sequence[Turn] = item.turns
    exchange = max(1, opened)
    while len(labels) < len(_SIDES):
        turns, is_last = await _open(tasks, assignment, item.position, exchange)
        said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in turns))
        for side, label in zip(_SIDES, (said.label_a, said.label_b), strict=True):
            if side not in labels and (is_last or label is not Label.UNSURE):
                labels[side] = label.value
        answer = AnswerIn(answer={"entity": labels} if labels else {}, elapsed_ms=said.elapsed_ms)
        await tasks.save_answer(assignment.id, item.position, answer)
        exchange += 1
    if len(assignment.protocol.steps) == _LAST_STEP:
        said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in turns))
        if item.step < _LAST_STEP:
            decision = AnswerIn(answer={"entity": labels}, show_step=_LAST_STEP)
            await tasks.save_answer(assignment.id, item.position, decision)
        whole = AnswerIn(answer=said.answer | {"entity": labels}, elapsed_ms=said.elapsed_ms)
        await tasks.save_answer(assignment.id, item.position, whole)


async def _open(
    tasks: AsyncAnnotation, assignment: AssignmentOut, position: int, exchange: int
) -> tuple[tuple[Turn, ...], bool]:
    """Open the next exchange. Return all open turns, and whether this was the last exchange."""
    try:
        return (await tasks.open_exchange(assignment.id, position, ExchangeIn(open=exchange))).turns, False
    except Conflict as refused:
        if not refused.problem.type.endswith(":all-exchanges-open"):
            raise
        return (await tasks.open_exchange(assignment.id, position, ExchangeIn(open=exchange - 1))).turns, True
