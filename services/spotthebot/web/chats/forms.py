"""The forms of chats: the ratings of one conversation, and the form that makes links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from spotthebot.contracts.conversations.chat_entries import MAX_PEOPLE
from spotthebot.contracts.conversations.chats import SCORES, Question
from spotthebot.contracts.wire import LONGEST_ID

Preferred: TypeAlias = Literal[1, 2] | None
"""The number of the conversation that was better; None for neither."""
OVERALL: Final = "all-in-all"
"""The name of the comparison all in all. No question can have it, since names of questions have no hyphens."""
PARAMETERS: Final = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "participantId": "", "person": "ID"}
"""The query parameters in which panels name people, each with its placeholder in a link."""
MAX_PASTED: Final = 500
"""The maximum number of people for whom one form makes links, and of links that one form revokes."""
DEFAULT_PEOPLE: Final = 100
_MAX_DAYS: Final = 366
_LONGEST_CODE: Final = 200
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Answered(Generic[_Answer]):
    """The answers to a form's questions by name, and the names of questions without an answer."""

    answers: Mapping[str, _Answer]
    missing: Sequence[str]


def read_scores(typed: Mapping[str, str], questions: Sequence[Question]) -> Answered[int]:
    """Read the chosen scores from the fields `score.NAME`."""
    return _read(
        typed, {each.name: f"score.{each.name}" for each in questions}, {str(score): score for score in SCORES}
    )


def read_preferences(typed: Mapping[str, str], names: Sequence[str]) -> Answered[Preferred]:
    """Read which conversation was better from the fields `preference.NAME` and, all in all, `preferred`."""
    fields = {name: "preferred" if name == OVERALL else f"preference.{name}" for name in names}
    return _read(typed, fields, {"1": 1, "2": 2, "0": None})


def _read(typed: Mapping[str, str], fields: Mapping[str, str], known: Mapping[str, _Answer]) -> Answered[_Answer]:
    answers = {name: known[typed[field]] for name, field in fields.items() if typed.get(field) in known}
    return Answered(answers, [name for name in fields if name not in answers])


def faults_of_links(typed: Mapping[str, str], people: Sequence[str]) -> dict[str, str]:
    """Return the faults of a form that makes links, by field. `people` are the pasted ids."""
    faults = {}
    if typed.get("for") not in {*PARAMETERS, "people"}:
        faults["for"] = "for"
    elif typed["for"] == "people" and not people:
        faults["people"] = "no_people"
    elif len(people) > MAX_PASTED:
        faults["people"] = "many_people"
    elif any(len(person) > LONGEST_ID or not person.isprintable() for person in people):
        faults["people"] = "long_people"
    if not _is_count(typed.get("days", "").strip(), _MAX_DAYS):
        faults["days"] = "days"
    most = typed.get("most", "").strip()
    if typed.get("for") != "people" and most and not _is_count(most, MAX_PEOPLE):
        faults["most"] = "most"
    if len(typed.get("code", "")) > _LONGEST_CODE:
        faults["code"] = "code"
    return faults


def _is_count(typed: str, most: int) -> bool:
    return typed.isascii() and typed.isdecimal() and len(typed) <= len(str(most)) and 1 <= int(typed) <= most
