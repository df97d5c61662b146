"""Changes of a registered bot that leave its replies as they are: description, limits, status, secret."""

from uuid import UUID

from sqlalchemy import func

from spotthebot.bots import store
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotRetired, StatusNotForOwners
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.bots.use_cases.version_checks import seal_secret
from spotthebot.contracts.bots import BotChangesIn, BotStatus, SecretIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import FieldError

_BY_OWNERS = {BotStatus.ACTIVE, BotStatus.SUSPENDED, BotStatus.RETIRED}


async def change_bot(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: BotChangesIn
) -> Bot:
    """Change the given fields. A suspended bot that is set active is probed soon."""
    bot = await store.bots.get_bot(session, bot_id, principal)
    changes = request.model_dump(mode="json", exclude_none=True)
    if request.status is not None:
        if request.status not in _BY_OWNERS:
            raise StatusNotForOwners(status=request.status, fields=(FieldError("/status", "not set by owners"),))
        if bot.status is BotStatus.RETIRED and request.status is not BotStatus.RETIRED:
            raise BotRetired(name=bot.name)
        ends = request.status is BotStatus.ACTIVE and bot.status is BotStatus.SUSPENDED
        if request.status is BotStatus.ACTIVE:
            changes["status"] = BotStatus.PROBING if ends else bot.status
        if ends:
            changes["next_probe_at"] = func.now()
        elif request.status is not BotStatus.ACTIVE:
            changes |= {"next_probe_at": None, "status_reason": None}
            context.clients.discard(bot.version.id)
    if changes:
        await store.bots.change_bot(session, bot_id, changes)
    return await store.bots.get_bot(session, bot_id, principal)


async def replace_secret(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: SecretIn
) -> Bot:
    """Replace the secret of the present version, which stays the same version: a secret decides no reply."""
    bot = await store.bots.get_bot(session, bot_id, principal)
    sealed = seal_secret(context, bot.version.protocol, request.secret.get_secret_value())
    await store.versions.replace_secret(session, bot.version.id, sealed)
    context.clients.discard(bot.version.id)
    return await store.bots.get_bot(session, bot_id, principal)
