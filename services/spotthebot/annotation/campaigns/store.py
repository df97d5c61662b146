"""Campaigns and how much of them is done."""

import secrets
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import Integer, and_, bindparam, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.campaigns.domain import Campaign, Progress, Pseudonyms, states_before
from spotthebot.annotation.campaigns.errors import NoSuchCampaign
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.contracts.annotation.campaigns import SECRET_BYTES, CampaignId, CampaignIn, CampaignState
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant
from spotthebot.kit.ids import new_id

_BY_ID = Statement(select(CampaignRow).where(CampaignRow.id == bindparam("campaign_id")))
_SUBMITTED = CampaignRow.submitted + constant(1)
_NEEDED = CampaignRow.packages * CampaignRow.annotations_per_segment
_COUNT_SUBMITTED = Statement(
    update(CampaignRow)
    .where(CampaignRow.id == bindparam("campaign_id"))
    .values(
        submitted=_SUBMITTED,
        annotations=CampaignRow.annotations + bindparam("annotations", type_=Integer),
        state=case(
            (
                and_(
                    _SUBMITTED >= _NEEDED, CampaignRow.state.in_(map(constant, states_before(CampaignState.COMPLETE)))
                ),
                constant(CampaignState.COMPLETE),
            ),
            else_=CampaignRow.state,
        ),
    )
    .returning(CampaignRow.state, (CampaignRow.submitted == _NEEDED).label("is_exactly_the_last"))
)
_CONVERTED: Final = frozenset(
    {"id", "collections", "protocol", "segments", "panel", "training", "gold", "state", "progress"}
)
_SAME: Final = tuple(each.name for each in fields(Campaign) if each.name not in _CONVERTED)
"""Fields of a campaign that its row has under the same name and in the same form."""
_COUNTS: Final = tuple(each.name for each in fields(Progress))
_PANEL: TypeAdapter[StoredPanel] = TypeAdapter(StoredPanel)


async def add_campaign(session: WriteSession, request: CampaignIn, protocol: AnnotationProtocol) -> Campaign:
    campaign_id = new_id()
    secret = bytes.fromhex(request.secret.get_secret_value()) if request.secret else None
    await session.execute(
        insert(CampaignRow).values(
            id=campaign_id,
            state=CampaignState.BUILDING,
            opens_when_built=request.open and request.mode != "uploaded",
            secret=secret,
            **columns_of(request, protocol),
        )
    )
    return await get_campaign(session, campaign_id)


def columns_of(request: CampaignIn, protocol: AnnotationProtocol) -> dict[str, Any]:
    """Return what a request says of a campaign, as its row has it."""
    first, *more = request.collection_ids
    named_otherwise = {"lease_minutes", "open", "protocol", "protocol_version", "secret", "collections"}
    return request.model_dump(exclude=named_otherwise) | {
        "collection_id": first,
        "more_collections": more,
        "protocol_name": protocol.name,
        "protocol_version": protocol.version,
        "lease_seconds": 60 * request.lease_minutes,
        "segments": [*request.segments],
    }


async def get_campaign(runner: Runner, campaign_id: UUID) -> Campaign:
    rows = await runner.fetch(_BY_ID, {"campaign_id": campaign_id})
    if not rows:
        raise NoSuchCampaign(campaign_id=campaign_id)
    return _campaign(rows[0])


async def list_campaigns(
    session: ReadSession,
    *,
    name: str | None,
    released: bool | None = None,
    published: bool | None = None,
    collection_id: UUID | None = None,
    newest_first: bool = False,
    after: UUID | None,
    limit: int,
) -> list[Campaign]:
    """Return campaigns: of this `name` or collection, with results `released`, `published` or not, where given."""
    order = CampaignRow.id.desc() if newest_first else CampaignRow.id
    statement = select(CampaignRow).order_by(order).limit(limit)
    if collection_id is not None:
        also = CampaignRow.more_collections.contains([collection_id])
        statement = statement.where(or_(CampaignRow.collection_id == collection_id, also))
    if released is not None:
        statement = statement.where(CampaignRow.released_at.is_not(None) == released)
    if published is not None:
        statement = statement.where(CampaignRow.published_at.is_not(None) == published)
    if name is not None:
        statement = statement.where(CampaignRow.name == name)
    if after is not None:
        statement = statement.where(CampaignRow.id < after if newest_first else CampaignRow.id > after)
    return [_campaign(row) for row in await session.scalars(statement)]


async def list_building(session: ReadSession) -> list[UUID]:
    """Return the ids of campaigns whose packages are not made yet, oldest first."""
    statement = select(CampaignRow.id).where(CampaignRow.state == CampaignState.BUILDING)
    return [*await session.scalars(statement.order_by(CampaignRow.id))]


async def lock_campaign(session: WriteSession, campaign_id: UUID, *, for_good: bool = False) -> None:
    """Let one transaction at a time build a campaign, add to it or complete it; annotations of it are not held up.

    With `for_good` nobody can enter it meanwhile, either.
    """
    locked = select(CampaignRow.id).where(CampaignRow.id == campaign_id)
    await session.execute(locked.with_for_update(key_share=not for_good))


async def get_secret(session: WriteSession, campaign_id: UUID) -> bytes:
    """Return what a campaign's draws are mixed with; it is drawn now unless the owner gave one."""
    drawn = secrets.token_bytes(SECRET_BYTES)
    statement = (
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(secret=func.coalesce(CampaignRow.secret, drawn))
        .returning(CampaignRow.secret)
    )
    return await session.scalar(statement) or drawn


async def read_secret(session: ReadSession, campaign_id: UUID) -> bytes:
    """Return what the draws of a campaign that was built are mixed with."""
    secret: bytes | None = await session.scalar(select(CampaignRow.secret).where(CampaignRow.id == campaign_id))
    return secret or b""


async def find_secret(session: ReadSession, campaign_id: UUID) -> bytes | None:
    """Return a campaign's secret; None where none was given or drawn yet."""
    found: bytes | None = await session.scalar(select(CampaignRow.secret).where(CampaignRow.id == campaign_id))
    return found


async def get_pseudonyms(session: ReadSession, campaign_id: UUID) -> Pseudonyms:
    """Return what a campaign's annotators are called outside of it; raises NoSuchCampaign."""
    statement = select(CampaignRow.pseudonym_key, CampaignRow.annotators_published)
    row = (await session.execute(statement.where(CampaignRow.id == campaign_id))).one_or_none()
    if row is None:
        raise NoSuchCampaign(campaign_id=campaign_id)
    return Pseudonyms(row.pseudonym_key, are_published=row.annotators_published)


async def set_interactor_salt(session: WriteSession, campaign_id: UUID, salt: bytes | None) -> None:
    """Note with which salt the ids of those who chatted in the campaign's conversations were hashed."""
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(interactor_salt=salt))


async def count_left_out(
    session: WriteSession, campaign_id: UUID, *, too_short: int, not_selected: int, unpaired: int
) -> None:
    """Note how many conversations a campaign does not show, and why."""
    values = {"too_short": too_short, "not_selected": not_selected, "unpaired": unpaired}
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(**values))


async def finish_building(session: WriteSession, campaign: Campaign) -> None:
    """Open a campaign whose packages are there, or leave it a draft."""
    state = CampaignState.OPEN if campaign.opens_when_built else CampaignState.DRAFT
    await move_campaign(session, campaign.id, state, built_at=datetime.now(UTC))


async def fail_campaign(session: WriteSession, campaign_id: UUID, failure: str) -> None:
    """Note that no packages could be made, and why."""
    await move_campaign(session, campaign_id, CampaignState.FAILED, failure=failure)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> bool:
    """End a campaign whatever is missing; one that has ended stays as it is. Returns whether it ended now."""
    return await move_campaign(session, campaign_id, CampaignState.CLOSED, closed_at=datetime.now(UTC))


async def release_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Note that teams may see a campaign's results, unless they may already; say whether that is new."""
    released = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.released_at.is_(None))
        .values(released_at=func.now())
        .returning(CampaignRow.id)
    )
    return released is not None


async def publish_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Note that everybody may see a campaign's results, unless they may already; say whether that is new."""
    published = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.published_at.is_(None))
        .values(published_at=func.now())
        .returning(CampaignRow.id)
    )
    return published is not None


async def withdraw_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Note that neither teams nor the public may see a campaign's results any more; say whether they could."""
    withdrawn = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.released_at.is_not(None))
        .values(released_at=None, published_at=None)
        .returning(CampaignRow.id)
    )
    return withdrawn is not None


async def move_campaign(session: WriteSession, campaign_id: UUID, state: CampaignState, **values: object) -> bool:
    """Bring a campaign to `state`, unless it is in a state that may not be followed by it; say whether it came."""
    moved = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.state.in_(states_before(state)))
        .values(state=state, **values)
        .returning(CampaignRow.id)
    )
    return moved is not None


async def count_submitted(session: WriteSession, campaign_id: UUID, *, annotations: int) -> bool:
    """Count an assignment that was submitted, complete the campaign with the last one, and say whether it was that."""
    (counted,) = await session.fetch(_COUNT_SUBMITTED, {"campaign_id": campaign_id, "annotations": annotations})
    return bool(counted.state == CampaignState.COMPLETE and counted.is_exactly_the_last)


async def count_rejected(session: WriteSession, campaign_id: UUID, *, annotations: int) -> None:
    """Count an assignment no longer, and open the campaign again if it was complete."""
    was_complete = CampaignRow.state == CampaignState.COMPLETE
    await session.execute(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(
            submitted=CampaignRow.submitted - 1,
            annotations=CampaignRow.annotations - annotations,
            state=case((was_complete, CampaignState.OPEN), else_=CampaignRow.state),
        )
    )


def _campaign(row: Any) -> Campaign:  # noqa: ANN401 - SQLAlchemy's row, or psycopg's
    return Campaign(
        id=CampaignId(row.id),
        collections=(row.collection_id, *row.more_collections),
        protocol=row.protocol_name,
        segments=tuple(row.segments),
        panel=None if row.panel is None else _PANEL.validate_python(row.panel),
        training=row.training and RequiredTraining.model_validate(row.training),
        gold=row.gold and GoldItems.model_validate(row.gold),
        state=CampaignState(row.state),
        progress=Progress(**{name: getattr(row, name) for name in _COUNTS}),
        **{name: getattr(row, name) for name in _SAME},
    )
