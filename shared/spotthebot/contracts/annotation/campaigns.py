"""Campaigns, as clients send them to the service `annotation` and receive them."""

import re
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Final, Literal, NewType
from uuid import UUID

from pydantic import AfterValidator, Field, SecretStr, model_validator

from spotthebot.contracts.annotation.campaign_settings import CampaignSettings, Pairs
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.verdicts import StopWhen
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.terms import ConsentText, Currency, Instructions, PayAmount
from spotthebot.contracts.wire import Domain, Name, Wire

CampaignId = NewType("CampaignId", UUID)
MAX_COLLECTIONS: Final = 100
SECRET_BYTES: Final = 32


def _in_hexadecimal(secret: SecretStr) -> SecretStr:
    if not re.fullmatch(f"[0-9a-f]{{{2 * SECRET_BYTES}}}", secret.get_secret_value()):
        message = f"must be {SECRET_BYTES} bytes in hexadecimal: {2 * SECRET_BYTES} digits"
        raise ValueError(message)
    return secret


CampaignSecret = Annotated[
    SecretStr, Field(min_length=2 * SECRET_BYTES, max_length=2 * SECRET_BYTES), AfterValidator(_in_hexadecimal)
]


class CampaignState(StrEnum):
    """The state of a campaign."""

    BUILDING = "building"
    """Packages are being made."""
    DRAFT = "draft"
    """Packages exist, and can be claimed once the campaign is opened."""
    OPEN = "open"
    """Packages can be claimed."""
    PAUSED = "paused"
    """No package can be claimed for now. Annotators can submit the packages that they have claimed."""
    COMPLETE = "complete"
    """Every item has the annotations it needs."""
    CLOSED = "closed"
    """An administrator ended it."""
    FAILED = "failed"
    """Packages could not be made; `failure` has the reason."""


ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
"""States in which no annotation is still to come, so results may be shown."""


class CampaignIn(CampaignSettings):
    """A campaign over the conversations of one or several collections."""

    name: ReadableName
    domain: Domain
    collections: tuple[UUID, ...] = Field(
        default=(),
        max_length=MAX_COLLECTIONS,
        description=(
            "Whose conversations are annotated: complete collections, each once. A conversation that stands in several "
            "is taken once."
        ),
    )
    collection_id: UUID | None = Field(default=None, description="Short for `collections` with one of them.")
    mode: Literal["live", "uploaded", "import"] = Field(
        default="live",
        description=(
            "`live`: packages are made and claimed; `uploaded`: packages are uploaded to a draft, and claimed by "
            "name or in their order once it is opened; `import`: packages and annotations are uploaded, and "
            "`human_share`, `pairs` and `units_twice` say how these packages were made elsewhere."
        ),
    )
    open: bool = Field(
        default=True, description="Whether packages can be claimed once they are there; else it stays a draft."
    )
    pay_per_package: PayAmount | None = Field(default=None, description="What an annotator gets for one.")
    currency: Currency | None = Field(default=None, description="Of the pay: ISO 4217, such as EUR.")
    protocol: Name = Field(default="spot_the_bot", description="What annotators are asked: a protocol, by its name.")
    protocol_version: int | None = Field(default=None, ge=1, lt=2**31, description="Null: the newest one.")
    instructions: Instructions = ""
    consent: ConsentText = Field(
        default="", description="What annotators consent to before they get a package; empty: they are not asked."
    )
    annotators_published: bool = Field(
        default=False,
        description="Of an import: its annotators' names are public, so exports and analyses show no pseudonyms.",
    )
    secret: CampaignSecret | None = Field(
        default=None,
        description=(
            "32 random bytes in hexadecimal, which no answer shows. Same secret, seed and conversations: the same "
            "packages. Null: one is drawn."
        ),
    )

    @property
    def collection_ids(self) -> tuple[UUID, ...]:
        """Return the ids of the campaign's collections, whether the request names one or several."""
        return self.collections if self.collection_id is None else (self.collection_id,)

    @model_validator(mode="after")
    def _collections_differ(self) -> "CampaignIn":
        if (self.collection_id is None) is not bool(self.collections):
            message = "give either `collections`, with at least one, or `collection_id`"
            raise ValueError(message)
        if len(set(self.collections)) < len(self.collections):
            message = "collections names a collection twice: name each once"
            raise ValueError(message)
        if self.human_share is not None and self.mode == "uploaded":
            message = "human_share is for mode live: in mode uploaded the packages say what they show"
            raise ValueError(message)
        if self.pairs != "any" and self.mode == "uploaded":
            message = "pairs is for mode live: in mode uploaded the packages say what they compare"
            raise ValueError(message)
        if self.units_twice is not None and self.mode == "uploaded":
            message = "units_twice is for mode live: all uploaded packages have as many annotators"
            raise ValueError(message)
        if self.stop_when is not None and self.mode == "import":
            message = "stop_when is for campaigns that ask annotators: leave it out in mode import"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _imports_have_no_requirements(self) -> "CampaignIn":
        if self.mode == "import" and (self.training or self.gold or self.counts_fast_items):
            message = "mode import has nobody to train or check: leave out training, gold and the limits for fast items"
            raise ValueError(message)
        if self.mode != "import" and self.annotators_published:
            message = "annotators_published is for mode import: leave it out, since other annotators' names are private"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _verdicts_are_of_labels(self) -> "CampaignIn":
        if self.protocol not in LABELS_OF_SPEAKERS and (self.margin, self.stop_when) != (None, None):
            known = " and ".join(sorted(LABELS_OF_SPEAKERS))
            message = f"margin and stop_when are for {known}: other protocols give no verdicts"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _pay_has_a_currency(self) -> "CampaignIn":
        if (self.pay_per_package is None) != (self.currency is None):
            message = "give both pay_per_package and currency, or neither"
            raise ValueError(message)
        return self


class CampaignOut(Wire):
    """A campaign and its progress."""

    id: UUID
    name: str
    domain: str
    collections: tuple[UUID, ...] = Field(max_length=MAX_COLLECTIONS)
    collection_id: UUID = Field(description="The first of the collections.")
    human_share: float | None
    mode: str
    state: CampaignState
    failure: str | None
    too_short: int | None = Field(
        description=(
            "Conversations that are not shown, as they are shorter than the longest segment; null before packages are "
            "made, and for imports."
        )
    )
    not_selected: int | None = Field(
        description=(
            "Conversations that are not shown, as another of the collections has them as well, or as human-human ones "
            "beyond `human_share`; null as too_short is."
        )
    )
    unpaired: int | None = Field(
        description="Dialogues that are not shown, as a protocol compares pairs and they found no partner: one of an"
        " odd number, or with `pairs: same_person` those of people without another bot; null as too_short is."
    )
    segments: tuple[int, ...] = Field(max_length=10)
    annotations_per_segment: int
    judge_annotations_per_segment: int
    pairs: Pairs
    units_twice: int | None
    headline: str | None
    margin: float | None
    stop_when: StopWhen | None
    stopped_at: datetime | None = Field(
        description="When it paused by `stop_when`; null where it did not. It does not pause by it again, unless"
        " `stop_when` or `margin` changes."
    )
    stop_reason: str | None = Field(description="Why it paused by itself; null where it did not.")
    package_size: int
    packages_per_annotator: int | None
    lease_minutes: int
    pay_per_package: Decimal | None
    currency: str | None
    protocol: str
    protocol_version: int
    instructions: str
    consent: str
    consent_sha256: str | None = Field(description="Of the consent text in UTF-8; null where there is none.")
    panel: StoredPanel | None
    training: RequiredTraining | None
    gold: GoldItems | None
    max_strikes: int | None
    min_seconds_per_item: float | None
    min_fraction_of_median: float | None
    strike_fast_packages: bool
    seed: int
    annotators_published: bool
    packages: int
    items: int
    submitted: int = Field(description="Packages that were submitted, each as often as an annotator did.")
    assignments_needed: int = Field(description="Submissions to reach: packages, each as often as it needs them.")
    annotations: int
    annotations_needed: int
    released_at: datetime | None = Field(
        description="When its results were released to the teams whose bots take part; null where they are not."
    )
    published_at: datetime | None = Field(description="When its results were made public; null where they are not.")
    created_at: datetime
