"""Changes of a registered bot that leave its replies as they are: description, limits, status, secret."""

from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.domain.bot_status import OWNER_EVENTS, StatusEvent
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotRetired, StatusNotForOwners
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.bots.use_cases.version_checks import seal_secret
from spotthebot.contracts.bots import BotChangesIn, BotStatus, SecretIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import FieldError


async def change_bot(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: BotChangesIn
) -> Bot:
    """Change the given fields. A suspended bot that is set active is probed soon."""
    bot = await store.bots.get_bot(session, bot_id, principal)
    if request.status is not None:
        await _change_status(session, context, bot, request.status)
    if changes := request.model_dump(mode="json", exclude_none=True, exclude={"status"}):
        await store.bots.change_bot(session, bot_id, changes)
    return await store.bots.get_bot(session, bot_id, principal)


async def _change_status(session: WriteSession, context: BotsContext, bot: Bot, status: BotStatus) -> None:
    event = OWNER_EVENTS.get(status)
    if event is None:
        raise StatusNotForOwners(status=status, fields=(FieldError("/status", "not set by owners"),))
    if event is StatusEvent.ACTIVATED:
        changed = await store.bots.activate_bot(session, bot.id)
    else:
        changed = await store.bots.stop_bot(session, bot.id, event)
        context.clients.discard(bot.version.id)
    if changed is None:
        raise BotRetired(name=bot.name)


async def replace_secret(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: SecretIn
) -> Bot:
    """Replace the secret of the present version, which stays the same version: a secret decides no reply."""
    bot = await store.bots.get_bot(session, bot_id, principal)
    sealed = seal_secret(context, bot.version.protocol, request.secret.get_secret_value())
    await store.versions.replace_secret(session, bot.version.id, sealed)
    return await store.bots.get_bot(session, bot_id, principal)
