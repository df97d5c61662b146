"""`/openai/v1`: all bots that a key may use, through OpenAI's chat API."""

import json
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse

from spotthebot.bots.bots.domain import Bot
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.deps import Asker, Context
from spotthebot.bots.replies.domain import Completion, complete, count_tokens
from spotthebot.bots.replies.errors import ChatFailed
from spotthebot.bots.replies.use_cases import context_of, get_named_bot, reply
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.bots.replies import RepliesIn
from spotthebot.contracts.wire import Text
from spotthebot.kit import errors
from spotthebot.kit.ids import new_id
from spotthebot.kit.text.validation import reason_of
from spotthebot.kit.web.core.problems import status_of
from spotthebot.kit.web.core.routes import CheckedRoute

_MAX_MODELS = 1000
_Model = Annotated[Text, StringConstraints(max_length=200)]


class _OpenAIRoute(CheckedRoute):
    """Answers errors in OpenAI's form, which clients of this API read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                fault = error.errors()[0]
                where = ".".join(str(part) for part in fault["loc"][1:])
                message = f"{where or 'the request'} {reason_of(fault)}"
                return _error(400, message, "invalid_request_error", param=where or None)
            except HTTPException as error:
                return _error(error.status_code, str(error.detail), "invalid_request_error")
            except errors.Error as error:
                status = status_of(error)
                kind = "invalid_request_error" if status < 500 else "api_error"
                headers = {"Retry-After": str(error.facts["retry_after_seconds"])} if status == 429 else {}
                param = error.fields[0].pointer.lstrip("/") if error.fields else None
                return _error(status, error.detail, kind, param=param, code=type(error).__name__, headers=headers)

        return handler


router = APIRouter(prefix="/openai/v1", tags=["openai"], route_class=_OpenAIRoute)


class ErrorDetail(BaseModel):
    """The content of an error, in OpenAI's fields."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorOut(BaseModel):
    """An error in OpenAI's form."""

    error: ErrorDetail


_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorOut, "description": text}
    for status, text in {
        400: "The request is invalid.",
        413: "The request is too large.",
        401: "The API key is missing, unknown, expired or revoked.",
        403: "The API key's role may not do this.",
        404: "No such bot, or several of that name.",
        409: "The bot is suspended or retired.",
        422: "The messages are none that a bot can answer.",
        429: "Too many requests; see `Retry-After`.",
        503: "The bot gave no reply, or something needed does not answer.",
    }.items()
}


class ContentPart(BaseModel):
    """A part of a message; only text is understood."""

    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """One message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant"]
    content: str | Annotated[list[ContentPart], Field(max_length=1000)]

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """Options for the content of a stream besides the reply."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


_Tokens = Annotated[int, Field(ge=1)]
_StopText = Annotated[Text, StringConstraints(min_length=1, max_length=100)]


class ChatCompletionIn(BaseModel):
    """The supported fields of OpenAI's request.

    Other fields are ignored, because a bot's sampling is registered with it.
    """

    model_config = ConfigDict(extra="ignore")

    model: _Model = Field(description="A bot's id or name.")
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1000)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="In place of the registered one; refused by bots without any, but for 1."
    )
    max_tokens: _Tokens | None = Field(default=None, description="Where the reply is cut: words and punctuation marks.")
    max_completion_tokens: _Tokens | None = Field(default=None, description="The same, by its newer name.")
    stop: _StopText | Annotated[list[_StopText], Field(max_length=4)] | None = Field(
        default=None, description="Texts that end the reply; they are no part of it."
    )
    n: Literal[1] | None = None

    @property
    def stops(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop or []


class ModelOut(BaseModel):
    """A bot, in OpenAI's form of a model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    name: str


class ModelsOut(BaseModel):
    """All bots that the key may use."""

    object: Literal["list"]
    data: list[ModelOut] = Field(max_length=_MAX_MODELS)


@router.get("/models", operation_id="list_openai_models", responses=_ERRORS)
async def list_models(context: Context, caller: Asker) -> ModelsOut:
    """List the bots that answer, up to a thousand, as models."""
    found = await bots_store.list_bots(context.database, caller, name=None, after=None, limit=_MAX_MODELS)
    askable = [bot for bot in found if bot.status is BotStatus.ACTIVE]
    return ModelsOut(object="list", data=[_model(bot) for bot in askable])


@router.get("/models/{model}", operation_id="get_openai_model", responses=_ERRORS)
async def get_model(context: Context, caller: Asker, model: _Model) -> ModelOut:
    """Return one bot as a model, by its id or name."""
    return _model(await get_named_bot(context, caller, model))


@router.post("/chat/completions", operation_id="create_chat_completion", response_model=None, responses=_ERRORS)
async def complete_chat(caller: Asker, context: Context, request: ChatCompletionIn) -> Response:
    """Ask a bot for its next turn. With `stream`, server-sent events follow once the reply is complete."""
    bot = await get_named_bot(context, caller, request.model)
    messages = [(message.role, message.text) for message in request.messages]
    asked = RepliesIn(contexts=(context_of(messages, request.seed or 0),))
    answer = (await reply(context, bot, asked, temperature=request.temperature)).replies[0]
    if answer.text is None:
        raise ChatFailed(failure=answer.failure, detail=answer.detail)
    limits = [each for each in (request.max_tokens, request.max_completion_tokens) if each is not None]
    completion = complete(answer.text, max_tokens=min(limits, default=None), stop=request.stops)
    head = {"id": f"chatcmpl-{new_id().hex}", "created": int(time.time()), "model": request.model}
    usage = _usage(count_tokens([text for _, text in messages]), completion.tokens)
    if request.stream:
        counts = usage if request.stream_options is not None and request.stream_options.include_usage else None
        return StreamingResponse(_chunks(head, completion, counts), media_type="text/event-stream")
    message = {"role": "assistant", "content": completion.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": completion.finish_reason, "logprobs": None}
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _usage(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _chunks(head: dict[str, Any], completion: Completion, usage: dict[str, int] | None) -> Iterator[str]:
    def event(choices: list[dict[str, Any]], **more: Any) -> str:  # noqa: ANN401 - JSON
        return f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', 'choices': choices, **more})}\n\n"

    def choice(delta: dict[str, str], finish_reason: str | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}]

    text = completion.text
    yield event(choice({"role": "assistant", "content": ""}))
    begin = 0
    while begin < len(text):
        end = text.find(" ", begin) + 1 or len(text)
        yield event(choice({"content": text[begin:end]}))
        begin = end
    yield event(choice({}, completion.finish_reason))
    if usage is not None:
        yield event([], usage=usage)
    yield "data: [DONE]\n\n"


def _model(bot: Bot) -> ModelOut:
    owner = bot.team or "operator"
    return ModelOut(
        id=str(bot.id), object="model", created=int(bot.created_at.timestamp()), owned_by=owner, name=bot.name
    )


def _error(
    status: int,
    message: str,
    kind: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    body = ErrorOut(error=ErrorDetail(message=message, type=kind, param=param, code=code))
    return JSONResponse(body.model_dump(), status_code=status, headers=headers)
