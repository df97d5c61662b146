"""What a campaign will take, and what its annotators will see, as it crosses the boundary of `annotation`."""

from decimal import Decimal

from pydantic import Field

from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.turns import MAX_TURNS, Turn
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


class PreviewedItem(Wire):
    """What one position of a package will show; nothing says who or what speaks."""

    position: int
    opening: tuple[Turn, ...] = Field(max_length=MAX_TURNS, description="Shown before the first turn; else empty.")
    turns: tuple[Turn, ...] = Field(
        max_length=MAX_TURNS,
        description="All that will be shown or can be opened. Of a pair: the dialogue on the left.",
    )
    right_turns: tuple[Turn, ...] | None = Field(
        max_length=2 * MAX_TURNS, description="Of a pair: the dialogue on the right; null of all other units."
    )


class PackagePreviewOut(Wire):
    """The first package of a campaign, without the gold items that are mixed into it when somebody claims it."""

    protocol: AnnotationProtocol
    instructions: str
    opens_exchanges: bool = Field(description="Whether exchanges are opened one after the other.")
    items: tuple[PreviewedItem, ...] = Field(max_length=MAX_PACKAGE_SIZE)
