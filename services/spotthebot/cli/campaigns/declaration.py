"""The keys of a campaign's file, and those that a task of a study has too.

The file refers to resources by name, the API by id. All other fields are the API's.
"""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, StringConstraints

from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.uploads import PackageIn
from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.terms import Currency, PayAmount
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
    """The pay of annotators."""

    per_package: PayAmount = Field(description="What an annotator gets for a package.")
    currency: Currency = Field(description="ISO 4217, such as EUR.")


class CampaignTerms(CampaignSettings):
    """What a campaign's file and a task of a study's file both say."""

    protocol: FileName = Field(
        default="spot_the_bot",
        description="What annotators are asked: the name of a protocol, or its document as a file of JSON.",
    )
    protocol_version: int | None = Field(
        default=None, ge=1, lt=2**31, description="Of a protocol named above; without it, the newest version."
    )
    instructions: FileName | None = Field(
        default=None, description="File with the text that annotators read first; its path begins at this file."
    )
    consent: FileName | None = Field(
        default=None, description="File with the text that annotators consent to before they get a package."
    )
    trainings: tuple[FileName, ...] = Field(
        default=(), max_length=10, description="Files of trainings as JSON, which are stored before the campaign."
    )
    packages: tuple[PackageIn, ...] = Field(
        default=(),
        max_length=MAX_BATCH_SIZE,
        description="Packages of one's own instead of drawn ones: what each shows, and how many `annotators` get it.",
    )
    pay: Pay | None = Field(default=None, description="What annotators get; the costs are printed from it.")


class Declaration(CampaignTerms):
    """A campaign of annotation for `./stb campaign`."""

    model_config = ConfigDict(title="Campaign", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the campaign is called; no other campaign has the name.")
    collections: tuple[Collection, ...] = Field(
        min_length=1,
        max_length=MAX_COLLECTIONS,
        description="Whose conversations are shown, each collection once; one that stands in several is taken once.",
    )
