"""The keys of a study's file.

A task says what a campaign's file says, without the keys that all tasks of a study share.
"""

from typing import Annotated, Final

from pydantic import ConfigDict, Field, JsonValue
from pydantic.config import JsonDict

from spotthebot.cli.campaigns.declaration import CampaignTerms, Collection
from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.studies import MAX_TASKS, StudySettings
from spotthebot.contracts.wire import Name

_EXAMPLES: list[JsonValue] = [
    {
        "name": "abc-small",
        "collections": ["everyday-1"],
        "chats": ["talks"],
        "tasks": [
            {"protocol": "abc_consistency", "units_twice": 12},
            {"protocol": "dialogue_likert", "units_twice": 12, "packages_per_annotator": 60},
            {"protocol": "comparative"},
        ],
        "outcome": "quality",
        "seed": 11,
    }
]
_SETTINGS: Final = CampaignSettings.model_fields
Chats = Annotated[Name, Field(description="Name or id of a collection of chats.")]


def _without_default(schema: JsonDict) -> None:
    del schema["default"]


class Task(CampaignTerms):
    """A task of a study: a campaign over the study's collections."""

    model_config = ConfigDict(title="Task")

    name: Name | None = Field(
        default=None,
        description="What the task is called in the study, no other task has the name; without it, as its protocol.",
    )
    annotations_per_segment: Annotated[int, _SETTINGS["annotations_per_segment"]] = 1
    seed: Annotated[int, _SETTINGS["seed"]] = Field(
        default=0,
        description="Of this task's draws; without it, the study's seed.",
        json_schema_extra=_without_default,
    )


class StudyDeclaration(StudySettings):
    """A study for `./stb study`: several tasks over the same dialogues."""

    model_config = ConfigDict(title="Study", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the study is called; the campaign of a task is called NAME.TASK.")
    collections: tuple[Collection, ...] = Field(
        default=(),
        max_length=MAX_COLLECTIONS,
        description="Whose conversations the annotators of every task see, each collection once.",
    )
    chats: tuple[Chats, ...] = Field(
        default=(),
        max_length=MAX_COLLECTIONS,
        description="Collections of chats: what people said of the dialogues that they had are measures too.",
    )
    tasks: tuple[Task, ...] = Field(
        default=(),
        max_length=MAX_TASKS,
        description="What annotators are asked, each task in a campaign of its own; a study of chats needs none.",
    )
