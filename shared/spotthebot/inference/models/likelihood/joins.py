"""Turns contexts and follow-ups into tokens. A join says how the text of both is made.

The transformers release of 2020, which made the published scores, stripped spaces before the end-of-text token and kept
spaces after it. The join `fed` does the same by default; both are settings.
"""

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
"""Families that were trained on texts behind a start token, even if a tokenizer's files don't mention it."""


@dataclass(frozen=True)
class JoinedTokens:
    """The tokens of a context and of its follow-ups.

    The first `given[i]` tokens of follow-up i belong to its context: the part in which the contexts differ.
    """

    context: tuple[int, ...]
    followups: tuple[tuple[int, ...], ...]
    given: tuple[int, ...]


Joined = Callable[[int, int], JoinedTokens]
"""Returns the tokens of `turns[first:end]` as a context, and the tokens of the follow-ups."""


class Join(Protocol):
    """One way to join a dialogue and a follow-up."""

    @property
    def date(self) -> str | None:
        """Return the fixed date that the texts have instead of today's date; None if they have no date."""
        ...

    def joined(self, turns: Sequence[str], followups: tuple[str, ...]) -> Joined:
        """Return a function from a part of the dialogue to its tokens.

        The function raises ValueError if it can't make them.
        """
        ...


def default_join(tokenizer: Any, config: Any) -> JoinSettings:  # noqa: ANN401 - transformers' classes are many
    """Return a model's default join: `blenderbot` for encoder-decoders, `fed` for GPT-2, `chat`, or `turns_end`."""
    if config.is_encoder_decoder:
        return JoinSettings("blenderbot")
    if config.model_type == "gpt2" and tokenizer.eos_token == _FED_MARK:
        return JoinSettings("fed")
    return JoinSettings("chat" if getattr(tokenizer, "chat_template", None) else "turns_end")


def make_join(settings: JoinSettings, tokenizer: Any, config: Any) -> Join:  # noqa: ANN401 - transformers' classes are many
    """Return a join for a model; raises ValueError if the settings don't fit the model."""
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
    """Tokenizes texts. It adds no special tokens.

    The spelling of a special token in a text is tokenized as plain text.
    """

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        self._tokenizer = tokenizer
        self._plain = PlainText(tokenizer)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        plain = [self._plain(text) for text in texts]
        return [list(ids) for ids in self._tokenizer(plain, add_special_tokens=False)["input_ids"]]


class _PiecewiseJoin:
    """A start, followed by the tokens of each turn. Turns are tokenized separately.

    So a context is a prefix of the next turn's context.
    """

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
    """The tokenizer's chat template. Follow-ups are trimmed, since templates trim messages.

    The whole text is tokenized at once. Many templates (Llama 2, Mistral) write a blank before a message, and a
    tokenizer joins this blank with the message's first word into one token.
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
    """The encoder reads the dialogue as models of Blenderbot's family do. The decoder's output is the follow-up.

    Each text stands between the special tokens that the tokenizer puts around it, as in BART. BART's decoder also
    starts a text with the first of these tokens (Lewis et al. 2020).
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
    """Return the longest common start of all contexts as the one context.

    The rest of each context goes to its follow-up.
    """
    first, *others = (context for context, _ in split)
    shared = len(first)
    for other in others:
        shared = next((at for at in range(min(shared, len(other))) if first[at] != other[at]), min(shared, len(other)))
    return JoinedTokens(
        context=tuple(first[:shared]),
        followups=tuple((*context[shared:], *followup) for context, followup in split),
        given=tuple(len(context) - shared for context, _ in split),
    )
