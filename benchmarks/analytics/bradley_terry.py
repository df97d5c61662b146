"""Bradley-Terry strengths with intervals: 100,000 votes between 55 bots, by 5,000 voters on 20,000 prompts.

Ours allow for votes that share a voter or a prompt; no rival does. `arena-rank` needs JAX, several hundred MB, so
`./stb test` does not install it: its row is there where `pip install arena-rank` put it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import arenakit
import evalica
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.analytics.measurement import Measurement, timed
from spotthebot.analytics.stats.davidson import DavidsonFit, rate_davidson
from spotthebot.analytics.stats.wins import Games, Unit
from spotthebot.statistics.columns import read_codes

VOTES, BOTS, VOTERS, PROMPTS = 100_000, 55, 5_000, 20_000
RESAMPLES, REPEATS = 40, 5
_EVALICA, _ARENAKIT = 1_000, 2_000
TOY = {"VOTES": 2_000, "BOTS": 5, "VOTERS": 50, "PROMPTS": 200, "RESAMPLES": 2, "REPEATS": 1}
_EVALICA_WINNERS = {1: evalica.Winner.X, -1: evalica.Winner.Y, 0: evalica.Winner.Draw}
_ALIKE = 0.999


def measure() -> Iterator[Measurement]:
    """Time ours and each rival from the same columns of names. A bootstrap's time is that of a part, scaled."""
    rng = np.random.default_rng(0)
    skill = rng.normal(0, 0.7, BOTS)
    first = rng.integers(BOTS, size=VOTES)
    second = (first + rng.integers(1, BOTS, size=VOTES)) % BOTS
    won = rng.random(VOTES) < 1 / (1 + np.exp(skill[second] - skill[first]))
    outcome = np.where(rng.random(VOTES) < 0.25, 0, np.where(won, 1, -1))
    names = np.array([f"model-{bot:02}" for bot in range(BOTS)])
    votes = _Votes(
        names[first], names[second], outcome, rng.integers(VOTERS, size=VOTES), rng.integers(PROMPTS, size=VOTES)
    )
    ours, seconds = timed(votes.rated, repeats=REPEATS)
    strengths = np.array([bot.estimate for bot in ours.bots])
    for ask in votes.rivals():
        rival = ask()
        alike = np.corrcoef(rival.strengths, strengths)[0, 1]
        yield Measurement(
            work=f"Bradley-Terry with two-way intervals, {VOTES:,} votes of {BOTS} bots",
            rival=rival.name,
            seconds=seconds,
            rival_seconds=rival.seconds,
            scaled=rival.scaled,
            agreement=f"strengths correlate by {alike:.4f} (theirs halve ties)",
            goal=f">= {rival.goal}x",
            reached=bool(rival.seconds / seconds >= rival.goal and alike > _ALIKE),
        )


class _Rival(NamedTuple):
    """What a rival says and how long it took; `goal` is how many times faster ours should be."""

    name: str
    strengths: NDArray[Any]
    seconds: float
    scaled: str
    goal: int


@dataclass(frozen=True, eq=False)
class _Votes:
    """Columns (n,) of names of both bots, outcomes (1, -1 or 0), voters and prompts."""

    first: NDArray[np.str_]
    second: NDArray[np.str_]
    outcome: NDArray[np.int64]
    voter: NDArray[np.int64]
    prompt: NDArray[np.int64]

    def rated(self) -> DavidsonFit:
        coded = read_codes(np.concatenate([self.first, self.second]), "bot")
        first, second = coded.code.reshape(2, -1)
        columns = (first, second, self.outcome, self.prompt, self.voter)
        return rate_davidson(Games(tuple(coded.values), *columns, Unit.SEGMENT, "preference"))

    def rivals(self) -> list[Callable[[], _Rival]]:
        installed = [self.of_evalica, self.of_arenakit]
        return installed if find_spec("arena_rank") is None else [*installed, self.of_arena_rank]

    def of_evalica(self) -> _Rival:
        sides = (self.first.tolist(), self.second.tolist())
        winners = [_EVALICA_WINNERS[each] for each in self.outcome.tolist()]
        whole, once = timed(lambda: evalica.bradley_terry(*sides, winners))
        settings: dict[str, Any] = {"n_resamples": RESAMPLES, "bootstrap_method": "percentile"}
        _, several = timed(lambda: evalica.bootstrap(evalica.bradley_terry, *sides, winners, **settings))
        seconds = once + (several - once) * _EVALICA / RESAMPLES
        scores = np.log(whole.scores.sort_index().to_numpy())
        return _Rival(f"`evalica`, {_EVALICA:,} resamples", scores, seconds, f"from {RESAMPLES} resamples", 50)

    def of_arenakit(self) -> _Rival:
        sides = zip(self.first.tolist(), self.second.tolist(), self.outcome.tolist(), strict=True)
        winners = {1: "a", -1: "b", 0: "tie"}
        battles = [arenakit.Battle(model_a=one, model_b=other, winner=winners[won]) for one, other, won in sides]
        arena, once = timed(lambda: arenakit.Arena(battles))
        found, several = timed(lambda: arenakit.bootstrap(arena, n_resamples=RESAMPLES))
        seconds = once + several * _ARENAKIT / RESAMPLES
        return _Rival(f"`arenakit`, {_ARENAKIT:,} resamples", found.point, seconds, f"from {RESAMPLES} resamples", 8)

    def of_arena_rank(self) -> _Rival:
        model = import_module("arena_rank.models.bradley_terry")
        read = import_module("arena_rank.utils.data_utils").PairDataset.from_pandas
        winners = {1: "model_a", -1: "model_b", 0: "tie"}
        columns = {"model_a": self.first, "model_b": self.second}
        table = pd.DataFrame(columns | {"winner": [winners[each] for each in self.outcome.tolist()]})
        found, seconds = timed(
            lambda: model.BradleyTerry(n_competitors=BOTS).compute_ratings_and_cis(read(table)), repeats=REPEATS
        )
        return _Rival("`arena-rank`, sandwich", np.asarray(found["ratings"]), seconds, "without its start", 4)
