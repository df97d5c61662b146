"""What a probe found: the answers with and without the change as `analytics` compares them, and why there is none."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean
from spotthebot.analytics.stats.judge_quality.probes import Probe, probe
from spotthebot.contracts.annotation.judges import EndpointJudge, JudgeSettings
from spotthebot.judges.items import Answered
from spotthebot.judges.probes.changes import Planted, ProbeKind
from spotthebot.judges.sides import asks_who_is_human

LOOKS_UP: Final = frozenset({"trained", "fed"})
"""Kinds of judges that answer only about a text that the campaign shows."""
NO_PLACE: Final = "no item of the sample has a place for this change, such as a turn of a bot"
CHANGED_TEXT: Final = "a judge of this kind looks up the text that the campaign shows, and knows no changed text"
OTHER_MODEL: Final = "a trained judge has one model for each side of a text, so it can't see the sides swapped"
AVERAGED: Final = "this judge averages both orders of the sides, so their order can't change its answers"
NO_PROMPT: Final = "a judge of this kind reads no prompt, so other words of it can't change its answers"
Effect: TypeAlias = ClusteredMean
"""A shift of P(human) with its interval."""
_OTHER: Final = {"A": "B", "B": "A"}
_NAN: Final = float("nan")


@dataclass(frozen=True)
class Humans:
    """P(human) of each side of an item that was answered, and the judge's reasons for those that are missing."""

    shares: Mapping[str, float] = field(default_factory=dict)
    details: Sequence[str] = ()

    @classmethod
    def of(cls, answered: Answered) -> "Humans":
        """Read the first question that asks who is human."""
        shares: dict[str, float] = {}
        details = []
        for asked, stated in answered.stated:
            if asked.target is None or stated is None or not asks_who_is_human(asked):
                continue
            if stated.probabilities is None:
                details.append(stated.detail)
            else:
                shares.setdefault(asked.target, stated.probabilities["human"])
        return cls(shares, details)


@dataclass(frozen=True)
class Compared:
    """An item with a planted change, and what the judge said without it, with it and with its control."""

    planted: Planted
    before: Humans
    after: Humans
    control: Humans


@dataclass(frozen=True)
class ProbeResult:
    """A probe's effect on P(human). `beyond_control` is the effect beyond the control's; None without a control.

    `n_lost` units have an answer without the change and none with it. For the position, the shift is that of a
    side that is called A, and not B.
    """

    kind: ProbeKind
    found: Probe | None
    beyond_control: Probe | None
    n_lost: int
    reason: str | None

    @property
    def own(self) -> Probe | None:
        """The effect of what the change says: beyond the control, where there is one."""
        return self.beyond_control or self.found

    @property
    def effect(self) -> ClusteredMean | None:
        """The shift by what the change says."""
        return None if self.own is None else self.own.shift


def why_not_asked(kind: ProbeKind, settings: JudgeSettings) -> str | None:
    """Return why a probe of a judge would say nothing; None where it can be made."""
    if kind is ProbeKind.POSITION and settings.kind == "trained":
        return OTHER_MODEL
    if kind is ProbeKind.POSITION and isinstance(settings, EndpointJudge) and settings.swaps_sides:
        return AVERAGED
    if kind is ProbeKind.WORDING and not isinstance(settings, EndpointJudge):
        return NO_PROMPT
    return None


def result_of(kind: ProbeKind, compared: Sequence[Compared], settings: JudgeSettings) -> ProbeResult:
    """Compare the answers of a probe. Without two answers about any side, there are reasons and no numbers."""
    if not compared:
        return ProbeResult(kind, None, None, 0, why_not_asked(kind, settings) or NO_PLACE)
    units = [(each, side) for each in compared for side in each.planted.sides]
    conversations = [str(each.planted.item.conversation) for each, _ in units]
    given = [each.before.shares.get(side, _NAN) for each, side in units]
    changed = [
        each.after.shares.get(_OTHER[side] if kind is ProbeKind.POSITION else side, _NAN) for each, side in units
    ]
    without = probe(conversations, given, changed)
    found = without
    if kind is ProbeKind.POSITION:
        pairs = list(zip(units, given, changed, strict=True))
        as_a = [one if side == "A" else other for (_, side), one, other in pairs]
        as_b = [other if side == "A" else one for (_, side), one, other in pairs]
        found = probe(conversations, as_b, as_a)
    beyond = None
    if found.n and any(each.planted.control is not None for each, _ in units):
        controls = [each.control.shares.get(side, _NAN) for each, side in units]
        beyond = probe(conversations, controls, changed)
    return ProbeResult(kind, found, beyond, without.n_lost, _reason(compared, beyond or found, settings))


def _reason(compared: Sequence[Compared], found: Probe, settings: JudgeSettings) -> str | None:
    if found.n:
        return found.reason
    answered = any(each.before.shares for each in compared)
    if answered and settings.kind in LOOKS_UP:
        return CHANGED_TEXT
    details = Counter(detail for each in compared for detail in (each.after if answered else each.before).details)
    said = f": {details.most_common(1)[0][0]}" if details else ""
    return f"the judge gave no answer {'about a changed item' if answered else 'about any item'}{said}"
