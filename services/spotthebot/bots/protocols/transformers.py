"""A dialogue model in a worker process of this service."""

from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.triton import generation_request
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import Sampling
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.inference.errors import HostingMissing, ModelNotLoadable, RequestRefused, WorkerUnavailable
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel


class TransformersSpeaker(Speaker):
    """Requests replies from a worker process, which starts at the first request."""

    def __init__(self, model: WorkerModel, sampling: Sampling, workers: ModelWorkers) -> None:
        self._model = model
        self._sampling = sampling
        self._workers = workers

    async def ask(self, context: Context, _key: str) -> ReplyOut:
        try:
            result = await self._workers.infer(self._model, generation_request(context, self._sampling))
        except RequestRefused as error:
            raise Fault(ReplyFailure.INVALID, error.detail) from error
        except WorkerUnavailable as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail, transient=True) from error
        except (HostingMissing, ModelNotLoadable) as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail) from error
        return ReplyOut.said(str(result["text"]))
