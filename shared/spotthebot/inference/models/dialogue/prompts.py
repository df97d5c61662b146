"""Writes a conversation as a model's training data wrote it: chat template, DialoGPT's form, or Blenderbot's."""

from collections.abc import Sequence
from typing import Any, Protocol

from jinja2.exceptions import TemplateError

from ..plain_text import PlainText

_OPENING = "Hello!"


class PromptForm(Protocol):
    """A way to write a conversation. Speakers alternate, and the last turn is the partner's."""

    def encode(self, turns: Sequence[str], persona: str | None) -> list[int]: ...


class TurnsThenEnd:
    """Every turn is followed by the end-of-text token, as in DialoGPT's training (Zhang et al. 2020, section 3).

    A persona is written like a turn before the first turn. A conversation without turns is only the end-of-text token.
    """

    def __init__(self, tokenizer: Any, plain: PlainText) -> None:  # noqa: ANN401 - as above
        self._tokenizer = tokenizer
        self._plain = plain
        begin, self._end = tokenizer.bos_token_id, tokenizer.eos_token_id
        self._start = [] if begin in {None, self._end} else [begin]

    def encode(self, turns: Sequence[str], persona: str | None) -> list[int]:
        texts = [*([persona] if persona else []), *turns]
        ids = [self._tokenizer.encode(self._plain(text), add_special_tokens=False) for text in texts]
        return [*self._start, *(token for turn in ids for token in [*turn, self._end])] or [self._end]


class ChatTemplate:
    """The tokenizer's own chat template. The model is the assistant, its persona the system message.

    Some templates refuse a system message, an empty conversation, or a conversation that the assistant opens. For such
    a template, the persona is put into the first message, or the user opens with a greeting.
    """

    def __init__(self, tokenizer: Any, plain: PlainText) -> None:  # noqa: ANN401 - as above
        self._tokenizer = tokenizer
        self._plain = plain

    def encode(self, turns: Sequence[str], persona: str | None) -> list[int]:
        roles = ["assistant" if (len(turns) - index) % 2 == 0 else "user" for index in range(len(turns))]
        said = [_message(role, self._plain(turn)) for role, turn in zip(roles, turns, strict=True)]
        greeted = said if roles[:1] == ["user"] else [_message("user", _OPENING), *said]
        forms = [said, greeted]
        if persona:
            about = self._plain(persona)
            merged = [_message("user", f"{about}\n\n{greeted[0]['content']}"), *greeted[1:]]
            forms = [[_message("system", about), *said], [_message("system", about), *greeted], merged]
        return list(self._tokenizer.encode(self._first_accepted(forms), add_special_tokens=False))

    def _first_accepted(self, forms: Sequence[list[dict[str, str]]]) -> str:
        for form in forms[:-1]:
            try:
                return self._write(form)
            except (TemplateError, ValueError, IndexError):
                continue
        return self._write(forms[-1])

    def _write(self, messages: list[dict[str, str]]) -> str:
        return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


class Blenderbot:
    """Texts separated by two spaces, with one more space before the partner's texts, as in transformers' Blenderbot."""

    def __init__(self, tokenizer: Any, plain: PlainText) -> None:  # noqa: ANN401 - as above
        self._tokenizer = tokenizer
        self._plain = plain

    def encode(self, turns: Sequence[str], persona: str | None) -> list[int]:
        pieces = [self._plain(turn) for turn in turns]
        pieces = [piece if (len(pieces) - index) % 2 == 0 else f" {piece}" for index, piece in enumerate(pieces)]
        if persona:
            pieces.insert(0, f"your persona: {self._plain(persona)}")
        return [*self._tokenizer.encode("  ".join(pieces), add_special_tokens=False), self._tokenizer.eos_token_id]


class SmallBlenderbot:
    """Texts separated by the end token and the start token, as in transformers' BlenderbotSmall."""

    def __init__(self, tokenizer: Any, plain: PlainText) -> None:  # noqa: ANN401 - as above
        self._tokenizer = tokenizer
        self._plain = plain

    def encode(self, turns: Sequence[str], persona: str | None) -> list[int]:
        pieces = [self._plain(turn) for turn in turns]
        if persona:
            pieces.insert(0, f"your persona: {self._plain(persona)}")
        between = [self._tokenizer.eos_token_id, self._tokenizer.bos_token_id]
        ids = [self._tokenizer.encode(piece, add_special_tokens=False) for piece in pieces]
        joined = [token for piece in ids for token in [*between, *piece]][len(between) :]
        return joined or between[:1]


def prompt_form(tokenizer: Any, model_type: str) -> PromptForm:  # noqa: ANN401 - as above
    """Return the form in which conversations are written for a model of this transformers type."""
    plain = PlainText(tokenizer)
    if getattr(tokenizer, "chat_template", None):
        return ChatTemplate(tokenizer, plain)
    if model_type == "blenderbot":
        return Blenderbot(tokenizer, plain)
    if model_type == "blenderbot-small":
        return SmallBlenderbot(tokenizer, plain)
    return TurnsThenEnd(tokenizer, plain)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
