"""The form that opens a collection of chats between people and bots."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.kit.text.validation import reason_of
from spotthebot.web.layout.forms import amount_of

NUMBERS: Final = ("bots_per_chat", "minimum_turns", "maximum_turns", "conversations_per_person")
FIELDS: Final = ("name", "domain", *NUMBERS, "pay_per_chat", "currency", "instructions", "consent")
EMPTY: Final = {"domain": "everyday"} | {
    name: str(default) for name in NUMBERS if (default := HumanBotIn.model_fields[name].default) is not None
}
"""The texts of the form when it is opened."""


def chats_of(typed: Mapping[str, str], bots: Sequence[str]) -> HumanBotIn | dict[str, str]:
    """Return the request made from the form's texts and the chosen bots' ids, or its faults by field."""
    given = {name: text for name in FIELDS if (text := typed.get(name, "").strip())}
    if "pay_per_chat" in given:
        given["pay_per_chat"] = amount_of(given["pay_per_chat"])
    try:
        return HumanBotIn.model_validate({**given, "mode": "human_bot", "bots": bots})
    except ValidationError as error:
        return {str(fault["loc"][0]) if fault["loc"] else "": reason_of(fault) for fault in reversed(error.errors())}
