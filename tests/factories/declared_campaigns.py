"""Campaigns that files declare, in tests: a small file, and simulated annotators at work."""

from collections.abc import Callable

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import SimulatedWork, annotate

SMALL = """\
name: people
collections: [im]
segments: [1, 2]
package_size: 2
packages_per_annotator: 2
"""
Write = Callable[[str], CampaignDeclared]


async def annotate_simulated(clients: Clients, campaign: CampaignOut, count: int, *, seed: int = 7) -> SimulatedWork:
    with showing_progress() as steps, steps.step("At work") as step:
        return await annotate(clients.tasks, campaign, simulated_annotators(count, seed=seed), step.advance)
