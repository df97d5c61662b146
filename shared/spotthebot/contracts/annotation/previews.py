"""Previews of a campaign: its cost, and the packages that annotators will see."""

from decimal import Decimal

from pydantic import Field, model_validator

from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.contracts.annotation.uploads import PackageIn
from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import Wire


class UnreachedLimit(Wire):
    """A limit that the conversations of a campaign do not reach, and how much is missing."""

    pointer: str = Field(description="JSON pointer into the campaign.")
    detail: str


class CampaignDryRunIn(CampaignIn):
    """A campaign to try out. It comes with the documents that it names, since they may not be stored yet."""

    protocol_document: AnnotationProtocol | None = Field(
        default=None, description="The protocol that the campaign names; null: it is stored or built in."
    )
    training_documents: tuple[Training, ...] = Field(
        default=(), max_length=10, description="Trainings that the campaign names, as far as they are not stored."
    )

    packages: tuple[PackageIn, ...] = Field(
        default=(), max_length=MAX_BATCH_SIZE, description="Of a campaign of mode `uploaded`: packages to upload to it."
    )

    @model_validator(mode="after")
    def _packages_are_uploaded(self) -> "CampaignDryRunIn":
        if self.packages and self.mode != "uploaded":
            message = "packages are for mode uploaded: leave them out, or choose that mode"
            raise ValueError(message)
        return self

    @property
    def campaign(self) -> CampaignIn:
        """Return the request that would create the campaign."""
        return CampaignIn.model_construct(**{name: getattr(self, name) for name in CampaignIn.model_fields})


class CampaignEstimateOut(Wire):
    """The size of a campaign, and its cost: work, people and money."""

    lengths: tuple[int, ...] = Field(
        max_length=10,
        description="Exchanges at which each conversation is shown; empty: it is shown whole.",
    )
    conversations: int = Field(description="Conversations that packages show, each at every length.")
    too_short: int | None = Field(
        description="Conversations that are shorter than the longest segment; null where packages are uploaded."
    )
    not_selected: int | None = Field(
        description="Conversations that another collection has too, or beyond `human_share`; null as too_short is."
    )
    unpaired: int | None = Field(
        description="Dialogues without a partner, if the protocol compares pairs; null as too_short is."
    )
    packages: int
    items: int = Field(description="What annotators see of all packages: each conversation, or pair, at each length.")
    units_twice: int | None = Field(
        description="How many dialogues, or pairs of dialogues, two annotators see; null: all are seen equally often."
    )
    assignments: int = Field(description="Packages, each as often as it needs an annotator.")
    annotations: int
    annotators: int = Field(description="Fewer annotators can't do it under the campaign's rules.")
    annotators_enough: int = Field(
        description=(
            "As many can do it: the same number as `annotators`, unless packages were uploaded of which the fewest are "
            "not known."
        )
    )
    pay: Decimal | None
    currency: str | None
    unreached: tuple[UnreachedLimit, ...] = Field(
        max_length=10, description="Limits of the campaign that its conversations do not reach."
    )


class CampaignPreviewOut(CampaignEstimateOut):
    """The cost of a campaign before it starts: work, people, hours and money."""

    hours: float | None = Field(description="Of all annotators together; null where no length was ever measured.")
    seconds_by_length: dict[str, float] = Field(
        max_length=10, description="Measured medians that the hours stand on, by exchanges of a segment."
    )
    measured_annotations: int = Field(description="How many annotations the medians come from; simulated ones are not.")
    unmeasured_lengths: tuple[int, ...] = Field(
        max_length=10, description="Lengths without measurements, estimated from the others by their exchanges."
    )


class PreviewedItem(Wire):
    """The conversation or pair that one position of a package will show. It names no speaker."""

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
    """The first package of a campaign, without the gold items that a claim mixes into it."""

    protocol: AnnotationProtocol
    instructions: str
    opens_exchanges: bool = Field(description="Whether exchanges are opened one after the other.")
    items: tuple[PreviewedItem, ...] = Field(max_length=MAX_PACKAGE_SIZE)
