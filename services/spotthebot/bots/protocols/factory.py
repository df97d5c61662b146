"""The factory of speakers: from a bot version to the object that speaks its protocol."""

from dataclasses import dataclass
from uuid import UUID

from spotthebot.bots.bots.domain import Bot, BotVersion
from spotthebot.bots.bots.errors import SecretUnreadable
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.builtin import BuiltinBots, BuiltinSpeaker
from spotthebot.bots.protocols.remote import remote_speaker
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.triton import TritonSpeaker, generation_request, over_grpc, over_http
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Sampling, TransformersProtocol, TritonProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.inference.errors import HostingMissing, ModelNotLoadable, RequestRefused, WorkerUnavailable
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.triton.control import TritonControl
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel
from spotthebot.kit.crypto.vault import Unreadable, Vault


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


@dataclass(frozen=True)
class SpeakerFactory:
    """Makes speakers, which share connections, workers and keys."""

    http: BotHttp
    """For teams' bots; every address is checked."""
    operator_http: BotHttp
    """For the operator's bots, which may also be on the operator's networks."""
    own_http: BotHttp
    """For the suite's own Triton, at any address that the administrator configured."""
    builtin_bots: BuiltinBots
    vault: Vault
    workers: ModelWorkers
    triton: TritonControl | None
    triton_http: str
    """URL of the suite's own Triton over HTTP; empty without one."""

    def http_of(self, team: str | None) -> BotHttp:
        """Return the HTTP client for a team's bots; without a `team`, for the operator's bots."""
        return self.operator_http if team is None else self.http

    def make(self, bot: Bot, version: BotVersion, model: WorkerModel | None) -> Speaker:
        """Make a version's speaker; `model` is the model that a `transformers` version loads.

        Raises SecretUnreadable, and HostingMissing if the version needs the suite's Triton server, and it does not run.
        """
        match version.protocol:
            case TransformersProtocol() as protocol:
                worker_model = model or WorkerModel(dialogue_kind.KIND, protocol.model, protocol.model)
                return TransformersSpeaker(worker_model, protocol.sampling, self.workers)
            case BuiltinProtocol() as protocol:
                return BuiltinSpeaker(protocol, self.builtin_bots, bot.id, bot.team, version.training_sha256)
            case TritonProtocol(url=None) as protocol:
                return self._own_triton(protocol)
            case protocol:
                speaker = remote_speaker(protocol, self._secret(version, bot.id), self.http_of(bot.team))
        if speaker is None:
            message = f"no speaker for the protocol {protocol.kind}"
            raise TypeError(message)
        return speaker

    def _own_triton(self, protocol: TritonProtocol) -> Speaker:
        model, control = protocol.model, self.triton
        if control is None:
            raise HostingMissing(reason="This suite has no Triton of its own: name the server's `url`.")
        by_http = over_http(self.triton_http, model, self.own_http) if self.triton_http else None
        first, second = over_grpc(control.client, model), by_http
        if protocol.transport == "http" and by_http is not None:
            first, second = by_http, None
        return TritonSpeaker(protocol.sampling, first, fallback=second, recover=lambda: control.recover(model))

    def _secret(self, version: BotVersion, bot_id: UUID) -> str | None:
        try:
            return self.vault.open(version.sealed_secret) if version.sealed_secret is not None else None
        except Unreadable:
            raise SecretUnreadable(bot_id=bot_id) from None
