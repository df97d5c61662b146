"""What a campaign will take, as it crosses the boundary of the service `annotation`."""

from decimal import Decimal

from pydantic import Field

from spotthebot.contracts.wire import Wire


class UnreachedLimit(Wire):
    """A limit that these conversations do not reach, and by how much."""

    pointer: str = Field(description="JSON pointer into the campaign.")
    detail: str


class CampaignPreviewOut(Wire):
    """What a campaign will take, before anybody annotates: work, people, hours and money."""

    packages: int
    assignments: int = Field(description="Packages, each as often as it needs an annotator.")
    annotations: int
    annotators: int = Field(description="Fewer annotators can't do it under the campaign's rules.")
    annotators_enough: int = Field(
        description=(
            "As many can do it: the same number as `annotators`, unless packages were uploaded of which the fewest are "
            "not known."
        )
    )
    hours: float | None = Field(description="Of all annotators together; null where no length was ever measured.")
    seconds_by_length: dict[str, float] = Field(
        max_length=10, description="Measured medians that the hours stand on, by exchanges of a segment."
    )
    measured_annotations: int = Field(description="How many annotations the medians come from; simulated ones are not.")
    unmeasured_lengths: tuple[int, ...] = Field(
        max_length=10, description="Lengths without measurements, estimated from the others by their exchanges."
    )
    pay: Decimal | None
    currency: str | None
    unreached: tuple[UnreachedLimit, ...] = Field(
        max_length=10, description="Limits of the campaign that its conversations do not reach."
    )
