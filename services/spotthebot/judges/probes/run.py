"""Asks a judge about items as they are, and with one planted change. Nothing is stored in a campaign."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import EndpointJudge, JudgeVersionOut
from spotthebot.judges.items import answer_item
from spotthebot.judges.labellers import Surroundings, open_labeller
from spotthebot.judges.opinions import Labeller, Seen, Usage
from spotthebot.judges.probes.changes import Planted, ProbeKind, plant
from spotthebot.judges.probes.preference import LabelledSide, preference
from spotthebot.judges.probes.results import Compared, Humans, ProbeResult, result_of, why_not_asked
from spotthebot.judges.probes.sample import SampledItem

_SECOND: Final = 2
"""The repeat by which the second answer is asked for, so that the endpoint can't take it for the first request."""


@dataclass(frozen=True)
class Probing:
    """What is asked: items as they are, and the items with one change, by probe."""

    items: Sequence[SampledItem]
    planted: Mapping[ProbeKind, Sequence[Planted]]

    @classmethod
    def plan(
        cls, judge: JudgeVersionOut, items: Sequence[SampledItem], kinds: Sequence[ProbeKind], seed: int
    ) -> "Probing":
        """Plant the changes of the probes that would say something about this judge."""
        return cls(
            items,
            {
                kind: []
                if why_not_asked(kind, judge.settings)
                else [each for item in items if (each := plant(kind, item, seed)) is not None]
                for kind in kinds
            },
        )

    def questions_of(self, kind: ProbeKind) -> int:
        """Return how many changed items a probe shows to the judge, controls included."""
        return sum(1 + (each.control is not None) for each in self.planted[kind])

    @property
    def questions(self) -> int:
        """How many items a judge is shown, unchanged ones included."""
        return len(self.items) + sum(map(self.questions_of, self.planted))


@dataclass(frozen=True)
class ProbesRun:
    """What the probes found, how many items the judge was shown, and what its answers took.

    `preference` is the self-preference, if bots with the judge's model were named.
    """

    results: Sequence[ProbeResult]
    preference: ClusteredMean | None
    questions: int
    usage: Usage


async def run_probes(
    judge: JudgeVersionOut,
    campaign: CampaignOut,
    here: Surroundings,
    probing: Probing,
    on_question: Callable[[], object],
    *,
    at_once: int,
    labels: Sequence[LabelledSide] | None = None,
) -> ProbesRun:
    """Ask about each item as it is, then about those with an answer with each change.

    `labels` are people's labels, with which the self-preference is computed. Raises the errors of `open_labeller`.
    """
    async with _labellers(judge, campaign, here) as (labeller, again):
        asking = _Asking(on_question, at_once)
        before = dict(
            zip(
                map(_key, probing.items),
                await asking.ask(labeller, [item.seen for item in probing.items]),
                strict=True,
            )
        )
        results = []
        for kind, planted in probing.planted.items():
            useful = [each for each in planted if before[_key(each.item)].shares]
            after = await asking.ask(again if kind is ProbeKind.STABILITY else labeller, [each.seen for each in useful])
            controlled = [each for each in useful if each.control is not None]
            answers = await asking.ask(labeller, [each.control for each in controlled if each.control is not None])
            changed = {_key(each.item): humans for each, humans in zip(useful, after, strict=True)}
            controls = {_key(each.item): humans for each, humans in zip(controlled, answers, strict=True)}
            compared = [
                Compared(each, before[key], changed.get(key, Humans()), controls.get(key, Humans()))
                for each in planted
                for key in (_key(each.item),)
            ]
            results.append(result_of(kind, compared, judge.settings))
    said = {key: each.shares for key, each in before.items()}
    own = None if labels is None else preference(labels, said)
    return ProbesRun(results, own, asking.questions, asking.usage)


class _Asking:
    """Asks several questions at the same time, and counts what they took."""

    def __init__(self, on_question: Callable[[], object], at_once: int) -> None:
        self._on_question = on_question
        self._free = asyncio.Semaphore(at_once)
        self.questions = 0
        self.usage = Usage()

    async def ask(self, labeller: Labeller, shown: Sequence[Seen]) -> list[Humans]:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(self._ask(labeller, seen)) for seen in shown]
        return [each.result() for each in asked]

    async def _ask(self, labeller: Labeller, seen: Seen) -> Humans:
        async with self._free:
            answered = await answer_item(labeller, seen)
        self.questions += 1
        self.usage += answered.usage
        self._on_question()
        return Humans.of(answered)


@asynccontextmanager
async def _labellers(
    judge: JudgeVersionOut, campaign: CampaignOut, here: Surroundings
) -> AsyncIterator[tuple[Labeller, Labeller]]:
    """Yield the judge, and the judge without the answers that are kept, where its kind keeps any."""
    async with open_labeller(judge, campaign, here) as labeller:
        if not isinstance(judge.settings, EndpointJudge):
            yield labeller, labeller
            return
        with tempfile.TemporaryDirectory() as folder:
            empty = replace(here, cache=Path(folder))
            async with open_labeller(judge, campaign, empty, repeat=_SECOND) as again:
                yield labeller, again


def _key(item: SampledItem) -> tuple[object, int]:
    return item.conversation, item.exchanges
