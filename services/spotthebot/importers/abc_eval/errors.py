"""The errors of files of ABC-Eval.

Invalid
├── TaskNotConvertible
└── TrainingNotConvertible
"""

from spotthebot.kit.errors import Invalid


class TaskNotConvertible(Invalid):
    """The task of ABC-Eval can't be converted: {reason}."""


class TrainingNotConvertible(Invalid):
    """The training of ABC-Eval can't be converted: {reason}."""
