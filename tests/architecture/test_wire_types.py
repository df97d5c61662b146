"""Each type of an answer is made from one domain object by its attributes, or says why it is not.

By attributes a field that is added to both is answered at once: so each such type is compared field by field with an
independent statement, and whatever may leak stays written out: pseudonyms, the turns shown so far, names in standings.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import spotthebot.contracts
from spotthebot.contracts.wire import Wire

ROOT = Path(__file__).parents[2]
CONTRACTS = "spotthebot.contracts."
_CLASS = re.compile(r"(?m)^\s*class (\w+)")

BY_ATTRIBUTES = {
    "analytics.analyses": {"AnalysisJobOut": "AnalysisJob", "PairPlan": "PairPlan"},
    "analytics.annotation_quality": {
        "Annotator": "AnnotatorQuality",
        "Annotators": "Crowd",
        "Coefficient": "Alpha",
        "LabelAgreement": "LabelAgreement",
        "SidesAlike": "SidesAlike",
        "Time": "AnnotationTimes",
        "WithoutWeak": "WithoutWeakAnnotators",
    },
    "analytics.costs": {"CostOut": "EvaluationCost"},
    "analytics.judges": {
        "AgreementWithJudge": "JudgeAgreement",
        "CorrectedBot": "JudgedEstimate",
        "CorrectedRanking": "JudgedRanking",
        "CorrectedSurvival": "JudgedCurve",
        "JudgeAltTest": "AltTest",
        "JudgeCalibration": "Calibration",
        "JudgeCeiling": "Ceiling",
        "JudgeGroup": "GroupQuality",
        "JudgeOrder": "RankCorrelation",
        "JudgeProbe": "Probe",
    },
    "analytics.measures": {
        "MeasuredBot": "RatedBot",
        "MeasuredPair": "RatingDifference",
        "PublishedForm": "Proportion",
    },
    "analytics.mixed_models": {
        "BotEffect": "BotEffect",
        "EffectDifference": "EffectDifference",
        "MixedModel": "MixedModel",
        "VarianceComponent": "VarianceComponent",
    },
    "analytics.partners": {"OrderCorrelation": "RankCorrelation", "PartnerDifference": "PartnerDifference"},
    "analytics.provenance": {"Uncertainty": "Uncertainty"},
    "analytics.rating_plans": {"EffectPlan": "RatingPlan"},
    "analytics.ranking": {"RankedBot": "RankedBot", "Skill": "Skill", "Strength": "Strength"},
    "analytics.standings": {"TeamBotOut": "BotOut"},
    "analytics.survival": {"CoxCoefficient": "CoxCoefficient", "LogRank": "LogRankTest"},
    "analytics.tables": {"CampaignSummaryOut": "CampaignOut"},
    "analytics.wins": {"BotWinRate": "RankedBot", "FoolingRate": "FoolingRate"},
    "analytics.verdicts": {"GivenVerdict": "Given", "PairVerdictOut": "PairVerdict"},
    "annotation.annotations": {
        "AnnotationOut": "StoredAnnotation",
        "AnnotationsRevisionOut": "AnnotationsRevision",
        "DecisionOut": "Decision",
    },
    "annotation.assignments": {
        "AnnotatorOut": "Annotator",
        "AnnotatorQualityOut": "AnnotatorQuality",
        "AssignmentOut": "Lease",
        "AssignmentSummaryOut": "Lease",
        "ItemOut": "Draft",
        "LeaseOut": "Lease",
    },
    "annotation.audit": {"AuditEntryOut": "AuditEntry"},
    "annotation.campaigns": {"CampaignOut": "Campaign"},
    "annotation.entries": {
        "AnnotatorWorkforceOut": "Worker",
        "EntryLinkOut": "EntryLink",
        "EntryLinkStateOut": "EntryLink",
    },
    "annotation.exports": {"ExportedItem": "NamedItem"},
    "annotation.judges": {"JudgeVersionOut": "JudgeVersion"},
    "annotation.payments": {"BonusOut": "Bonus", "PaymentOut": "Payment"},
    "annotation.previews": {"PreviewedItem": "ShownItem"},
    "annotation.protocols": {"ProtocolSummaryOut": "ProtocolSummary"},
    "annotation.studies": {"StudyOut": "Study"},
    "annotation.trainings": {
        "FeedbackOut": "Feedback",
        "TrainingAttemptOut": "Attempt",
        "TrainingOut": "TrainingVersion",
        "TrainingRecordOut": "TrainingRecord",
        "TrainingResultsOut": "TrainingResults",
        "TrainingSummaryOut": "TrainingSummary",
        "WorkforceResultOut": "Workforce",
    },
    "annotation.verdicts": {"ReportedVerdict": "PairVerdictOut"},
    "annotation.uploads": {"ImportedAnnotationIn": "ExportedAnnotation"},
    "bots.hosted_models": {"HostedModelOut": "HostedModel", "UploadedFileOut": "ModelFile"},
    "bots.probes": {"ProbeOut": "Probe"},
    "bots.registry": {"BotOut": "Bot", "BotVersionOut": "BotVersion"},
    "conversations.chat_entries": {"ChatLinkOut": "UsedLink", "ChatPersonOut": "ChatPerson", "PersonsChatOut": "Chat"},
    "conversations.collections": {"CollectionOut": "Collection"},
    "conversations.conversations": {
        "ConversationOut": "Conversation",
        "LatenciesOut": "Latencies",
        "SpeakersOut": "Speakers",
        "TextsOut": "Conversation",
    },
    "conversations.corpora": {"CorpusOut": "Corpus", "DialogueOut": "Dialogue", "UploadOut": "_Batch"},
    "conversations.exports": {"ImportedOut": "_Batch"},
    "conversations.partner_sets": {"PartnerSetOut": "PartnerSet"},
    "conversations.performance": {"BotConversationOut": "ConversationOut", "FailureReasonOut": "Row"},
    "conversations.progress": {
        "ChatBotOut": "BotProgress",
        "FailureOut": "FailureReason",
        "MixOut": "Selection",
        "PairOut": "PairProgress",
    },
    "conversations.ratings": {"RatingsRevisionOut": "RatingsRevision"},
    "conversations.quality": {
        "QualityCheckOut": "QualityCheck",
        "QualityFlagsOut": "QualityFlags",
        "QualityOut": "QualityCheck",
    },
    "fed.dialogue_scores": {
        "FavouredBotOut": "FavouredBot",
        "PartnerScoreOut": "BotScore",
        "ScoreDifferenceOut": "PairedDifference",
    },
    "fed.correlations": {"CorrelationOut": "Correlation", "SplitHalfOut": "SplitHalf"},
    "fed.score_jobs": {"BotScoreOut": "BotScore", "ScoreJobOut": "ScoreJob", "ScoreSetOut": "ScoreJob"},
}
"""The types that `of` makes, and from what."""

WITHIN = {
    "annotation.annotations": {"AnnotatingJudgeOut": "AnnotationOut"},
    "annotation.assignments": {"AgreementOut": "AnnotatorQualityOut"},
    "annotation.trainings": {
        "SavedTrainingAnswerOut": "TrainingAttemptOut",
        "TargetFeedbackOut": "FeedbackOut",
        "TrainingDialogueResultOut": "WorkforceResultOut",
    },
    "conversations.corpora": {
        "RejectedLineOut": "UploadOut",
        "RejectedOut": "UploadOut",
        "SplitStatisticsOut": "CorpusOut",
    },
    "conversations.partner_sets": {"PartnerOut": "PartnerSetOut"},
    "conversations.quality": {"PersonalDataOut": "QualityFlagsOut"},
}
"""The types that are made from attributes as parts of another."""

EXPLICIT = {
    "a person's pseudonym, or who may know more than it": {
        "annotation.assignments": ["AppealOut", "SubmittedOut"],
        "annotation.entries": ["ConsentOut", "EntryOut"],
        "conversations.progress": ["ChatBotsOut"],
        "conversations.chats": ["ChatRatingOut", "ChatSummaryOut", "RatedConversationOut"],
        "conversations.conversations": ["InteractorOut", "StratumOut"],
    },
    "the turns that are shown so far": {
        "annotation.assignments": ["ExchangeOut"],
        "annotation.packages": ["PackageOut"],
        "annotation.previews": ["PackagePreviewOut"],
        "annotation.trainings": ["TrainingTaskOut"],
        "conversations.chats": ["ChatConversationOut", "ChatOut"],
    },
    "names of bots, which only some may see": {
        "analytics.leaderboard": ["AnnotatorRankOut"],
        "analytics.standings": ["PublicRankingOut", "StandingOut"],
    },
    "a secret that is shown once, or what a link ends with": {
        "annotation.panels": ["CompletionOut"],
        "terms": ["ConsentTextOut"],
        "conversations.chat_entries": [
            "ChatConsentOut",
            "ChatLinksOut",
            "ChatTermsOut",
            "ChatTokenOut",
            "RevokedLinkOut",
        ],
    },
    "other names, or a few values of several things": {
        "annotation.assignments": ["SavedOut"],
        "annotation.protocols": ["ProtocolOut"],
        "batches": ["StoredOut"],
        "bots.hosted_models": ["BatchStatisticsOut", "TritonOut"],
        "conversations.collections": ["BotWarningOut", "CollectionPlanOut", "EstimateOut", "StartedCollectionOut"],
        "conversations.conversations": ["NeighboursOut", "TextHashOut"],
        "conversations.corpora": ["LearnableRevisionOut"],
        "fed.dimensions": ["DimensionSetOut"],
        "fed.score_jobs": ["ContextScoresOut", "RejectedOut"],
        "fed.scores": ["FollowupOut", "RejectedDialogueOut", "ScoreOut", "ScoresOut"],
    },
    "replies of bots, which one type carries from the speaker on": {"bots.replies": ["RepliesOut", "ReplyOut"]},
    "computed where it is answered": {
        "analytics.analyses": ["ReachOut"],
        "analytics.costs": ["ChatTimesOut"],
        "analytics.decision_times": ["DecisionTimesOut"],
        "analytics.interactor_ratings": ["InteractorRatingsOut"],
        "analytics.judges": ["JudgesOut"],
        "analytics.measures": ["MeasureOut", "MeasuresOut"],
        "analytics.pooled": ["PooledOut"],
        "analytics.results": [
            *("AgreementOut", "AnnotatorsOut", "FeaturesOut", "FoolingRatesOut", "PartnersOut", "RankingOut"),
            *("SegmentsOut", "SensitivityOut", "SurvivalOut", "TimeOut", "WinRatesOut"),
        ],
        "analytics.sections": ["SectionsOut"],
        "analytics.studies": ["StudyAssessmentOut", "StudyMeasuresOut"],
        "analytics.workforces": ["WorkforceAgreementsOut"],
        "annotation.annotations": ["SharedAnnotatorsOut"],
        "annotation.previews": ["CampaignEstimateOut", "CampaignPreviewOut"],
        "conversations.performance": ["BotPerformanceOut", "LatencyOut"],
        "conversations.quality": ["DistributionOut", "FlagCountOut", "QualitySummaryOut", "TrainingShareOut"],
        "fed.correlations": ["CorrelationsOut", "DimensionCorrelationsOut"],
        "fed.dialogue_scores": ["OrderStabilityOut", "PartnerScoresOut", "UnfairPoolOut"],
        "fed.references": ["RankingBesideOut"],
        "fed.score_jobs": ["BaselineOut", "DimensionScoresOut"],
        "fed.system_correlations": [
            *("RatedSystemOut", "ScoredCollectionOut", "SystemCorrelationsOut", "SystemDimensionOut"),
        ],
    },
}
"""The types that are written out field by field, and why."""

LEFT_OUT = {
    "bots.replies.ReplyOut.notes",
    "bots.replies.ReplyOut.retry_after_seconds",
    "fed.scores.FollowupOut.token_log_probabilities",
}
"""The fields that answers leave out where there is nothing to say; all others have no default, so none is forgotten."""


class TestOutputTypes:
    def test_say_each_how_they_are_made(self):
        assert _undeclared(_outputs()) == []
        listed = [*_names(BY_ATTRIBUTES), *_names(WITHIN), *(n for each in EXPLICIT.values() for n in _names(each))]
        assert sorted(listed) == sorted(set(listed))
        assert {each for each in listed if each.endswith("Out")} - set(_outputs()) == set()

    def test_say_so_where_one_is_new(self):
        class ForgottenOut(Wire):
            text: str

        assert _undeclared([*_outputs(), _name(ForgottenOut)]) == [_name(ForgottenOut)]

    def test_are_made_as_they_say(self):
        assert _made_by_attributes() == set(_names(BY_ATTRIBUTES))

    def test_have_no_defaults(self):
        optional = {
            f"{_name(each)}.{field}"
            for each in _output_types()
            for field, info in each.model_fields.items()
            if not info.is_required()
        }
        assert optional == LEFT_OUT

    def test_name_what_they_are_made_from(self):
        sources = {name for text in _texts("services", "shared") for name in _CLASS.findall(text)} | {"Row"}
        named = {source for each in BY_ATTRIBUTES.values() for source in each.values()}
        assert named - sources == set()

    def test_are_compared_field_by_field_where_attributes_make_them(self):
        assert set(_names(BY_ATTRIBUTES)) - _compared() == set()
        for module, parts in WITHIN.items():
            assert set(parts.values()) <= set(BY_ATTRIBUTES[module])


def _undeclared(names: Iterable[str]) -> list[str]:
    explicit = {name for each in EXPLICIT.values() for name in _names(each)}
    return sorted(set(names) - set(_names(BY_ATTRIBUTES)) - set(_names(WITHIN)) - explicit)


def _names(types: dict[str, dict[str, str]] | dict[str, list[str]]) -> list[str]:
    return [f"{module}.{name}" for module, names in types.items() for name in names]


def _name(wire: type[Wire]) -> str:
    return f"{wire.__module__.removeprefix(CONTRACTS)}.{wire.__name__}"


def _outputs() -> list[str]:
    return [_name(each) for each in _output_types()]


def _output_types() -> list[type[Wire]]:
    for module in pkgutil.walk_packages(spotthebot.contracts.__path__, CONTRACTS):
        importlib.import_module(module.name)
    found = (each for each in _subclasses(Wire) if each.__module__.startswith(CONTRACTS))
    return [each for each in found if each.__name__.endswith("Out")]


def _subclasses(wire: type[Wire]) -> Iterator[type[Wire]]:
    for each in wire.__subclasses__():
        yield each
        yield from _subclasses(each)


def _made_by_attributes() -> set[str]:
    """Return the wire types whose `of` is named in the services."""
    made: set[str] = set()
    for tree in map(ast.parse, (text for text in _texts("services") if ".of" in text and CONTRACTS in text)):
        attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "of")
        made |= _imported_names(tree, (node.value for node in attributes))
    return made


def _compared() -> set[str]:
    """Return the types that tests hand to `assert_is`."""
    compared: set[str] = set()
    for tree in map(ast.parse, _texts("tests", pattern="**/test_wire_values.py")):
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        checks = (node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "assert_is")
        compared |= _imported_names(tree, (node.args[0] for node in checks))
    return compared


def _imported_names(tree: ast.Module, nodes: Iterable[ast.expr]) -> set[str]:
    imported = _imported(tree)
    return {imported[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in imported}


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports from contracts, each with its module."""
    lines = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {
        (alias.asname or alias.name): f"{(node.module or '').removeprefix(CONTRACTS)}.{alias.name}"
        for node in lines
        for alias in node.names
        if (node.module or "").startswith(CONTRACTS)
    }


def _texts(*folders: str, pattern: str = "**/*.py") -> Iterator[str]:
    return (path.read_text() for folder in folders for path in (ROOT / folder).glob(pattern))
