"""The statistics. They take arrays and seeds, and return frozen results that remember how they were made.

For notebooks: `from spotthebot.analytics import stats` has all of them (see "The statistics" in the
documentation). Our own modules import from the module that defines a name. Functions that need the package lifelines,
which is slow to import, are in `spotthebot.analytics.stats.survival.exact_times`.
"""

from spotthebot.analytics.stats.alpha import Alpha, krippendorff_alpha, label_alpha, label_units
from spotthebot.analytics.stats.alpha_bootstrap import BootstrapAlpha, bootstrap_alpha
from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.annotators import (
    AnnotatorQuality,
    Crowd,
    WithoutWeakAnnotators,
    annotator_quality,
    without_weak_annotators,
)
from spotthebot.analytics.stats.davidson import DavidsonFit, Strength, rate_davidson
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.errors import AnnotationTableMalformed, CriterionUnknown, IntervalsMalformed
from spotthebot.analytics.stats.evaluation_cost import EvaluationCost, evaluation_cost
from spotthebot.analytics.stats.fooling_rate import FoolingRate, fooling_rates
from spotthebot.analytics.stats.frames import from_csv, from_dataframe
from spotthebot.analytics.stats.intraclass_correlation import intraclass_correlation
from spotthebot.analytics.stats.judged.ceiling import Ceiling, ceiling_of_labels, judge_ceiling
from spotthebot.analytics.stats.judged.frames import JudgedFile, judged_from_csv
from spotthebot.analytics.stats.judged.games import (
    JudgedPair,
    JudgedRank,
    JudgedRanking,
    judged_preferences,
    judged_win_rates,
)
from spotthebot.analytics.stats.judged.sides import JudgedSides, values_of_sides
from spotthebot.analytics.stats.judged.survival import JudgedCurve, judged_survival
from spotthebot.analytics.stats.judged.values import JudgedEstimate, JudgedValues, judged_means, judged_shares
from spotthebot.analytics.stats.kappa import Kappa, fleiss_kappa
from spotthebot.analytics.stats.label_agreement import AgreementRule, LabelAgreement, label_agreement
from spotthebot.analytics.stats.means import Mean, student_interval
from spotthebot.analytics.stats.more_data import MoreConversations, MorePlan, design_of, plan_more
from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.pair_power import MAX_CONVERSATIONS, PLANNED_TEST, Design, power_of, smallest_p
from spotthebot.analytics.stats.pair_verdicts import PairVerdict, Verdict, pair_verdicts
from spotthebot.analytics.stats.proportions import Proportion, ProportionTest, compare_proportions, wilson_interval
from spotthebot.analytics.stats.rank_agreement import kendall_tau
from spotthebot.analytics.stats.rank_ranges import (
    PublishedRanges,
    clusters_of_ranges,
    published_rank_ranges,
    rank_probabilities,
    rank_ranges,
)
from spotthebot.analytics.stats.ranking import BotRank, PairInterval, RankedBy, Ranking, rank_bots
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares, rating_power
from spotthebot.analytics.stats.rating_sample_size import RatingPlan, plan_dialogues, plan_power
from spotthebot.analytics.stats.ratings import RatedBot, RatingRanking, rank_ratings
from spotthebot.analytics.stats.result_frames import to_dataframe
from spotthebot.analytics.stats.sample_size import PairPlan, least_conversations, plan_annotators, plan_conversations
from spotthebot.analytics.stats.segments import SegmentBot, SegmentResult, ShareInterval, segment_results
from spotthebot.analytics.stats.share_intervals import share_bounds, share_tests
from spotthebot.analytics.stats.sides import SidesAlike, sides_alike
from spotthebot.analytics.stats.significance import PairComparison, PairTest, pair_tests
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
from spotthebot.analytics.stats.strata import StratifiedMean, Stratum, mean_over_strata, strata_differ
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, censored_times
from spotthebot.analytics.stats.survival.cox import FEATURES, CoxCoefficient, CoxFit, StandardErrors, cox_regressions
from spotthebot.analytics.stats.survival.curves import CurrentStatus, SurvivalCurve, current_status, survival_curves
from spotthebot.analytics.stats.survival.interval_cox import IntervalCoefficient, IntervalFit, interval_cox
from spotthebot.analytics.stats.survival.interval_likelihood import Odds
from spotthebot.analytics.stats.survival.interval_log_rank import (
    IntervalLogRank,
    RowScore,
    ScoreVariance,
    interval_log_rank,
    interval_log_rank_pairs,
)
from spotthebot.analytics.stats.survival.log_rank import LogRankTest, LogRankVariance, log_rank_tests
from spotthebot.analytics.stats.survival.npmle import Npmle, SurvivalBand, npmle, survival_band
from spotthebot.analytics.stats.times import AnnotationTimes, TimeOfSegment, annotation_times
from spotthebot.analytics.stats.trueskill_ratings import environment_of, ratings_of, settings_of
from spotthebot.analytics.stats.trueskill_updates import SkillSettings, draw_margin, play_matches
from spotthebot.analytics.stats.validity import Explained, linear_r2, logistic_r2
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
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance, shares_of
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.rank_correlation import RankCorrelation, rank_correlation
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, PooledEffect, Uncertainty

__all__ = [
    "FEATURES",
    "HUMAN",
    "HUMAN_LIKENESS",
    "MAX_CONVERSATIONS",
    "PLANNED_TEST",
    "SSA",
    "Adjustment",
    "AgreementRule",
    "Alpha",
    "AnnotationTable",
    "AnnotationTableMalformed",
    "AnnotationTimes",
    "AnnotatorQuality",
    "BoolArray",
    "BootstrapAlpha",
    "BotRank",
    "Ceiling",
    "CensoredTimes",
    "ClusteredVariance",
    "Clusters",
    "CoxCoefficient",
    "CoxFit",
    "CriterionUnknown",
    "Crowd",
    "CurrentStatus",
    "DavidsonFit",
    "Design",
    "EvaluationCost",
    "Explained",
    "FloatArray",
    "FoolingRate",
    "Games",
    "Influence",
    "IntArray",
    "IntervalCoefficient",
    "IntervalFit",
    "IntervalLogRank",
    "IntervalsMalformed",
    "JudgedCurve",
    "JudgedEstimate",
    "JudgedFile",
    "JudgedPair",
    "JudgedRank",
    "JudgedRanking",
    "JudgedSides",
    "JudgedValues",
    "Kappa",
    "LabelAgreement",
    "LabelCode",
    "LogRankTest",
    "LogRankVariance",
    "Mean",
    "Measurement",
    "MoreConversations",
    "MorePlan",
    "Npmle",
    "Observations",
    "Odds",
    "PairComparison",
    "PairCounts",
    "PairInterval",
    "PairPlan",
    "PairTest",
    "PairVerdict",
    "PairWins",
    "PooledEffect",
    "Proportion",
    "ProportionTest",
    "PublishedRanges",
    "RankCorrelation",
    "RankRule",
    "RankedBy",
    "Ranking",
    "RatedBot",
    "RatingDesign",
    "RatingPlan",
    "RatingRanking",
    "Ratings",
    "RowScore",
    "ScoreVariance",
    "SegmentBot",
    "SegmentResult",
    "SettingOutOfRange",
    "ShareInterval",
    "SidesAlike",
    "Skill",
    "SkillRatings",
    "SkillSettings",
    "SsaRule",
    "StabilityCurve",
    "StabilityPoint",
    "StandardErrors",
    "StratifiedMean",
    "Stratum",
    "Strength",
    "SurvivalBand",
    "SurvivalCurve",
    "TimeOfSegment",
    "Uncertainty",
    "Unit",
    "Verdict",
    "Weighting",
    "WithoutWeakAnnotators",
    "adjust",
    "annotation_times",
    "annotator_quality",
    "annotator_sets",
    "bootstrap_alpha",
    "ceiling_of_labels",
    "censored_times",
    "clustered_variance",
    "clusters_of_ranges",
    "compare_proportions",
    "count_wins",
    "cox_regressions",
    "current_status",
    "design_of",
    "draw_margin",
    "effect_of_shares",
    "environment_of",
    "evaluation_cost",
    "fleiss_kappa",
    "fooling_rates",
    "from_csv",
    "from_dataframe",
    "interval_cox",
    "interval_log_rank",
    "interval_log_rank_pairs",
    "intraclass_correlation",
    "judge_ceiling",
    "judged_from_csv",
    "judged_means",
    "judged_preferences",
    "judged_shares",
    "judged_survival",
    "judged_win_rates",
    "kendall_tau",
    "krippendorff_alpha",
    "label_agreement",
    "label_alpha",
    "label_units",
    "least_conversations",
    "linear_r2",
    "log_rank_tests",
    "logistic_r2",
    "mean_over_strata",
    "npmle",
    "outcome_correlation",
    "pair_tests",
    "pair_verdicts",
    "plan_annotators",
    "plan_conversations",
    "plan_dialogues",
    "plan_more",
    "plan_power",
    "play_games",
    "play_matches",
    "power_of",
    "published_rank_ranges",
    "rank_bots",
    "rank_correlation",
    "rank_probabilities",
    "rank_ranges",
    "rank_ratings",
    "rate_davidson",
    "rate_skills",
    "rating_power",
    "ratings_of",
    "segment_results",
    "settings_of",
    "share_bounds",
    "share_tests",
    "shares_of",
    "sides_alike",
    "smallest_p",
    "stability_at",
    "stability_curve",
    "stability_sizes",
    "strata_differ",
    "student_interval",
    "survival_band",
    "survival_curves",
    "to_dataframe",
    "values_of_sides",
    "wilson_interval",
    "without_bot",
    "without_weak_annotators",
]
