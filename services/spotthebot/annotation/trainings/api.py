"""`/v1/trainings`: dialogues with their right answers, for administrators alone."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from spotthebot.annotation.deps import Admin, AdminReader
from spotthebot.annotation.trainings import store, use_cases
from spotthebot.contracts.annotation.protocols import Identifier
from spotthebot.contracts.annotation.trainings import TrainingIn, TrainingOut, TrainingSummaryOut
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/trainings", tags=["trainings"], route_class=IdempotentRoute)
_TRAINING = large_batch(max_bytes=4 * 1024 * 1024, max_values=100_000)


@router.post("", status_code=201, operation_id="create_training", openapi_extra=_TRAINING)
async def create_training(session: Writing, _caller: Admin, request: TrainingIn) -> TrainingOut:
    """Store a version of a training, which never changes. Repeating the same document returns the same version."""
    return TrainingOut.of(await use_cases.create_training(session, request.training))


@router.get("", operation_id="list_trainings")
async def list_trainings(
    session: Reading, _caller: AdminReader, paging: Paging, name: Annotated[Identifier | None, Query()] = None
) -> Page[TrainingSummaryOut]:
    """List versions of trainings, oldest first."""
    rows = await store.list_trainings(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=TrainingSummaryOut.of)


@router.get("/{name}/versions/{version}", operation_id="get_training")
async def get_training(
    session: Reading, _caller: AdminReader, name: Identifier, version: Annotated[int, Path(ge=1, lt=2**31)]
) -> TrainingOut:
    """Return one version of a training with its right answers; it never changes."""
    return TrainingOut.of(await store.get_training(session, name, version))
