"""A request for likelihoods: a dialogue, the turns after which it is scored, the follow-ups, and their join."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

MAX_FOLLOWUPS = 1024
FORMS = ("fed", "turns_end", "chat", "text", "blenderbot")
OVER_LONG = ("error", "truncate_oldest_turns")


@dataclass(frozen=True)
class JoinSettings:
    """How turns and a follow-up are joined into one text.

    - `fed`: the form of the released FED code: the end-of-text token, then each turn followed by that token, with
      spaces between. `space_before_end` and `space_after_end` tell whether the spaces next to the token are tokenized.
      The transformers of 2020, which made the published scores, stripped the space before it; today's keep both.
    - `turns_end`: each turn followed by the end-of-text token, without spaces, as in DialoGPT's training.
    - `chat`: the tokenizer's chat template; the first turn is the user's, the follow-up is the next message. The whole
      text is tokenized: a token that holds a character of the follow-up belongs to the follow-up.
    - `text`: `start`, then each turn followed by `separator`; for models without special tokens.
    - `blenderbot`: the encoder reads the turns as Blenderbot does, the decoder the follow-up.

    Except for `chat`, turns and follow-up are tokenized separately.

    Raises ValueError if a value is unknown.
    """

    form: str
    space_before_end: bool = False
    space_after_end: bool = True
    start: str = ""
    separator: str = "\n"

    def __post_init__(self) -> None:
        _check(self.form in FORMS, "join.form", f"one of {', '.join(FORMS)}")
        for name in ("space_before_end", "space_after_end"):
            _check(isinstance(getattr(self, name), bool), f"join.{name}", "true or false")
        for name in ("start", "separator"):
            text = getattr(self, name)
            _check(isinstance(text, str) and not _is_broken(text), f"join.{name}", "a text of whole characters")

    @classmethod
    def from_json(cls, value: object) -> "JoinSettings":
        """Read the JSON of `to_json`; fields that are left out have their defaults. Raises ValueError."""
        if not isinstance(value, Mapping):
            message = "join must be an object"
            raise ValueError(message)  # noqa: TRY004 - as for any other unusable request
        _check_names(value, cls)
        _check("form" in value, "join.form", f"one of {', '.join(FORMS)}")
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class LikelihoodRequest:
    """A dialogue and follow-ups, with the turns after which their likelihoods are requested.

    `turns` are one or more texts, oldest first. Each of `ends` is a number of turns: `turns[:end]` is one context.
    Without `ends` there is one context of all turns. Without a `join` the model chooses one (`joins.default_join`).
    `over_long` is the treatment of a context that does not fit into the model together with the longest follow-up:
    `error`, or `truncate_oldest_turns`. `context_likelihood` also requests the likelihood of the context itself,
    `tokens` the likelihood of each token of the follow-ups. Raises ValueError if a value is out of range.
    """

    turns: tuple[str, ...]
    followups: tuple[str, ...]
    ends: tuple[int, ...] = ()
    join: JoinSettings | None = None
    over_long: str = "error"
    context_likelihood: bool = False
    tokens: bool = False

    def __post_init__(self) -> None:
        are_texts = isinstance(self.turns, tuple) and all(isinstance(turn, str) for turn in self.turns)
        _check(are_texts and len(self.turns) > 0, "turns", "a list of texts, at least one")
        _check(not any(map(_is_broken, self.turns)), "turns", "whole characters: one has half a surrogate pair")
        are_texts = isinstance(self.followups, tuple) and all(isinstance(each, str) for each in self.followups)
        fits = are_texts and 1 <= len(self.followups) <= MAX_FOLLOWUPS and all(each.strip() for each in self.followups)
        _check(fits, "followups", f"a list of 1 to {MAX_FOLLOWUPS} texts that are not empty")
        _check(not any(map(_is_broken, self.followups)), "followups", "whole characters: one has half a surrogate pair")
        if isinstance(self.ends, tuple) and not self.ends:
            object.__setattr__(self, "ends", (len(self.turns),))
        fits = isinstance(self.ends, tuple) and all(_is_whole(end) and 1 <= end <= len(self.turns) for end in self.ends)
        _check(fits and len(set(self.ends)) == len(self.ends), "ends", "different numbers of turns, 1 to all")
        _check(self.join is None or isinstance(self.join, JoinSettings), "join", "an object or null")
        _check(self.over_long in OVER_LONG, "over_long", f"one of {', '.join(OVER_LONG)}")
        _check(isinstance(self.context_likelihood, bool), "context_likelihood", "true or false")
        _check(isinstance(self.tokens, bool), "tokens", "true or false")

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "LikelihoodRequest":
        """Read the JSON of `to_json`; fields that are left out have their defaults. Raises ValueError."""
        _check_names(value, cls)
        join = value.get("join")
        lists = {name: _tuple(value.get(name)) for name in ("turns", "followups", "ends")}
        return cls(**{**value, **lists, "join": None if join is None else JoinSettings.from_json(join)})

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        lists = {name: list(getattr(self, name)) for name in ("turns", "followups", "ends")}
        return {**asdict(self), **lists, "join": None if self.join is None else self.join.to_json()}


def _tuple(value: object) -> Any:  # noqa: ANN401 - the request refuses other types than lists, with the field's name
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else value


def _check_names(value: Mapping[str, Any], kind: type[JoinSettings | LikelihoodRequest]) -> None:
    unknown = sorted(set(value) - {field.name for field in fields(kind)})
    if unknown:
        message = f"unknown fields: {', '.join(unknown)}"
        raise ValueError(message)


def _check(is_right: bool, name: str, allowed: str) -> None:  # noqa: FBT001 - the condition reads first
    if not is_right:
        message = f"{name} must be {allowed}"
        raise ValueError(message)


def _is_broken(text: str) -> bool:
    """Return whether a text has half a surrogate pair. JSON can express it, but no tokenizer reads it."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
