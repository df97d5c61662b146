"""The keys of a file that declares a collection in which people chat with bots."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from spotthebot.cli.collections.declaration import Bot, PersonasFrom
from spotthebot.contracts.conversations.chats import ChatSettings
from spotthebot.contracts.wire import Domain, Name

_EXAMPLES: list[JsonValue] = [
    {
        "name": "people-1",
        "domain": "everyday",
        "mode": "human_bot",
        "bots": ["our-bot", "their-bot", "eliza", "dull"],
        "conversations_per_person": 18,
        "compares": "each_question",
        "opening": {"begins": "person", "first_words": "Hi!"},
        "seed": 7,
    },
]


class ChatsDeclaration(ChatSettings):
    """A collection of chats with people for `./stb collect`."""

    model_config = ConfigDict(title="Chats", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the collection is called.")
    domain: Domain = Field(description="What is talked about, such as `everyday`.")
    mode: Literal["human_bot"] = Field(description="People chat with bots.")
    bots: tuple[Bot, ...] = Field(min_length=1, max_length=100, description="The bots to draw from.")
    personas: PersonasFrom | None = Field(default=None, description="Whom person and bot play; nothing: anyone.")
