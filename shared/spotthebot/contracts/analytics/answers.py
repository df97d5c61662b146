"""The answers of the endpoints, and all of them as one document."""

from spotthebot.contracts.analytics.annotation_quality import Agreement, Annotators, Time
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.ranking import Ranking
from spotthebot.contracts.analytics.survival import Survival
from spotthebot.contracts.analytics.wins import Features, FoolingRate, Segment, WinRates


class WinRatesOut(Provenance):
    """Answer of `/win-rates`."""

    win_rates: WinRates


class RankingOut(Provenance):
    """Answer of `/ranking`."""

    ranking: Ranking


class FeaturesOut(Provenance):
    """Answer of `/features`."""

    features: Features


class SegmentsOut(Provenance):
    """Answer of `/segments`."""

    segments: tuple[Segment, ...]


class FoolingRatesOut(Provenance):
    """Answer of `/fooling-rates`."""

    fooling_rates: tuple[FoolingRate, ...]


class SurvivalOut(Provenance):
    """Answer of `/survival`."""

    survival: Survival


class AgreementOut(Provenance):
    """Answer of `/agreement`."""

    agreement: Agreement


class AnnotatorsOut(Provenance):
    """Answer of `/annotators`."""

    annotators: Annotators


class TimeOut(Provenance):
    """Answer of `/time`."""

    time: Time


class Analysis(
    WinRatesOut,
    RankingOut,
    FeaturesOut,
    SegmentsOut,
    FoolingRatesOut,
    SurvivalOut,
    AgreementOut,
    AnnotatorsOut,
    TimeOut,
):
    """Everything that is known of a campaign, as `stb analyse` and `stb report` write it."""
