"""The settings of a campaign that its API and its file share."""

from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from spotthebot.contracts.annotation.annotations import Exchanges
from spotthebot.contracts.annotation.measures import LONGEST_MEASURE
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.panels import Panel
from spotthebot.contracts.annotation.requirements import Requirements
from spotthebot.contracts.annotation.verdicts import Margin, StopWhen
from spotthebot.contracts.wire import Text

HumanShare = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Pairs: TypeAlias = Literal["any", "same_person"]
MAX_PER_SEGMENT: Final = 50
"""The number of annotators who see a segment."""


class CampaignSettings(Requirements):
    """The settings of a new campaign that a request and a file both have."""

    human_share: HumanShare | None = Field(
        default=None,
        description=(
            "Which share of the conversations are human-human ones, which are drawn by the seed and the secret; null: "
            "all that there are."
        ),
    )
    segments: tuple[Exchanges, ...] = Field(
        default=(2, 3, 5),
        min_length=1,
        max_length=10,
        description=(
            "Lengths, in exchanges, at which annotators see a conversation, unless all of it is shown; dialogues whose "
            "exchanges are opened one by one can be opened to the longest."
        ),
    )
    pairs: Pairs = Field(
        default="any",
        description="Which dialogues are compared, if the protocol compares pairs: `any` two of different speakers, or"
        " two that the `same_person` had with different bots.",
    )
    units_twice: int | None = Field(
        default=None,
        ge=1,
        lt=2**31,
        description="Dialogues, or pairs of dialogues, that two annotators see at each length; drawn by the seed and "
        "the secret. One annotator sees each of the others. Null: all have `annotations_per_segment`.",
    )
    annotations_per_segment: int = Field(
        default=2,
        ge=1,
        le=MAX_PER_SEGMENT,
        description="Annotators who see each segment, none of them twice; by default 1 if `units_twice` is given.",
    )
    judge_annotations_per_segment: int = Field(
        default=1,
        ge=1,
        le=MAX_PER_SEGMENT,
        description="How often each version of a judge may label each segment; judges take no place of people.",
    )
    package_size: int = Field(default=20, ge=1, le=MAX_PACKAGE_SIZE, description="Items in a package, at most.")
    packages_per_annotator: int | None = Field(
        default=None, ge=1, le=1000, description="Packages that one annotator may hold and submit; null: any number."
    )
    lease_minutes: int = Field(
        default=60, ge=1, le=10_080, description="How long an annotator may keep a package without a sign of life."
    )
    headline: Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_MEASURE)] | None = Field(
        default=None,
        description="The measure by which bots are ranked, unless the protocol asks who is a bot; null: `quality`,"
        " `overall`, or else the protocol's first measure.",
    )
    margin: Margin | None = Field(
        default=None,
        description="The largest difference of win rates at which two bots count as equivalent; null: no verdict says"
        " so.",
    )
    stop_when: StopWhen | None = Field(
        default=None,
        description="When the campaign pauses by itself: once `every_pair_decided`, or once every pair's bounds are at"
        " most `{width: W}` wide; null: never.",
    )
    panel: Panel | None = Field(default=None, description="Where annotators come from, which says how their ids look.")
    seed: int = Field(
        default=0,
        ge=0,
        lt=2**31,
        description="Mixed into every draw, with the secret; results are computed with it unless they name another.",
    )

    @field_validator("annotations_per_segment")
    @classmethod
    def _other_units_have_one(cls, annotations: int, info: ValidationInfo) -> int:
        if annotations != 1 and info.data.get("units_twice") is not None:
            message = "must be 1 or left out next to units_twice: only the drawn units have two annotators"
            raise ValueError(message)
        return annotations

    @model_validator(mode="after")
    def _other_units_have_one_by_default(self) -> Self:
        if self.units_twice is not None:
            object.__setattr__(self, "annotations_per_segment", 1)
        return self

    @field_validator("segments")
    @classmethod
    def _segments_grow(cls, segments: tuple[int, ...]) -> tuple[int, ...]:
        if list(segments) != (grown := sorted(set(segments))):
            message = f"must be in increasing order, each length once: {grown}"
            raise ValueError(message)
        return segments

    @model_validator(mode="after")
    def _gold_fits(self) -> Self:
        if self.gold is not None and self.packages_per_annotator is None:
            message = "gold needs packages_per_annotator: nobody may see a gold dialogue twice"
            raise ValueError(message)
        if self.gold is not None and self.package_size + self.gold.per_package > MAX_PACKAGE_SIZE:
            message = f"package_size and gold.per_package may be at most {MAX_PACKAGE_SIZE} together"
            raise ValueError(message)
        return self
