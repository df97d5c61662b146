"""Speaks the suite's own webhook protocol: the conversation as JSON, signed by the Standard Webhooks scheme."""

import json
from datetime import UTC, datetime

from standardwebhooks import Webhook

from spotthebot.bots.outbound import BotHttp, json_of
from spotthebot.bots.protocols.openai_answers import fault_inside
from spotthebot.bots.protocols.speaker import Speaker, text_in
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import WebhookProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.kit.ids import new_id


class WebhookSpeaker(Speaker):
    """Requests replies by POST. Without a signing secret, it sends the headers for id and time, but no signature."""

    def __init__(self, protocol: WebhookProtocol, secret: str | None, http: BotHttp) -> None:
        self._url = protocol.url
        self._webhook = Webhook(secret) if secret else None
        self._http = http

    async def ask(self, context: Context, key: str) -> ReplyOut:
        body = question(context)
        message_id, now = f"msg_{key}", datetime.now(UTC)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Idempotency-Key": key,
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
        }
        if self._webhook is not None:
            headers["webhook-signature"] = self._webhook.sign(message_id, now, body)
        answered = await self._http.post(self._url, body.encode(), headers)
        answer = json_of(answered)
        text = text_in(answer)
        if text is None:
            detail = f'The answer is not {{"text": "..."}}: {_inside(answer)}.'
            raise fault_inside(answer, answered.retry_after_seconds) or Fault(ReplyFailure.INVALID, detail)
        return ReplyOut.said(text)


def question(context: Context) -> str:
    """Return a context as the JSON of a `WebhookQuestion`; a conversation without an id gets a new id.

    It builds the JSON without pydantic models of turns. To validate texts that are valid already would cost 0.03 ms for
    each reply.
    """
    fields = {
        "conversation_id": str(context.conversation_id or new_id()),
        "turn": len(context.turns),
        "domain": context.domain,
        "persona": context.persona,
        "speaker": context.side,
        "seed": context.seed,
        "turns": [{"speaker": speaker, "text": text} for speaker, text in context.spoken()],
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _inside(answer: object) -> str:
    if isinstance(answer, dict):
        if "text" in answer:
            return f"its text is {type(answer['text']).__name__}, not a string"
        return f"it has the fields {', '.join(map(str, answer)) or 'none'}"
    return f"it is {type(answer).__name__}"
