"""The judge of the demonstration: a simulated judge labels the campaign after the simulated annotators."""

from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.analytics.judges import JudgesOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import JudgeIn, SimulatedJudge
from spotthebot.judges.run import run_judge
from spotthebot.judges.simulated import SimulatedLabeller
from spotthebot.kit.errors import Error
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators

_NAME: Final = "simulated-judge"
_SEEDS: Final = 2**31


@dataclass(frozen=True)
class DemoJudges:
    """The judges of the demonstration's campaign. If `judges` is None, `reason` says why."""

    judges: JudgesOut | None
    reason: str | None = None


async def judge_demo(clients: Clients, campaign: CampaignOut, steps: Steps, *, seed: int) -> DemoJudges:
    """Let a simulated judge label the campaign, and return what it is worth, or the reason of a failure.

    The judge has another seed than the annotators, so that it does not have the first annotator's character.
    """
    settings = SimulatedJudge(kind="simulated", seed=(seed + 1) % _SEEDS)
    labeller = SimulatedLabeller(settings, simulated_annotators(1, seed=settings.seed)[0])
    try:
        judge = await clients.annotation.create_judge(JudgeIn(name=_NAME, settings=settings))
        with steps.step("A simulated judge at work", total=campaign.packages) as step:
            await run_judge(clients.tasks, campaign, judge, labeller, step.advance)
        with steps.step("Comparing the judge with the annotators", total=1):
            found = await clients.analytics.list_judge_qualities(campaign.id)
    except Error as error:
        return DemoJudges(None, str(error))
    return DemoJudges(found) if found.judges else DemoJudges(None, "The judge labelled nothing.")
