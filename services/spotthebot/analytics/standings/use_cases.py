"""A team's standings in the campaigns with released results in which its bots take part."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple, TypeVar

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.errors import NoSuchCampaign, OtherProtocol
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.results.domain.reach import too_few_labels
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.analytics.standings import store as pseudonym_keys_store
from spotthebot.analytics.standings.domain.standings import (
    NO_NAMES,
    NO_PERFORMANCES,
    NO_RESULTS,
    NOT_ANNOTATED,
    NOT_RANKED,
    Names,
    Results,
    measured_speakers,
    standing_bots,
    standing_measure,
    standing_pairs,
    standing_speakers,
)
from spotthebot.analytics.verdicts import store as verdicts_store
from spotthebot.contracts.analytics.measures import MeasureOut, MeasureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn, Provenance, Settings
from spotthebot.contracts.analytics.results import FoolingRatesOut, RankingOut, SurvivalOut, WinRatesOut
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.standings import PublicRankingOut, ShownAs, StandingMeasure, StandingOut
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.contracts.annotation.measures import HEADLINE
from spotthebot.contracts.annotation.verdicts import Verdict
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Conflict

_Result = TypeVar("_Result", bound=Provenance)


class Measured(NamedTuple):
    """The headline measure: its results as the operator sees them, and as a team or the public sees them."""

    found: MeasureOut
    shown: StandingMeasure
    speakers: tuple[Speaker, ...]

    @classmethod
    def of(cls, found: MeasureOut, names: Names) -> "Measured":
        """Show a measure under the names that a team, or everybody, reads."""
        return cls(found, standing_measure(found, names), measured_speakers(found, names))


class Standings:
    """Standings of teams, made from the operator's results."""

    def __init__(self, database: Database, teams: Teams, campaign_data: CampaignData, results: ResultCache) -> None:
        self._database = database
        self._teams = teams
        self._campaign_data = campaign_data
        self._results = results

    async def find(self, campaign: CampaignOut, bots: Sequence[BotOut]) -> StandingOut | None:
        """Return the standing of a team's bots in a campaign.

        Return None if the campaign's results are not released or were withdrawn.
        """
        try:
            revision = await self._campaign_data.current_revision(campaign.id)
        except NoSuchCampaign:
            return None
        except OtherProtocol:
            return await self._find_measured(campaign, bots)
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
        """Return the public results of a campaign; None if its results are not public or were withdrawn."""
        try:
            revision = await self._campaign_data.current_revision(campaign.id)
        except NoSuchCampaign:
            return None
        except OtherProtocol:
            return await self._find_measured_public(campaign)
        if revision.campaign.published_at is None:
            return None
        names = await self._names(revision, ())
        results, reasons = await self._results_at(revision)
        return _public(revision.campaign, reasons, results, names)

    async def _find_measured(self, campaign: CampaignOut, bots: Sequence[BotOut]) -> StandingOut | None:
        """Return the standing by the headline measure, in a campaign with ratings, comparisons or behaviours."""
        revision = await self._campaign_data.current_revision(campaign.id, protocol=None)
        reasons: list[str] = []
        found = await self._headline(revision, reasons)
        if found is None:
            return _standing(revision.campaign, reasons)
        measured = Measured.of(found, await self._names(revision, bots))
        if not any(each.shown_as is ShownAs.OWN for each in measured.shown.bots):
            return _standing(revision.campaign, [NOT_ANNOTATED])
        return _standing(revision.campaign, reasons, measured=measured)

    async def _find_measured_public(self, campaign: CampaignOut) -> PublicRankingOut | None:
        revision = await self._campaign_data.current_revision(campaign.id, protocol=None)
        reasons: list[str] = []
        found = await self._headline(revision, reasons)
        if found is None:
            return _public(revision.campaign, reasons)
        return _public(revision.campaign, reasons, measured=Measured.of(found, await self._names(revision, ())))

    async def _headline(self, revision: CampaignRevision, reasons: list[str]) -> MeasureOut | None:
        try:
            return MeasureOut.model_validate_json(
                await self._results.get_measure_at(revision, HEADLINE, MeasureParametersIn())
            )
        except Conflict as refused:
            reasons.append(refused.detail)
            return None

    async def _results_at(self, revision: CampaignRevision) -> tuple[Results, list[str]]:
        """Return the results of a revision, and the reasons why some are missing or tell no bots apart."""
        reasons: list[str] = []
        results = Results(
            ranking=await self._result(RankingOut, revision, "ranking", reasons),
            win_rates=await self._result(WinRatesOut, revision, "win-rates", reasons),
            fooling_rates=await self._result(FoolingRatesOut, revision, "fooling-rates", reasons),
            survival=await self._result(SurvivalOut, revision, "survival", reasons),
            verdicts=await self._verdicts(revision.campaign),
        )
        if results.ranking and results.ranking.ranking.reason:
            reasons.append(NOT_RANKED)
        won = results.win_rates
        if won and (too_few := too_few_labels(won.win_rates.pairs, won, won.counts)):
            reasons.append(too_few)
        return results, reasons

    async def _verdicts(self, campaign: CampaignOut) -> dict[tuple[str, str], Verdict]:
        async with self._database.read() as session:
            given = await verdicts_store.list_given(session, campaign.id, campaign.margin)
        return {pair: each.verdict for pair, each in given.items()}

    async def _names(self, revision: CampaignRevision, bots: Sequence[BotOut]) -> Names:
        own = {bot.id for bot in bots}
        by_name = await self._results.get_bots_by_name(revision)
        others = {bot_id for ids in by_name.values() for bot_id in ids if bot_id is not None} - own
        async with self._database.write() as session:
            key = await pseudonym_keys_store.get_pseudonym_key(session, revision.campaign.id)
        return Names(by_name, own, await self._teams.find_public(others), key)

    async def _result(
        self, kind: type[_Result], revision: CampaignRevision, section: str, reasons: list[str]
    ) -> _Result | None:
        """Return a result.

        If it can't be computed from the annotations, return None and add the reason to `reasons`.
        """
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
    measured: Measured | None = None,
) -> StandingOut | None:
    if campaign.released_at is None:
        return None
    provenance = measured.found if measured else results.fooling_rates
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
        speakers=measured.speakers if measured else standing_speakers(results, names),
        ranked_by=results.ranked_by,
        pairs=standing_pairs(results, names),
        measure=measured.shown if measured else None,
        version=version("spotthebot"),
    )


def _public(
    campaign: CampaignOut,
    reasons: Sequence[str],
    results: Results = NO_RESULTS,
    names: Names = NO_NAMES,
    measured: Measured | None = None,
) -> PublicRankingOut | None:
    if campaign.published_at is None:
        return None
    provenance = measured.found if measured else results.fooling_rates
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
        speakers=measured.speakers if measured else standing_speakers(results, names),
        measure=measured.shown if measured else None,
        data_sha256=provenance.data_sha256 if provenance else None,
        version=version("spotthebot"),
    )


def _settings(provenance: Provenance | None) -> Settings | None:
    return Settings(**provenance.model_dump(include=set(Settings.model_fields))) if provenance else None
