"""The conformance check on a team's own machine: the same probe as at registration, but for any address."""

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.probes.domain.conformance import probe
from spotthebot.bots.protocols.remote import remote_speaker
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import cleaning_of
from spotthebot.contracts.bots.probes import ProbeReport
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyOut
from spotthebot.kit.outbound.addresses import EVERYWHERE
from spotthebot.kit.outbound.resolver import CheckingResolver


async def check_bot(protocol: Protocol, secret: str | None, limits: Limits, *, seconds: float) -> ProbeReport:
    """Probe a bot at its URL and return the report; raises ValueError for a protocol without a URL."""
    async with BotHttp(CheckingResolver(EVERYWHERE), names_causes=True) as http:
        speaker = remote_speaker(protocol, secret, http)
        if speaker is None:
            message = f"a {protocol.kind} bot is not at a URL"
            raise ValueError(message)
        client = BotClient("checked/1", speaker, limits, _ignore, cleaning=cleaning_of(protocol))

        async def ask(context: Context) -> ReplyOut:
            client.circuit.close()  # each check reports its own questions, whatever failed before
            return await client.reply(context)

        try:
            return await probe(ask, limits, seconds=seconds, names_causes=True)
        finally:
            await speaker.close()


async def _ignore(_reason: str) -> None:
    return  # the report says why the bot failed
