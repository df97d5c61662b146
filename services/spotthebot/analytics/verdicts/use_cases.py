"""Looks at a campaign: computes the verdicts of its labels, and keeps the verdicts that are new."""

from dataclasses import dataclass
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.stats.pair_verdicts import Verdict
from spotthebot.analytics.verdicts import store
from spotthebot.analytics.verdicts.domain import verdicts_of, with_given
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on the pairs of campaigns.

    Any number of looks is valid (`stats.pair_verdicts`), so every request is a look of its own. A verdict is stored in
    the first look that gives it. Labels that are rejected or added later do not change it.
    """

    database: Database
    campaign_data: CampaignData
    threads: ComputeThreads

    async def look(self, campaign_id: UUID, margin: float | None = None) -> list[PairVerdictOut]:
        """Return the verdict on each pair; raises NoSuchCampaign and OtherProtocol.

        Without a margin, the campaign's own margin counts.
        """
        return await self.look_at(await self.campaign_data.current_revision(campaign_id), margin)

    async def look_at(self, revision: CampaignRevision, margin: float | None = None) -> list[PairVerdictOut]:
        """Return the verdict on each pair at one revision."""
        campaign = revision.campaign
        labelled = await self.campaign_data.read(revision)
        found = await self.threads.run(verdicts_of, labelled, margin)
        decided = [each for each in found if each.verdict is not Verdict.OPEN]
        async with self.database.read() as session:
            given = await store.list_given(session, campaign.id, margin)
        if any((each.bot, each.other) not in given for each in decided):
            async with self.database.write() as session:
                await store.give_verdicts(session, campaign.id, margin, decided)
                given = await store.list_given(session, campaign.id, margin)
        return with_given(found, given)
