"""The table of campaigns."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Integer, LargeBinary, Numeric, String, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.metadata import Base


class CampaignRow(Base):
    """A campaign with its counters; `built_at` is when its packages were made, `closed_at` its end.

    `packages` and `items` count the packages and their items, `extra_assignments` and `extra_annotations` the
    submissions and annotations that packages need in addition to `annotations_per_segment` of each, `annotations` the
    submitted or imported annotations, `submitted` the submitted assignments. No counter counts judges. `secret` and the
    seed determine how conversations are packed; `pseudonym_key` makes the annotators' names in exports. Neither key is
    ever sent.
    `annotators_published` says that the names of an import's annotators are public. Teams may see results since
    `released_at`, everybody since `published_at`. The campaign paused by `stop_when` at `stopped_at`.
    `decided_pairs` counts the pairs of bots with a verdict, as `analytics` reported them last.
    `collection_id` is the first collection.
    """

    __tablename__ = "campaigns"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    collection_id: Mapped[UUID]
    more_collections: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid), server_default="{}")
    human_share: Mapped[float | None]
    mode: Mapped[str] = mapped_column(String(20))
    protocol_name: Mapped[str] = mapped_column(String(100), server_default="spot_the_bot")
    protocol_version: Mapped[int] = mapped_column(server_default="1")
    segments: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    annotations_per_segment: Mapped[int]
    judge_annotations_per_segment: Mapped[int] = mapped_column(server_default="1")
    pairs: Mapped[str] = mapped_column(String(20), server_default="any")
    units_twice: Mapped[int | None]
    headline: Mapped[str | None] = mapped_column(Text)
    margin: Mapped[float | None]
    stop_when: Mapped[Any | None] = mapped_column(JSONB(none_as_null=True))
    stopped_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    decided_pairs: Mapped[int] = mapped_column(server_default="0")
    package_size: Mapped[int]
    packages_per_annotator: Mapped[int | None]
    lease_seconds: Mapped[int] = mapped_column(server_default="3600")
    instructions: Mapped[str] = mapped_column(Text)
    consent: Mapped[str] = mapped_column(Text, server_default="")
    panel: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    training: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    gold: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    max_strikes: Mapped[int | None]
    min_seconds_per_item: Mapped[float | None]
    min_fraction_of_median: Mapped[float | None]
    strike_fast_packages: Mapped[bool] = mapped_column(server_default="false")
    seed: Mapped[int]
    pay_per_package: Mapped[Decimal | None] = mapped_column(Numeric(9, 2))
    currency: Mapped[str | None] = mapped_column(String(3))
    opens_when_built: Mapped[bool] = mapped_column(server_default="true")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    state: Mapped[str] = mapped_column(String(20))
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    closed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    published_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failure: Mapped[str | None] = mapped_column(Text)
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    pseudonym_key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
    annotators_published: Mapped[bool] = mapped_column(server_default="false")
    interactor_salt: Mapped[bytes | None] = mapped_column(LargeBinary)
    too_short: Mapped[int | None]
    not_selected: Mapped[int | None]
    unpaired: Mapped[int | None]
    packages: Mapped[int] = mapped_column(server_default="0")
    items: Mapped[int] = mapped_column(server_default="0")
    extra_assignments: Mapped[int] = mapped_column(server_default="0")
    extra_annotations: Mapped[int] = mapped_column(server_default="0")
    annotations: Mapped[int] = mapped_column(server_default="0")
    submitted: Mapped[int] = mapped_column(server_default="0")
