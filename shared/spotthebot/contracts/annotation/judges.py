"""Judges: programs whose labels are meant to be used. A version of a judge never changes and holds no secret."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, Self, TypeAlias
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.terms import Currency
from spotthebot.contracts.wire import Text, Wire

JudgeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,49}$")]
JudgeVersionNumber = Annotated[int, Field(ge=1, lt=2**31)]
MAX_TARGETS: Final = 2000
"""The limit of the questions, sides and turns of one item about which a judge is asked."""
LONGEST_PROMPT: Final = 20_000
ALL_JUDGES: Final = "*"
"""The name that stands for every judge, where results and lists take the names of judges."""
MAX_JUDGES: Final = 20
"""The judges whose annotations may be asked for at once."""
JudgeAsked = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
"""The name of a judge, of an annotator that was imported as a judge, or `*`."""
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Line = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
_Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]
_Template = Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_PROMPT)]


class JudgePrompt(Wire):
    """A prompt of one's own for the questions of one protocol, in place of the built-in one."""

    system: Annotated[Text, StringConstraints(max_length=LONGEST_PROMPT)] = Field(
        default="", description="The system's message; empty: none is sent."
    )
    user: _Template = Field(
        description="The user's message, with {dialogue} where the turns stand. By JSON: {questions}. By log-"
        "probabilities: {question}, {side} and {options}."
    )


class EndpointJudge(Wire):
    """A language model behind an OpenAI-compatible endpoint."""

    kind: Literal["endpoint"]
    base_url: Annotated[Text, StringConstraints(pattern=r"^https?://", max_length=2000)] = Field(
        description="Below it stands `/chat/completions`."
    )
    model: _Line
    key_variable: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")] | None = Field(
        default=None,
        description="The environment variable that holds the key, on the machine that runs the judge; null: none.",
    )
    answers: Literal["json_schema", "json", "log_probabilities"] = Field(
        default="json_schema",
        description="How probabilities come: stated in JSON by a schema, stated in JSON without one, or read from the "
        "log-probabilities of the labels' first tokens.",
    )
    swaps_sides: bool = Field(
        default=True, description="Whether each item is shown in both orders of its sides, and the answers averaged."
    )
    prompt_version: Literal[1] = Field(default=1, description="Of the built-in prompts.")
    prompts: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")], JudgePrompt] = Field(
        default_factory=dict, max_length=50, description="Prompts of one's own, by the name of a protocol."
    )
    temperature: float | None = Field(default=0, ge=0, le=2, description="Null: none is sent.")
    max_tokens: int = Field(default=2000, ge=1, le=100_000, description="Of one answer, reasoning included.")
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: int | None = Field(default=0, ge=0, lt=2**31, description="Null: none is sent.")
    answer_seconds: float = Field(default=120, gt=0, le=3600, description="How long one answer may take.")
    input_price: _Price | None = Field(default=None, description="Of a million tokens of prompts, in `currency`.")
    output_price: _Price | None = Field(default=None, description="Of a million tokens of answers, in `currency`.")
    currency: Currency | None = None

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        if "@" in self.base_url.split("/", 3)[2] or "?" in self.base_url:
            message = "base_url must hold neither a user nor a query: a key belongs into the variable of key_variable"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _prompts_name_all(self) -> Self:
        needed = ("dialogue", "question", "side", "options") if self.answers == "log_probabilities" else ("dialogue",)
        needed = needed if self.answers == "log_probabilities" else (*needed, "questions")
        for protocol, prompt in self.prompts.items():
            if lacking := [name for name in needed if f"{{{name}}}" not in prompt.user]:
                message = f"prompts.{protocol}.user names no {{{lacking[0]}}}: without it the model can't know it"
                raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _prices_have_a_currency(self) -> Self:
        prices = (self.input_price, self.output_price)
        if any(price is not None for price in (*prices, self.currency)) and None in {*prices, self.currency}:
            message = "give input_price, output_price and currency, or none of them"
            raise ValueError(message)
        return self


class TrainedJudge(Wire):
    """A model that was trained on people's labels."""

    kind: Literal["trained"]
    model: _Line = Field(description="The model that was trained further.")
    files_sha256: _Sha256 = Field(description="Of the trained model's files; a run refuses other files.")
    trained_on: tuple[UUID, ...] = Field(
        min_length=1, max_length=100, description="The campaigns whose labels it was trained on."
    )
    leaves_out_speakers: bool = Field(
        default=False,
        description="Whether each speaker is labelled by a model that has seen no conversation of this speaker. Without"
        " it, a campaign that the judge was trained on has no report about the judge.",
    )


class SimulatedJudge(Wire):
    """A written rule over the text, with noise; for trials."""

    kind: Literal["simulated"]
    seed: int = Field(default=0, ge=0, lt=2**31)
    missing_share: float = Field(default=0, ge=0, lt=1, description="The share of answers that it withholds.")


class FedJudge(Wire):
    """Scores of the service `fed`, turned into probabilities."""

    kind: Literal["fed"]
    score_set: UUID = Field(description="Of scores of the conversations that the campaign shows.")
    dimension: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9 _-]{0,62}$")]
    controls_length: bool = Field(
        default=True, description="Whether the part of a score that the length of its text predicts is taken out."
    )


class PluginJudge(Wire):
    """A judge that a plug-in brings: it says how likely a side is a person."""

    kind: Literal["plugin"]
    plugin: _Line = Field(description="The name of its entry point in the group `spotthebot.judges`.")
    distribution: _Line | None = Field(
        default=None, description="The distribution and version that bring it; filled in by `./stb judge add`."
    )


JudgeSettings: TypeAlias = Annotated[
    EndpointJudge | TrainedJudge | SimulatedJudge | FedJudge | PluginJudge, Field(discriminator="kind")
]


class JudgeIn(Wire):
    """A version of a judge to store. Its number is given by the service."""

    name: JudgeName
    description: Annotated[Text, StringConstraints(max_length=2000)] = Field(
        default="", description="Kept as the version's first request states it."
    )
    settings: JudgeSettings


class JudgeVersionOut(Wire):
    """A version of a judge, which never changes."""

    name: str
    version: int
    description: str
    settings: JudgeSettings
    sha256: str = Field(description="Of the settings; equal settings are the same version.")
    created_at: datetime


class JudgeRef(Wire):
    """A version of a judge, by its name and number."""

    name: JudgeName
    version: JudgeVersionNumber


class MissingReason(StrEnum):
    """Why a judge has no answer to a question."""

    FAILED = "failed"
    """The endpoint gave no answer: it stalled, was unreachable or answered no chat completion."""
    REFUSED = "refused"
    """The model refused to answer."""
    UNPARSABLE = "unparsable"
    """The answer holds no label: nonsense, another language, or cut off."""
    UNSUITED = "unsuited"
    """The judge does not answer this question, or about this conversation."""


class JudgeAnswer(Wire):
    """A judge's answer to one question about one side, one turn or the whole: probabilities, or why it is missing."""

    question: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
    target: Annotated[str, StringConstraints(pattern=r"^([AB]|0|[1-9][0-9]{0,3})$")] | None = Field(
        default=None, description="A side, `A` or `B`, or the number of a turn; null: asked once."
    )
    probabilities: dict[str, Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]] | None = Field(
        default=None,
        max_length=50,
        description="By option, each of the question's; they sum to 1, unless several options can be taken. Null where "
        "the answer is missing or free text.",
    )
    missing: MissingReason | None = Field(default=None, description="Null where it is answered.")
    detail: Annotated[Text, StringConstraints(max_length=500)] = Field(
        default="", description="More about why it is missing."
    )

    @model_validator(mode="after")
    def _is_missing_or_not(self) -> Self:
        if self.missing is not None and self.probabilities is not None:
            message = "a missing answer has no probabilities: leave out one of the two"
            raise ValueError(message)
        return self


class JudgeLabels(Wire):
    """What a judge states about an item besides its answer: probabilities, missing answers, tokens and cost."""

    answers: tuple[JudgeAnswer, ...] = Field(max_length=MAX_TARGETS)
    input_tokens: int | None = Field(default=None, ge=0, lt=2**53, description="Of all requests for the item.")
    output_tokens: int | None = Field(default=None, ge=0, lt=2**53)
    cost: _Price | None = Field(default=None, description="In the currency of the judge's settings; null: unknown.")
