"""Campaigns and their progress."""

import secrets
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import Integer, and_, bindparam, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.campaigns.domain import Campaign, Progress, Pseudonyms, states_before
from spotthebot.annotation.campaigns.errors import NoSuchCampaign
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.contracts.annotation.campaigns import SECRET_BYTES, CampaignIn, CampaignState
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.verdicts import StopWhen
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant
from spotthebot.kit.ids import new_id

_BY_ID = Statement(select(CampaignRow).where(CampaignRow.id == bindparam("campaign_id")))
_SUBMITTED = CampaignRow.submitted + constant(1)
ASSIGNMENTS_NEEDED = CampaignRow.packages * CampaignRow.annotations_per_segment + CampaignRow.extra_assignments
"""The number of submissions that complete a campaign, as a column."""
_COUNT_SUBMITTED = Statement(
    update(CampaignRow)
    .where(CampaignRow.id == bindparam("campaign_id"))
    .values(
        submitted=_SUBMITTED,
        annotations=CampaignRow.annotations + bindparam("annotations", type_=Integer),
        state=case(
            (
                and_(
                    _SUBMITTED >= ASSIGNMENTS_NEEDED,
                    CampaignRow.state.in_(map(constant, states_before(CampaignState.COMPLETE))),
                ),
                constant(CampaignState.COMPLETE),
            ),
            else_=CampaignRow.state,
        ),
    )
    .returning(CampaignRow.state, (CampaignRow.submitted == ASSIGNMENTS_NEEDED).label("is_exactly_the_last"))
)
_STOP_WHEN: TypeAdapter[StopWhen] = TypeAdapter(StopWhen)
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
    """Return the settings in a request as columns of a campaign's row."""
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


async def list_campaigns(  # noqa: PLR0913 - each is a filter of its own
    session: ReadSession,
    *,
    name: str | None,
    state: CampaignState | None = None,
    released: bool | None = None,
    published: bool | None = None,
    collection_id: UUID | None = None,
    newest_first: bool = False,
    after: UUID | None,
    limit: int,
) -> list[Campaign]:
    """Return campaigns.

    Filters: `name`, `state`, `collection_id`, results `released` or not, results `published` or not.
    """
    order = CampaignRow.id.desc() if newest_first else CampaignRow.id
    statement = select(CampaignRow).order_by(order).limit(limit)
    if collection_id is not None:
        also = CampaignRow.more_collections.contains([collection_id])
        statement = statement.where(or_(CampaignRow.collection_id == collection_id, also))
    if released is not None:
        statement = statement.where(CampaignRow.released_at.is_not(None) == released)
    if published is not None:
        statement = statement.where(CampaignRow.published_at.is_not(None) == published)
    if state is not None:
        statement = statement.where(CampaignRow.state == state)
    if name is not None:
        statement = statement.where(CampaignRow.name == name)
    if after is not None:
        statement = statement.where(CampaignRow.id < after if newest_first else CampaignRow.id > after)
    return [_campaign(row) for row in await session.scalars(statement)]


async def list_building(session: ReadSession) -> list[UUID]:
    """Return the ids of campaigns in state BUILDING, oldest first."""
    statement = select(CampaignRow.id).where(CampaignRow.state == CampaignState.BUILDING)
    return [*await session.scalars(statement.order_by(CampaignRow.id))]


async def lock_campaign(session: WriteSession, campaign_id: UUID, *, for_good: bool = False) -> None:
    """Lock a campaign against other transactions that build, extend or complete it. Annotators can go on working.

    With `for_good`, the lock also keeps people from entering the campaign.
    """
    locked = select(CampaignRow.id).where(CampaignRow.id == campaign_id)
    await session.execute(locked.with_for_update(key_share=not for_good))


async def get_secret(session: WriteSession, campaign_id: UUID) -> bytes:
    """Return the secret of a campaign's random draws; make the secret first if the campaign has none."""
    drawn = secrets.token_bytes(SECRET_BYTES)
    statement = (
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(secret=func.coalesce(CampaignRow.secret, drawn))
        .returning(CampaignRow.secret)
    )
    return await session.scalar(statement) or drawn


async def read_secret(session: ReadSession, campaign_id: UUID) -> bytes:
    """Return the secret of the random draws of a campaign whose packages are made."""
    secret: bytes | None = await session.scalar(select(CampaignRow.secret).where(CampaignRow.id == campaign_id))
    return secret or b""


async def find_secret(session: ReadSession, campaign_id: UUID) -> bytes | None:
    """Return a campaign's secret; None if the campaign has no secret so far."""
    found: bytes | None = await session.scalar(select(CampaignRow.secret).where(CampaignRow.id == campaign_id))
    return found


async def get_pseudonyms(session: ReadSession, campaign_id: UUID) -> Pseudonyms:
    """Return the names of a campaign's annotators in exports; raises NoSuchCampaign."""
    statement = select(CampaignRow.pseudonym_key, CampaignRow.annotators_published)
    row = (await session.execute(statement.where(CampaignRow.id == campaign_id))).one_or_none()
    if row is None:
        raise NoSuchCampaign(campaign_id=campaign_id)
    return Pseudonyms(row.pseudonym_key, are_published=row.annotators_published)


async def set_interactor_salt(session: WriteSession, campaign_id: UUID, salt: bytes | None) -> None:
    """Store the salt for the hashes of the people who chatted in the campaign's conversations."""
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(interactor_salt=salt))


async def count_left_out(
    session: WriteSession, campaign_id: UUID, *, too_short: int, not_selected: int, unpaired: int
) -> None:
    """Store how many conversations a campaign does not show, by reason."""
    values = {"too_short": too_short, "not_selected": not_selected, "unpaired": unpaired}
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(**values))


async def finish_building(session: WriteSession, campaign: Campaign) -> None:
    """Open a campaign whose packages are made, or leave it a draft."""
    state = CampaignState.OPEN if campaign.opens_when_built else CampaignState.DRAFT
    await move_campaign(session, campaign.id, state, built_at=datetime.now(UTC))


async def fail_campaign(session: WriteSession, campaign_id: UUID, failure: str) -> None:
    """Set a campaign to FAILED and store the reason why it has no packages."""
    await move_campaign(session, campaign_id, CampaignState.FAILED, failure=failure)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> bool:
    """End a campaign, finished or not, and return True; return False if it had ended already."""
    return await move_campaign(session, campaign_id, CampaignState.CLOSED, closed_at=datetime.now(UTC))


async def stop_campaign(session: WriteSession, campaign_id: UUID) -> bool:
    """Pause an open campaign by its own rule; return False if it is not open, or if it paused by this rule before."""
    stopped = await session.scalar(
        update(CampaignRow)
        .where(
            CampaignRow.id == campaign_id,
            CampaignRow.state == CampaignState.OPEN,
            CampaignRow.stopped_at.is_(None),
        )
        .values(state=CampaignState.PAUSED, stopped_at=datetime.now(UTC))
        .returning(CampaignRow.id)
    )
    return stopped is not None


async def release_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Release a campaign's results to teams; return False if they were released already."""
    released = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.released_at.is_(None))
        .values(released_at=func.now())
        .returning(CampaignRow.id)
    )
    return released is not None


async def publish_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Publish a campaign's results to everybody; return False if they were published already."""
    published = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.published_at.is_(None))
        .values(published_at=func.now())
        .returning(CampaignRow.id)
    )
    return published is not None


async def withdraw_results(session: WriteSession, campaign_id: UUID) -> bool:
    """Withdraw a campaign's results from teams and the public; return False if neither could see them."""
    withdrawn = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.released_at.is_not(None))
        .values(released_at=None, published_at=None)
        .returning(CampaignRow.id)
    )
    return withdrawn is not None


async def move_campaign(session: WriteSession, campaign_id: UUID, state: CampaignState, **values: object) -> bool:
    """Move a campaign to `state` if the table of transitions allows it; return whether it moved."""
    moved = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.state.in_(states_before(state)))
        .values(state=state, **values)
        .returning(CampaignRow.id)
    )
    return moved is not None


async def count_submitted(session: WriteSession, campaign_id: UUID, *, annotations: int) -> bool:
    """Count a submitted assignment.

    The last assignment completes the campaign; return whether the campaign is now complete.
    """
    (counted,) = await session.fetch(_COUNT_SUBMITTED, {"campaign_id": campaign_id, "annotations": annotations})
    return bool(counted.state == CampaignState.COMPLETE and counted.is_exactly_the_last)


async def count_rejected(session: WriteSession, campaign_id: UUID, *, annotations: int) -> None:
    """Subtract a rejected assignment from the counts, and open a complete campaign again."""
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
    return from_row(
        Campaign,
        row,
        collections=(row.collection_id, *row.more_collections),
        protocol=row.protocol_name,
        segments=tuple(row.segments),
        panel=None if row.panel is None else _PANEL.validate_python(row.panel),
        stop_when=None if row.stop_when is None else _STOP_WHEN.validate_python(row.stop_when),
        training=row.training and RequiredTraining.model_validate(row.training),
        gold=row.gold and GoldItems.model_validate(row.gold),
        state=CampaignState(row.state),
        progress=from_row(Progress, row),
    )
