"""Loads models that score: in worker processes of this service, or on Triton servers that take turns.

A model on Triton is identified by its name and its answer to a probe. So likelihoods of another model with the same
name are not reused. A worker process that does not answer within its time limit is killed. It sends no heartbeat, since
a thread could send one while the computation hangs.
"""

import asyncio
import hashlib
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.fed.likelihoods.errors import TritonMissing
from spotthebot.fed.settings import FedSettings
from spotthebot.inference.errors import RequestRefused, TritonRefused, WorkerUnavailable
from spotthebot.inference.model_files import ModelFolder, files_in, files_sha256_of
from spotthebot.inference.models.likelihood import kind as likelihood_kind
from spotthebot.inference.triton.client import TritonClient
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel, WorkerTimes

TRITON: Final = "triton:"
_MAX_BATCH_SIZE: Final = 16
_LARGEST_FILE: Final = 0  # nothing is uploaded here
_SIGNIFICANT: Final = 3


class Scorer(Protocol):
    """A loaded model."""

    @property
    def sha256(self) -> str:
        """Return a hash that identifies the model. It covers the model's files if they are accessible."""
        ...

    async def likelihoods(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the model's answer to a request in the form of `inference.models.likelihood`.

        Raises DialogueUnusable if the model refuses a dialogue.
        """
        ...


async def find_template_date(scorer: Scorer, join: Mapping[str, Any] | None) -> str | None:
    """Return the fixed date that a model's chat template writes instead of today's date; None if it writes no date."""
    try:
        answer = await scorer.likelihoods(likelihood_kind.PROBE | {"join": join})
    except DialogueUnusable:
        return None
    date: str | None = answer.get("template_date")
    return date


async def predicts_contexts(scorer: Scorer) -> bool:
    """Return whether a model computes likelihoods of contexts; an encoder-decoder does not."""
    try:
        await scorer.likelihoods(likelihood_kind.PROBE | {"context_likelihood": True})
    except DialogueUnusable:
        return False
    return True


class TritonServers:
    """Triton servers with the same models. The servers take turns, and each batch has a time limit."""

    def __init__(self, clients: Sequence[TritonClient], times: WorkerTimes) -> None:
        self._clients = list(clients)
        self._turns = itertools.cycle(clients)
        self._times = times

    async def open(self, name: str) -> Scorer:
        """Return the model of this name.

        It is identified by its name and its answer to a probe, since its files are elsewhere.

        Raises DialogueUnusable if the servers answer differently or run code of another release. Raises TritonRefused
        and WorkerUnavailable.
        """
        request, seconds = json.dumps(likelihood_kind.PROBE), self._times.loading_seconds
        answers = await asyncio.gather(*(_ask(client, name, request, seconds) for client in self._clients))
        said = {json.dumps(_rounded(answer), sort_keys=True) for answer in answers}
        if any(answer.get("revision") != likelihood_kind.REVISION for answer in answers if "contexts" in answer):
            reason = f"Triton serves '{name}' with another release's code: write the model into its repository again"
            raise DialogueUnusable(reason=reason)
        if len(said) > 1:
            raise DialogueUnusable(reason=f"the Triton servers hold different models under the name '{name}'")
        sha256 = hashlib.sha256(f"{TRITON}{name} {said.pop()}".encode()).hexdigest()
        return _TritonScorer(sha256, name, self)

    async def ask(self, name: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request to the server whose turn it is, and return its answer.

        Raises TritonRefused and WorkerUnavailable.
        """
        return await _ask(next(self._turns), name, json.dumps(request), self._times.batch_seconds)


class Scorers:
    """Opens models by name: `triton:NAME`, a directory below the models folder, or a name on the hub."""

    def __init__(
        self,
        folder: Path,
        workers: ModelWorkers,
        triton: TritonServers | None,
        *,
        device: str,
        dtype: str,
    ) -> None:
        self._folder = ModelFolder(folder, largest_file_bytes=_LARGEST_FILE)
        self._workers = workers
        self._triton = triton
        self._device, self._dtype = device, dtype

    async def open(self, model: str, revision: str | None) -> Scorer:
        """Load a model.

        Raises DirectoryOutside, ModelNotLoadable, HostingMissing, WorkerUnavailable, TritonMissing and TritonRefused.
        """
        if model.startswith(TRITON):
            if self._triton is None:
                raise TritonMissing(model=model)
            return await self._triton.open(model.removeprefix(TRITON))
        directory = self._folder.find(model)
        if directory is None:
            sha256 = hashlib.sha256(f"{model}@{revision or 'main'}".encode()).hexdigest()
        else:
            sha256 = await asyncio.to_thread(lambda: files_sha256_of(files_in(directory)))
        worker = WorkerModel(
            kind=likelihood_kind.KIND,
            model=model if directory is None else str(directory),
            name=model,
            revision=revision,
            device=self._device,
            dtype=self._dtype,
            max_batch_size=_MAX_BATCH_SIZE,
        )
        await self._workers.load(worker)
        return _WorkerScorer(sha256, self._workers, worker)


@asynccontextmanager
async def open_scorers(settings: FedSettings) -> AsyncIterator[Scorers]:
    """Yield the loader of models, while the block runs. It loads each model at the first request for it."""
    times = WorkerTimes(
        idle_seconds=settings.model_idle_seconds,
        loading_seconds=settings.model_loading_seconds,
        batch_seconds=settings.model_batch_seconds,
    )
    workers = ModelWorkers(times)
    clients = [TritonClient(address) for address in settings.triton_servers]
    triton = TritonServers(clients, times) if clients else None
    try:
        yield Scorers(settings.models_folder, workers, triton, device=settings.device, dtype=settings.dtype)
    finally:
        await workers.close()
        await asyncio.gather(*(client.close() for client in clients))


@dataclass(frozen=True)
class _WorkerScorer:
    sha256: str
    workers: ModelWorkers
    model: WorkerModel

    async def likelihoods(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self.workers.infer(self.model, request)
        except RequestRefused as refused:
            raise DialogueUnusable(reason=str(refused.facts["reason"]).rstrip(".")) from refused


@dataclass(frozen=True)
class _TritonScorer:
    sha256: str
    name: str
    servers: TritonServers

    async def likelihoods(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = await self.servers.ask(self.name, request)
        if "error" in answer:
            raise DialogueUnusable(reason=str(answer["error"]).rstrip("."))
        return answer


async def _ask(client: TritonClient, name: str, request: str, seconds: float) -> Mapping[str, Any]:
    try:
        answer: Mapping[str, Any] = json.loads(await client.infer(name, request, timeout_seconds=seconds))
    except TritonRefused as refused:
        if refused.hangs:
            reason = f"Triton gave no answer of the model '{name}' within {seconds:g} seconds."
            raise WorkerUnavailable(reason=reason) from refused
        raise
    return answer


def _rounded(answer: Mapping[str, Any]) -> list[float]:
    contexts = answer.get("contexts", [])
    return [round(followup["nll"], _SIGNIFICANT) for context in contexts for followup in context["followups"]]
