"""The base of all wire schemas: strict fields, and text that both PostgreSQL and a browser can hold."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

LONGEST_ID: Final = 200
"""Characters of an id that others give."""
LONGEST_WORDS: Final = 2000
"""Characters that a person says at once."""


def _without_nul(text: str) -> str:
    if "\x00" in text:
        message = "must not contain NUL characters"
        raise ValueError(message)
    return text


def of_form(pattern: str, rule: str) -> Callable[[str], str]:
    """Return a check that a text matches a pattern.

    Its error states `rule`; pydantic's own error would show the pattern.
    """
    form = re.compile(pattern)

    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(rule)
        return text

    return check


Text = Annotated[str, AfterValidator(_without_nul)]
# The constraints come first: after our own validator, pydantic would count the blanks before it strips them.
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), AfterValidator(_without_nul)
]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
Split = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
ExternalId = Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_ID)]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_WORDS, strip_whitespace=True), AfterValidator(_without_nul)
]
"""A person's words, with at least one character that is not blank."""
Utterance = Annotated[Text, StringConstraints(max_length=20_000)]


class Wire(BaseModel):
    """The base of wire schemas: frozen, and strict, so that an unknown field is an error instead of an unnoticed typo.

    Errors name the field and the reason, never the value: logs hold no note of an annotator and no text of a bot.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @classmethod
    def of(cls, source: object, /, **other: Any) -> Self:  # noqa: ANN401 - values of any field
        """Make an instance: `source` has an attribute with the name of each field, except for the fields in `other`.

        Nested types are made from attributes too. A missing attribute raises an error that names it and its type:
        ValidationError, or AttributeError with `other` fields.
        """
        if other:
            source = {name: getattr(source, name) for name in cls.model_fields if name not in other} | other
        return cls.model_validate(source, from_attributes=True)
