"""What a campaign's file may say. Names stand where the API has ids; all else is the API's."""

from decimal import Decimal
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, StringConstraints

from spotthebot.contracts.annotation.annotations import Exchanges
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS, Currency, HumanShare
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.panels import Panel
from spotthebot.contracts.annotation.requirements import Requirements
from spotthebot.contracts.wire import Name, Text, Wire

_EXAMPLES: list[JsonValue] = [
    {
        "name": "everyday-people",
        "collections": ["everyday-1", "everyday-2"],
        "human_share": 0.2,
        "protocol": "spot_the_bot",
        "segments": [2, 3, 5],
        "annotations_per_segment": 2,
        "package_size": 20,
        "packages_per_annotator": 3,
        "lease_minutes": 60,
        "seed": 7,
    }
]

Collection = Annotated[Name, Field(description="Name or id of a complete collection.")]
FileName = Annotated[Text, StringConstraints(min_length=1, max_length=1000)]


class Pay(Wire):
    """What annotators get."""

    per_package: Decimal = Field(
        ge=0, le=10_000, max_digits=9, decimal_places=2, description="What an annotator gets for a package."
    )
    currency: Currency = Field(description="ISO 4217, such as EUR.")


class Declaration(Requirements):
    """A campaign of annotation for `./stb campaign`."""

    model_config = ConfigDict(title="Campaign", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the campaign is called; no other campaign has the name.")
    collections: tuple[Collection, ...] = Field(
        min_length=1,
        max_length=MAX_COLLECTIONS,
        description="Whose conversations are shown, each collection once; one that stands in several is taken once.",
    )
    human_share: HumanShare | None = Field(
        default=None,
        description="Which share of the conversations are human-human ones, such as 0.2; null: all that there are.",
    )
    protocol: FileName = Field(
        default="spot_the_bot",
        description="What annotators are asked: the name of a protocol, or its document as a file of JSON.",
    )
    segments: tuple[Exchanges, ...] = Field(
        default=(2, 3, 5),
        min_length=1,
        max_length=10,
        description="Lengths, in exchanges, at which annotators see a conversation.",
    )
    annotations_per_segment: int = Field(
        default=2, ge=1, le=50, description="Annotators who see each segment, none of them twice."
    )
    package_size: int = Field(default=20, ge=1, le=MAX_PACKAGE_SIZE, description="Segments in a package, at most.")
    packages_per_annotator: int | None = Field(
        default=None, ge=1, le=1000, description="Packages that one annotator may hold and submit; null: any number."
    )
    lease_minutes: int = Field(
        default=60, ge=1, le=10_080, description="How long an annotator may keep a package without a sign of life."
    )
    instructions: FileName | None = Field(
        default=None, description="File with the text that annotators read first; its path begins at this file."
    )
    consent: FileName | None = Field(
        default=None, description="File with the text that annotators consent to before they get a package."
    )
    panel: Panel | None = Field(default=None, description="Where annotators come from, which says how their ids look.")
    trainings: tuple[FileName, ...] = Field(
        default=(), max_length=10, description="Files of trainings as JSON, which are stored before the campaign."
    )
    pay: Pay | None = Field(default=None, description="What annotators get; the costs are printed from it.")
    seed: int = Field(
        default=0, ge=0, lt=2**31, description="Mixed into every draw, with a secret that the service draws."
    )
