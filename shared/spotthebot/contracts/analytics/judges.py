"""What judges of a campaign are worth: agreement, calibration, the labels they save, and the most that any can save.

A judge is a program that labels with a probability. A label counts as 1 if it is "human", else as 0.
"""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS, MAX_PAIRS
from spotthebot.contracts.analytics.measures import MAX_MEASURES
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.measures import MeasureKind
from spotthebot.contracts.wire import Wire

MAX_JUDGES = 1000
"""The limit for versions of judges in one campaign."""
MAX_BINS = 100


class JudgeInterval(Wire):
    """An estimate with its bounds. Where a number is null, `reason` says why."""

    estimate: float | None
    low: float | None
    high: float | None
    reason: str | None


class JudgeMean(JudgeInterval):
    """A mean of `n` labels or units with its bounds."""

    n: int
    smallest_detectable: float | None = Field(
        description="The smallest true value that a test against 0 at 5 % would find in four of five such studies."
    )


class JudgeCeiling(JudgeInterval):
    """The correlation of two people's labels of one side, bot and length: no judge saves a larger share of labels."""

    n: int = Field(description="Pairs of labels.")
    units: int = Field(description="Sides of segments that two people labelled.")


class PairAgreement(Wire):
    """How often pairs of labels are equal, and Scott's pi, which is the agreement beyond chance."""

    share: JudgeInterval
    beyond_chance: JudgeInterval


class AgreementWithJudge(Wire):
    """How well people agree with a judge, beside people with each other, on the same sides."""

    judge: PairAgreement
    people: PairAgreement
    difference: JudgeInterval = Field(description="Of the agreements beyond chance: the judge's minus people's.")
    n: int = Field(description="Sides that two people or more labelled, and the judge.")
    n_labels: int
    method: str


class ReliabilityBin(Wire):
    """A bin of the reliability curve: labels of sides with about the same probability."""

    lowest: float
    highest: float
    probability: float = Field(description="The mean probability.")
    n: int
    estimate: float = Field(description='The share of "human" among people\'s labels.')
    low: float | None
    high: float | None


class JudgeCalibration(Wire):
    """Whether a judge's probabilities mean what they say. Brier = reliability - resolution + uncertainty + within."""

    brier: JudgeMean = Field(description="Mean squared difference of probability and label: 0 is best.")
    gain: JudgeMean = Field(description="How much lower the Brier score is than that of the constant share of all.")
    bias: JudgeMean = Field(description='The mean probability minus the share of "human".')
    reliability: float | None = Field(
        description="Part of the Brier score: how far probabilities are from the shares that they state."
    )
    reliability_by_chance: float | None = Field(description="What a judge would show whose probabilities are right.")
    resolution: float | None = Field(description="Part that a judge gains by telling sides apart; larger is better.")
    uncertainty: float | None = Field(description="The Brier score of the constant share of all.")
    within: float | None = Field(description="Part of probabilities that differ within a bin.")
    bins: tuple[ReliabilityBin, ...] = Field(max_length=MAX_BINS)
    n: int
    n_missing: int = Field(description="Labels of sides for which the judge has no answer.")
    reason: str | None


class Correction(Wire):
    """An estimate by people alone, by the judge alone, and by people corrected by the judge."""

    people: JudgeInterval
    judge: float | None = Field(description="Biased: no interval shows by how much.")
    corrected: JudgeInterval
    labels_saved: JudgeInterval = Field(
        description="The share of people's labels that give people alone the error of the corrected estimate."
    )
    reason: str | None = Field(description="Why the judge changes nothing, or why there is no corrected estimate.")

    @property
    def why_unchanged(self) -> str | None:
        """Return why people's estimate has no interval, or why the judge changes nothing; None if it corrects."""
        alone = self.people.reason if self.people.estimate is not None else None
        return alone or self.labels_saved.reason or self.reason


class CorrectedBot(Correction):
    """A bot's fooling rate, or its mean by a measure."""

    bot: str
    n_people: int = Field(description="Labels of people.")
    n_judged: int = Field(description="Units, such as sides, for which the judge has an answer.")
    missing: float | None = Field(description="Share of the units for which it has none.")


class CorrectedRank(Correction):
    """A bot's mean win rate over its opponents, and its set of ranks (1 is best)."""

    bot: str
    rank_low: int | None
    rank_high: int | None


class CorrectedPair(Correction):
    """The share of decided games that `bot` won against `other`."""

    bot: str
    other: str
    n_people: int = Field(description="Decided games of people.")
    n_judged: int = Field(description="Segments for which the judge has an answer.")


class CorrectedRanking(Wire):
    """Win rates and ranks. Every annotation of two bots is a game, whatever `unit` is; ties are left out.

    By a measure of preferences, the preferred bot wins.
    """

    bots: tuple[CorrectedRank, ...] = Field(max_length=MAX_BOTS, description="Best first.")
    pairs: tuple[CorrectedPair, ...] = Field(max_length=MAX_PAIRS)
    reason: str | None = Field(description="Why there are no ranks.")


class CorrectedSurvival(Wire):
    """The share of labels of one speaker that are not `bot`, at each of `times`."""

    bot: str
    times: tuple[int, ...] = Field(max_length=MAX_LENGTHS, description="Exchanges seen; none without labels of people.")
    people: tuple[JudgeInterval, ...] = Field(max_length=MAX_LENGTHS)
    corrected: tuple[JudgeInterval, ...] = Field(max_length=MAX_LENGTHS)
    labels_saved: tuple[JudgeInterval, ...] = Field(max_length=MAX_LENGTHS)
    reason: str | None = Field(description="Why the judge changes nothing, or why there is no survival.")


class JudgeGroup(Wire):
    """A judge on one bot, one length or one collection."""

    name: str
    people: JudgeMean = Field(description='Share of "human" among people\'s labels.')
    judge: JudgeMean = Field(description="Mean probability.")
    bias: JudgeMean
    brier: JudgeMean
    n: int
    n_missing: int
    reason: str | None


class JudgeOrder(Wire):
    """Spearman's rank correlation of bots by people and by the judge."""

    estimate: float | None
    p_value: float | None
    n: int
    reason: str | None


class JudgeAltTest(Wire):
    """The alternative annotator test (Calderon, Reichart & Dror 2025)."""

    winning_rate: float | None = Field(description="Share of annotators whom the judge may replace.")
    advantage_probability: float | None = Field(
        description="Mean share of units on which the judge agrees with the others at least as well."
    )
    passes: bool | None = Field(description="Whether the winning rate is at least .5.")
    epsilon: float = Field(description="How much worse than a person the judge may be.")
    false_discovery_rate: float
    n: int
    n_annotators_left_out: int = Field(description="Those with too few units.")
    method: str
    reason: str | None


class JudgeProbe(Wire):
    """How much probabilities differ between two answers about the same sides."""

    shift: JudgeMean = Field(description="Mean difference of the probabilities.")
    distance: JudgeMean = Field(description="Mean absolute difference.")
    flips: JudgeMean = Field(description="Share of sides that change between human and not.")
    n: int
    n_missing: int
    reason: str | None


class JudgeQuality(Wire):
    """What one version of a judge is worth in a campaign."""

    name: str
    version: int | None = Field(description="Null of an imported judge.")
    kind: str | None
    repeats: int = Field(description="How often it labelled the campaign; its probabilities are the means of these.")
    segments: int
    missing: float | None = Field(description="Share of sides without an answer.")
    agreement: AgreementWithJudge
    calibration: JudgeCalibration
    alt_test: JudgeAltTest
    bots: tuple[CorrectedBot, ...] = Field(max_length=MAX_BOTS)
    ranking: CorrectedRanking
    survival: tuple[CorrectedSurvival, ...] = Field(max_length=MAX_BOTS)
    by_bot: tuple[JudgeGroup, ...] = Field(max_length=MAX_BOTS)
    by_length: tuple[JudgeGroup, ...] = Field(max_length=MAX_LENGTHS)
    by_collection: tuple[JudgeGroup, ...] = Field(
        max_length=MAX_COLLECTIONS, description="None if the campaign shows one collection. Its `domain` is one."
    )
    order: JudgeOrder
    reached: float | None = Field(
        description="The mean share of labels saved, divided by the ceiling; null where that may be 0."
    )
    stability: JudgeProbe | None = Field(description="Of two repeats; null without a second one.")
    drift_from: int | None = Field(description="The version before, if it labelled the campaign, too.")
    drift: JudgeProbe | None


class JudgeOnMeasure(Wire):
    """One version of a judge on one measure: the mean of each bot, or of preferences the ranking."""

    name: str
    version: int | None = Field(description="Null of an imported judge.")
    kind: str | None
    bots: tuple[CorrectedBot, ...] = Field(max_length=MAX_BOTS, description="None for preferences.")
    ranking: CorrectedRanking | None = Field(description="Of preferences, else null.")


class JudgedMeasure(Wire):
    """A measure of the campaign's protocol, by people and by each judge that answered its question."""

    measure: str
    kind: MeasureKind
    ceiling: JudgeCeiling = Field(description="Of preferences within pairs of bots.")
    judges: tuple[JudgeOnMeasure, ...] = Field(max_length=MAX_JUDGES)


class RefusedJudge(Wire):
    """A judge without a report, and why."""

    name: str
    version: int | None
    reason: str


class JudgesOut(Provenance):
    """Result of `/judges`."""

    ceiling: JudgeCeiling | None = Field(description="Null if the protocol does not ask who is a bot.")
    judges: tuple[JudgeQuality, ...] = Field(
        max_length=MAX_JUDGES, description="Of labels of sides; none if the protocol does not ask who is a bot."
    )
    measures: tuple[JudgedMeasure, ...] = Field(max_length=MAX_MEASURES, description="By any protocol.")
    refused: tuple[RefusedJudge, ...] = Field(max_length=MAX_JUDGES)
