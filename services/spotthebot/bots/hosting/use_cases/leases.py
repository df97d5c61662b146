"""One change of a hosted model at a time: a lease on its row.

A change asks Triton or a worker process, or receives a file, which may take minutes. So no transaction stays open
meanwhile. The change acquires the lease in one short transaction, renews it in the background, and releases it in
another transaction, which also stores the change. Meanwhile a second change is refused. If the process is killed, its
lease expires. If the database is unavailable for the duration of the lease, the change is cancelled before another
change may begin.
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
    """A lease on a model, with the fields that the model had when the lease was acquired."""

    def __init__(self, context: BotsContext, lease_id: UUID, model: HostedModel) -> None:
        self.model = model
        self._context, self._id = context, lease_id
        self._renewal: asyncio.Task[None] | None = None
        self._is_released = False

    @asynccontextmanager
    async def held(self, ends_at: float) -> AsyncIterator[None]:
        """Renew the lease during the block, then release it.

        The lease now ends at `ends_at`, by the event loop's clock.
        """
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
        """End the change: open a transaction in which the block stores the change, and release the lease in it.

        Raises ModelLeaseLost.
        """
        await self._stop_renewal()  # otherwise it would take the released lease for a lost one
        async with self._context.database.write() as session:
            if not await hosted_models_store.release_lease(session, self.model.id, self._id):
                raise ModelLeaseLost(name=self.model.name)
            yield session
        self._is_released = True

    async def _renew(self, end: asyncio.Timeout) -> None:
        """Renew the lease repeatedly, and move `end` each time; if the lease is lost, end the block now."""
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
        """Release the lease of a failed change, so that the next change need not wait until the lease expires."""
        try:
            async with self._context.database.write() as session:
                await hosted_models_store.release_lease(session, self.model.id, self._id)
        except SQLAlchemyError as error:
            _log.warning("model_lease.not_released", model=self.model.name, error=type(error).__name__)


@asynccontextmanager
async def lease_model(context: BotsContext, name: str) -> AsyncIterator[ModelLease]:
    """Hold a lease on a model during the block.

    Raises NoSuchHostedModel, ModelLeaseLost, and HostedModelChanging if another change holds a lease.
    """
    lease_id, length = new_id(), context.model_lease
    ends_at = asyncio.get_running_loop().time() + length.total_seconds()
    async with context.database.write() as session:
        model = await hosted_models_store.acquire_lease(session, name, lease_id, length)
    lease = ModelLease(context, lease_id, model)
    async with lease.held(ends_at):
        yield lease
