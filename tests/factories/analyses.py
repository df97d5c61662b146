"""Whole analyses of small simulated studies, for what is drawn and written of them."""

from collections.abc import Hashable
from typing import Any
from uuid import UUID

import numpy as np

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.contracts.analytics.analyses import Stability, StabilityCurve, StabilityPoint
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.annotations import AnnotatorKind

CAMPAIGN = UUID("0190a6e0-0000-7000-8000-000000000001")


def study(
    bots: tuple[str, ...] = ("A", "B", "C"),
    *,
    seed: int = 1,
    per_pair: int = 4,
    annotators: int = 5,
    kind: AnnotatorKind = AnnotatorKind.PERSON,
) -> LabelledCampaign:
    """Simulate conversations of all pairs and of people; later bots pass more often. The annotators are simulated."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for at, a in enumerate(bots) for b in bots[at + 1 :]] + [("HU", "HU")]
    speakers: dict[Hashable, tuple[str, str]] = {f"{a}-{b}-{i}": (a, b) for a, b in pairs for i in range(per_pair)}
    strength = {bot: (at + 1) / (len(bots) + 1) for at, bot in enumerate(bots)} | {"HU": 0.9}
    annotations = []
    for name, sides in speakers.items():
        for exchanges in (2, 3):
            for who in rng.choice(annotators, size=2, replace=False):
                first, second = (2 if rng.random() < strength[side] else int(rng.integers(2)) for side in sides)
                fluency, sensibleness, specificity = (int(rng.integers(-1, 2)) for _ in range(3))
                elapsed = int(rng.integers(5_000, 60_000))
                labels, leads = (first, second), (fluency, sensibleness, specificity)
                said = CodedAnnotation(name, "p", exchanges, f"ann{who}", labels, leads, elapsed, kind)
                annotations.append(said)
    packages: dict[Hashable, frozenset[Hashable]] = {"p": frozenset(speakers)}
    return LabelledCampaign(
        CAMPAIGN, "small", "everyday", complete=True, speakers=speakers, packages=packages, annotations=annotations
    )


def analysis(bots: tuple[str, ...] = ("A", "B", "C"), **more: Any) -> Analysis:
    """Analyse such a study with few replicates."""
    return analyse(study(bots, **more), Parameters(filter="none", resamples=60))


def stability() -> Stability:
    """Invent a curve of all bots and one without A."""

    def curve(without: str | None, rates: tuple[float, ...]) -> StabilityCurve:
        points = tuple(
            StabilityPoint(
                conversations=at, rate=rate, low=rate - 0.05, high=min(1, rate + 0.05), clusters=(("B",), ("C",))
            )
            for at, rate in enumerate(rates, start=3)
        )
        return StabilityCurve(without=without, points=points, first_stable=5, stable_from=5)

    return Stability(
        rule="published",
        subsets=100,
        resamples=50,
        curves=(curve(None, (0.4, 0.8, 0.96)), curve("A", (0.5, 0.9, 0.97))),
    )
