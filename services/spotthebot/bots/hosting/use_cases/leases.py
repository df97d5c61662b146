"""One change of a hosted model at a time: a lease on its row.

A change asks Triton or a worker process, or receives a file, which may take minutes. So it holds no transaction: it
acquires the lease in one short transaction, renews it in the background, and releases it in another, which also stores
the change. A second change is refused meanwhile. If the process is killed, its lease ends by itself; if the database
does not answer for as long as the lease lasts, the change is cancelled before another one may begin.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosted_models import store as hosted_models_store
from spotthebot.bots.hosted_models.domain import HostedModel
from spotthebot.bots.hosting.errors import ModelLeaseLost
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.telemetry.logs import get_logger

_RENEWALS = 3
"""Attempts to renew a lease before it ends."""
_log = get_logger(__name__)


class ModelLease:
    """A lease on a model, with the model as it was when the lease was acquired."""

    def __init__(self, context: BotsContext, lease_id: UUID, model: HostedModel) -> None:
        self.model = model
        self._context, self._id = context, lease_id
        self._renewal: asyncio.Task[None] | None = None
        self._is_released = False

    @asynccontextmanager
    async def held(self, ends_at: float) -> AsyncIterator[None]:
        """Renew the lease while the block lasts, and release it; `ends_at` is its end by the event loop's clock."""
        try:
            async with asyncio.timeout_at(ends_at) as end:
                self._renewal = asyncio.create_task(self._renew(end))
                try:
                    yield
                    if not self._is_released:
                        async with self.release():
                            pass
                finally:
                    await self._stop_renewal()
        except TimeoutError:
            if end.expired():
                raise ModelLeaseLost(name=self.model.name) from None
            raise
        finally:
            if not self._is_released:
                await self._abandon()

    @asynccontextmanager
    async def release(self) -> AsyncIterator[WriteSession]:
        """End the change: release the lease in one transaction with what the block stores; raises ModelLeaseLost."""
        await self._stop_renewal()  # it would take the released lease for a lost one
        async with self._context.database.write() as session:
            if not await hosted_models_store.release_lease(session, self.model.id, self._id):
                raise ModelLeaseLost(name=self.model.name)
            yield session
        self._is_released = True

    async def _renew(self, end: asyncio.Timeout) -> None:
        """Move the end of the lease again and again, or to the present where it was lost."""
        clock, lease = asyncio.get_running_loop().time, self._context.model_lease
        is_held = True
        while is_held:
            await asyncio.sleep(lease.total_seconds() / _RENEWALS)
            sent_at = clock()
            try:
                async with self._context.database.write() as session:
                    is_held = await hosted_models_store.renew_lease(session, self.model.id, self._id, lease)
            except SQLAlchemyError as error:  # the database is unavailable: the next round tries again
                _log.warning("model_lease.not_renewed", model=self.model.name, error=type(error).__name__)
                continue
            if end.expired():
                return
            end.reschedule(sent_at + lease.total_seconds() if is_held else sent_at)

    async def _stop_renewal(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait({self._renewal})

    async def _abandon(self) -> None:
        """Release the lease of a change that failed, so that the next one need not wait for its end."""
        try:
            async with self._context.database.write() as session:
                await hosted_models_store.release_lease(session, self.model.id, self._id)
        except SQLAlchemyError as error:
            _log.warning("model_lease.not_released", model=self.model.name, error=type(error).__name__)


@asynccontextmanager
async def lease_model(context: BotsContext, name: str) -> AsyncIterator[ModelLease]:
    """Hold a lease on a model while the block lasts.

    Raises NoSuchHostedModel, HostedModelChanging while another change holds one, and ModelLeaseLost.
    """
    lease_id, length = new_id(), context.model_lease
    ends_at = asyncio.get_running_loop().time() + length.total_seconds()
    async with context.database.write() as session:
        model = await hosted_models_store.acquire_lease(session, name, lease_id, length)
    lease = ModelLease(context, lease_id, model)
    async with lease.held(ends_at):
        yield lease
