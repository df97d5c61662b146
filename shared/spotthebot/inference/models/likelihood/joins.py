"""Tokens of contexts and follow-ups, as the text that a join writes of both has them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from ..dialogue.prompts import Blenderbot, SmallBlenderbot
from ..plain_text import PlainText
from .chat_templates import ChatTemplate
from .requests import JoinSettings
from .whole_texts import WholeTexts

_FED_MARK = "<|endoftext|>"
_WITH_START = ("bart", "led", "mvp")
"""Families that were trained on texts behind a start token, whether or not a tokenizer's files say so."""


@dataclass(frozen=True)
class JoinedTokens:
    """The tokens of a context and of its follow-ups.

    The first `given[i]` tokens of follow-up i belong to the context: other follow-ups have other ones there.
    """

    context: tuple[int, ...]
    followups: tuple[tuple[int, ...], ...]
    given: tuple[int, ...]


Joined = Callable[[int, int], JoinedTokens]
"""Returns the tokens of `turns[first:end]` as a context, with those of the follow-ups."""


class Join(Protocol):
    """One way to join a dialogue and a follow-up."""

    @property
    def date(self) -> str | None:
        """The date that stands in the texts for today's."""
        ...

    def joined(self, turns: Sequence[str], followups: tuple[str, ...]) -> Joined:
        """Return a function that gives the tokens after parts of a dialogue; it raises ValueError where it can't."""
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
        message = f"the join '{settings.form}' can't be used with {kind} model: leave it out to use the model's own"
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

    date = None

    def __init__(self, settings: JoinSettings, tokenizer: Any) -> None:  # noqa: ANN401 - as above
        self._settings = settings
        self._encode = _Encoder(tokenizer)
        self._followups = lru_cache(maxsize=64)(self._encode_followups)
        self._end: list[int] = [] if settings.form == "text" else [tokenizer.eos_token_id]
        if settings.form == "fed":
            self._start = self._end
        elif settings.form == "turns_end":
            begin = tokenizer.bos_token_id
            self._start = [] if begin in {None, tokenizer.eos_token_id} else [begin]
        else:
            (self._start,) = self._encode([settings.start])

    def joined(self, turns: Sequence[str], followups: tuple[str, ...]) -> Joined:
        pieces = [[*ids, *self._end] for ids in self._encode([self._turn(text) for text in turns])]
        tokens = self._followups(followups)

        def joined(first: int, end: int) -> JoinedTokens:
            context = (*self._start, *(token for piece in pieces[first:end] for token in piece))
            return JoinedTokens(context, tokens, (0,) * len(tokens))

        return joined

    def _encode_followups(self, texts: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(map(tuple, self._encode([self._after_end(text) for text in texts])))

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
    """The tokenizer's chat template; follow-ups are trimmed, as templates trim messages.

    The whole text is tokenized, since many templates (Llama 2, Mistral) write a blank before a message, which a
    tokenizer makes one token with the message's first word.
    """

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - as above
        self._template = ChatTemplate(tokenizer)
        self._plain = PlainText(tokenizer)
        self._whole = WholeTexts(tokenizer)

    @property
    def date(self) -> str | None:
        return self._template.date

    def joined(self, turns: Sequence[str], followups: tuple[str, ...]) -> Joined:
        texts = [self._plain(turn) for turn in turns]
        replies = [self._plain(text).strip() for text in followups]

        def joined(first: int, end: int) -> JoinedTokens:
            for reply in replies:
                self._template.require_verbatim(reply, end - first)
            before, after = self._template.around_reply(texts[first:end])
            return _shared(self._whole.tokens(before, replies, after))

        return joined


class _EncoderJoin:
    """The dialogue as an encoder of the Blenderbot family reads it; the follow-up as its decoder writes it.

    Texts stand between the tokens that the tokenizer puts around them, as BART's do; its decoder, too, writes the
    first of them before a text (Lewis et al. 2020).
    """

    date = None

    def __init__(self, tokenizer: Any, model_type: str) -> None:  # noqa: ANN401 - as above
        self._is_small = model_type == "blenderbot-small"
        self._form = (SmallBlenderbot if self._is_small else Blenderbot)(tokenizer, PlainText(tokenizer))
        self._encode = _Encoder(tokenizer)
        bare, whole = (list(tokenizer.encode("a", add_special_tokens=added)) for added in (False, True))
        at = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), 0)
        begins = model_type in _WITH_START and tokenizer.bos_token_id is not None
        self._start = whole[:at] or ([tokenizer.bos_token_id] if begins else [])
        self._end = whole[at + len(bare) :] or [tokenizer.eos_token_id]
        self._given = self._start if self._start == [tokenizer.bos_token_id] else []

    def joined(self, turns: Sequence[str], followups: tuple[str, ...]) -> Joined:
        tokens = tuple((*self._given, *ids) for ids in self._encode([text.strip() for text in followups]))
        given = (len(self._given),) * len(tokens)

        def joined(first: int, end: int) -> JoinedTokens:
            context = self._form.encode(turns[first:end], None)
            if not self._is_small:
                context = [*self._start, *context[:-1], *self._end]
            return JoinedTokens(tuple(context), tokens, given)

        return joined


def _shared(split: Sequence[tuple[list[int], list[int]]]) -> JoinedTokens:
    """Join contexts and follow-ups of one text each: what all contexts begin with is the context of all."""
    first, *others = (context for context, _ in split)
    shared = len(first)
    for other in others:
        shared = next((at for at in range(min(shared, len(other))) if first[at] != other[at]), min(shared, len(other)))
    return JoinedTokens(
        context=tuple(first[:shared]),
        followups=tuple((*context[shared:], *followup) for context, followup in split),
        given=tuple(len(context) - shared for context, _ in split),
    )
