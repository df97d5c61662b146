"""Tokens of contexts and follow-ups, made apart, so that no token reaches over the boundary between them."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from jinja2.exceptions import TemplateError

from ..dialogue.prompts import Blenderbot, SmallBlenderbot
from ..plain_text import PlainText
from .requests import JoinSettings

ContextTokens = Callable[[int, int], list[int]]
"""Returns the tokens of `turns[first:end]` as a context."""

_FED_MARK = "<|endoftext|>"
_PLACEHOLDER = "\ue000follow-up\ue000"
"""Stands for the follow-up where a chat template is split; its private-use characters are in no tokenizer."""


class Join(Protocol):
    """One way to join a dialogue and a follow-up."""

    def context(self, turns: Sequence[str]) -> ContextTokens:
        """Return a function that gives the tokens of parts of a dialogue; raises ValueError where they have no form."""
        ...

    def followups(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of follow-ups, which don't depend on the context."""
        ...


def default_join(tokenizer: Any, config: Any) -> JoinSettings:  # noqa: ANN401 - transformers' classes are many
    """Choose the join of a model: Blenderbot's for encoder-decoders, FED's for GPT-2, then chat template, then ends."""
    if config.is_encoder_decoder:
        return JoinSettings("blenderbot")
    if config.model_type == "gpt2" and tokenizer.eos_token == _FED_MARK:
        return JoinSettings("fed")
    return JoinSettings("chat" if getattr(tokenizer, "chat_template", None) else "turns_end")


def make_join(settings: JoinSettings, tokenizer: Any, config: Any) -> Join:  # noqa: ANN401 - transformers' classes are many
    """Return a join for a model; raises ValueError where the two don't fit."""
    if config.is_encoder_decoder != (settings.form == "blenderbot"):
        kind = "an encoder-decoder" if config.is_encoder_decoder else "a causal"
        message = f"the join '{settings.form}' can't be used with {kind} model"
        raise ValueError(message)
    if settings.form == "blenderbot":
        return _EncoderJoin(tokenizer, config.model_type)
    if settings.form == "chat":
        return _ChatJoin(tokenizer)
    return _PiecewiseJoin(settings, tokenizer)


class _Encoder:
    """Tokenizes texts without adding special tokens, and without those that a text spells."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        self._tokenizer = tokenizer
        self._plain = PlainText(tokenizer)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        plain = [self._plain(text) for text in texts]
        return [list(ids) for ids in self._tokenizer(plain, add_special_tokens=False)["input_ids"]]


class _PiecewiseJoin:
    """A start, then the tokens of each turn made apart, so that a context is a prefix of the next turn's context."""

    def __init__(self, settings: JoinSettings, tokenizer: Any) -> None:  # noqa: ANN401 - as above
        self._settings = settings
        self._encode = _Encoder(tokenizer)
        self._end: list[int] = [] if settings.form == "text" else [tokenizer.eos_token_id]
        if settings.form == "fed":
            self._start = self._end
        elif settings.form == "turns_end":
            begin = tokenizer.bos_token_id
            self._start = [] if begin in {None, tokenizer.eos_token_id} else [begin]
        else:
            (self._start,) = self._encode([settings.start])

    def context(self, turns: Sequence[str]) -> ContextTokens:
        pieces = [[*ids, *self._end] for ids in self._encode([self._turn(text) for text in turns])]

        def joined(first: int, end: int) -> list[int]:
            return [*self._start, *(token for piece in pieces[first:end] for token in piece)]

        return joined

    def followups(self, texts: Sequence[str]) -> list[list[int]]:
        return self._encode([self._after_end(text) for text in texts])

    def _turn(self, text: str) -> str:
        if self._settings.form == "text":
            return text + self._settings.separator
        if self._settings.form == "turns_end":
            return text
        return f"{self._after_end(text)} " if self._settings.space_before_end else self._after_end(text).rstrip()

    def _after_end(self, text: str) -> str:
        if self._settings.form != "fed":
            return text
        return f" {text}" if self._settings.space_after_end else text.lstrip()


class _ChatJoin:
    """The tokenizer's chat template up to the follow-up, which is trimmed, as templates trim messages."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - as above
        if not getattr(tokenizer, "chat_template", None):
            message = "the tokenizer has no chat template: name another join"
            raise ValueError(message)
        self._tokenizer = tokenizer
        self._plain = PlainText(tokenizer)
        self._encode = _Encoder(tokenizer)

    def context(self, turns: Sequence[str]) -> ContextTokens:
        texts = [self._plain(turn) for turn in turns]

        def joined(first: int, end: int) -> list[int]:
            written = self._write([*texts[first:end], _PLACEHOLDER])
            before, mark, _ = written.rpartition(_PLACEHOLDER)
            if not mark:
                message = "the tokenizer's chat template changes messages: name another join"
                raise ValueError(message)
            return list(self._tokenizer(before, add_special_tokens=False)["input_ids"])

        return joined

    def followups(self, texts: Sequence[str]) -> list[list[int]]:
        return self._encode([text.strip() for text in texts])

    def _write(self, contents: Sequence[str]) -> str:
        roles = ("user", "assistant")
        messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(contents)]
        try:
            return str(self._tokenizer.apply_chat_template(messages, tokenize=False))
        except (TemplateError, ValueError, IndexError) as error:
            message = f"the tokenizer's chat template refuses the dialogue ({error}): name another join"
            raise ValueError(message) from error


class _EncoderJoin:
    """The dialogue as an encoder of the Blenderbot family reads it; the follow-up as its decoder writes it."""

    def __init__(self, tokenizer: Any, model_type: str) -> None:  # noqa: ANN401 - as above
        form = SmallBlenderbot if model_type == "blenderbot-small" else Blenderbot
        self._form = form(tokenizer, PlainText(tokenizer))
        self._encode = _Encoder(tokenizer)

    def context(self, turns: Sequence[str]) -> ContextTokens:
        return lambda first, end: self._form.encode(turns[first:end], None)

    def followups(self, texts: Sequence[str]) -> list[list[int]]:
        return self._encode([text.strip() for text in texts])
