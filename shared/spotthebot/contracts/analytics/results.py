"""The results of a campaign, one class for each endpoint, and all of them as one document."""

from pydantic import Field

from spotthebot.contracts.analytics.annotation_quality import Agreement, Annotators, Time
from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS
from spotthebot.contracts.analytics.partners import Partners
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.ranking import Ranking
from spotthebot.contracts.analytics.sensitivity import Sensitivity
from spotthebot.contracts.analytics.survival import Survival
from spotthebot.contracts.analytics.wins import Features, FoolingRate, Segment, WinRates


class WinRatesOut(Provenance):
    """Result of `/win-rates`."""

    win_rates: WinRates


class RankingOut(Provenance):
    """Result of `/ranking`."""

    ranking: Ranking


class FeaturesOut(Provenance):
    """Result of `/features`."""

    features: Features


class SegmentsOut(Provenance):
    """Result of `/segments`."""

    segments: tuple[Segment, ...] = Field(max_length=MAX_LENGTHS)


class FoolingRatesOut(Provenance):
    """Result of `/fooling-rates`."""

    fooling_rates: tuple[FoolingRate, ...] = Field(max_length=MAX_BOTS)


class SurvivalOut(Provenance):
    """Result of `/survival`."""

    survival: Survival


class PartnersOut(Provenance):
    """Result of `/partners`."""

    partners: Partners


class AgreementOut(Provenance):
    """Result of `/agreement`."""

    agreement: Agreement


class AnnotatorsOut(Provenance):
    """Result of `/annotators`."""

    annotators: Annotators


class TimeOut(Provenance):
    """Result of `/time`."""

    time: Time


class SensitivityOut(Provenance):
    """Result of `/sensitivity`."""

    sensitivity: Sensitivity


class Analysis(
    WinRatesOut,
    RankingOut,
    FeaturesOut,
    SegmentsOut,
    FoolingRatesOut,
    SurvivalOut,
    PartnersOut,
    AgreementOut,
    AnnotatorsOut,
    TimeOut,
    SensitivityOut,
):
    """All results of a campaign, as `stb analyse` and `stb report` write them."""
