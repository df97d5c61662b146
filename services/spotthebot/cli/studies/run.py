"""Creates a declared study: the campaign of each task, then the study. A second run of the same file finds them."""

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from spotthebot.cli.campaigns import run as campaigns
from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.cli.campaigns.run import DeclaredCampaign, Estimate
from spotthebot.cli.declarations.errors import DeclarationFaulty, Fault
from spotthebot.cli.declarations.names import UnknownName
from spotthebot.cli.declarations.refusals import faults_of
from spotthebot.cli.errors import CampaignNameTaken, StudyDiffers
from spotthebot.cli.resources.directories import Collections
from spotthebot.cli.resources.resolver import find_declared
from spotthebot.cli.studies.costs import Cost, cost_of, total_cost
from spotthebot.cli.studies.declaration_file import TASKS, StudyDeclared
from spotthebot.clients import Conflict, NotFound, PeerRefused
from spotthebot.contracts.annotation.studies import StudyIn, StudyOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients

Looked = TypeVar("Looked")
_KEYS: Final = {"campaigns": TASKS}


@dataclass(frozen=True)
class DeclaredStudy:
    """A study that was declared, with the campaigns of its tasks by the tasks' names.

    `is_new` says that this call created it, `changed` names the differences to the study before this call.
    """

    study: StudyOut
    tasks: dict[str, DeclaredCampaign]
    is_new: bool
    changed: tuple[str, ...]

    @property
    def account(self) -> dict[str, Any]:
        """The JSON document that `--json` writes."""
        return _account(self.study.name, self.study.outcome, self.study, self.tasks, self.costs)

    @property
    def costs(self) -> dict[str, Cost]:
        """Return the cost of each task."""
        return {task: cost_of(made.preview) for task, made in self.tasks.items()}

    @property
    def changed_nothing(self) -> bool:
        """Return whether the study and all its campaigns were there before, with the same content and state."""
        made = self.tasks.values()
        return not (self.is_new or self.changed or any(each.is_new or each.changed or each.opened for each in made))


@dataclass(frozen=True)
class EstimatedStudy:
    """The estimated campaigns of a study. `study` is None if no earlier call created the study."""

    name: str
    outcome: str | None
    study: StudyOut | None
    tasks: dict[str, Estimate]

    @property
    def account(self) -> dict[str, Any]:
        """The JSON document that `--json` writes. `study` is null if the study does not exist."""
        return _account(self.name, self.outcome, self.study, self.tasks, self.costs)

    @property
    def costs(self) -> dict[str, Cost]:
        """Return the cost of each task."""
        return {task: cost_of(found.estimate) for task, found in self.tasks.items()}


@dataclass(frozen=True)
class _Found(Generic[Looked]):
    """Everything that the services know of a declared study before it is made.

    `tasks` has the results of looking at each task. `differences` are those between the file and an existing study
    with its campaigns. A task that only the file has is no difference: it is added.
    """

    study: StudyOut | None
    chats: tuple[CollectionOut, ...]
    tasks: dict[str, Looked]
    differences: tuple[str, ...]

    def require_same(self, name: str) -> None:
        """Raise StudyDiffers if there are differences."""
        if self.differences:
            raise StudyDiffers(name=name, differences="; ".join(self.differences))


async def declare(
    clients: Clients, declared: StudyDeclared, steps: Steps, *, opens: bool, changes: bool = False
) -> DeclaredStudy:
    """Create the campaign of each task and the study, or return the existing ones of the same content.

    Tasks that the file has in addition to an existing study are added to it. With `opens`, all campaigns are opened.
    With `changes`, an existing study and its campaigns are changed to the content of the file. Before anything is
    made, raises DeclarationFaulty with the faults of all tasks, or StudyDiffers with all differences.
    """
    found = await _find(clients, declared, steps, partial(campaigns.check, clients, changes=changes))
    if not changes:
        found.require_same(declared.request.name)
    made: dict[str, DeclaredCampaign] = {}
    for task in declared.tasks:
        with steps.step(f"Making {task.name}", total=1):
            made[task.name] = await campaigns.declare(clients, task.campaign, opens=opens, changes=changes)
    request = StudyIn(
        name=declared.request.name,
        campaigns=tuple(each.campaign.id for each in made.values()),
        chats=tuple(each.id for each in found.chats),
        outcome=declared.request.outcome,
        seed=declared.request.seed,
        scores=declared.request.scores,
        latency=declared.request.latency,
    )
    before = found.study
    study = await _store(clients, declared, request, before)
    added = [] if before is None else [name for name, each in made.items() if each.campaign.id not in before.campaigns]
    changed = (*found.differences, *(f"the task {name} is new" for name in added))
    return DeclaredStudy(study, made, is_new=before is None, changed=changed)


async def estimate(clients: Clients, declared: StudyDeclared, steps: Steps) -> EstimatedStudy:
    """Return the estimated packages of every task; nothing is stored. Raises the errors of `declare`."""
    found = await _find(clients, declared, steps, partial(campaigns.estimate, clients))
    found.require_same(declared.request.name)
    return EstimatedStudy(declared.request.name, declared.request.outcome, found.study, found.tasks)


async def _find(
    clients: Clients, declared: StudyDeclared, steps: Steps, look: Callable[[CampaignDeclared], Awaitable[Looked]]
) -> _Found[Looked]:
    """Look at all tasks and chats, and compare them with an existing study; raises DeclarationFaulty with all faults.

    `look` checks the campaign of a task and stores nothing.
    """
    faults: list[Fault] = []
    differences: list[str] = []
    tasks: dict[str, Looked] = {}
    with steps.step("Checking the tasks", total=len(declared.tasks)) as checked:
        for task in declared.tasks:
            try:
                tasks[task.name] = await look(task.campaign)
            except DeclarationFaulty as faulty:
                faults += faulty.faults
            except CampaignNameTaken as taken:
                differences.append(f"task {task.name}: {taken.facts['differences']}")
            checked.advance()
    chats: list[CollectionOut] = []
    for number, name in enumerate(declared.request.chats):
        try:
            chats.append(await find_declared(Collections(clients), name))
        except UnknownName as unknown:
            faults += declared.faulty((("chats", number), str(unknown))).faults
    for number, score_set_id in enumerate(declared.request.scores):
        try:
            await clients.fed.get_score_set(score_set_id)
        except (NotFound, Conflict) as refused:
            faults += declared.faulty((("scores", number), str(refused.facts["detail"]))).faults
    if faults:  # each task has the faults of the study's collections
        raise declared.file.faulty(*sorted(dict.fromkeys(faults), key=lambda fault: fault.line or 0))
    studies = [each async for each in clients.annotation.list_studies(name=declared.request.name)]
    study = studies[0] if studies else None
    if study is not None:
        differences += [each async for each in _differences(clients, study, declared, chats)]
    return _Found(study, tuple(chats), tasks, tuple(differences))


async def _differences(
    clients: Clients, study: StudyOut, declared: StudyDeclared, chats: Sequence[CollectionOut]
) -> AsyncIterator[str]:
    """Yield the differences between an existing study and the file, except for campaigns and for added tasks."""
    said = declared.request
    for key in ("outcome", "seed", "latency"):
        there, here = getattr(study, key), getattr(said, key)
        if there != here:
            yield f"{key} is {json.dumps(there)} there, {json.dumps(here)} here"
    if {*study.chats} != {each.id for each in chats}:
        names = [(await clients.conversations.get_collection(each)).name for each in study.chats]
        yield f"chats is {json.dumps(names)} there, {json.dumps([each.name for each in chats])} here"
    if {*study.scores} != {*said.scores}:
        there, here = ([*map(str, ids)] for ids in (study.scores, said.scores))
        yield f"scores is {json.dumps(there)} there, {json.dumps(here)} here"
    named = {task.campaign.request.name for task in declared.tasks}
    for campaign_id in study.campaigns:
        name = (await clients.annotation.get_campaign(campaign_id)).name
        if name not in named:
            yield f"the campaign {name} belongs to the study there, and to no task here"


async def _store(clients: Clients, declared: StudyDeclared, request: StudyIn, before: StudyOut | None) -> StudyOut:
    """Create or replace the study, or return it as it is; raises DeclarationFaulty if the service refuses it."""
    if before is not None and _same(before, request):
        return before
    body = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    key = f"study/{hashlib.sha256(body.encode()).hexdigest()}"  # two calls at once make one study
    try:
        if before is None:
            return await clients.annotation.create_study(request, idempotency_key=key)
        return await clients.annotation.replace_study(before.id, request)
    except PeerRefused as refused:
        raise faults_of(declared, refused, _KEYS) from refused


def _same(study: StudyOut, request: StudyIn) -> bool:
    """Return whether the study says the same as the request; no order has a meaning."""
    return (
        {*study.campaigns} == {*request.campaigns}
        and {*study.chats} == {*request.chats}
        and {*study.scores} == {*request.scores}
        and (study.outcome, study.seed, study.latency) == (request.outcome, request.seed, request.latency)
    )


def _account(
    name: str,
    outcome: str | None,
    study: StudyOut | None,
    tasks: Mapping[str, DeclaredCampaign | Estimate],
    costs: Mapping[str, Cost],
) -> dict[str, Any]:
    return {
        "study": study and str(study.id),
        "name": name,
        "outcome": outcome,
        "tasks": [{"task": task, **made.account, "cost": costs[task].document} for task, made in tasks.items()],
        "cost": total_cost(costs.values()).document,
    }
