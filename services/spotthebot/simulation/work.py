"""Simulated annotators work through a campaign by the task API, as the frontend of people would."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from spotthebot.annotation.entry_links.domain.panels import require_id
from spotthebot.annotation.entry_links.errors import AnnotatorIdUnusable
from spotthebot.clients import AsyncAnnotation, Conflict
from spotthebot.contracts.annotation.annotations import Label
from spotthebot.contracts.annotation.assignments import AnswerIn, AssignmentOut, ClaimIn, ExchangeIn, ItemOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.entries import ConsentIn
from spotthebot.contracts.turns import Turn
from spotthebot.simulation import SimulatedAnnotator
from spotthebot.simulation.errors import PanelNotSimulated, ProtocolNotSimulated

SIMULATED_PROTOCOLS: Final = ("spot_the_bot", "spot_the_bot_gamified")
"""Those that simulated annotators can answer."""
RANKED_PROTOCOL: Final = SIMULATED_PROTOCOLS[0]
"""The one whose bots are ranked."""
_AT_ONCE = 8
_LAST_STEP = 2
_SIDES: Final = ("A", "B")


@dataclass(frozen=True)
class SimulatedWork:
    """What simulated annotators did; each of them stopped when it was refused a package, for a reason."""

    annotators: int
    assignments: int
    annotations: int
    refused: Mapping[str, int]
    """Annotators by the reason for which they got no more."""


async def annotate(
    tasks: AsyncAnnotation,
    campaign: CampaignOut,
    annotators: Sequence[SimulatedAnnotator],
    on_answer: Callable[[], object],
) -> SimulatedWork:
    """Let annotators claim, answer and submit packages until each of them is refused one.

    They take turns at claiming, so that the seed alone decides which annotator gets which package. Raises
    ProtocolNotSimulated unless the campaign asks by one of SIMULATED_PROTOCOLS, and PanelNotSimulated.
    """
    if campaign.protocol not in SIMULATED_PROTOCOLS:
        known = " and ".join(f"'{each}'" for each in SIMULATED_PROTOCOLS)
        raise ProtocolNotSimulated(name=campaign.name, protocol=campaign.protocol, known=known)
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
    """Have annotators consent to what the campaign asks them to; a program has nothing to weigh."""
    for annotator in annotators:
        try:
            require_id(campaign.panel, annotator.name)
        except AnnotatorIdUnusable as unusable:
            raise PanelNotSimulated(name=campaign.name, panel=unusable.facts["panel"]) from unusable
        if campaign.consent_sha256 is not None:
            await tasks.give_consent(campaign.id, ConsentIn(annotator=annotator.name, sha256=campaign.consent_sha256))


async def _claim(tasks: AsyncAnnotation, campaign: CampaignOut, annotator: SimulatedAnnotator) -> AssignmentOut | str:
    """Return a package, or the reason why there is none for this annotator."""
    try:
        return await tasks.claim_package(campaign.id, ClaimIn(annotator=annotator.name))
    except Conflict as refused:
        return refused.problem.type.rpartition(":")[2].replace("-", "_")


async def _submit(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, on_answer: Callable[[], object]
) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(item: ItemOut) -> None:
        async with free:
            if item.opened is None:
                await _annotate(tasks, assignment, annotator, item)
            else:
                await _play(tasks, assignment, annotator, item, item.opened)
        on_answer()

    await asyncio.gather(*(answer(item) for item in assignment.items))
    await tasks.submit_assignment(assignment.id)


async def _annotate(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, item: ItemOut
) -> None:
    """Answer both steps about an item that is shown whole."""
    said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in item.turns))
    decision = said.decision
    if item.step < _LAST_STEP:
        await tasks.save_answer(assignment.id, item.position, AnswerIn(answer=decision, show_step=_LAST_STEP))
    else:  # an earlier call was stopped here, perhaps with another seed
        decision = {"entity": item.answer["entity"]}
    whole = AnswerIn(answer=said.answer | decision, elapsed_ms=said.elapsed_ms)
    await tasks.save_answer(assignment.id, item.position, whole)


async def _play(
    tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, item: ItemOut, opened: int
) -> None:
    """Open exchanges until both sides are decided: as soon as the rule says human or bot, else unsure in the end.

    Where an earlier call was stopped, the exchanges that it opened and the decisions that it made are kept.
    """
    kept = item.answer.get("entity", {})
    labels: dict[str, JsonValue] = dict(kept) if isinstance(kept, dict) else {}
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


async def _open(
    tasks: AsyncAnnotation, assignment: AssignmentOut, position: int, exchange: int
) -> tuple[tuple[Turn, ...], bool]:
    """Return what is open with the next exchange, and whether that is all there is."""
    try:
        return (await tasks.open_exchange(assignment.id, position, ExchangeIn(open=exchange))).turns, False
    except Conflict as refused:
        if not refused.problem.type.endswith(":all-exchanges-open"):
            raise
        return (await tasks.open_exchange(assignment.id, position, ExchangeIn(open=exchange - 1))).turns, True
