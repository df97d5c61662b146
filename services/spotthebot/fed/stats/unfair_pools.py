"""Whether a pool of bots can be chosen so that a bot wins: the cheating experiment (Sato et al. 2022, section 7.2).

In all-play-all a bot's score depends on the bots that take part. An unfair pool has a favoured bot, an unfavoured bot,
and bots that resemble the unfavoured one. Only dialogues within the pool count there. Chance alone flips the
order of bots that are close, and all flips share the unfavoured bot. So the test gives the scores of the unfavoured
bot's dialogues to its partners at random: it is exact if these scores do not depend on the partner. McNemar's test of
the 2 x 2 table finds far less. `benchmarks/fed/coverage/pools` measures errors and power.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from spotthebot.statistics.adjustment import adjust
from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.errors import ColumnsDiffer, SettingOutOfRange, require_splits
from spotthebot.statistics.randomness import generator_of

MAX_RESAMPLES: Final = 100_000
_AT_ONCE: Final = 2_000_000
_ROUNDING: Final = 1e-9
METHOD: Final = (
    "scores of the unfavoured bot's dialogues given to its partners at random; flips of favoured bots (Holm)"
)


@dataclass(frozen=True)
class FavouredBot:
    """A favoured bot's lead over the unfavoured bot in the fair and in the unfair pool.

    A favoured bot wins with a lead above 0. The p-value is of a gain in the lead at least as large; `p_adjusted`
    belongs to the family of all favoured bots.
    """

    bot: str
    fair_lead: float
    unfair_lead: float
    p_value: float
    p_adjusted: float

    @property
    def wins(self) -> tuple[bool, bool]:
        """Whether the bot wins in the fair pool, and whether it wins in the unfair pool."""
        return self.fair_lead > 0, self.unfair_lead > 0


@dataclass(frozen=True)
class UnfairPool:
    """The favoured bots by name, and the p-value of at least as many flips to them, less those away from them."""

    bots: tuple[FavouredBot, ...]
    p_value: float
    n_resamples: int
    seed: int
    method: str

    def count(self, fair: bool, unfair: bool) -> int:  # noqa: FBT001 - the row and the column of a table
        """Return how many favoured bots win in the fair pool, or lose, and win in the unfair pool, or lose."""
        return sum(each.wins == (fair, unfair) for each in self.bots)


def unfair_pool(
    scores: npt.ArrayLike,
    bots: Sequence[str],
    partners: Sequence[str],
    dialogue: npt.ArrayLike,
    *,
    unfavoured: str,
    similar: Sequence[str],
    n_resamples: int = 10_000,
    seed: int = 0,
) -> UnfairPool:
    """Return the leads of all other bots over the unfavoured bot, in a fair and in an unfair pool.

    Columns have one element for each bot in each dialogue; dialogues of one text and pair count once. The fair pool has
    all bots but the similar ones, an unfair pool the favoured bot, the unfavoured bot and the similar ones. Partners
    that are not among `bots` stay, as in bipartite-play, where nothing can flip. Raises ColumnsDiffer, ColumnMalformed,
    SettingOutOfRange, SplitsOutOfRange and SeedMalformed.

    >>> pairs = [(bot, other) for bot in "fus" for other in "fus" if bot != other] * 3
    >>> scores = [{"us": 0.0}.get(bot + other, {"f": 2.0, "u": 3.0, "s": 1.0}[bot]) for bot, other in pairs]
    >>> columns = [bot for bot, _ in pairs], [other for _, other in pairs], np.arange(len(pairs))
    >>> (bot,) = unfair_pool(scores, *columns, unfavoured="u", similar=["s"], n_resamples=200).bots
    >>> bot.bot, round(bot.fair_lead, 9), round(bot.unfair_lead, 9)
    ('f', -1.0, 0.5)
    """
    require_splits(n_resamples, MAX_RESAMPLES)
    chance = generator_of(seed)
    played = _Played.of(scores, bots, partners, dialogue)
    for name in (unfavoured, *similar):
        if name not in played.bots:
            raise SettingOutOfRange(setting="bot", allowed=f"one of {', '.join(played.bots)}", value=name)
    if unfavoured in similar:
        raise SettingOutOfRange(setting="similar", allowed="bots other than the unfavoured one", value=unfavoured)
    fair = [bot for bot in played.bots if bot not in similar]
    favoured = [bot for bot in fair if bot != unfavoured]
    pools = [[bot, unfavoured, *similar] for bot in favoured]
    theirs = [[played.mean(bot, each) for each in (fair, pool)] for bot, pool in zip(favoured, pools, strict=True)]
    of_favoured = np.array(theirs).reshape(len(favoured), 2)
    own = played.scores[played.of_bot == unfavoured]
    weights = np.array([played.weights(unfavoured, each) for each in (fair, *pools)])
    found = _leads(own @ weights.T, of_favoured)
    drawn = [
        _leads(chance.permuted(np.tile(own, (step, 1)), axis=1) @ weights.T, of_favoured)
        for step in _steps(n_resamples, len(own))
    ]
    shuffled = np.concatenate(drawn)
    gains, observed = shuffled[:, 1] - shuffled[:, 0], found[1] - found[0]
    p_values = (1 + np.sum(gains >= observed - _ROUNDING, axis=0)) / (1 + n_resamples)
    flips = _net_flips(shuffled)
    p_value = float((1 + np.sum(flips >= _net_flips(found[None])[0])) / (1 + n_resamples))
    leads = (found * played.unit).tolist()
    answers = zip(favoured, *leads, p_values.tolist(), adjust(p_values).tolist(), strict=True)
    return UnfairPool(tuple(FavouredBot(*each) for each in answers), p_value, n_resamples, seed, METHOD)


@dataclass(frozen=True, eq=False)
class _Played:
    """The scores in units of `unit`, with bot and partner of each, (n,); each text of a pair once."""

    scores: FloatArray
    of_bot: npt.NDArray[np.object_]
    of_partner: npt.NDArray[np.object_]
    unit: float

    @classmethod
    def of(
        cls, scores: npt.ArrayLike, bots: Sequence[str], partners: Sequence[str], dialogue: npt.ArrayLike
    ) -> "_Played":
        values, texts = read_numbers(scores, "scores", finite=True), read_codes(dialogue, "dialogue").code
        if not values.shape == texts.shape == (len(bots),) == (len(partners),):
            raise ColumnsDiffer(first=values.shape, second=texts.shape)
        first: dict[tuple[str, str, int], int] = {}
        for at, key in enumerate(zip(bots, partners, texts.tolist(), strict=True)):
            first.setdefault(key, at)
        rows = [*first.values()]
        unit = unit_of(values)
        names = np.array([bots, partners], dtype=object).reshape(2, -1)[:, rows]
        return cls(values[rows] / unit, names[0], names[1], unit)

    @property
    def bots(self) -> list[str]:
        return sorted(set(self.of_bot.tolist()))

    def weights(self, bot: str, pool: Sequence[str]) -> FloatArray:
        """Return the weights of a bot's scores in its mean within a pool."""
        partner = self.of_partner[self.of_bot == bot]
        counts = np.isin(partner, np.array(pool, dtype=object)) | ~np.isin(partner, np.array(self.bots, dtype=object))
        if not counts.any():
            raise SettingOutOfRange(setting="bot", allowed=f"bots with dialogues among {', '.join(pool)}", value=bot)
        found: FloatArray = counts / counts.sum()
        return found

    def mean(self, bot: str, pool: Sequence[str]) -> float:
        return float(self.scores[self.of_bot == bot] @ self.weights(bot, pool))


def _leads(means: FloatArray, favoured: FloatArray) -> FloatArray:
    """Return the leads (..., 2, f) over the unfavoured bot.

    Its `means` (..., 1 + f) are of the fair pool, then of each unfair pool.
    """
    fair, unfair = favoured[:, 0] - means[..., :1], favoured[:, 1] - means[..., 1:]
    found: FloatArray = np.stack([fair, unfair], axis=-2)
    found[np.abs(found) < _ROUNDING] = 0.0
    return found


def _net_flips(leads: FloatArray) -> npt.NDArray[np.int64]:
    wins = leads > 0
    found: npt.NDArray[np.int64] = wins[:, 1].sum(axis=1) - wins[:, 0].sum(axis=1)
    return found


def _steps(n: int, width: int) -> list[int]:
    step = max(1, _AT_ONCE // max(width, 1))
    return [min(step, n - start) for start in range(0, n, step)]
