"""Models that score: in worker processes of this service, or on Triton servers that take turns."""

import asyncio
import hashlib
import itertools
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from spotthebot.fed.domain.errors import DialogueUnusable, TritonMissing
from spotthebot.inference.errors import RequestRefused
from spotthebot.inference.model_files import ModelFolder, files_in, files_sha256_of
from spotthebot.inference.models import likelihood
from spotthebot.inference.triton.client import CONTROL_SECONDS, TritonClient
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel

TRITON: Final = "triton:"
_MAX_BATCH_SIZE: Final = 16
_LARGEST_FILE: Final = 0  # nothing is uploaded here
_SIGNIFICANT: Final = 3


class Scorer(Protocol):
    """A model that is loaded."""

    @property
    def sha256(self) -> str:
        """Identifies the model: over its files where they are at hand."""
        ...

    async def likelihoods(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a request of `inference.models.likelihood`; raises DialogueUnusable where it refuses."""
        ...


async def predicts_contexts(scorer: Scorer) -> bool:
    """Say whether a model gives likelihoods of contexts, which an encoder-decoder does not."""
    try:
        await scorer.likelihoods(likelihood.PROBE | {"context_likelihood": True})
    except DialogueUnusable:
        return False
    return True


class Scorers:
    """Opens models by name: `triton:NAME`, a directory below the models folder, or a name on the hub."""

    def __init__(
        self, folder: Path, workers: ModelWorkers, triton_servers: Sequence[TritonClient], *, device: str, dtype: str
    ) -> None:
        self._folder = ModelFolder(folder, largest_file_bytes=_LARGEST_FILE)
        self._workers = workers
        self._triton = list(triton_servers)
        self._device, self._dtype = device, dtype

    async def open(self, model: str, revision: str | None) -> Scorer:
        """Load a model; raises DirectoryOutside, ModelNotLoadable, HostingMissing, TritonMissing and TritonRefused."""
        if model.startswith(TRITON):
            if not self._triton:
                raise TritonMissing(model=model)
            return await _open_on_triton(model.removeprefix(TRITON), self._triton)
        directory = self._folder.find(model)
        if directory is None:
            sha256 = hashlib.sha256(f"{model}@{revision or 'main'}".encode()).hexdigest()
        else:
            sha256 = await asyncio.to_thread(lambda: files_sha256_of(files_in(directory)))
        worker = WorkerModel(
            kind=likelihood.KIND,
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
async def open_scorers(
    folder: Path, triton_servers: Sequence[str], *, idle_seconds: float, device: str, dtype: str
) -> AsyncIterator[Scorers]:
    """Give the models of a folder and of Triton servers (`host:port`) while the block lasts; each loads when asked."""
    workers = ModelWorkers(idle_seconds=idle_seconds)
    clients = [TritonClient(address) for address in triton_servers]
    try:
        yield Scorers(folder, workers, clients, device=device, dtype=dtype)
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
    clients: Iterator[TritonClient]

    async def likelihoods(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = json.loads(await next(self.clients).infer(self.name, json.dumps(request)))
        if "error" in answer:
            raise DialogueUnusable(reason=str(answer["error"]).rstrip("."))
        found: Mapping[str, Any] = answer
        return found


async def _open_on_triton(name: str, clients: Sequence[TritonClient]) -> _TritonScorer:
    """Identify a model, whose files lie elsewhere, by its name and by what it answers to a probe."""
    request = json.dumps(likelihood.PROBE)
    answers = await asyncio.gather(
        *(client.infer(name, request, timeout_seconds=CONTROL_SECONDS) for client in clients)
    )
    said = {json.dumps(_rounded(json.loads(answer)), sort_keys=True) for answer in answers}
    if len(said) > 1:
        raise DialogueUnusable(reason=f"the Triton servers hold different models under the name '{name}'")
    sha256 = hashlib.sha256(f"{TRITON}{name} {said.pop()}".encode()).hexdigest()
    return _TritonScorer(sha256, name, itertools.cycle(clients))


def _rounded(answer: Mapping[str, Any]) -> list[float]:
    contexts = answer.get("contexts", [])
    return [round(followup["nll"], _SIGNIFICANT) for context in contexts for followup in context["followups"]]
