"""A study, and whether its tasks are over the same dialogues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.studies.errors import TaskApart, TaskFailed, UnknownCampaign
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class Study:
    """Campaigns over the same dialogues in the order of the request; empty once all of them are deleted.

    `chats` are collections of chats, whose interactors rated. `outcome` is the measure that the others are assessed
    against; None: nothing is assessed. `scores` are score sets of FED; `latency` says whether latencies are a measure.
    """

    id: UUID
    name: str
    campaigns: tuple[UUID, ...]
    chats: tuple[UUID, ...]
    outcome: str | None
    seed: int
    scores: tuple[UUID, ...]
    latency: bool
    created_at: datetime


@dataclass(frozen=True)
class Task:
    """A campaign of a study.

    `shares` says whether another task shows one of its dialogues; None if the campaign has no packages so far.
    """

    name: str
    state: CampaignState
    shares: bool | None


def check_tasks(requested: Sequence[UUID], tasks: Mapping[UUID, Task]) -> None:
    """Raise UnknownCampaign, TaskFailed or TaskApart, with the JSON pointers to all such campaigns in the request.

    Campaigns without packages are accepted, because nobody knows yet which dialogues they will show.
    """
    missing = [each for each in requested if each not in tasks]
    if missing:
        raise UnknownCampaign(campaign_id=missing[0], fields=_at(requested, missing, "does not exist"))
    failed = [each for each in requested if tasks[each].state is CampaignState.FAILED]
    if failed:
        raise TaskFailed(name=tasks[failed[0]].name, fields=_at(requested, failed, "failed"))
    built = [each for each in requested if tasks[each].shares is not None]
    apart = [each for each in built if not tasks[each].shares]
    if len(built) > 1 and apart:
        raise TaskApart(name=tasks[apart[0]].name, fields=_at(requested, apart, "shows no dialogue of the others"))


def _at(requested: Sequence[UUID], found: Sequence[UUID], detail: str) -> tuple[FieldError, ...]:
    return tuple(FieldError(f"/campaigns/{requested.index(each)}", detail) for each in found)
