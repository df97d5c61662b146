"""Hosted models: their files, and loading and unloading on Triton or in worker processes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.domain.errors import (
    HostedModelLoaded,
    NoFilesYet,
)
from spotthebot.bots.domain.hosted_models import HostedModel, HostedModelCondition
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.bots import (
    Backend,
    HostedModelIn,
    HostedModelState,
    TritonOut,
)
from spotthebot.inference.errors import (
    HostFailed,
    HostingMissing,
    ModelNotInRepository,
    ModelNotLoadable,
    NotAModelFile,
    RequestRefused,
    WorkerUnavailable,
)
from spotthebot.inference.model_files import ModelFile, files_in
from spotthebot.inference.models import dialogue
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.triton.control import TritonControl
from spotthebot.inference.triton.repository import remove_model, write_model
from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import FieldError


async def host_model(session: WriteSession, context: BotsContext, request: HostedModelIn) -> HostedModelCondition:
    """Store a model whose directory exists, or whose files are uploaded next; load nothing."""
    if request.backend is Backend.TRITON:
        _triton(context)
    await store.hosted_models.add_model(session, request)
    model = await store.hosted_models.get_model(session, request.name)
    if request.directory is not None:
        directory = context.folder.named(request.directory)
        files = await asyncio.to_thread(files_in, directory)
        if not any(file.name in {"config.json", "spotthebot.json"} for file in files):
            fault = FieldError("/directory", "holds neither config.json nor spotthebot.json")
            raise ModelNotLoadable(model=request.name, reason=f"{request.directory} {fault.detail}", fields=(fault,))
        await store.hosted_models.put_files(session, model.id, files)
    return await condition_of(context, await store.hosted_models.get_model(session, request.name))


async def upload_file(
    session: WriteSession, context: BotsContext, name: str, file: str, pieces: AsyncIterator[bytes]
) -> ModelFile:
    """Store one file of a model that is not loaded; sending it again replaces it."""
    model = await store.hosted_models.lock_model(session, name)
    if model.directory is not None:
        raise NotAModelFile(name=file)
    if await _is_loaded(context, model):
        raise HostedModelLoaded(name=name)
    received = await context.folder.receive(name, file, pieces)
    await store.hosted_models.put_files(session, model.id, [received])
    return received


async def load_model(session: WriteSession, context: BotsContext, name: str) -> HostedModelCondition:
    """Load a model and check that it answers; a loaded model reads its files again."""
    model = await store.hosted_models.lock_model(session, name)
    if model.files_sha256 is None:
        raise NoFilesYet(name=name)
    if model.backend is Backend.TRITON:
        directory = context.folder.directory_of(name, model.directory)
        await asyncio.to_thread(
            write_model,
            _repository(context),
            name,
            directory.resolve(),
            kind=dialogue.KIND,
            max_batch_size=model.max_batch_size,
            max_queue_delay_microseconds=round(model.max_queue_delay_ms * 1000),
            device=model.device,
            dtype=model.dtype,
        )
        control = _triton(context)
        await control.unload(name)
        await control.load(name)
    else:
        await context.speakers.workers.unload(context.hosted(model))
        await context.speakers.workers.load(context.hosted(model))
    return await condition_of(context, model)


async def unload_model(session: WriteSession, context: BotsContext, name: str) -> HostedModelCondition:
    """Unload a model if it is loaded; its files stay."""
    model = await store.hosted_models.lock_model(session, name)
    await _unload(context, model)
    return await condition_of(context, model)


async def remove_hosted_model(session: WriteSession, context: BotsContext, name: str) -> None:
    """Unload a model and delete it with its uploaded files; a directory given by name stays."""
    model = await store.hosted_models.lock_model(session, name)
    await _unload(context, model)
    if model.backend is Backend.TRITON:
        with contextlib.suppress(ModelNotInRepository):  # it was never loaded
            await asyncio.to_thread(remove_model, _repository(context), name)
    await store.hosted_models.delete_model(session, model.id)
    await asyncio.to_thread(context.folder.remove_uploads, name)


async def list_hosted_models(context: BotsContext, *, after: UUID | None, limit: int) -> Sequence[HostedModelCondition]:
    """Return models with their condition, oldest first; no database connection is held while they are asked."""
    async with context.database.read() as session:
        models = await store.hosted_models.list_models(session, after=after, limit=limit)
    return await asyncio.gather(*(condition_of(context, model) for model in models))


async def get_hosted_model(context: BotsContext, name: str) -> HostedModelCondition:
    """Return a model with its condition; raises NoSuchHostedModel."""
    async with context.database.read() as session:
        model = await store.hosted_models.get_model(session, name)
    return await condition_of(context, model)


async def condition_of(context: BotsContext, model: HostedModel) -> HostedModelCondition:
    """Return a model with its state, found by a real inference, and its statistics."""
    state, statistics = await _state(context, model)
    return HostedModelCondition(model, state, statistics)


async def _state(context: BotsContext, model: HostedModel) -> tuple[HostedModelState, BatchStatistics | None]:
    if model.backend is Backend.WORKER:
        workers, loaded = context.speakers.workers, context.hosted(model)
        counted = workers.statistics(loaded)
        if counted is None:
            return HostedModelState.UNLOADED, None
        try:
            await workers.infer(loaded, dialogue.PROBE)
        except (ModelNotLoadable, RequestRefused, WorkerUnavailable):
            return HostedModelState.BROKEN, counted
        return HostedModelState.READY, counted
    control = context.speakers.triton
    if control is None or not await _answers(control, model.name):
        return HostedModelState.UNLOADED, None
    broken = await control.why_broken(model.name)
    return HostedModelState.BROKEN if broken else HostedModelState.READY, await control.statistics(model.name)


async def _answers(control: TritonControl, name: str) -> bool:
    try:
        return await control.is_loaded(name)
    except HostFailed:
        return False


async def _is_loaded(context: BotsContext, model: HostedModel) -> bool:
    return (await _state(context, model))[0] is not HostedModelState.UNLOADED


async def _unload(context: BotsContext, model: HostedModel) -> None:
    if model.backend is Backend.WORKER:
        await context.speakers.workers.unload(context.hosted(model))
    elif await _is_loaded(context, model):
        await _triton(context).unload(model.name)


async def describe_triton(context: BotsContext) -> TritonOut:
    """Return all models in the repository of the suite's own Triton; raises HostingMissing."""
    control = _triton(context)
    try:
        return TritonOut(answers=True, models=await control.repository())
    except HostFailed:
        return TritonOut(answers=False, models={})


def _triton(context: BotsContext) -> TritonControl:
    control = context.speakers.triton
    if control is None:
        raise HostingMissing(
            reason="This suite runs without Triton: start it with `./stb up --triton`, or host with backend 'worker'."
        )
    return control


def _repository(context: BotsContext) -> Path:
    repository = context.settings.triton_repository
    if repository is None:
        raise HostingMissing(reason="SPOTTHEBOT_BOTS_TRITON_REPOSITORY is not set: Triton's models can't be written.")
    return repository
