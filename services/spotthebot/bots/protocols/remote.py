"""Speakers of bots at a URL, made from their registered protocol alone."""

from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.openai import OpenAISpeaker
from spotthebot.bots.protocols.parlai import InteractiveWebSpeaker, WebsocketChatSpeaker
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.triton import CheckedGrpc, TritonSpeaker, over_http
from spotthebot.bots.protocols.webhook import WebhookSpeaker
from spotthebot.contracts.bots.protocols import (
    OpenAIProtocol,
    ParlaiProtocol,
    Protocol,
    TritonProtocol,
    WebhookProtocol,
)


def remote_speaker(protocol: Protocol, secret: str | None, http: BotHttp) -> Speaker | None:
    """Make the speaker of a bot at a URL; return None for a bot that runs in this suite."""
    match protocol:
        case WebhookProtocol():
            return WebhookSpeaker(protocol, secret, http)
        case OpenAIProtocol():
            return OpenAISpeaker(protocol, secret, http)
        case ParlaiProtocol():
            is_chat = protocol.service == "websocket_chat"
            return (WebsocketChatSpeaker if is_chat else InteractiveWebSpeaker)(protocol, http)
        case TritonProtocol(url=str() as url):
            if protocol.transport == "http":
                return TritonSpeaker(protocol.sampling, over_http(url, protocol.model, http))
            checked = CheckedGrpc(protocol, http)
            return TritonSpeaker(protocol.sampling, checked.infer, close=checked.close)
    return None
