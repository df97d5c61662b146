"""`./stb evaluate`: bots converse, a language model scores them by FED, and a ranking comes out."""

from spotthebot.cli.evaluations.comparison import Comparison, RankFlips, compare_modes, find_flips
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration
from spotthebot.cli.evaluations.declaration_file import DeclaredEvaluation, PlayMode, read_evaluation
from spotthebot.cli.evaluations.run import Evaluation, evaluate

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
]
