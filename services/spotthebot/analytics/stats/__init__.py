"""The statistics, pure: arrays and seeds in, frozen results out that remember how they were made."""

from spotthebot.analytics.stats.alpha import Alpha, Measurement, krippendorff_alpha, label_alpha, label_units
from spotthebot.analytics.stats.annotations import (
    HUMAN,
    AnnotationTable,
    BoolArray,
    FloatArray,
    IntArray,
    Label,
)
from spotthebot.analytics.stats.annotators import (
    AnnotatorQuality,
    Crowd,
    WithoutWeakAnnotators,
    annotator_quality,
    without_weak_annotators,
)
from spotthebot.analytics.stats.bootstrap import Resample
from spotthebot.analytics.stats.cox import (
    FEATURES,
    CoxCoefficient,
    CoxFit,
    StandardErrors,
    cox_regressions,
)
from spotthebot.analytics.stats.davidson import DavidsonFit, Strength, rate_davidson
from spotthebot.analytics.stats.errors import AnnotationTableMalformed, CriterionUnknown, SettingOutOfRange
from spotthebot.analytics.stats.evaluation_cost import EvaluationCost, evaluation_cost
from spotthebot.analytics.stats.fooling import FoolingRate, fooling_rates
from spotthebot.analytics.stats.kappa import Kappa, fleiss_kappa
from spotthebot.analytics.stats.label_agreement import AgreementRule, LabelAgreement, label_agreement
from spotthebot.analytics.stats.log_rank import LogRankTest, LogRankVariance, log_rank_tests
from spotthebot.analytics.stats.planning import (
    Design,
    MoreConversations,
    MorePlan,
    PairPlan,
    outcome_correlation,
    plan_conversations,
    plan_more,
    power_of,
)
from spotthebot.analytics.stats.rank_ranges import (
    PublishedRanges,
    clusters_of_ranges,
    published_rank_ranges,
    rank_probabilities,
    rank_ranges,
)
from spotthebot.analytics.stats.ranking import BotRank, PairInterval, Ranking, rank_bots
from spotthebot.analytics.stats.segments import SegmentBot, SegmentResult, segment_results
from spotthebot.analytics.stats.sides import SidesAlike, sides_alike
from spotthebot.analytics.stats.significance import (
    Adjustment,
    PairComparison,
    PairTest,
    SignTest,
    adjust,
    pair_tests,
    sign_tests,
)
from spotthebot.analytics.stats.skill import Skill, SkillRatings, rate_skills
from spotthebot.analytics.stats.stability import (
    RankRule,
    StabilityCurve,
    StabilityPoint,
    stability_at,
    stability_curve,
    stability_sizes,
    without_bot,
)
from spotthebot.analytics.stats.survival import CurrentStatus, SurvivalCurve, current_status, survival_curves
from spotthebot.analytics.stats.times import AnnotationTimes, TimeOfSegment, annotation_times
from spotthebot.analytics.stats.trueskill_updates import SkillSettings, draw_margin, play_matches
from spotthebot.analytics.stats.wins import (
    HUMAN_LIKENESS,
    SSA,
    Games,
    PairCounts,
    PairWins,
    SsaRule,
    Unit,
    Weighting,
    count_wins,
    play_games,
)

__all__ = [
    "FEATURES",
    "HUMAN",
    "HUMAN_LIKENESS",
    "SSA",
    "Adjustment",
    "AgreementRule",
    "Alpha",
    "AnnotationTable",
    "AnnotationTableMalformed",
    "AnnotationTimes",
    "AnnotatorQuality",
    "BoolArray",
    "BotRank",
    "CoxCoefficient",
    "CoxFit",
    "CriterionUnknown",
    "Crowd",
    "CurrentStatus",
    "DavidsonFit",
    "Design",
    "EvaluationCost",
    "FloatArray",
    "FoolingRate",
    "Games",
    "IntArray",
    "Kappa",
    "Label",
    "LabelAgreement",
    "LogRankTest",
    "LogRankVariance",
    "Measurement",
    "MoreConversations",
    "MorePlan",
    "PairComparison",
    "PairCounts",
    "PairInterval",
    "PairPlan",
    "PairTest",
    "PairWins",
    "PublishedRanges",
    "RankRule",
    "Ranking",
    "Resample",
    "SegmentBot",
    "SegmentResult",
    "SettingOutOfRange",
    "SidesAlike",
    "SignTest",
    "Skill",
    "SkillRatings",
    "SkillSettings",
    "SsaRule",
    "StabilityCurve",
    "StabilityPoint",
    "StandardErrors",
    "Strength",
    "SurvivalCurve",
    "TimeOfSegment",
    "Unit",
    "Weighting",
    "WithoutWeakAnnotators",
    "adjust",
    "annotation_times",
    "annotator_quality",
    "clusters_of_ranges",
    "count_wins",
    "cox_regressions",
    "current_status",
    "draw_margin",
    "evaluation_cost",
    "fleiss_kappa",
    "fooling_rates",
    "krippendorff_alpha",
    "label_agreement",
    "label_alpha",
    "label_units",
    "log_rank_tests",
    "outcome_correlation",
    "pair_tests",
    "plan_conversations",
    "plan_more",
    "play_games",
    "play_matches",
    "power_of",
    "published_rank_ranges",
    "rank_bots",
    "rank_probabilities",
    "rank_ranges",
    "rate_davidson",
    "rate_skills",
    "segment_results",
    "sides_alike",
    "sign_tests",
    "stability_at",
    "stability_curve",
    "stability_sizes",
    "survival_curves",
    "without_bot",
    "without_weak_annotators",
]
