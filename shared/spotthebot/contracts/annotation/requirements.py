"""The requirements of a campaign for its annotators, before and during their work."""

from typing import Self

from pydantic import Field, model_validator

from spotthebot.contracts.wire import Name, Wire


class RequiredTraining(Wire):
    """A training that annotators pass before they get a package."""

    name: Name = Field(description="A stored training for the campaign's protocol, by its name.")
    version: int | None = Field(default=None, ge=1, lt=2**31, description="Null: the newest one.")
    attempts: int = Field(default=1, ge=1, le=20, description="How often an annotator may try.")


class GoldItems(Wire):
    """Items with a known right answer, mixed into packages to check annotators during their work."""

    training: Name = Field(description="A stored training whose dialogues and right answers they are, by its name.")
    version: int | None = Field(default=None, ge=1, lt=2**31, description="Null: the newest one.")
    per_package: int = Field(default=1, ge=1, le=20, description="Gold items in a package, beside its other items.")


class Requirements(Wire):
    """The requirements of a campaign; annotators are checked whenever they submit a package."""

    training: RequiredTraining | None = Field(
        default=None, description="What annotators pass before they get a package."
    )
    gold: GoldItems | None = Field(default=None, description="Items with a known right answer, mixed into packages.")
    max_strikes: int | None = Field(
        default=None, ge=1, le=1000, description="Strikes with which an annotator is blocked; null: none is."
    )
    min_seconds_per_item: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        allow_inf_nan=False,
        description="Items that took less by the server's clock are counted as fast; null: none is.",
    )
    min_fraction_of_median: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        allow_inf_nan=False,
        description="Items that took less than this part of the median of others' items count as fast too, once "
        "enough others were submitted; null: none does.",
    )
    strike_fast_packages: bool = Field(
        default=False, description="Whether a package most of whose items were fast is a strike."
    )

    @property
    def counts_fast_items(self) -> bool:
        """Return whether the campaign limits how many items an annotator may answer too fast."""
        return self.min_seconds_per_item is not None or self.min_fraction_of_median is not None

    @model_validator(mode="after")
    def _strikes_have_a_cause(self) -> Self:
        if self.strike_fast_packages and not self.counts_fast_items:
            message = "strike_fast_packages needs min_seconds_per_item or min_fraction_of_median"
            raise ValueError(message)
        if self.max_strikes is not None and self.gold is None and not self.strike_fast_packages:
            message = "max_strikes needs gold or strike_fast_packages: nothing else is a strike"
            raise ValueError(message)
        return self
