"""The six protocols by which a bot is asked for replies, distinguished by `kind`."""

from typing import Annotated, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from spotthebot.contracts.wire import Split, Text, Wire


def _checked_url(url: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.hostname:
        message = f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
        raise ValueError(message)
    if parts.username is not None or parts.password is not None:
        message = "must hold no user or password: put a secret into `secret`"
        raise ValueError(message)
    if parts.fragment:
        message = "must have no fragment (#...)"
        raise ValueError(message)
    _ = parts.port  # raises ValueError where it is no number
    return url


def _http_url(url: str) -> str:
    return _checked_url(url, ("http", "https"))


def _chat_url(url: str) -> str:
    return _checked_url(url, ("http", "https", "ws", "wss"))


_UrlText = Annotated[Text, StringConstraints(min_length=8, max_length=2000, pattern=r"^[\x21-\x7e]+$")]
HttpUrl = Annotated[_UrlText, AfterValidator(_http_url)]
ChatUrl = Annotated[_UrlText, AfterValidator(_chat_url)]
_ModelName = Annotated[Text, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


Cleaning = Annotated[
    Literal["remove", "refuse", "keep"],
    Field(
        description="What is done with an answer's text that is not said to the partner: reasoning (`<think>`), a role "
        "before the reply (`Assistant:`), turns made up for the partner. It is removed, or the answer is refused, or "
        "partners and annotators see it. Reasoning that nothing closes is refused unless it is kept."
    ),
]


class Sampling(Wire):
    """How a hosted model samples its words; each context has its own seed."""

    max_new_tokens: int = Field(default=40, ge=1, le=1024, description="Longest reply, in tokens.")
    temperature: float = Field(default=1.0, ge=0, le=10, description="0 takes the likeliest token each time.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Share of probability to sample from.")
    top_k: int = Field(default=0, ge=0, le=100_000, description="How many tokens to sample from; 0 is all.")
    repetition_penalty: float = Field(default=1.0, ge=1, le=10, description="1 is none.")


PluginModel = Annotated[str, StringConstraints(pattern=r"^plugin:[a-z][a-z0-9_-]{0,49}$")]


class BuiltinProtocol(Wire):
    """A small bot inside the service `bots`. A bot that learns is trained on a corpus when it is registered."""

    kind: Literal["builtin"]
    model: Literal["retrieval", "ngram", "eliza", "dull", "parrot", "stray"] | PluginModel = Field(
        description="Which bot: retrieval, ngram and stray learn from a corpus. `plugin:NAME` is a plug-in's."
    )
    corpus_id: UUID | None = Field(default=None, description="Corpus to learn from.")
    split: Split = Field(default="train", description="Split to learn from.")
    seed: int = Field(default=0, ge=0, lt=2**63, description="Two bots that differ in it answer differently.")
    plugin: Annotated[Text, StringConstraints(max_length=200)] | None = Field(
        default=None, description="The distribution and version of a plug-in's bot; set at registration."
    )


class WebhookProtocol(Wire):
    """Our own protocol: we POST the conversation so far, and expect `{"text": ...}`. A `secret` signs the request."""

    kind: Literal["webhook"]
    url: HttpUrl = Field(description="Where questions are POSTed.", examples=["https://bot.example.org/reply"])
    version: Literal[1] = Field(default=1, description="Version of the webhook's form.")
    cleaning: Cleaning = "remove"


class OpenAIProtocol(Wire):
    """Any server with OpenAI's `/chat/completions`; its API key is the bot's `secret`."""

    kind: Literal["openai"]
    base_url: HttpUrl = Field(
        description="The URL that `/chat/completions` is appended to.", examples=["https://llm.example.org/v1"]
    )
    model: _ModelName = Field(description="The server's name of the model.")
    system_prompt: Annotated[Text, StringConstraints(max_length=20_000)] | None = Field(
        default=None, description="Sent first; a persona follows it."
    )
    opening_prompt: Annotated[Text, StringConstraints(min_length=1, max_length=2000)] = Field(
        default="Begin our conversation with one short line.",
        description="Sent as the user's words if the bot itself begins, since most servers need a user first.",
    )
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(
        default=None, ge=1, le=131_072, description="Longest reply, in tokens; mostly with its reasoning."
    )
    max_completion_tokens: int | None = Field(
        default=None, ge=1, le=131_072, description="The same, for servers that refuse `max_tokens`."
    )
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    stop: tuple[Annotated[Text, StringConstraints(min_length=1, max_length=100)], ...] = Field(
        default=(), max_length=4, description="Texts that end the reply."
    )
    sends_seed: bool = Field(default=True, description="Whether `seed` is sent; false for servers that refuse it.")
    system_role: Literal["system", "developer", "user"] = Field(
        default="system",
        description="Whose message holds system prompt and persona; user: the first turn of the user begins with them, "
        "for servers that refuse the system's role.",
    )
    cleaning: Cleaning = "remove"


class ParlaiProtocol(Wire):
    """A ParlAI agent behind `parlai interactive_web`, or behind its websocket chat service."""

    kind: Literal["parlai"]
    url: ChatUrl = Field(
        description="Base URL of interactive_web (http), or of the chat service's socket (ws).",
        examples=["http://parlai.example.org:8080", "ws://parlai.example.org:35496/websocket"],
    )
    service: Literal["interactive_web", "websocket_chat"] = "interactive_web"
    history: Literal["all_turns", "last_turn"] = Field(
        default="all_turns",
        description="The text for the agent: all turns, one per line, as in ParlAI's own tasks, or the last turn.",
    )
    cleaning: Cleaning = "remove"


class TritonProtocol(Wire):
    """A model of a Triton server with JSON input and output, like the models of our repository."""

    kind: Literal["triton"]
    url: HttpUrl | None = Field(
        default=None,
        description="The server; left out: the suite's own. Its port speaks the transport.",
        examples=["http://triton.example.org:8001"],
    )
    transport: Literal["grpc", "http"] = "grpc"
    model: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")] = Field(
        description="Name in the server's repository."
    )
    sampling: Sampling = Sampling()
    cleaning: Cleaning = "remove"


class TransformersProtocol(Wire):
    """A causal or sequence-to-sequence model that the suite loads in a worker process.

    Only administrators may register it.
    """

    kind: Literal["transformers"]
    model: _ModelName = Field(
        description="Directory on the server, name of a hosted model, or name on a model hub.",
        examples=["microsoft/DialoGPT-small"],
    )
    revision: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None, description="Commit or tag on the hub."
    )
    sampling: Sampling = Sampling()
    cleaning: Cleaning = "remove"


Protocol = Annotated[
    WebhookProtocol | OpenAIProtocol | ParlaiProtocol | TritonProtocol | TransformersProtocol | BuiltinProtocol,
    Field(discriminator="kind"),
]
