"""A dialogue model in a worker process of this service."""

from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.triton import generation_request
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault, Said
from spotthebot.contracts.bots.protocols import Sampling
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.inference.errors import HostingMissing, ModelNotLoadable, RequestRefused, WorkerUnavailable
from spotthebot.inference.workers import ModelWorkers, WorkerModel


class TransformersSpeaker(Speaker):
    """Asks a worker process, which the first request starts."""

    def __init__(self, model: WorkerModel, sampling: Sampling, workers: ModelWorkers) -> None:
        self._model = model
        self._sampling = sampling
        self._workers = workers

    async def ask(self, context: Context, _key: str) -> Said:
        try:
            result = await self._workers.infer(self._model, generation_request(context, self._sampling))
        except RequestRefused as error:
            raise Fault(ReplyFailure.INVALID, error.detail) from error
        except WorkerUnavailable as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail, transient=True) from error
        except (HostingMissing, ModelNotLoadable) as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail) from error
        return Said(str(result["text"]))
