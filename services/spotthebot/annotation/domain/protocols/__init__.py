"""Protocols of annotation: checks of documents and of answers, all pure, and the documents that are built in."""

from spotthebot.annotation.domain.protocols.answers import (
    AnswerValue,
    AskedQuestion,
    asked_questions,
    check_answer,
    missing,
    values,
)
from spotthebot.annotation.domain.protocols.builtin import built_in_protocols
from spotthebot.annotation.domain.protocols.checks import check_protocol
from spotthebot.annotation.domain.protocols.questions import PAIR_SHAPE, UnitShape

__all__ = [
    "PAIR_SHAPE",
    "AnswerValue",
    "AskedQuestion",
    "UnitShape",
    "asked_questions",
    "built_in_protocols",
    "check_answer",
    "check_protocol",
    "missing",
    "values",
]
