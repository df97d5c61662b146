"""The metrics of `bots` for operators: replies by protocol and outcome, bots by status, circuits."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from spotthebot.bots.bots.domain import Bot
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.bots.replies import ReplyOut
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.telemetry.queue_metrics import state_family

_MAX_BOTS: Final = 100
"""The number of bots with separate series: the bots asked last."""
_SECONDS: Final = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
_REPLIED: Final = "replied"


@dataclass
class _BotCounts:
    name: str
    questions: int = 0
    failures: int = 0
    seconds: float = 0.0
    circuit_open: bool = False


class ReplyMetrics:
    """Counts the replies of this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._replies = Counter(
            "spotthebot_bot_replies",
            "Replies of bots by protocol and outcome: replied, or the failure.",
            ["protocol", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "spotthebot_bot_reply_seconds",
            "Time of replies of bots that were asked, retries included.",
            ["protocol"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._bots: OrderedDict[str, _BotCounts] = OrderedDict()

    def observe(self, bot: Bot, replies: Sequence[ReplyOut], *, circuit_open: bool) -> None:
        """Count the replies to one request, and store whether the bot's circuit is open afterwards."""
        kind = bot.version.protocol.kind
        counts = self._bots.setdefault(str(bot.id), _BotCounts(bot.name))
        self._bots.move_to_end(str(bot.id))
        if len(self._bots) > _MAX_BOTS:
            self._bots.popitem(last=False)
        counts.circuit_open = circuit_open
        for reply in replies:
            self._replies.labels(kind, reply.failure or _REPLIED).inc()
            counts.questions += 1
            counts.failures += reply.failure is not None
            if reply.attempts:
                self._seconds.labels(kind).observe(reply.latency_ms / 1000)
                counts.seconds += reply.latency_ms / 1000

    def collect(self) -> list[Metric]:
        """Return the metric families, including metrics of single bots."""
        labels = ["bot", "name"]
        questions = CounterMetricFamily(
            "spotthebot_bot_questions", f"Questions to a bot; the {_MAX_BOTS} bots asked last.", labels=labels
        )
        failures = CounterMetricFamily("spotthebot_bot_failures", "Questions without a reply, by bot.", labels=labels)
        seconds = CounterMetricFamily("spotthebot_bot_seconds", "Time of a bot's replies, in all.", labels=labels)
        circuits = GaugeMetricFamily(
            "spotthebot_bot_circuit_open", "1 where a bot gets no questions until a probe succeeds.", labels=labels
        )
        for bot_id, counts in self._bots.items():
            of_bot = [bot_id, counts.name]
            questions.add_metric(of_bot, counts.questions)
            failures.add_metric(of_bot, counts.failures)
            seconds.add_metric(of_bot, counts.seconds)
            circuits.add_metric(of_bot, counts.circuit_open)
        return [*self._registry.collect(), questions, failures, seconds, circuits]


async def read_metrics(database: Database, replies: ReplyMetrics) -> list[Metric]:
    """Return the counts of this process, and the bots by status."""
    async with database.read() as session:
        found = await bots_store.count_by_status(session)
    counts = {status.value: found.get(status.value, 0) for status in BotStatus}
    return [*replies.collect(), state_family("spotthebot_bots", "Bots by status.", "status", counts)]
