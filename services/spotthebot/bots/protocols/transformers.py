"""A transformers model in a worker process of this service."""

from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.errors import HostingMissing
from spotthebot.bots.domain.replies import Fault
from spotthebot.bots.hosting import ModelWorkers, WorkerModel
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.triton import generation_request
from spotthebot.contracts.bots import ReplyFailure, Sampling


class TransformersSpeaker(Speaker):
    """Asks a worker, which is started by the first question."""

    def __init__(self, model: WorkerModel, sampling: Sampling, workers: ModelWorkers) -> None:
        self._model = model
        self._sampling = sampling
        self._workers = workers

    async def ask(self, context: Context, _key: str) -> str:
        try:
            return await self._workers.ask(self._model, generation_request(context, self._sampling))
        except HostingMissing as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail) from error
