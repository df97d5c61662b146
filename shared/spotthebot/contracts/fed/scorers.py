"""Scorers: a language model, and the rule that turns its likelihoods into scores."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS
from spotthebot.contracts.wire import Name, Text, Wire

Mode = Literal["whole_sequence_mean", "followup_mean", "followup_sum"]
PolarityChoice = Literal["both", "negatives", "positives"]
SetRule = Literal["mean", "sum"]
Level = Literal["turn", "dialogue"]
OverLong = Literal["error", "truncate_oldest_turns"]
JoinForm = Literal["fed", "turns_end", "chat", "text", "blenderbot"]
TEMPLATE_DATE = (
    "The date that the model's chat template writes for today's, the same in all scores; null where it writes none."
)
_Separator = Annotated[Text, StringConstraints(max_length=200)]
_DimensionName = Annotated[Text, StringConstraints(min_length=1, max_length=63)]


class DimensionSetRef(Wire):
    """A dimension set by its name and version; built-in sets have version 1."""

    set: Name
    version: int = Field(default=1, ge=1, lt=2**31)


class JoinIn(Wire):
    """How turns and a follow-up are joined into one text."""

    form: JoinForm
    space_before_end: bool = False
    space_after_end: bool = True
    start: _Separator = ""
    separator: _Separator = "\n"


class ScorerIn(Wire):
    """A model and the scoring rule. The defaults equal the code that the authors of FED released."""

    model: Annotated[Text, StringConstraints(min_length=1, max_length=500)] = Field(
        description="A directory below the models folder of this service, or a name on the model hub."
    )
    revision: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None, description="Of a model on the hub."
    )
    mode: Mode = "whole_sequence_mean"
    polarity: PolarityChoice = "both"
    set_rule: SetRule = "mean"
    dimensions: Annotated[tuple[_DimensionName, ...], Field(min_length=1, max_length=MAX_DIMENSIONS)] | None = Field(
        default=None, description="Names in `dimension_set`; null for all of it."
    )
    dimension_set: DimensionSetRef = DimensionSetRef(set="fed")
    join: JoinIn | None = Field(default=None, description="Null: the way that fits the model.")
    over_long: OverLong = "error"
