"""Campaigns that files declare, in tests: a small file, and simulated annotators at work."""

from collections.abc import Callable

from spotthebot.contracts.annotation import CampaignOut
from spotthebot.suite.campaigns import CampaignDeclared, SimulatedWork, annotate, simulated_annotators
from spotthebot.suite.progress import showing_progress
from spotthebot.suite.runtime.session import Clients

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
        return await annotate(clients.tasks, campaign, simulated_annotators(count, seed=seed), step)
