"""What a team sees of the campaigns that its bots take part in and whose results were released."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TypeVar

from spotthebot.analytics import store
from spotthebot.analytics.clients.studies import ENDED, CampaignRevision, Studies
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.domain.errors import NoSuchCampaign, OtherProtocol
from spotthebot.analytics.domain.standings import (
    NO_NAMES,
    NO_PERFORMANCES,
    NO_RANKS,
    NO_RESULTS,
    NOT_ANNOTATED,
    NOT_RANKED,
    Names,
    Results,
    standing_bots,
    standing_pairs,
    standing_speakers,
)
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.provenance import ParametersIn, Provenance, Settings
from spotthebot.contracts.analytics.results import FoolingRatesOut, RankingOut, SurvivalOut, WinRatesOut
from spotthebot.contracts.analytics.standings import PublicRankingOut, ShownAs, StandingOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Conflict

_Result = TypeVar("_Result", bound=Provenance)


class Standings:
    """Standings of teams, made from the results that the operator reads."""

    def __init__(self, database: Database, teams: Teams, studies: Studies, results: ResultCache) -> None:
        self._database = database
        self._teams = teams
        self._studies = studies
        self._results = results

    async def find(self, campaign: CampaignOut, bots: Sequence[BotOut]) -> StandingOut | None:
        """Return the standing of a team's bots in a campaign; None where its results are not released, or no more."""
        try:
            revision = await self._studies.current_revision(campaign.id)
        except NoSuchCampaign:
            return None
        except OtherProtocol:
            return _standing(campaign, [NO_RANKS.format(protocol=campaign.protocol)])
        if revision.campaign.released_at is None:
            return None
        names = await self._names(revision, bots)
        results, reasons = await self._results_at(revision)
        own = {each.bot for each in standing_bots(results, names) if each.shown_as is ShownAs.OWN}
        if results.fooling_rates and not own:
            return _standing(revision.campaign, [NOT_ANNOTATED])
        performances = {
            bot.name: await self._teams.get_performance(bot.id, revision.campaign.collections)
            for bot in bots
            if bot.name in own
        }
        return _standing(revision.campaign, reasons, results, names, performances)

    async def find_public(self, campaign: CampaignOut) -> PublicRankingOut | None:
        """Return the results of a campaign as everybody sees them; None where they are not public, or no more."""
        try:
            revision = await self._studies.current_revision(campaign.id)
        except NoSuchCampaign:
            return None
        except OtherProtocol:
            return _public(campaign, [NO_RANKS.format(protocol=campaign.protocol)])
        if revision.campaign.published_at is None:
            return None
        names = await self._names(revision, ())
        results, reasons = await self._results_at(revision)
        return _public(revision.campaign, reasons, results, names)

    async def _results_at(self, revision: CampaignRevision) -> tuple[Results, list[str]]:
        """Return the results of a revision, and why some are missing."""
        reasons: list[str] = []
        results = Results(
            ranking=await self._result(RankingOut, revision, "ranking", reasons),
            win_rates=await self._result(WinRatesOut, revision, "win-rates", reasons),
            fooling_rates=await self._result(FoolingRatesOut, revision, "fooling-rates", reasons),
            survival=await self._result(SurvivalOut, revision, "survival", reasons),
        )
        if results.ranking and results.ranking.ranking.reason:
            reasons.append(NOT_RANKED)
        return results, reasons

    async def _names(self, revision: CampaignRevision, bots: Sequence[BotOut]) -> Names:
        own = {bot.id for bot in bots}
        by_name = await self._results.get_bots_by_name(revision)
        others = {bot_id for ids in by_name.values() for bot_id in ids if bot_id is not None} - own
        async with self._database.write() as session:
            key = await store.pseudonym_keys.get_pseudonym_key(session, revision.campaign.id)
        return Names(by_name, own, await self._teams.find_public(others), key)

    async def _result(
        self, kind: type[_Result], revision: CampaignRevision, section: str, reasons: list[str]
    ) -> _Result | None:
        """Return a result; None, with its reason among the `reasons`, where the annotations do not allow it."""
        try:
            return kind.model_validate_json(await self._results.get_at(revision, section, ParametersIn()))
        except Conflict as refused:
            reasons.append(refused.detail)
            return None


def _standing(
    campaign: CampaignOut,
    reasons: Sequence[str],
    results: Results = NO_RESULTS,
    names: Names = NO_NAMES,
    performances: Mapping[str, BotPerformanceOut] = NO_PERFORMANCES,
) -> StandingOut | None:
    if campaign.released_at is None:
        return None
    provenance = results.fooling_rates
    return StandingOut(
        campaign_id=campaign.id,
        campaign=campaign.name,
        domain=campaign.domain,
        protocol=campaign.protocol,
        released_at=campaign.released_at,
        preliminary=campaign.state not in ENDED,
        reasons=tuple(dict.fromkeys(reasons)),
        settings=_settings(provenance),
        counts=provenance.counts if provenance else None,
        bots=standing_bots(results, names, performances),
        speakers=standing_speakers(results, names),
        ranked_by=results.ranked_by,
        pairs=standing_pairs(results, names),
        version=version("spotthebot"),
    )


def _public(
    campaign: CampaignOut, reasons: Sequence[str], results: Results = NO_RESULTS, names: Names = NO_NAMES
) -> PublicRankingOut | None:
    if campaign.published_at is None:
        return None
    provenance = results.fooling_rates
    ranking = results.ranking.ranking if results.ranking else None
    return PublicRankingOut(
        campaign_id=campaign.id,
        campaign=campaign.name,
        domain=campaign.domain,
        created_at=campaign.created_at,
        published_at=campaign.published_at,
        preliminary=campaign.state not in ENDED,
        reasons=tuple(dict.fromkeys(reasons)),
        method=ranking.method if ranking else None,
        ranked_by=results.ranked_by,
        rank_method=ranking.rank_method if ranking else None,
        settings=_settings(provenance),
        counts=provenance.counts if provenance else None,
        bots=standing_bots(results, names),
        speakers=standing_speakers(results, names),
        data_sha256=provenance.data_sha256 if provenance else None,
        version=version("spotthebot"),
    )


def _settings(provenance: Provenance | None) -> Settings | None:
    return Settings(**provenance.model_dump(include=set(Settings.model_fields))) if provenance else None
