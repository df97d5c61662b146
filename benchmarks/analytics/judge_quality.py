"""How often nominal 95 % intervals of a judge's quality hold the truth, and how often probes find an effect.

`python -m benchmarks.analytics.judge_quality [--simulations N]` prints two Markdown tables. Studies are drawn whose
truth is known, in 24 cells: 8, 12, 20 and 40 annotators; an intraclass correlation of labels within annotators of 0,
.05 and .18; a judge that uses the text, and one that adds to every probability. Truth is that of other conversations
and other annotators. Probes are drawn without an effect, and with the smallest effect that they claim to detect.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.tables import table_head, table_row
from spotthebot.analytics.stats.judge_quality.agreement import judge_agreement
from spotthebot.analytics.stats.judge_quality.calibration import calibration
from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean
from spotthebot.analytics.stats.judge_quality.groups import quality_by_group
from spotthebot.analytics.stats.judge_quality.probes import probe, self_preference
from tests.factories.scored_labels import BIASED, GOOD, STRENGTHS, StudySetting, draw, draw_probe, truth_of

CELLS = tuple(
    StudySetting(annotators=annotators, leniency=leniency, judge=judge)
    for annotators, leniency, judge in product((8, 12, 20, 40), (0.0, 0.35, 0.7), (GOOD, BIASED))
)
PROBE_SIZES = (10, 40, 160)
_BOTS = tuple(f"bot {at}" for at in range(len(STRENGTHS)))


def main() -> None:
    """Print the lowest, the mean and the highest cell of each interval, and what probes find."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.judge_quality")
    parser.add_argument("--simulations", type=int, default=400, help="studies a cell")
    simulations = parser.parse_args().simulations
    found: dict[str, list[float]] = defaultdict(list)
    for cell in CELLS:
        for kind, share in coverage(cell, simulations).items():
            found[kind].append(share)
    _print(table_head(("Interval", "Lowest cell", "Mean", "Highest cell")))
    for kind, shares in found.items():
        _print(table_row([kind, *(f"{each:.1%}" for each in (min(shares), float(np.mean(shares)), max(shares)))]))
    _print("")
    _print(table_head(("Probe of conversations", "False claims", "Finds the smallest detectable effect", "Coverage")))
    for conversations in PROBE_SIZES:
        of_probe = probe_shares(conversations, simulations)
        _print(table_row([str(conversations), *(f"{each:.1%}" for each in of_probe)]))


def coverage(cell: StudySetting, simulations: int, *, seed: int = 0) -> dict[str, float]:
    """Return the share of studies whose interval holds the truth, by kind; studies without an interval are left out."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[bool]] = defaultdict(list)
    for _ in range(simulations):
        for kind, low, high, truth in _intervals(cell, rng):
            if low is not None and high is not None:
                held[kind].append(low <= truth <= high)
    return {kind: float(np.mean(each)) for kind, each in held.items()}


def _intervals(cell: StudySetting, rng: np.random.Generator) -> Iterator[tuple[str, float | None, float | None, float]]:
    drawn, truth = draw(cell, rng), truth_of(cell)
    labels = drawn.labels
    scores = calibration(labels)
    agreement = judge_agreement(
        labels.unit, labels.conversation, labels.annotator, labels.human, (labels.probability >= 0.5).astype(float)
    )
    bots = quality_by_group(_BOTS, drawn.bot, labels)
    own = self_preference(labels, drawn.bot == 0)
    others = float(np.mean(truth.bias_of_bots[1:]))
    for kind, interval, true in (
        ("Brier score", scores.brier, truth.brier),
        ("gain over the constant share", scores.gain, truth.gain),
        ("bias", scores.bias, truth.bias),
        ("bias on the weakest bot", bots[0].bias, truth.bias_of_bots[0]),
        ("bias on the strongest bot", bots[-1].bias, truth.bias_of_bots[-1]),
        ("self-preference", own, truth.bias_of_bots[0] - others),
        ("agreement with the judge", agreement.judge.share, truth.judge_share),
        ("agreement of people", agreement.people.share, truth.people_share),
        ("agreement with the judge beyond chance", agreement.judge.beyond_chance, truth.judge_pi),
        ("agreement of people beyond chance", agreement.people.beyond_chance, truth.people_pi),
        ("their difference", agreement.difference, truth.judge_pi - truth.people_pi),
    ):
        yield kind, interval.low, interval.high, true


def probe_shares(conversations: int, simulations: int, *, seed: int = 0) -> tuple[float, float, float]:
    """Return how often a probe finds an effect where there is none, and where it is as large as it claims to detect.

    The third share is that of intervals that hold the truth, in the second case.
    """
    rng = np.random.default_rng(seed)
    # The smallest effect that such probes detect: what they claim, on average.
    claims = [probe(*draw_probe(conversations, 0.0, rng)).shift.smallest_detectable for _ in range(60)]
    effect = float(np.mean([each for each in claims if each is not None]))
    false, true, held = [], [], []
    for _ in range(simulations):
        none, some = (probe(*draw_probe(conversations, each, rng)).shift for each in (0.0, effect))
        false.append(not _holds(none, 0))
        true.append(not _holds(some, 0))
        held.append(_holds(some, effect))
    return float(np.mean(false)), float(np.mean(true)), float(np.mean(held))


def _holds(found: ClusteredMean, value: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
