"""Runs a gate: both versions hold the conversations of one plan, are scored, and their scores compared in pairs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from spotthebot.cli.collections.declaration_file import CollectionDeclared
from spotthebot.cli.collections.resolution import resolve
from spotthebot.cli.collections.run import CollectionProgress, follow, start
from spotthebot.cli.errors import BotDoesNotAnswer, ConversationsFailed, NothingToTest, PairsNotScored, SameVersions
from spotthebot.cli.evaluations.declaration_file import PlayMode, collection_of
from spotthebot.cli.evaluations.run import collection_name, play_and_score
from spotthebot.cli.gates.declaration import LEAST_PAIRS, DeclaredGate
from spotthebot.contracts.conversations.collections import BotWarningOut, CollectionState
from spotthebot.contracts.fed.dialogue_scores import ScoreDifferenceOut
from spotthebot.kit.text.characters import printable
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients


@dataclass(frozen=True)
class GateResult:
    """The difference between the versions `old` and `new`, which are named as reports name them, and the margin."""

    name: str
    old: str
    new: str
    margin: float
    difference: ScoreDifferenceOut

    @property
    def is_regression(self) -> bool:
        """Whether the loss is above the margin at the confidence level."""
        return self.difference.high is not None and self.difference.high < -self.margin

    @property
    def detectable(self) -> float | None:
        """About the smallest loss that is shown with a probability of 80 %. None if no conversation differs."""
        return None if self.difference.detectable is None else self.margin + self.difference.detectable

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document that `--json` writes."""
        return {
            "gate": self.name,
            "old": self.old,
            "new": self.new,
            "regression": self.is_regression,
            "margin": self.margin,
            "detectable": self.detectable,
            "difference": self.difference.model_dump(mode="json"),
        }


async def run_gate(
    clients: Clients, folder: DataFolder | None, declared: DeclaredGate, steps: Steps, *, patience_seconds: float
) -> GateResult:
    """Run a gate, or continue it: conversations and scores of an earlier call are used again.

    Raises DeclarationFaulty, NoSuchModelDirectory, JobFailed, SameVersions, ConversationsFailed, BotDoesNotAnswer,
    PairsNotScored, NothingToTest.
    """
    request = declared.request
    names = (request.old.bot, request.new.bot)
    planned = await resolve(clients, collection_of(declared, mode=PlayMode.BIPARTITE.value, bots=names))
    found = [await clients.bots.get_bot(bot_id) for bot_id in planned.bots]
    asked = (request.old.version, request.new.version)
    numbers = [bot.version if number is None else number for bot, number in zip(found, asked, strict=True)]
    if (found[0].id, numbers[0]) == (found[1].id, numbers[1]):
        raise SameVersions(name=found[0].name, version=numbers[0])
    described, score_sets = [], []
    for name, bot, number in zip(names, found, numbers, strict=True):
        described.append(f"{bot.name}, version {number}")
        played = await play_and_score(
            clients,
            folder,
            declared,
            PlayMode.BIPARTITE,
            steps,
            partial(_collect, version=described[-1], patience_seconds=patience_seconds),
            name=collection_name(request.name, PlayMode.BIPARTITE, [described[-1]]),
            bots=(name,),
            versions={name: number},
        )
        score_sets.append(played.scores.id)
    difference = await clients.fed.get_score_difference(
        score_sets[1], score_sets[0], confidence_level=request.confidence_level
    )
    _require_test(difference, needs_openings=request.opening is not None and request.opening.corpus is not None)
    return GateResult(request.name, described[0], described[1], request.margin, difference)


def _require_test(difference: ScoreDifferenceOut, *, needs_openings: bool) -> None:
    """Raise PairsNotScored if a pair has no score, and NothingToTest without bounds, unless no score differs."""
    if difference.left_out:
        raise PairsNotScored(left_out=difference.left_out, all=difference.left_out + difference.pairs)
    if needs_openings and difference.openings < LEAST_PAIRS:
        raise NothingToTest(reason=f"since they share {difference.openings} openings, and a test needs {LEAST_PAIRS}")
    if difference.reason is not None and difference.estimate:
        raise NothingToTest(reason=difference.reason)


async def _collect(
    clients: Clients,
    folder: DataFolder | None,
    declared: CollectionDeclared,
    steps: Steps,
    *,
    version: str,
    patience_seconds: float,
) -> UUID:
    """Collect all conversations of a version; a collection with failures of an earlier call is collected again."""

    async def approve(warnings: Sequence[BotWarningOut]) -> None:
        for each in warnings:
            if each.kind == "failing":
                raise BotDoesNotAnswer(bot=each.bot, version=version, reason=each.detail.rstrip("."))

    with steps.step(f"Conversations of {version}") as step:
        started = await start(clients, folder, declared, restart=False, approve=approve)
        if (before := started.collection).failed:
            if before.state is CollectionState.COLLECTING:
                await clients.conversations.cancel_collection(before.id)
            started = await start(clients, folder, declared, restart=True, approve=approve)
        patience = _Patience(version, patience_seconds)

        def show(progress: CollectionProgress) -> None:
            found = progress.collection
            step.at(found.complete, found.conversations)
            patience.check(progress)

        progress = await follow(clients.conversations, started, show)
    if progress.collection.state is not CollectionState.COMPLETE:
        raise NothingToTest(reason=f"since the collection of {version} is {progress.collection.state}")
    return progress.collection.id


@dataclass
class _Patience:
    """How long a version's conversations may wait for a bot without any new turn."""

    version: str
    seconds: float
    turns: int = -1
    since: float = 0.0

    def check(self, progress: CollectionProgress) -> None:
        """Raise ConversationsFailed after the first failure, and BotDoesNotAnswer if the patience is over."""
        found = progress.collection
        reasons = {each.state: each for each in progress.failures}
        if found.failed and "failed" in reasons:
            reason = printable(reasons["failed"].reason).rstrip(".")
            raise ConversationsFailed(failed=found.failed, all=found.conversations, version=self.version, reason=reason)
        if found.turns != self.turns or "waiting" not in reasons or not found.waiting:
            self.turns, self.since = found.turns, time.monotonic()
        elif time.monotonic() - self.since > self.seconds:
            waits = reasons["waiting"]
            reason = printable(waits.reason).rstrip(".")
            raise BotDoesNotAnswer(bot=waits.bot, version=self.version, reason=reason)
