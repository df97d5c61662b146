"""The client of `fed`: scores of dialogues and of whole collections, dimension sets, subscriptions."""

from collections.abc import Sequence
from typing import Literal, Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.clients.streams import Download
from spotthebot.clients.subscriptions import SubscriptionOperations
from spotthebot.contracts.fed.correlations import CorrelationLevel, CorrelationsOut
from spotthebot.contracts.fed.dialogue_scores import (
    OrderStabilityOut,
    PartnerScoresOut,
    ScoreDifferenceOut,
    UnfairPoolOut,
)
from spotthebot.contracts.fed.dimensions import DimensionSetIn, DimensionSetOut
from spotthebot.contracts.fed.references import RankingBesideOut, RankingIn, ScoreReference
from spotthebot.contracts.fed.score_jobs import ContextScoresOut, RejectedOut, ScoreJobIn, ScoreJobOut, ScoreSetOut
from spotthebot.contracts.fed.scores import ScoresIn, ScoresOut
from spotthebot.contracts.fed.system_correlations import SystemCorrelationsIn, SystemCorrelationsOut


class FedOperations(SubscriptionOperations, ServiceOperations):
    """The operations of `fed`."""

    peer = "fed"

    @operation
    def score_dialogues(self, scores: ScoresIn) -> Call[ScoresOut]:
        """Score a few dialogues now."""
        return Call(ScoresOut, "POST", "/v1/scores", body=scores)

    @operation
    def create_score_job(self, job: ScoreJobIn, **key: Unpack[IdempotencyKey]) -> Call[ScoreJobOut]:
        """Start a job that scores the bots of a collection; `get_score_job` returns its progress."""
        return Call(ScoreJobOut, "POST", "/v1/score-jobs", body=job, **key)

    @operation
    def list_score_jobs(self, *, collection_id: UUID | None = None, **paging: Unpack[Paging]) -> Listing[ScoreJobOut]:
        """List score jobs, oldest first."""
        return Listing(ScoreJobOut, "/v1/score-jobs", paging, params={"collection_id": collection_id})

    @operation
    def get_score_job(self, job_id: UUID) -> Call[ScoreJobOut]:
        """Return a score job and its progress."""
        return Call(ScoreJobOut, "GET", f"/v1/score-jobs/{job_id}")

    @operation
    def cancel_score_job(self, job_id: UUID) -> Call[ScoreJobOut]:
        """Cancel a score job: it ends before its next step."""
        return Call(ScoreJobOut, "POST", f"/v1/score-jobs/{job_id}/cancel")

    @operation
    def get_score_set(self, set_id: UUID) -> Call[ScoreSetOut]:
        """Return the summary of a score set: for each dimension its bots, best first, and its length baseline."""
        return Call(ScoreSetOut, "GET", f"/v1/score-sets/{set_id}")

    @operation
    def list_scores(
        self,
        set_id: UUID,
        *,
        bot: str | None = None,
        conversation_id: UUID | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[ContextScoresOut]:
        """List the scores of a score set by context: all of them, or only those of one bot or one conversation."""
        params = {"bot": bot, "conversation_id": conversation_id}
        return Listing(ContextScoresOut, f"/v1/score-sets/{set_id}/scores", paging, params=params)

    @operation
    def list_rejected_conversations(self, set_id: UUID, **paging: Unpack[Paging]) -> Listing[RejectedOut]:
        """List the conversations that could not be scored."""
        return Listing(RejectedOut, f"/v1/score-sets/{set_id}/rejected", paging)

    @operation
    def export_scores(self, set_id: UUID, form: Literal["ndjson", "csv", "parquet"] = "ndjson") -> Download:
        """Return all scores of a score set in one file."""
        return Download(f"/v1/score-sets/{set_id}/export", params={"format": form})

    @operation
    def get_correlation(
        self,
        set_id: UUID,
        campaign_id: UUID | None = None,
        *,
        rated: str = "label",
        level: CorrelationLevel = "dialogue",
    ) -> Call[CorrelationsOut]:
        """Correlate a score set with people's ratings: of a campaign's annotators, or of the people who chatted."""
        params = {"campaign_id": campaign_id, "rated": rated, "level": level}
        return Call(CorrelationsOut, "GET", f"/v1/score-sets/{set_id}/correlation", params=params)

    @operation
    def get_partner_scores(self, set_id: UUID, bot: str, *, dimension: str | None = None) -> Call[PartnerScoresOut]:
        """Return a bot's mean scores by partner, on a dimension or on the first of the set."""
        params = {"bot": bot, "dimension": dimension}
        return Call(PartnerScoresOut, "GET", f"/v1/score-sets/{set_id}/partners", params=params)

    @operation
    def get_order_stability(
        self,
        set_id: UUID,
        *,
        dimension: str | None = None,
        sizes: Sequence[int] | None = None,
        samples: int = 500,
        seed: int = 0,
    ) -> Call[OrderStabilityOut]:
        """Return how many dialogues of each pair it takes until new dialogues rank the bots in the same order."""
        params = {"dimension": dimension, "sizes": sizes, "samples": samples, "seed": seed}
        return Call(OrderStabilityOut, "GET", f"/v1/score-sets/{set_id}/stability", params=params)

    @operation
    def get_unfair_pool(
        self,
        set_id: UUID,
        unfavoured: str,
        similar: Sequence[str],
        *,
        dimension: str | None = None,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> Call[UnfairPoolOut]:
        """Return which bots win over the unfavoured one, in a fair pool and with bots that resemble it."""
        params = {
            "unfavoured": unfavoured,
            "similar": similar,
            "dimension": dimension,
            "resamples": resamples,
            "seed": seed,
        }
        return Call(UnfairPoolOut, "GET", f"/v1/score-sets/{set_id}/unfair-pool", params=params)

    @operation
    def get_score_difference(
        self, set_id: UUID, baseline: UUID, *, dimension: str | None = None, confidence_level: float = 0.95
    ) -> Call[ScoreDifferenceOut]:
        """Return how much a bot's scores differ from another's in the same conversations, paired by their plan."""
        params = {"baseline": baseline, "dimension": dimension, "confidence_level": confidence_level}
        return Call(ScoreDifferenceOut, "GET", f"/v1/score-sets/{set_id}/difference", params=params)

    @operation
    def get_score_reference(self, set_id: UUID) -> Call[ScoreReference]:
        """Return the scores of a set by dialogue, so that other bots can be ranked beside these elsewhere."""
        return Call(ScoreReference, "GET", f"/v1/score-sets/{set_id}/reference")

    @operation
    def rank_beside_references(self, set_id: UUID, request: RankingIn) -> Call[RankingBesideOut]:
        """Rank a set's bots beside the bots of references, which were scored in the same way."""
        return Call(RankingBesideOut, "POST", f"/v1/score-sets/{set_id}/ranking", body=request)

    @operation
    def correlate_systems(self, request: SystemCorrelationsIn) -> Call[SystemCorrelationsOut]:
        """Correlate bots' mean scores with people's mean ratings, for several score sets side by side."""
        return Call(SystemCorrelationsOut, "POST", "/v1/system-correlations", body=request)

    @operation
    def create_dimension_set(self, dimensions: DimensionSetIn, **key: Unpack[IdempotencyKey]) -> Call[DimensionSetOut]:
        """Store dimensions under a name.

        If they differ from the name's latest version, they become its next version.
        """
        return Call(DimensionSetOut, "POST", "/v1/dimension-sets", body=dimensions, **key)

    @operation
    def list_dimension_sets(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[DimensionSetOut]:
        """List versions of users' dimension sets, oldest first."""
        return Listing(DimensionSetOut, "/v1/dimension-sets", paging, params={"name": name})

    @operation
    def get_dimension_set(self, name: str, version: int) -> Call[DimensionSetOut]:
        """Return a version of a dimension set with its follow-ups."""
        return Call(DimensionSetOut, "GET", f"/v1/dimension-sets/{quote(name, safe='')}/versions/{version}")


class Fed(FedOperations, Client):
    """The client of `fed`."""


class AsyncFed(FedOperations, AsyncClient):
    """The client of `fed` on an event loop."""
