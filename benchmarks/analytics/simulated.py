"""Data of the sizes that the benchmarks want: games, and annotations of a whole campaign."""

from collections.abc import Hashable

import numpy as np

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.stats.wins import Games, Unit

BOTS = ("A", "B", "C", "D", "E", "F")
_TIES = 0.7


def simulated_games(n: int, *, unit: Unit = Unit.ANNOTATION, seed: int = 0) -> Games:
    """Draw n games of six bots; of two the one with the later name wins more often."""
    rng = np.random.default_rng(seed)
    pairs = np.array(np.triu_indices(len(BOTS), 1)).T
    first, second = pairs[np.arange(n) % len(pairs)].T
    stronger = rng.random(n) < 0.5 + 0.08 * (second - first)
    return Games(
        bots=BOTS,
        first=first,
        second=second,
        outcome=np.where(rng.random(n) < _TIES, 0, np.where(stronger, -1, 1)),
        conversation=np.arange(n) // (1 if unit is Unit.CONVERSATION else 6),
        annotator=rng.integers(40, size=n),
        unit=unit,
        criterion="human",
    )


def simulated_study(annotations: int, *, seed: int = 0) -> LabelledCampaign:
    """Draw a campaign of six bots and people: three lengths, two annotators each, labels by the speaker's skill."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for at, a in enumerate(BOTS) for b in BOTS[at + 1 :]] + [("HU", "HU")] * 3
    skill = {bot: 0.15 + 0.1 * at for at, bot in enumerate(BOTS)} | {"HU": 0.85}
    speakers: dict[Hashable, tuple[str, str]] = {f"c{at}": pairs[at % len(pairs)] for at in range(-(-annotations // 6))}
    coded = []
    names = [f"annotator-{at}" for at in range(max(40, annotations // 1000))]
    for name, sides in speakers.items():
        for exchanges in (2, 3, 5):
            for who in rng.choice(len(names), size=2, replace=False).tolist():
                draws = rng.random(2)
                first, second = (
                    2 if draw < skill[side] else 1 if draw < skill[side] + 0.1 else 0
                    for draw, side in zip(draws.tolist(), sides, strict=True)
                )
                fluency, sensibleness, specificity = rng.integers(-1, 2, size=3).tolist()
                coded.append(
                    CodedAnnotation(
                        conversation=name,
                        package="p",
                        exchanges=exchanges,
                        annotator=names[who],
                        labels=(first, second),
                        leads=(fluency, sensibleness, specificity),
                        elapsed_ms=int(rng.integers(5_000, 90_000)),
                    )
                )
    return LabelledCampaign(
        campaign_id=None,
        campaign="simulated",
        domain="everyday",
        complete=True,
        speakers=speakers,
        packages={"p": frozenset(speakers)},
        annotations=coded[:annotations],
    )
