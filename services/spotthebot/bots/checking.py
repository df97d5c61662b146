"""The conformance kit from a team's own machine: the probe that registration runs, with nobody's addresses refused."""

from spotthebot.bots.asking import Line
from spotthebot.bots.domain.conformance import probe
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.replies import Reply
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.remote import remote_speaker
from spotthebot.contracts.bots import Limits, ProbeReport, Protocol
from spotthebot.kit.outbound import EVERYWHERE, CheckingResolver


async def check_bot(protocol: Protocol, secret: str | None, limits: Limits, *, seconds: float) -> ProbeReport:
    """Probe a bot at its URL and report; raises ValueError for a protocol that has none."""
    async with BotHttp(CheckingResolver(EVERYWHERE)) as http:
        speaker = remote_speaker(protocol, secret, http)
        if speaker is None:
            message = f"a {protocol.kind} bot is not at a URL"
            raise ValueError(message)
        line = Line("checked/1", speaker, limits, _leave_it)

        async def ask(context: Context) -> Reply:
            line.circuit.close()  # each check is to be told by its own questions
            return await line.reply(context)

        try:
            return await probe(ask, limits, seconds=seconds)
        finally:
            await speaker.close()


async def _leave_it(_reason: str) -> None:
    """Nobody else asks this bot through here."""
