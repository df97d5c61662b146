"""How often nominal 95 % intervals of win rates hold the truth, where annotations share conversations and annotators.

`python -m benchmarks.analytics.coverage [--simulations N]`: campaigns of the paper's size are drawn from a model whose
win rates are known from a very large one. A pair's outcome leans by random effects of its conversation and of its
annotator, whose sizes give the intraclass correlations measured on the published data.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats import Games, Resample, Unit, count_wins, outcome_correlation, rank_bots
from spotthebot.analytics.stats.annotations import FloatArray

STRENGTHS = np.array([0.9, 0.35, -0.25, -1.0])
PER_PAIR, SEGMENTS, ANNOTATIONS, ANNOTATORS, PACKAGE = 45, 3, 2, 33, 20
_MARGIN = 1.45
_METHODS = {"single games": Resample.GAME, "conversations": Resample.CONVERSATION, "default": None}


@dataclass(frozen=True)
class Clustering:
    """Standard deviations of the effects of conversations and of annotators, on the scale of a game's noise of 1."""

    name: str
    conversation: float
    annotator: float


SETTINGS = (
    Clustering("independent", 0.0, 0.0),
    Clustering("as published", 0.40, 0.25),
    Clustering("strong", 0.65, 0.55),
)


def main() -> None:
    """Print the coverage of each kind of interval, with its Monte Carlo standard error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage")
    parser.add_argument("--simulations", type=int, default=400)
    simulations = parser.parse_args().simulations
    print("| Clustering | ICC of outcomes | Ties | " + " | ".join(_METHODS) + " | Rank ranges, default |")  # noqa: T201 - the table is the output
    print("|---|---|---|" + "---|" * (len(_METHODS) + 1))  # noqa: T201 - the table is the output
    for clustering in SETTINGS:
        print(_row(clustering, simulations))  # noqa: T201 - the table is the output


def _row(clustering: Clustering, simulations: int) -> str:
    truth = _truth(clustering)
    order = np.argsort(-truth)
    rank = np.empty(len(truth), dtype=np.int64)
    rank[order] = np.arange(1, len(truth) + 1)
    held = dict.fromkeys(_METHODS, 0)
    ranks, correlation, ties = 0, 0.0, 0.0
    for seed in range(simulations):
        games = simulate(clustering, np.random.default_rng([seed, 1]), PER_PAIR)
        correlation += outcome_correlation(games) / simulations
        ties += count_wins(games).tie_rate / simulations
        for name, resample in _METHODS.items():
            bots = {bot.bot: bot for bot in rank_bots(games, n_resamples=500, seed=seed, resample=resample).bots}
            for at, bot in enumerate(games.bots):
                found = bots[bot]
                held[name] += found.low is not None and found.high is not None and found.low <= truth[at] <= found.high
                if name == "default" and found.rank_low is not None and found.rank_high is not None:
                    ranks += found.rank_low <= rank[at] <= found.rank_high
    n = simulations * len(truth)
    cells = [_share(held[name], n, simulations) for name in _METHODS]
    named = f"{clustering.name} (sd {clustering.conversation:g}, {clustering.annotator:g})"
    return f"| {named} | {correlation:.3f} | {ties:.0%} | {' | '.join(cells)} | {_share(ranks, n, simulations)} |"


def simulate(clustering: Clustering, rng: np.random.Generator, per_pair: int) -> Games:
    """Draw a campaign: packages of 20 segments of different conversations, each annotated by two annotators."""
    pairs = np.array(np.triu_indices(len(STRENGTHS), 1)).T
    conversations = np.repeat(np.arange(len(pairs)), per_pair)
    segment_of = np.repeat(np.arange(len(conversations)), SEGMENTS)
    package = np.empty(len(segment_of), dtype=np.int64)
    package[rng.permutation(len(segment_of))] = np.arange(len(segment_of)) // PACKAGE
    annotators = max(ANNOTATORS, ANNOTATORS * per_pair // PER_PAIR)
    who = np.stack([rng.choice(annotators, size=ANNOTATIONS, replace=False) for _ in range(package.max() + 1)])[package]
    lean = rng.normal(0, clustering.conversation, len(conversations))[segment_of][:, None]
    # An annotator's taste differs from pair to pair: habits that favour one side of every pair would cancel out.
    taste = rng.normal(0, clustering.annotator, (annotators, len(pairs)))[who, conversations[segment_of][:, None]]
    first, second = pairs[conversations[segment_of]].T
    lead = (
        (STRENGTHS[first] - STRENGTHS[second])[:, None] + lean + taste + rng.normal(size=(len(segment_of), ANNOTATIONS))
    )
    outcome = np.where(np.abs(lead) < _MARGIN, 0, np.sign(lead)).astype(np.int64)
    repeat = ANNOTATIONS
    return Games(
        bots=tuple("ABCD"),
        first=np.repeat(first, repeat),
        second=np.repeat(second, repeat),
        outcome=outcome.ravel(),
        conversation=np.repeat(segment_of, repeat),
        annotator=who.ravel(),
        unit=Unit.ANNOTATION,
        criterion="human",
    )


def _truth(clustering: Clustering) -> FloatArray:
    games = simulate(clustering, np.random.default_rng(0), 20_000)
    return count_wins(games).mean_win_rates


def _share(held: int, n: int, simulations: int) -> str:
    share = held / n
    # Bots of one campaign go together, so campaigns are what is independent.
    return f"{share:.1%} ± {np.sqrt(share * (1 - share) / simulations):.1%}"


if __name__ == "__main__":
    main()
