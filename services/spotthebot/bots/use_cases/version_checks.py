"""Checks of a version before it is stored: who may register it, its address, its secret, and its sources."""

import asyncio
from dataclasses import dataclass

from spotthebot.bots import store
from spotthebot.bots.domain.errors import HostingIsForAdministrators, SecretNotUsed
from spotthebot.bots.domain.fingerprints import Fingerprints
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import (
    BotVersionIn,
    BuiltinProtocol,
    OpenAIProtocol,
    Protocol,
    TransformersProtocol,
    TritonProtocol,
    WebhookProtocol,
)
from spotthebot.inference.model_files import files_in, files_sha256_of
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.errors import FieldError
from spotthebot.kit.outbound import AddressNotAllowed, UrlNotUsable
from spotthebot.kit.signatures import NotASigningSecret, signing_key


@dataclass(frozen=True)
class CheckedVersion:
    """The sources and the encrypted secret of a version that may be stored."""

    made_from: Fingerprints
    sealed_secret: bytes | None


async def check_version(
    context: BotsContext, principal: Principal, request: BotVersionIn, *, team: str | None
) -> CheckedVersion:
    """Check a version that the caller wants to store for a team's bot, or the operator's, without a transaction.

    Raises an error for the first fault. A model on Triton is for administrators wherever its server is: a URL may
    well be that of the suite's own server, whose models are for administrators.
    """
    protocol = request.protocol
    if isinstance(protocol, TransformersProtocol | TritonProtocol) and principal.role != Role.ADMIN:
        raise HostingIsForAdministrators(kind=protocol.kind)
    await _check_address(context, protocol, team)
    sealed = seal_secret(context, protocol, request.secret.get_secret_value()) if request.secret else None
    return CheckedVersion(await _made_from(context, protocol, team), sealed)


def seal_secret(context: BotsContext, protocol: Protocol, secret: str) -> bytes:
    """Return the encrypted secret; raises SecretNotUsed, NotASigningSecret."""
    if not isinstance(protocol, WebhookProtocol | OpenAIProtocol):
        raise SecretNotUsed(kind=protocol.kind, fields=(FieldError("/secret", "not used by this protocol"),))
    if isinstance(protocol, WebhookProtocol):
        try:
            signing_key(secret)
        except NotASigningSecret as error:
            raise NotASigningSecret(fields=(FieldError("/secret", error.detail),)) from None
    return context.speakers.vault.seal(secret)


async def _check_address(context: BotsContext, protocol: Protocol, team: str | None) -> None:
    field = "base_url" if isinstance(protocol, OpenAIProtocol) else "url"
    url = getattr(protocol, field, None)
    if url is None:
        return
    try:
        await context.speakers.http_of(team).resolver.check_url(url)
    except (AddressNotAllowed, UrlNotUsable) as refused:
        fault = FieldError(f"/protocol/{field}", str(refused.facts["reason"]))
        raise type(refused)(**refused.facts, fields=(fault,)) from None
    except OSError:
        return  # a name that does not resolve yet: the probe reports it


async def _made_from(context: BotsContext, protocol: Protocol, team: str | None) -> Fingerprints:
    match protocol:
        case BuiltinProtocol():
            return Fingerprints(training_sha256=await context.speakers.builtin_bots.train(protocol, team))
        case TransformersProtocol() | TritonProtocol(url=None):
            async with context.database.read() as session:
                hosted = await store.hosted_models.find_model(session, protocol.model)
            if hosted is not None:
                return Fingerprints(files_sha256=hosted.files_sha256)
            if isinstance(protocol, TransformersProtocol) and (directory := context.folder.find(protocol.model)):
                files = await asyncio.to_thread(files_in, directory)
                return Fingerprints(files_sha256=files_sha256_of(files))
    return Fingerprints()
