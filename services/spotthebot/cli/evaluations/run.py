"""Runs an evaluation: collects conversations, scores them and reads the ranking.

Steps that were done before are skipped.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

from spotthebot.cli.collections.declaration_file import CollectionDeclared
from spotthebot.cli.collections.resolution import resolve
from spotthebot.cli.collections.run import CollectionProgress, follow, start
from spotthebot.cli.declarations.declared import Declared
from spotthebot.cli.evaluations.declaration import ScoredPlan
from spotthebot.cli.evaluations.declaration_file import DeclaredEvaluation, PlayMode, collection_of
from spotthebot.clients.partner_sets import read_configurations, store_partner_set
from spotthebot.contracts.conversations.collections import BipartiteIn, CollectionState
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut, PartnerSetRef
from spotthebot.contracts.fed.score_jobs import BotScoreOut, ScoreJobIn, ScoreSetOut
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.partner_files import fingerprint_of
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from spotthebot.local.scoring.collections import offer_model, score_collection

Collect: TypeAlias = Callable[[Clients, DataFolder | None, CollectionDeclared, Steps], Awaitable[UUID]]
_LONGEST_NAME: Final = 100


@dataclass(frozen=True)
class Evaluation:
    """The scores of an evaluation. In bipartite-play it also has the partners."""

    mode: PlayMode
    scores: ScoreSetOut
    partner_set: PartnerSetOut | None
    fingerprint: str | None = None
    """A hash of the partners' configurations, independent of their names and addresses. None without partners."""

    def ranking(self) -> list[BotScoreOut]:
        """Return the bots with their scores on the first dimension, best first."""
        return list(self.scores.dimensions[0].bots)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document that `--json` writes."""
        partners = self.partner_set
        return {
            "collection": str(self.scores.collection_id),
            "score_set": str(self.scores.id),
            "mode": self.mode.value,
            "partner_set": None
            if partners is None
            else {"name": partners.name, "version": partners.version, "fingerprint": self.fingerprint},
            "model_sha256": self.scores.model_sha256,
            "repeated_texts": [each.model_dump(mode="json") for each in self.scores.repeated_texts],
            "ranked_by": self.scores.dimensions[0].dimension,
            "ranking": [_row(each, ranks=True) for each in self.ranking()],
            "dimensions": {
                each.dimension: [_row(bot, ranks=False) for bot in each.bots] for each in self.scores.dimensions
            },
        }


async def collect(clients: Clients, folder: DataFolder | None, declared: CollectionDeclared, steps: Steps) -> UUID:
    """Collect the declared conversations, or continue, and return the collection's id.

    Raises JobFailed if no conversation is complete.
    """
    with steps.step(f"Collecting conversations: {declared.request.mode}") as step:
        started = await start(clients, folder, declared, restart=False)

        def show(progress: CollectionProgress) -> None:
            found = progress.collection
            step.at(found.complete + found.failed, found.conversations)

        progress = await follow(clients.conversations, started, show)
    if progress.collection.state is not CollectionState.COMPLETE or not progress.collection.complete:
        raise JobFailed(
            what="The collection", reason=f"it is {progress.collection.state} and has no conversation to score."
        )
    return progress.collection.id


async def evaluate(
    clients: Clients,
    folder: DataFolder | None,
    declared: DeclaredEvaluation,
    mode: PlayMode,
    steps: Steps,
    *,
    bots: tuple[str, ...] = (),
) -> Evaluation:
    """Run an evaluation, or continue the one that the same file began. `bots` replace the bots in the file.

    Raises DeclarationFaulty, NoSuchModelDirectory and JobFailed.
    """
    request = declared.request
    name = collection_name(request.name, mode, [bot for bot in bots if bot not in request.bots])
    return await play_and_score(clients, folder, declared, mode, steps, name=name, bots=bots or request.bots)


async def play_and_score(
    clients: Clients,
    folder: DataFolder | None,
    declared: Declared[ScoredPlan],
    mode: PlayMode,
    steps: Steps,
    collect: Collect = collect,
    **changes: Any,  # noqa: ANN401 - fields of a collection's declaration
) -> Evaluation:
    """Let bots play the plan of a file with `changes`, score the conversations, and return the ranking.

    Raises DeclarationFaulty, NoSuchModelDirectory and JobFailed.
    """
    request = declared.request
    model = await asyncio.to_thread(offer_model, folder, request.scorer.model, beside=declared.file.path.parent)
    changes["mode"] = mode.value
    partner_set = None
    if mode is PlayMode.BIPARTITE:
        partner_set = await _partner_set(clients, declared, changes["bots"])
        changes["partners"] = PartnerSetRef(set=partner_set.name, version=partner_set.version)
    else:
        changes["partners"] = ()
        changes["order"] = "both" if request.order == "target_first" else request.order
    collection_id = await collect(clients, folder, collection_of(declared, **changes), steps)
    job = ScoreJobIn(
        collection_id=collection_id,
        scorer=_scorer(declared, model),
        level=request.scorer.level,
        bots=await _names(clients, collection_id, partner_set),
        confidence_level=request.confidence_level,
        resamples=request.resamples,
        seed=request.seed,
    )
    fingerprint = None if partner_set is None else fingerprint_of(await read_configurations(clients.bots, partner_set))
    return Evaluation(mode, await score_collection(clients, job, steps), partner_set, fingerprint)


async def _partner_set(clients: Clients, declared: Declared[ScoredPlan], bots: Sequence[str]) -> PartnerSetOut:
    """Return the evaluation's partner set.

    If the file lists bots as partners, store these bots as a partner set first.
    """
    resolved = await resolve(clients, collection_of(declared, bots=bots))
    assert isinstance(resolved, BipartiteIn)  # noqa: S101 - collection_of asks for bipartite
    if isinstance(resolved.partners, PartnerSetRef):
        return await clients.conversations.get_partner_set(resolved.partners.set, resolved.partners.version)
    name = f"{declared.request.name} partners"[:100]
    said = "The partners of an evaluation."
    return await store_partner_set(clients.bots, clients.conversations, name, said, resolved.partners)


async def _names(clients: Clients, collection_id: UUID, partner_set: PartnerSetOut | None) -> tuple[str, ...] | None:
    """Return the names of the targets, as results name them. None if all bots are targets."""
    if partner_set is None:
        return None
    partners = {each.bot_id for each in partner_set.partners}
    names = {
        participant.name
        async for spoke in clients.conversations.stream_speakers(collection_id)
        for participant in spoke.participants
        if participant.bot_id is not None and participant.bot_id not in partners
    }
    return tuple(sorted(names))


def _scorer(declared: Declared[ScoredPlan], model: str) -> ScorerIn:
    scorer = declared.request.scorer
    return ScorerIn(
        model=model,
        mode=scorer.mode,
        polarity=scorer.polarity,
        set_rule=scorer.set_rule,
        dimensions=scorer.dimensions,
        dimension_set=DimensionSetRef(set=scorer.dimension_set, version=scorer.dimension_set_version),
        over_long=scorer.over_long,
    )


def collection_name(name: str, mode: PlayMode, others: Sequence[str]) -> str:
    """Return the collection's name, which says the mode and `others`, such as bots that the file does not have."""
    added = "" if mode is PlayMode.BIPARTITE else f" {mode.value}"
    if not others:
        return f"{name[:70]}{added}"
    whole = f"{name}{added}, with {', '.join(others)}"
    sha256 = hashlib.sha256(whole.encode()).hexdigest()
    return whole if len(whole) <= _LONGEST_NAME else f"{name[:60]}{added}, with others {sha256[:8]}"


def _row(bot: BotScoreOut, *, ranks: bool) -> Mapping[str, Any]:
    row: dict[str, Any] = {"bot": bot.bot, "score": bot.score, "low": bot.low, "high": bot.high}
    if ranks:
        row |= {"rank_low": bot.rank_low, "rank_high": bot.rank_high, "length_baseline": bot.length_baseline}
    return row
