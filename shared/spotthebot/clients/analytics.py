"""The client of `analytics`: a campaign's results and figures, and long analyses."""

from collections.abc import Sequence
from typing import Final, Literal, Unpack
from uuid import UUID

from spotthebot.clients.analytics_parameters import (
    AgreementParameters,
    CampaignMeasure,
    CampaignMeasures,
    CostParameters,
    FigureParameters,
    MeasureParameters,
    Parameters,
    SectionParameters,
)
from spotthebot.clients.analytics_sections import SectionOperations, result_of, segment
from spotthebot.clients.client import AsyncClient, Client
from spotthebot.clients.operations import Call, IdempotencyKey, Listing, ListOrder, Paging, operation
from spotthebot.clients.streams import Download
from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisJobOut, ReachOut
from spotthebot.contracts.analytics.choices import Clusters, PooledResult
from spotthebot.contracts.analytics.costs import ChatTimesOut, CostOut
from spotthebot.contracts.analytics.decision_times import DecisionTimesOut
from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
from spotthebot.contracts.analytics.judges import JudgesOut
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry
from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut
from spotthebot.contracts.analytics.pooled import PooledOut
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.sections import SectionName, SectionsOut
from spotthebot.contracts.analytics.standings import PublicRankingOut, StandingOut, TeamBotOut
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasuresOut
from spotthebot.contracts.analytics.tables import CampaignSummaryOut
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.contracts.annotation.measures import HEADLINE

FileForm = Literal["csv", "json", "parquet"]
_MEDIA_TYPES: Final[dict[FileForm, str]] = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


class AnalyticsOperations(SectionOperations):
    """The operations of `analytics`. A campaign is named by its id or its name."""

    peer = "analytics"

    @operation
    def list_campaigns(
        self, *, name: str | None = None, order: ListOrder | None = None, **paging: Unpack[Paging]
    ) -> Listing[CampaignSummaryOut]:
        """List campaigns, oldest first if `order` is None: their names, ids and progress."""
        return Listing(CampaignSummaryOut, "/v1/campaigns", paging, params={"name": name, "order": order})

    @operation
    def get_reach(
        self,
        *,
        pairs: int,
        conversations: int,
        annotations_per_conversation: int = 6,
        annotators: int | None = None,
    ) -> Call[ReachOut]:
        """Return a bound of the p-values of a design, the fewest conversations that reach 5 %, and a power."""
        params = {
            "pairs": pairs,
            "conversations": conversations,
            "annotations_per_conversation": annotations_per_conversation,
            "annotators": annotators,
        }
        return Call(ReachOut, "GET", "/v1/designs/reach", params=params)

    @operation
    def get_cost(self, **design: Unpack[CostParameters]) -> Call[CostOut]:
        """Return the hours of annotating all pairs of bots and of chatting with all bots, and where they cross."""
        return Call(CostOut, "GET", "/v1/designs/cost", params=design)

    @operation
    def get_chat_times(self, collection_id: UUID) -> Call[ChatTimesOut]:
        """Return how long people chat with a bot in a collection, for one conversation."""
        return Call(ChatTimesOut, "GET", f"/v1/collections/{collection_id}/chat-times")

    @operation
    def analysis(self, campaign_id: UUID | str, **parameters: Unpack[Parameters]) -> Call[Analysis]:
        """Return all results of a campaign in one document."""
        return result_of(Analysis, campaign_id, "analysis", parameters)

    @operation
    def sections(
        self,
        campaign_id: UUID | str,
        *,
        sections: Sequence[SectionName],
        wait_seconds: float | None = None,
        **parameters: Unpack[SectionParameters],
    ) -> Call[SectionsOut]:
        """Return several sections at once, each with its result or its problem.

        Sections that are not computed after `wait_seconds` are `pending`.
        """
        more = {"sections": sections, "wait_seconds": wait_seconds}
        return Call(SectionsOut, "GET", f"/v1/campaigns/{segment(campaign_id)}/sections", params={**parameters, **more})

    @operation
    def leaderboard(
        self, campaign_id: UUID | str, *, penalty: float = 0.5, **paging: Unpack[Paging]
    ) -> Listing[LeaderboardEntry]:
        """List the annotators of a game by their points, highest first.

        In a game, annotators open one exchange after the other.
        """
        path = f"/v1/campaigns/{segment(campaign_id)}/leaderboard"
        return Listing(LeaderboardEntry, path, paging, params={"penalty": penalty})

    @operation
    def decision_times(
        self,
        campaign_id: UUID | str,
        *,
        confidence_level: float = 0.95,
        significance_level: float = 0.05,
        clusters: Clusters = "both",
    ) -> Call[DecisionTimesOut]:
        """Return how long each speaker of a game stays unspotted, whose curves differ, and what features do to them."""
        params = {"confidence_level": confidence_level, "significance_level": significance_level, "clusters": clusters}
        return Call(DecisionTimesOut, "GET", f"/v1/campaigns/{segment(campaign_id)}/decision-times", params=params)

    @operation
    def list_annotator_ranks(self, campaign_id: UUID | str, **paging: Unpack[Paging]) -> Listing[AnnotatorRankOut]:
        """List the ranks of a game's annotators, best first, as annotators may see them."""
        return Listing(AnnotatorRankOut, f"/v1/campaigns/{segment(campaign_id)}/annotator-ranks", paging)

    @operation
    def list_verdicts(
        self, campaign_id: UUID | str, *, margin: float | None = None, **paging: Unpack[Paging]
    ) -> Listing[PairVerdictOut]:
        """List the pairs of bots with their verdicts. Any number of looks is valid, and a verdict that was given stays.

        Without a margin, the campaign's own margin counts.
        """
        path = f"/v1/campaigns/{segment(campaign_id)}/verdicts"
        return Listing(PairVerdictOut, path, paging, params={"margin": margin})

    @operation
    def pool_campaigns(
        self, *, campaigns: Sequence[UUID], result: PooledResult = "agreement", **parameters: Unpack[Parameters]
    ) -> Call[PooledOut]:
        """Return one result of several campaigns of one protocol, and its mean over them."""
        return Call(PooledOut, "GET", "/v1/pooled", params={**parameters, "campaigns": campaigns, "result": result})

    @operation
    def list_measures(self, campaign_id: UUID | str, **parameters: Unpack[CampaignMeasures]) -> Call[MeasuresOut]:
        """Return the values of all bots by each measure of a campaign, whatever its protocol."""
        return result_of(MeasuresOut, campaign_id, "measures", parameters)

    @operation
    def get_measure(
        self, campaign_id: UUID | str, measure: str = HEADLINE, **parameters: Unpack[CampaignMeasure]
    ) -> Call[MeasureOut]:
        """Return the values of all bots by one measure, and the difference of each pair of bots."""
        return result_of(MeasureOut, campaign_id, f"measures/{segment(measure)}", parameters)

    @operation
    def interactor_ratings(
        self, campaign_id: UUID | str, **parameters: Unpack[Parameters]
    ) -> Call[InteractorRatingsOut]:
        """Return what people said of their chats with the bots, next to fooling rates."""
        return result_of(InteractorRatingsOut, campaign_id, "interactor-ratings", parameters)

    @operation
    def list_workforce_agreements(
        self, campaign_id: UUID | str, **parameters: Unpack[AgreementParameters]
    ) -> Call[WorkforceAgreementsOut]:
        """Return how much the annotators of each workforce of a campaign agree with each other, by every measure."""
        path = f"/v1/campaigns/{segment(campaign_id)}/workforces"
        return Call(WorkforceAgreementsOut, "GET", path, params=parameters)

    @operation
    def list_judge_qualities(self, campaign_id: UUID | str, **parameters: Unpack[Parameters]) -> Call[JudgesOut]:
        """Return what each judge of a campaign is worth: its agreement, its calibration, the labels it saves."""
        return Call(JudgesOut, "GET", f"/v1/campaigns/{segment(campaign_id)}/judges", params=parameters)

    @operation
    def list_study_workforce_agreements(
        self, study_id: UUID, **parameters: Unpack[AgreementParameters]
    ) -> Call[WorkforceAgreementsOut]:
        """Return how much the annotators of each workforce of each campaign of a study agree with each other."""
        return Call(WorkforceAgreementsOut, "GET", f"/v1/studies/{study_id}/workforces", params=parameters)

    @operation
    def export_values(self, campaign_id: UUID | str, **parameters: Unpack[CampaignMeasures]) -> Download:
        """Download every value of every measure, as a table of ratings in CSV."""
        return Download(f"/v1/campaigns/{segment(campaign_id)}/values", params=parameters)

    @operation
    def list_study_measures(self, study_id: UUID, **parameters: Unpack[Parameters]) -> Call[StudyMeasuresOut]:
        """Return the values of all bots by each measure of a study."""
        return Call(StudyMeasuresOut, "GET", f"/v1/studies/{study_id}/measures", params=parameters)

    @operation
    def get_study_measure(
        self, study_id: UUID, measure: str, **parameters: Unpack[MeasureParameters]
    ) -> Call[MeasureOut]:
        """Return the values of all bots by one measure of a study, and the difference of each pair of bots."""
        return Call(MeasureOut, "GET", f"/v1/studies/{study_id}/measures/{segment(measure)}", params=parameters)

    @operation
    def export_study_values(self, study_id: UUID, **parameters: Unpack[Parameters]) -> Download:
        """Download every value of every measure of a study, as a table of ratings in CSV."""
        return Download(f"/v1/studies/{study_id}/values", params=parameters)

    @operation
    def assess_study(self, study_id: UUID, **parameters: Unpack[Parameters]) -> Call[StudyAssessmentOut]:
        """Return which measures of a study deserve trust, by the study's outcome."""
        return Call(StudyAssessmentOut, "GET", f"/v1/studies/{study_id}/assessment", params=parameters)

    @operation
    def figure(self, campaign_id: UUID | str, figure: str, **parameters: Unpack[FigureParameters]) -> Call[bytes]:
        """Return a figure by its file name, such as `ranking.svg`.

        `.json` returns a Vega-Lite specification; `.svg`, `.pdf` and `.png` return the drawing.
        """
        return Call(bytes, "GET", f"/v1/campaigns/{segment(campaign_id)}/figures/{segment(figure)}", params=parameters)

    @operation
    def list_standings(self, **paging: Unpack[Paging]) -> Listing[StandingOut]:
        """List the standings of the team that owns the key, in campaigns with released results."""
        return Listing(StandingOut, "/v1/teams/me/standings", paging)

    @operation
    def list_leaderboards(self, **paging: Unpack[Paging]) -> Listing[PublicRankingOut]:
        """List public results, the latest publication first. The request needs no key."""
        return Listing(PublicRankingOut, "/v1/leaderboards", paging)

    @operation
    def list_team_bots(self, **paging: Unpack[Paging]) -> Listing[TeamBotOut]:
        """List the bots of the team that owns the key, with their failures and latencies."""
        return Listing(TeamBotOut, "/v1/teams/me/bots", paging)

    @operation
    def list_analyses(
        self, *, campaign_id: UUID | str | None = None, **paging: Unpack[Paging]
    ) -> Listing[AnalysisJobOut]:
        """List analyses, oldest first."""
        return Listing(AnalysisJobOut, "/v1/analyses", paging, params={"campaign_id": campaign_id})

    @operation
    def create_analysis(self, analysis: AnalysisIn, **key: Unpack[IdempotencyKey]) -> Call[AnalysisJobOut]:
        """Start an analysis; `get_analysis` returns its progress and its result."""
        named = analysis.model_copy(update={"kind": analysis.kind})  # set explicitly, since defaults are not sent
        return Call(AnalysisJobOut, "POST", "/v1/analyses", body=named, **key)

    @operation
    def get_analysis(self, analysis_id: UUID) -> Call[AnalysisJobOut]:
        """Return an analysis: its progress, and its result once it is complete."""
        return Call(AnalysisJobOut, "GET", f"/v1/analyses/{analysis_id}")

    @operation
    def cancel_analysis(self, analysis_id: UUID) -> Call[AnalysisJobOut]:
        """Cancel an analysis: it ends before its next step."""
        return Call(AnalysisJobOut, "POST", f"/v1/analyses/{analysis_id}/cancel")


class Analytics(AnalyticsOperations, Client):
    """The client of `analytics`."""


class AsyncAnalytics(AnalyticsOperations, AsyncClient):
    """The client of `analytics` on an event loop."""


def result_file(campaign_id: UUID | str, result: str, form: FileForm, **parameters: Unpack[Parameters]) -> Call[bytes]:
    """Return the request for the file of a result: its table as CSV or Parquet, or all of it as JSON.

    A client sends the request: `client.carry_out(result_file("autumn", "win-rates", "csv"))`.
    """
    path = f"/v1/campaigns/{segment(campaign_id)}/{segment(result)}"
    return Call(bytes, "GET", path, params=parameters, accept=_MEDIA_TYPES[form])


def measure_file(
    campaign_id: UUID | str, measure: str, form: FileForm, **parameters: Unpack[CampaignMeasures]
) -> Call[bytes]:
    """Return the request for a measure as a file: its table of bots as CSV or Parquet, or all of it as JSON."""
    path = f"/v1/campaigns/{segment(campaign_id)}/measures/{segment(measure)}"
    return Call(bytes, "GET", path, params=parameters, accept=_MEDIA_TYPES[form])


def analysis_file(analysis_id: UUID, form: FileForm) -> Call[bytes]:
    """Return the request for a complete analysis as a file: its table as CSV or Parquet, or all of it as JSON."""
    return Call(bytes, "GET", f"/v1/analyses/{analysis_id}", accept=_MEDIA_TYPES[form])
