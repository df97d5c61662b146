"""The text that a tokenizer's chat template writes around a reply. It is the same text on every day."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

FIXED_DATE = date(2024, 7, 26)
"""The date that replaces today's in templates; Llama 3's templates write it when they don't know the day."""

_PLACEHOLDER = "\ue000follow-up\ue000"
"""Stands for the reply where a text is split. Its private-use characters are in no tokenizer."""
_TODAY = "strftime_now"
"""The function with which templates ask for today's date, with a format of `strftime`."""
_FORMATS = [f"%{flag}{letter}" for letter in "aAbBcdeFGhHIjmMpSuUVwWxXyY" for flag in ("", "-")]
_REPLACED = "".join(f"|replace('{each}','{FIXED_DATE.strftime(each)}')" for each in _FORMATS)
_FIXED_TODAY = f"{{% macro {_TODAY}(format) %}}{{{{ format{_REPLACED} }}}}{{% endmacro %}}\n"
"""A macro that shadows the function in the template, as transformers does not allow replacing it."""


class ChatTemplate:
    """A tokenizer's chat template. The first turn is the user's; the reply is the next message.

    Raises ValueError if the tokenizer has no template.
    """

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        if not getattr(tokenizer, "chat_template", None):
            message = "the tokenizer has no chat template: name another join"
            raise ValueError(message)
        self._tokenizer = tokenizer
        try:
            self._template = str(tokenizer.get_chat_template())
        except ValueError as error:
            message = "the tokenizer has several chat templates, and none is its default: name another join"
            raise ValueError(message) from error
        self._names_date = _TODAY in self._template
        if self._names_date:
            self._template = _FIXED_TODAY + self._template
        self._faults = lru_cache(maxsize=2048)(self._is_changed)

    @property
    def date(self) -> str | None:
        """Return the fixed date that the template writes instead of today's date; None if it writes no date."""
        return FIXED_DATE.isoformat() if self._names_date else None

    def around_reply(self, turns: Sequence[str]) -> tuple[str, str]:
        """Return the text that the template writes before and after the reply to `turns`.

        Raises ValueError if the template refuses or changes these turns.
        """
        before, mark, after = self._write([*turns, _PLACEHOLDER]).rpartition(_PLACEHOLDER)
        if not mark:
            message = "the tokenizer's chat template changes messages: name another join"
            raise ValueError(message)
        return before, after

    def require_verbatim(self, reply: str, turns: int) -> None:
        """Raise ValueError if the template would change a reply to this number of turns."""
        if self._faults(reply, turns % 2):
            message = f"the tokenizer's chat template changes the follow-up {reply!r}: name another join"
            raise ValueError(message)

    def _is_changed(self, reply: str, turns: int) -> bool:
        said = ["Hello!"] * turns
        before, after = self.around_reply(said)
        return self._write([*said, reply]) != before + reply + after

    def _write(self, contents: Sequence[str]) -> str:
        roles = ("user", "assistant")
        messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(contents)]
        try:
            written = self._tokenizer.apply_chat_template(messages, chat_template=self._template, tokenize=False)
        except Exception as error:  # a foreign template may raise anything
            message = f"the tokenizer's chat template refuses the dialogue ({error}): name another join"
            raise ValueError(message) from error
        return str(written)
