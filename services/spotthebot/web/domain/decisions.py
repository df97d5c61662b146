"""Forms of decisions: what was typed, as a document of a service, or what is wrong with it."""

import re
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError

from spotthebot.contracts.annotation.assignments import AnnotatorOut, SubmittedTexts
from spotthebot.contracts.annotation.trainings import TrainingRecordOut, TrainingState
from spotthebot.contracts.wire import Wire
from spotthebot.kit.text.validation import reason_of

_Document = TypeVar("_Document", bound=Wire)
_CENTS_BEHIND_COMMA: Final = re.compile(r"\d+,\d{1,2}")


class ErasureForm(Wire):
    """What an erasure does to texts in annotations that were submitted."""

    submitted_texts: SubmittedTexts = SubmittedTexts.ERASE


def read_document(kind: type[_Document], typed: Mapping[str, str]) -> _Document | dict[str, str]:
    """Return the document of these texts, or what is wrong by field; empty fields are missing."""
    given = {name: text for name in kind.model_fields if (text := typed.get(name, "").strip())}
    if "amount" in given:
        given["amount"] = amount_of(given["amount"])
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        return {str(fault["loc"][0]) if fault["loc"] else "": reason_of(fault) for fault in reversed(error.errors())}


def amount_of(typed: str) -> str:
    """Return an amount with a point before its cents, where a comma stands before one or two digits.

    >>> amount_of("1,50"), amount_of("1,500")
    ('1.50', '1,500')
    """
    return typed.replace(",", ".") if _CENTS_BEHIND_COMMA.fullmatch(typed) else typed


def attempt_to_grant(record: TrainingRecordOut | None) -> int | None:
    """Return the number of the attempt that can be granted: who failed the last one has none left."""
    if record is None or record.attempts_left or not record.attempts:
        return None
    last = max(record.attempts, key=lambda attempt: attempt.attempt)
    return last.attempt + 1 if last.state is TrainingState.FAILED else None


def annotator_actions(
    annotator: AnnotatorOut, *, currency: str | None, record: TrainingRecordOut | None
) -> tuple[str, ...]:
    """Return what can be decided about an annotator, what helps them first; of one who was erased nothing."""
    if annotator.erased_at is not None:
        return ()
    return (
        *(("attempt",) if attempt_to_grant(record) else ()),
        *(("unblock",) if annotator.blocked_at else ()),
        *(("bonus",) if currency else ()),
        *(() if annotator.blocked_at else ("block",)),
        "erase",
    )
