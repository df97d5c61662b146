"""Looks at campaigns: computes the verdicts of their labels, keeps new verdicts, and reports them to `annotation`."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.errors import NoSuchCampaign
from spotthebot.analytics.clients.running_campaigns import RunningCampaigns
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.stats.pair_verdicts import Verdict
from spotthebot.analytics.verdicts import store
from spotthebot.analytics.verdicts.domain import report_of, verdicts_of, with_given
from spotthebot.clients import PEER_TROUBLE, PeerRefused
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.cancellation import pause

_log = get_logger(__name__)


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
        revision = await self.campaign_data.current_revision(campaign_id)
        return await self.look_at(revision, revision.campaign.margin if margin is None else margin)

    async def look_at(self, revision: CampaignRevision, margin: float | None) -> list[PairVerdictOut]:
        """Return the verdict on each pair at one revision, under a margin or none."""
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


@dataclass
class VerdictWatch:
    """Looks at every open campaign after each new annotation, and reports the verdicts to `annotation`.

    It compares revisions instead of hearing events: a campaign that changed while the worker was down is looked at,
    too, and no cursor has to be kept. A report that is lost is sent again with the next change, or after a restart.
    """

    verdicts: Verdicts
    running: RunningCampaigns
    seconds: float
    _seen: dict[UUID, Hashable] = field(default_factory=dict)

    async def run(self) -> None:
        """Look at the open campaigns again and again, until cancelled."""
        while True:
            try:
                await self.look_at_all()
            except (*PEER_TROUBLE, *DATABASE_TROUBLE) as error:
                _log.warning("verdicts.wait", error=type(error).__name__)
            await pause(self.seconds)

    async def look_at_all(self) -> None:
        """Look once at each open campaign that changed since the last look."""
        states = [each async for each in self.running.list()]
        for state in states:
            if self._seen.get(state.campaign.id) == state.fingerprint:
                continue
            try:
                await self._look(state.campaign.id)
            except (PeerRefused, NoSuchCampaign) as refused:
                _log.warning("verdicts.refused", campaign_id=str(state.campaign.id), error=type(refused).__name__)
            except (*PEER_TROUBLE, *DATABASE_TROUBLE):
                raise
            except Exception:  # noqa: BLE001 - one of our own: else no other campaign would get verdicts any more
                _log.exception("verdicts.failed", campaign_id=str(state.campaign.id))
            self._seen[state.campaign.id] = state.fingerprint
        self._seen = {state.campaign.id: self._seen[state.campaign.id] for state in states}

    async def _look(self, campaign_id: UUID) -> None:
        revision = await self.verdicts.campaign_data.current_revision(campaign_id)
        found = await self.verdicts.look_at(revision, revision.campaign.margin)
        labelled = await self.verdicts.campaign_data.read(revision)
        await self.running.report(campaign_id, report_of(labelled, found))
