"""The actors of a soak (a long load test): annotators, people who chat, readers of dashboards, and talking bots.

Annotators answer at random; only the frequency of their answers matters.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from time import monotonic
from typing import Any
from uuid import UUID

import httpx

from spotthebot.contracts.annotation.annotations import FEATURES
from spotthebot.local.loadtest.made_data import EXCHANGES, MadeData
from spotthebot.local.loadtest.plan import LoadPlan
from spotthebot.local.loadtest.record import Record, RequestFailed, problem_of
from spotthebot.local.sample import DOMAIN

_LABELS, _PREFERENCES = ("human", "bot", "unsure"), ("A", "B", "tie")
_PARTS = ("claim", "ranking", "survival", "features")
_CONFLICT = 409
_NO_MORE = ("nothing-left", "closed")
_AFTER_A_FAULT_SECONDS = 1.0
_POLL_SECONDS = 0.25
_REPLY_SECONDS = 60


class Over(Exception):
    """The time of the soak is over."""


class Actors:
    """All actors of a soak. A method is one round of an actor's work: one package, one chat, or one dashboard."""

    def __init__(
        self,
        plan: LoadPlan,
        data: MadeData,
        record: Record,
        http: dict[str, httpx.AsyncClient],
        open_campaign: Callable[[int], Awaitable[UUID]],
    ) -> None:
        self._plan, self._data, self._record, self._http = plan, data, record, http
        self._end = math.inf
        self._open_campaign = open_campaign
        self._moving_on = asyncio.Lock()
        self.campaigns = [data.campaign]
        """All until now; the last one is annotated and looked at."""
        self.labels = 0
        """Labels that were acknowledged."""
        self.turns = 0
        """Turns of bots in collections that were completed."""

    async def work(self, end: float) -> None:
        """Let all actors work until `end` on the monotonic clock, then wait for their pending requests."""
        self._end = end
        plan = self._plan
        work: list[Awaitable[None]] = [
            *(self._again_and_again(self.annotate, f"annotator-{each:03}") for each in range(plan.annotators)),
            *(self._again_and_again(self.chat, f"person-{each:02}") for each in range(plan.chats)),
            *(self._again_and_again(self.read_dashboard, f"reader-{each}") for each in range(plan.dashboards)),
            self._again_and_again(self.collect, "bots"),
        ]
        await asyncio.gather(*work)

    async def _again_and_again(self, work: Callable[[str, int, Random], Awaitable[None]], name: str) -> None:
        chance, turn = Random(f"{self._plan.seed} {name}"), 0  # noqa: S311 - no secret
        with suppress(Over):
            while True:
                turn += 1
                try:
                    await work(name, turn, chance)
                except RequestFailed:
                    await self._wait(_AFTER_A_FAULT_SECONDS)

    async def annotate(self, name: str, turn: int, chance: Random) -> None:
        """Claim a package, answer its items in two steps, submit. Every package has a new annotator.

        If a campaign has no packages left, the next campaign is opened.
        """
        tasks = self._http["annotation"]
        await self._think(self._plan.answer_seconds, chance)
        campaign = self.campaigns[-1]
        path = f"/v1/campaigns/{campaign}/assignments"
        claimed = await self._record.send(
            tasks, "claim a package", "POST", path, json={"annotator": f"{name}-{turn}"}, refusals=[_CONFLICT]
        )
        if claimed.status_code == _CONFLICT:
            if problem_of(claimed) not in _NO_MORE:
                self._record.fault(f"claim a package: {problem_of(claimed)}")
                raise RequestFailed
            async with self._moving_on:
                if campaign == self.campaigns[-1]:
                    self.campaigns.append(await self._open_campaign(len(self.campaigns) + 1))
            return
        assignment: dict[str, Any] = claimed.json()
        for item in assignment["items"]:
            await self._think(self._plan.answer_seconds, chance)
            place = f"/v1/assignments/{assignment['id']}/items/{item['position']}"
            decision: dict[str, Any] = {"entity": {side: chance.choice(_LABELS) for side in "AB"}}
            await self._record.send(tasks, "first answer", "PUT", place, json={"answer": decision, "show_step": 2})
            whole = decision | {feature: chance.choice(_PREFERENCES) for feature in FEATURES}
            await self._record.send(tasks, "whole answer", "PUT", place, json={"answer": whole})
        await self._record.send(tasks, "submit a package", "POST", f"/v1/assignments/{assignment['id']}/submit")
        self.labels += len(assignment["items"])

    async def chat(self, name: str, turn: int, chance: Random) -> None:
        """Talk to a bot until the conversation ends, then rate it."""
        tasks = self._http["chats"]
        await self._think(self._plan.turn_seconds, chance)
        request = {"collection_id": str(self._data.chats), "interactor": f"{name}-{turn}"}
        chat: dict[str, Any] = (
            await self._record.send(tasks, "start a chat", "POST", "/v1/chats", json=request)
        ).json()
        path = f"/v1/chats/{chat['id']}"
        while chat["state"] == "chatting":
            await self._think(self._plan.turn_seconds, chance)
            said = {
                "number": len(chat["conversations"]),
                "text": f"Tell me more about number {chance.randrange(1000)}.",
            }
            with self._record.timed("hear the reply"):
                chat = (await self._record.send(tasks, "say a turn", "POST", f"{path}/turns", json=said)).json()
                chat = await self._hear(tasks, path, chat)
        if chat["state"] == "rating":
            scores = {question["name"]: chance.randint(1, 5) for question in chat["questions"]}
            rated = {"conversations": [{"number": 1, "scores": scores}]}
            await self._record.send(tasks, "rate a chat", "PUT", f"{path}/ratings", json=rated)

    async def _hear(self, tasks: httpx.AsyncClient, path: str, chat: dict[str, Any]) -> dict[str, Any]:
        patience = monotonic() + _REPLY_SECONDS
        while chat["awaits_reply"]:
            if monotonic() > patience:
                self._record.fault(f"hear the reply: none within {_REPLY_SECONDS} s")
                raise RequestFailed
            await asyncio.sleep(_POLL_SECONDS)
            chat = (await self._record.send(tasks, "look at a chat", "GET", path)).json()
        return chat

    async def read_dashboard(self, _name: str, _turn: int, chance: Random) -> None:
        """Open the current campaign's dashboard, with some of its parts and a figure, by a browser's requests."""
        pages = self._http["web"]
        await self._think(self._plan.look_seconds, chance)
        path = f"/campaigns/{self.campaigns[-1]}"
        await self._record.send(pages, "dashboard", "GET", path)
        for part in _PARTS:
            await self._record.send(pages, "part of a dashboard", "GET", f"{path}/parts/{part}")
        # Without a label there is nothing to draw: 409.
        await self._record.send(pages, "figure", "GET", f"{path}/figures/ranking.svg", refusals=[_CONFLICT])

    async def collect(self, _name: str, turn: int, _chance: Random) -> None:
        """Start a collection in which all bots talk to themselves, and wait until it is complete."""
        operator, began = self._http["conversations"], monotonic()
        request = {"mode": "self_play", "name": f"{self._data.name}-{turn}", "domain": DOMAIN, "exchanges": EXCHANGES}
        request |= {"bots": [str(each) for each in self._data.bots], "conversations_per_pair": 1, "seed": turn}
        made = await self._record.send(operator, "start a collection", "POST", "/v1/collections", json=request)
        collection: dict[str, Any] = made.json()
        path = f"/v1/collections/{collection['id']}"
        while collection["state"] != "complete":
            await self._wait(1.0)
            collection = (await self._record.send(operator, "look at a collection", "GET", path)).json()
        if collection["failed"]:
            self._record.fault(f"a collection: {collection['failed']} conversations failed")
        self.turns += 2 * EXCHANGES * collection["complete"]
        await self._wait(self._plan.collection_seconds - (monotonic() - began))

    async def _think(self, mean_seconds: float, chance: Random) -> None:
        await self._wait(chance.expovariate(1 / mean_seconds))

    async def _wait(self, seconds: float) -> None:
        """Wait; raises Over at the end of the soak."""
        left = self._end - monotonic()
        await asyncio.sleep(max(0.0, min(seconds, left)))
        if seconds >= left:
            raise Over
