"""Hosting models: files, loading and unloading, on Triton or in worker processes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from spotthebot.bots import store_hosting
from spotthebot.bots.domain.errors import (
    HostedModelLoaded,
    HostFailed,
    HostingMissing,
    ModelNotLoadable,
    NoFilesYet,
    NoSuchHostedModel,
    NotAModelFile,
)
from spotthebot.bots.domain.replies import Fault
from spotthebot.bots.hosting import PROBE, TritonHost
from spotthebot.bots.model_files import files_in
from spotthebot.bots.store_hosting import HostedModel
from spotthebot.bots.triton_repository import remove_model, write_model
from spotthebot.bots.use_cases.workshop import Workshop
from spotthebot.contracts.bots import (
    Backend,
    BatchStatistics,
    HostedModelIn,
    HostedModelOut,
    HostedModelState,
    TritonOut,
    UploadedFileOut,
)
from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import FieldError


async def host_model(session: WriteSession, workshop: Workshop, request: HostedModelIn) -> HostedModelOut:
    """Take up a model: one whose directory is there already, or one whose files come next. Loads nothing."""
    if request.backend is Backend.TRITON:
        _triton(workshop)
    await store_hosting.add_model(session, request)
    model = await store_hosting.get_model(session, request.name)
    if request.directory is not None:
        directory = workshop.folder.named(request.directory)
        files = await asyncio.to_thread(files_in, directory)
        if not any(file.name in {"config.json", "spotthebot.json"} for file in files):
            fault = FieldError("/directory", "holds neither config.json nor spotthebot.json")
            raise ModelNotLoadable(model=request.name, reason=f"{request.directory} {fault.detail}", fields=(fault,))
        await store_hosting.put_files(session, model.id, files)
    return await describe(workshop, await store_hosting.get_model(session, request.name))


async def upload_file(
    session: WriteSession, workshop: Workshop, name: str, file: str, pieces: AsyncIterator[bytes]
) -> UploadedFileOut:
    """Take one file of a model that is not loaded; sending it again replaces it."""
    model = await store_hosting.lock_model(session, name)
    if model.directory is not None:
        raise NotAModelFile(name=file)
    if await _is_loaded(workshop, model):
        raise HostedModelLoaded(name=name)
    out = await workshop.folder.receive(name, file, pieces)
    await store_hosting.put_files(session, model.id, [out])
    return out


async def load_model(session: WriteSession, workshop: Workshop, name: str) -> HostedModelOut:
    """Load a model and see it answer; loading one that is loaded makes it read its files again."""
    model = await store_hosting.lock_model(session, name)
    if model.files_sha256 is None:
        raise NoFilesYet(name=name)
    if model.backend is Backend.TRITON:
        directory = workshop.folder.directory_of(name, model.directory)
        await asyncio.to_thread(
            write_model,
            _repository(workshop),
            name,
            directory.resolve(),
            max_batch_size=model.max_batch_size,
            max_queue_delay_microseconds=round(model.max_queue_delay_ms * 1000),
            device=model.device,
            dtype=model.dtype,
        )
        host = _triton(workshop)
        await host.unload(name)
        await host.load(name)
    else:
        await workshop.lines.ways.workers.unload(workshop.hosted(model))
        await workshop.lines.ways.workers.load(workshop.hosted(model))
    return await describe(workshop, model)


async def unload_model(session: WriteSession, workshop: Workshop, name: str) -> HostedModelOut:
    """Unload a model; its files stay, and one that is not loaded stays so."""
    model = await store_hosting.lock_model(session, name)
    await _unload(workshop, model)
    return await describe(workshop, model)


async def remove_hosted_model(session: WriteSession, workshop: Workshop, name: str) -> None:
    """Unload a model and forget it, with its uploaded files; a directory that was named stays."""
    model = await store_hosting.lock_model(session, name)
    await _unload(workshop, model)
    if model.backend is Backend.TRITON:
        with contextlib.suppress(NoSuchHostedModel):  # it was never loaded
            await asyncio.to_thread(remove_model, _repository(workshop), name)
    await store_hosting.delete_model(session, model.id)
    await asyncio.to_thread(workshop.folder.remove_uploads, name)


async def describe_all(workshop: Workshop, models: Sequence[HostedModel]) -> list[HostedModelOut]:
    """Describe models side by side."""
    return list(await asyncio.gather(*(describe(workshop, model) for model in models)))


async def describe(workshop: Workshop, model: HostedModel) -> HostedModelOut:
    """Return a model with its state, which a real inference tells, and its statistics."""
    state, statistics = await _state(workshop, model)
    return HostedModelOut(
        id=model.id,
        name=model.name,
        backend=model.backend,
        directory=model.directory,
        files=model.files,
        files_sha256=model.files_sha256,
        max_batch_size=model.max_batch_size,
        max_queue_delay_ms=model.max_queue_delay_ms,
        device=model.device,
        dtype=model.dtype,
        state=state,
        statistics=statistics,
        created_at=model.created_at,
    )


async def _state(workshop: Workshop, model: HostedModel) -> tuple[HostedModelState, BatchStatistics | None]:
    if model.backend is Backend.WORKER:
        workers, loaded = workshop.lines.ways.workers, workshop.hosted(model)
        counted = workers.statistics(loaded)
        if counted is None:
            return HostedModelState.UNLOADED, None
        try:
            await workers.ask(loaded, PROBE)
        except Fault:
            return HostedModelState.BROKEN, counted
        return HostedModelState.READY, counted
    host = workshop.lines.ways.triton
    if host is None or not await _answers(host, model.name):
        return HostedModelState.UNLOADED, None
    broken = await host.why_broken(model.name)
    return HostedModelState.BROKEN if broken else HostedModelState.READY, await host.statistics(model.name)


async def _answers(host: TritonHost, name: str) -> bool:
    try:
        return await host.is_loaded(name)
    except HostFailed:
        return False


async def _is_loaded(workshop: Workshop, model: HostedModel) -> bool:
    return (await _state(workshop, model))[0] is not HostedModelState.UNLOADED


async def _unload(workshop: Workshop, model: HostedModel) -> None:
    if model.backend is Backend.WORKER:
        await workshop.lines.ways.workers.unload(workshop.hosted(model))
    elif await _is_loaded(workshop, model):
        await _triton(workshop).unload(model.name)


async def describe_triton(workshop: Workshop) -> TritonOut:
    """Return what the suite's own Triton has in its repository, hosted here or not; raises HostingMissing."""
    host = _triton(workshop)
    try:
        return TritonOut(answers=True, models=await host.repository())
    except HostFailed:
        return TritonOut(answers=False, models={})


def _triton(workshop: Workshop) -> TritonHost:
    host = workshop.lines.ways.triton
    if host is None:
        raise HostingMissing(
            reason="This suite runs without Triton: start it with `./stb up --triton`, or host with backend 'worker'."
        )
    return host


def _repository(workshop: Workshop) -> Path:
    repository = workshop.settings.triton_repository
    if repository is None:
        raise HostingMissing(reason="SPOTTHEBOT_BOTS_TRITON_REPOSITORY is not set: Triton's models can't be written.")
    return repository
