"""The sections of a campaign's results: a part of the client of `analytics`."""

from typing import TypeVar, Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.analytics_parameters import Parameters, SectionParameters
from spotthebot.clients.client import ServiceOperations
from spotthebot.clients.operations import Call, operation
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.results import (
    AgreementOut,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    PartnersOut,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)

Result = TypeVar("Result", bound=Provenance)


class SectionOperations(ServiceOperations):
    """A call for each section. A campaign is named by its id or its name."""

    @operation
    def win_rates(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[WinRatesOut]:
        """Return wins, losses and ties of each pair, win rates and tests."""
        return result_of(WinRatesOut, campaign_id, "win-rates", parameters)

    @operation
    def ranking(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[RankingOut]:
        """Return the bots, best first: win rates, rank ranges, clusters, TrueSkill and Bradley-Terry with ties."""
        return result_of(RankingOut, campaign_id, "ranking", parameters)

    @operation
    def features(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[FeaturesOut]:
        """Return how often each bot was preferred: by each feature, and by sensibleness and specificity together."""
        return result_of(FeaturesOut, campaign_id, "features", parameters)

    @operation
    def segments(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[SegmentsOut]:
        """Return win rates and shares of labels by the number of exchanges seen."""
        return result_of(SegmentsOut, campaign_id, "segments", parameters)

    @operation
    def sensitivity(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[SensitivityOut]:
        """Return the ranking under other choices: another treatment of "unsure", the other filter, the other units."""
        return result_of(SensitivityOut, campaign_id, "sensitivity", parameters)

    @operation
    def fooling_rates(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[FoolingRatesOut]:
        """Return how often each speaker is taken for a human."""
        return result_of(FoolingRatesOut, campaign_id, "fooling-rates", parameters)

    @operation
    def survival(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[SurvivalOut]:
        """Return survival curves, log-rank tests and Cox models of the features."""
        return result_of(SurvivalOut, campaign_id, "survival", parameters)

    @operation
    def partners(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[PartnersOut]:
        """Return fooling rates, ranks and survival with and without conversations of people with bots."""
        return result_of(PartnersOut, campaign_id, "partners", parameters)

    @operation
    def agreement(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[AgreementOut]:
        """Return how often two annotators agree, Krippendorff's alpha and Fleiss' kappa."""
        return result_of(AgreementOut, campaign_id, "agreement", parameters)

    @operation
    def annotators(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[AnnotatorsOut]:
        """Return how often annotators are right, and the ranking without the weak annotators."""
        return result_of(AnnotatorsOut, campaign_id, "annotators", parameters)

    @operation
    def time(self, campaign_id: UUID | str, **parameters: Unpack[SectionParameters]) -> Call[TimeOut]:
        """Return how long an annotation takes."""
        return result_of(TimeOut, campaign_id, "time", parameters)


def result_of(returns: type[Result], campaign_id: UUID | str, name: str, parameters: Parameters) -> Call[Result]:
    """Return the request for one result of a campaign."""
    return Call(returns, "GET", f"/v1/campaigns/{segment(campaign_id)}/{name}", params=parameters)


def segment(name: UUID | str) -> str:
    """Return a campaign's id or name, quoted as one segment of a URL's path."""
    return quote(str(name), safe="")
