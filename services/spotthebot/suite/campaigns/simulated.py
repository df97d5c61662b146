"""Simulated annotators work through a campaign by the task API, as the frontend of people would."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.annotation.domain.errors import AnnotatorIdUnusable
from spotthebot.annotation.domain.panels import require_id
from spotthebot.clients import AsyncAnnotation, Conflict
from spotthebot.contracts.annotation import CampaignOut
from spotthebot.contracts.assignments import AnswerIn, AssignmentOut, ClaimIn, ItemOut
from spotthebot.contracts.entries import ConsentIn
from spotthebot.suite.errors import PanelNotSimulated, ProtocolNotSimulated
from spotthebot.suite.progress import Step
from spotthebot.suite.sample import sample_dialogues
from spotthebot.suite.simulation import SimulatedAnnotator, crowd

SIMULATED_PROTOCOL: Final = "spot_the_bot"
"""The one that simulated annotators can answer."""
_AT_ONCE = 8
_LAST_STEP = 2


@dataclass(frozen=True)
class SimulatedWork:
    """What simulated annotators did; each of them stopped when it was refused a package, for a reason."""

    annotators: int
    assignments: int
    annotations: int
    refused: Mapping[str, int]
    """Annotators by the reason for which they got no more."""


def simulated_annotators(count: int, *, seed: int) -> tuple[SimulatedAnnotator, ...]:
    """Return annotators who have read the dialogues of the sample from which bots learn."""
    dialogues = [tuple(each["turns"]) for each in sample_dialogues() if each["split"] == "train"]
    return crowd(count, seed=seed, dialogues=dialogues)


async def annotate(
    tasks: AsyncAnnotation, campaign: CampaignOut, annotators: Sequence[SimulatedAnnotator], step: Step
) -> SimulatedWork:
    """Let annotators claim, answer and submit packages until each of them is refused one.

    They take turns at claiming, so that the seed alone decides which annotator gets which package. Raises
    ProtocolNotSimulated unless the campaign asks by `spot_the_bot`, and PanelNotSimulated.
    """
    if campaign.protocol != SIMULATED_PROTOCOL:
        raise ProtocolNotSimulated(name=campaign.name, protocol=campaign.protocol)
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
                await _submit(tasks, assignment, annotator, step)
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


async def _submit(tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, step: Step) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(item: ItemOut) -> None:
        said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in item.turns))
        decision = said.decision
        async with free:
            if item.step < _LAST_STEP:
                await tasks.save_answer(assignment.id, item.position, AnswerIn(answer=decision, show_step=_LAST_STEP))
            else:  # an earlier call was stopped here, perhaps with another seed
                decision = {"entity": item.answer["entity"]}
            whole = AnswerIn(answer=said.answer | decision, elapsed_ms=said.elapsed_ms)
            await tasks.save_answer(assignment.id, item.position, whole)
        step.advance()

    await asyncio.gather(*(answer(item) for item in assignment.items))
    await tasks.submit_assignment(assignment.id)
