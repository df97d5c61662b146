"""`./stb evaluate`: bots converse, a language model scores them by FED, and a ranking comes out."""

from spotthebot.suite.evaluations.comparison import Comparison, RankFlips, compare_modes, find_flips
from spotthebot.suite.evaluations.declaration import EvaluationDeclaration
from spotthebot.suite.evaluations.declaration_file import DeclaredEvaluation, PlayMode, read_evaluation
from spotthebot.suite.evaluations.run import Evaluation, evaluate, score_collection

__all__ = [
    "Comparison",
    "DeclaredEvaluation",
    "Evaluation",
    "EvaluationDeclaration",
    "PlayMode",
    "RankFlips",
    "compare_modes",
    "evaluate",
    "find_flips",
    "read_evaluation",
    "score_collection",
]
