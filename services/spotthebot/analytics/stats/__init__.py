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
from spotthebot.analytics.stats.fooling import FoolingRate, fooling_rates
from spotthebot.analytics.stats.kappa import Kappa, fleiss_kappa
from spotthebot.analytics.stats.label_agreement import AgreementRule, LabelAgreement, label_agreement
from spotthebot.analytics.stats.log_rank import LogRankTest, LogRankVariance, log_rank_tests
from spotthebot.analytics.stats.rank_ranges import (
    PublishedRanges,
    clusters_of_ranges,
    published_rank_ranges,
    rank_probabilities,
    rank_ranges,
)
from spotthebot.analytics.stats.ranking import BotRank, PairInterval, Ranking, rank_bots
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
from spotthebot.analytics.stats.survival import CurrentStatus, SurvivalCurve, current_status, survival_curves
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
    "BoolArray",
    "BotRank",
    "CoxCoefficient",
    "CoxFit",
    "CriterionUnknown",
    "CurrentStatus",
    "DavidsonFit",
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
    "PairComparison",
    "PairCounts",
    "PairInterval",
    "PairTest",
    "PairWins",
    "PublishedRanges",
    "Ranking",
    "Resample",
    "SettingOutOfRange",
    "SignTest",
    "Skill",
    "SkillRatings",
    "SkillSettings",
    "SsaRule",
    "StandardErrors",
    "Strength",
    "SurvivalCurve",
    "Unit",
    "Weighting",
    "adjust",
    "clusters_of_ranges",
    "count_wins",
    "cox_regressions",
    "current_status",
    "draw_margin",
    "fleiss_kappa",
    "fooling_rates",
    "krippendorff_alpha",
    "label_agreement",
    "label_alpha",
    "label_units",
    "log_rank_tests",
    "pair_tests",
    "play_games",
    "play_matches",
    "published_rank_ranges",
    "rank_bots",
    "rank_probabilities",
    "rank_ranges",
    "rate_davidson",
    "rate_skills",
    "sign_tests",
    "survival_curves",
]
