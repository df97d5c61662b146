"""The forms that open a collection of chats between people and bots, and that import a table of conversations."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError

from spotthebot.contracts.conversations.chats import ChatSettings, HumanBotIn, chat_faults
from spotthebot.contracts.conversations.collections import ImportIn
from spotthebot.kit.text.validation import reason_of
from spotthebot.readers.tables import Reading
from spotthebot.web.layout.forms import amount_of, read_document

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
        faults = {str(fault["loc"][0]): reason_of(fault) for fault in reversed(error.errors()) if fault["loc"]}
    # What is sound may not fit together: that is checked without the rest.
    sound = {name: text for name, text in given.items() if name in ChatSettings.model_fields and name not in faults}
    together = {str(at[0]): said for at, said in chat_faults(ChatSettings.model_validate(sound), bots)}
    return {at: said for at, said in together.items() if not any(name in said for name in faults)} | faults


def reading_of(typed: Mapping[str, str]) -> Reading | dict[str, str]:
    """Return how to read a table, from the form's texts, or the faults of the form by field."""
    read = read_document(ImportIn, {"mode": "import", **{name: typed.get(name, "") for name in ("name", "domain")}})
    if not isinstance(read, ImportIn):
        return read
    people, left_out, bots = (
        [name for each in typed.get(field, "").split(",") if (name := each.strip())]
        for field in ("people", "leave_out", "bots")
    )
    columns = [text] if (text := typed.get("columns", "").strip()) else []
    return Reading(read.name, read.domain, columns, people, left_out, bots)
