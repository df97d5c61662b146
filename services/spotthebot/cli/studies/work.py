"""Lets simulated annotators work on a campaign, or on all tasks of a study, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.simulation.annotator import SimulatedAnnotator
from spotthebot.simulation.work import SimulatedWork, annotate


@dataclass(frozen=True)
class Worked:
    """The work of simulated annotators on one campaign, and the campaign after it."""

    work: SimulatedWork
    campaign: CampaignOut


async def work_on(
    clients: Clients, given: CampaignOut | StudyOut, annotators: Sequence[SimulatedAnnotator], steps: Steps
) -> list[Worked]:
    """Let the annotators work until nothing is left for them; returns the work on each campaign in its order."""
    if isinstance(given, CampaignOut):
        return [await _work(clients, given, "Simulated annotators at work", annotators, steps)]
    worked = []
    for campaign_id in given.campaigns:
        campaign = await clients.annotation.get_campaign(campaign_id)
        worked.append(await _work(clients, campaign, f"Simulated annotators at {campaign.name}", annotators, steps))
    return worked


async def _work(
    clients: Clients, campaign: CampaignOut, what: str, annotators: Sequence[SimulatedAnnotator], steps: Steps
) -> Worked:
    with steps.step(what, total=campaign.annotations_needed - campaign.annotations) as step:
        work = await annotate(clients.tasks, campaign, annotators, step.advance)
    return Worked(work, await clients.annotation.get_campaign(campaign.id))
