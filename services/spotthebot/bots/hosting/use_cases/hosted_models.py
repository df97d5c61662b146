"""Hosted models: their files, and loading and unloading on Triton or in worker processes.

No transaction is open while files are hashed or received, or while Triton and workers are asked. The module `leases`
serialises changes of one model.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path
from uuid import UUID

from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosted_models import store as hosted_models_store
from spotthebot.bots.hosted_models.domain import HostedModel
from spotthebot.bots.hosted_models.errors import HostedModelNameTaken
from spotthebot.bots.hosting.errors import HostedModelLoaded, NoFilesYet
from spotthebot.bots.hosting.use_cases.leases import lease_model
from spotthebot.contracts.bots.hosted_models import (
    Backend,
    BatchStatisticsOut,
    HostedModelIn,
    HostedModelOut,
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
    TritonRefused,
    WorkerUnavailable,
)
from spotthebot.inference.model_files import ModelFile, files_in
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.triton.control import TritonControl
from spotthebot.inference.triton.repository import remove_model, write_model
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.ids import new_id
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.web.database.claims import Claim, KeyClaimed

_log = get_logger(__name__)


async def host_model(context: BotsContext, claim: Claim, request: HostedModelIn) -> HostedModelOut:
    """Store a model whose directory exists, or whose files are uploaded next; loads nothing."""
    async with context.database.read() as session:
        is_taken = await hosted_models_store.find_model(session, request.name) is not None
    if await claim.find_created() is not None:  # the model was stored, but not its answer yet
        return await get_hosted_model(context, request.name)
    if request.backend is Backend.TRITON:
        _triton(context)
    if is_taken:  # known before gigabytes are hashed
        raise HostedModelNameTaken(name=request.name)
    files = None if request.directory is None else await _files_of(context, request.name, request.directory)
    model_id = new_id()
    try:
        async with context.database.write() as session:
            await claim.commit_with(session, model_id)
            await hosted_models_store.add_model(session, model_id, request)
            if files is not None:
                await _put_files(session, model_id, request.name, files)
    except KeyClaimed:
        return await host_model(context, claim, request)
    return await get_hosted_model(context, request.name)


async def upload_file(context: BotsContext, name: str, file: str, pieces: AsyncIterator[bytes]) -> ModelFile:
    """Store one file of a model that is not loaded; a repeat replaces the file."""
    async with lease_model(context, name) as lease:
        model = lease.model
        if model.directory is not None:
            raise NotAModelFile(name=file)
        if await _is_loaded(context, model):
            raise HostedModelLoaded(name=name)
        received = await context.folder.receive(name, file, pieces)
        async with lease.release() as session:
            await _put_files(session, model.id, name, [received])
    return received


async def load_model(context: BotsContext, name: str) -> HostedModelOut:
    """Load a model and check that it answers; a loaded model reads its files again."""
    async with lease_model(context, name) as lease:
        model = lease.model
        if model.files_sha256 is None:
            raise NoFilesYet(name=name)
        if model.backend is Backend.TRITON:
            directory = context.folder.directory_of(name, model.directory)
            await asyncio.to_thread(
                write_model,
                _repository(context),
                name,
                directory.resolve(),
                kind=dialogue_kind.KIND,
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
        return await describe_model(context, model)


async def unload_model(context: BotsContext, name: str) -> HostedModelOut:
    """Unload a model if it is loaded; its files stay."""
    async with lease_model(context, name) as lease:
        await _unload(context, lease.model)
        return await describe_model(context, lease.model)


async def remove_hosted_model(context: BotsContext, name: str) -> None:
    """Unload a model and delete it with its uploaded files; a directory given by name stays.

    The model's row is deleted last. While the row exists, nobody can upload files of a new model under this name, and
    an interrupted removal can be repeated.
    """
    async with lease_model(context, name) as lease:
        model = lease.model
        await _unload(context, model)
        if model.backend is Backend.TRITON:
            with contextlib.suppress(ModelNotInRepository):  # it was never loaded
                await asyncio.to_thread(remove_model, _repository(context), name)
        await asyncio.to_thread(context.folder.remove_uploads, name)
        async with lease.release() as session:
            await hosted_models_store.delete_model(session, model.id)
            await _fail_bots(session, name, None)


async def list_hosted_models(context: BotsContext, *, after: UUID | None, limit: int) -> Sequence[HostedModelOut]:
    """Return models with their states, oldest first.

    No database connection is held while the models are asked for their states.
    """
    async with context.database.read() as session:
        models = await hosted_models_store.list_models(session, after=after, limit=limit)
    return await asyncio.gather(*(describe_model(context, model) for model in models))


async def get_hosted_model(context: BotsContext, name: str) -> HostedModelOut:
    """Return a model with its state; raises NoSuchHostedModel."""
    async with context.database.read() as session:
        model = await hosted_models_store.get_model(session, name)
    return await describe_model(context, model)


async def describe_model(context: BotsContext, model: HostedModel) -> HostedModelOut:
    """Return a model with its state, found by a real inference, and its statistics."""
    state, statistics = await _state(context, model)
    counts = None if statistics is None else _counts_of(statistics)
    return HostedModelOut.of(model, state=state, statistics=counts)


def _counts_of(statistics: BatchStatistics) -> BatchStatisticsOut:
    counts = asdict(statistics)
    return BatchStatisticsOut(replies=counts.pop("requests"), **counts)


async def _put_files(session: WriteSession, model_id: UUID, name: str, files: Sequence[ModelFile]) -> None:
    """Store files, and set bots failing that were registered with other files, in the same transaction."""
    await _fail_bots(session, name, await hosted_models_store.put_files(session, model_id, files))


async def _fail_bots(session: WriteSession, name: str, files_sha256: str | None) -> None:
    reason = f"The files of the model '{name}' have changed: add a version to the bot."
    failed = await bots_store.fail_bots_of_model(session, name, files_sha256, reason)
    if failed:
        _log.warning("hosted_model.changed", model=name, failing_bots=[str(bot_id) for bot_id in failed])


async def _files_of(context: BotsContext, model: str, named: str) -> list[ModelFile]:
    files = await asyncio.to_thread(files_in, context.folder.named(named))
    if not any(file.name in {"config.json", "spotthebot.json"} for file in files):
        fault = FieldError("/directory", "holds neither config.json nor spotthebot.json")
        raise ModelNotLoadable(model=model, reason=f"{named} {fault.detail}", fields=(fault,))
    return files


async def _state(context: BotsContext, model: HostedModel) -> tuple[HostedModelState, BatchStatistics | None]:
    if model.backend is Backend.WORKER:
        workers, loaded = context.speakers.workers, context.hosted(model)
        counted = workers.statistics(loaded)
        if counted is None:
            return HostedModelState.UNLOADED, None
        try:
            await workers.infer(loaded, dialogue_kind.PROBE)
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
    """Return whether a model occupies memory; raises TritonRefused if Triton hangs."""
    if model.backend is Backend.WORKER:
        return context.speakers.workers.statistics(context.hosted(model)) is not None
    control = context.speakers.triton
    try:
        return control is not None and await control.is_loaded(model.name)
    except TritonRefused as error:
        if error.hangs:
            raise
        return False


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
        raise HostingMissing(
            reason="To write models for Triton, set SPOTTHEBOT_BOTS_TRITON_REPOSITORY to its folder of models."
        )
    return repository
