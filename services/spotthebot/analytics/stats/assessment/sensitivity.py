"""How many pairs of bots a measure tells apart, by the tests of ABC-Eval (section 7.3 and Table 5).

The tests are z tests of proportions for measures of 0 and 1, t tests for ratings, and sign tests for preferences. To
make measures comparable, the paper draws the same number of dialogues of each bot. These tests treat all values of a
dialogue as independent, and are not adjusted for the number of pairs. They are here to reproduce the paper. The suite's
own tests are `rating_differences` and `pair_tests`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import Seed, generator_of, seed_of
from spotthebot.statistics.whole_numbers import is_whole

LEVELS: Final = ("0.1", "0.05", "0.01")
"""The significance levels of Table 5."""


class PublishedTest(StrEnum):
    """The test that ABC-Eval uses for one kind of measure."""

    Z = "z"
    T = "t"
    SIGN = "sign"


@dataclass(frozen=True)
class PublishedTests:
    """How many pairs of bots differ at each level of `LEVELS`, with `dialogues_per_bot` drawn dialogues of each bot.

    `p_values` has one value for each pair of bots, in the order 0 and 1, 0 and 2, ... It is None if the values show no
    difference that can be tested. In sign tests, `dialogues_per_bot` is the number of dialogues of each pair.
    """

    significant: Mapping[str, int]
    p_values: tuple[float | None, ...]
    dialogues_per_bot: int
    seed: int | None
    test: PublishedTest
    method: str


def count_significant(p_values: ArrayLike) -> dict[str, int]:
    """Count the p-values below each level of `LEVELS`. NaN stands for a test that could not be made.

    >>> count_significant([0.001, 0.07, float("nan")])
    {'0.1': 2, '0.05': 1, '0.01': 1}
    """
    found = np.asarray(p_values, dtype=np.float64)
    return {level: int(np.sum(found < float(level))) for level in LEVELS}


def published_tests(
    value: ArrayLike,
    bot: ArrayLike,
    dialogue: ArrayLike,
    *,
    n_bots: int,
    dialogues_per_bot: int | None = None,
    seed: Seed = 0,
) -> PublishedTests:
    """Test all pairs of bots. Each of n values has the code, from 0, of its bot and of its dialogue.

    If all values are 0 or 1, the tests are z tests, otherwise t tests. `dialogues_per_bot` dialogues of each bot are
    drawn; by default as many as the bot with the fewest dialogues has. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> found = published_tests([1, 1, 1, 1, 0, 0, 0, 0], [0] * 4 + [1] * 4, range(8), n_bots=2)
    >>> found.test.value, found.significant
    ('z', {'0.1': 1, '0.05': 1, '0.01': 1})
    """
    values, codes = read_numbers(value, "value", finite=True), read_codes(dialogue, "dialogue").code
    bots = read_numbers(bot, "bot", finite=True).astype(np.int64)
    if len({values.shape, codes.shape, bots.shape}) > 1:
        raise SettingOutOfRange(setting="value, bot and dialogue", allowed="columns of one length", value=values.shape)
    # A dialogue with two bots is one of each.
    _, codes = np.unique(codes * max(n_bots, 1) + bots, return_inverse=True)
    of_dialogue = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    of_dialogue[codes] = bots
    fewest = int(np.bincount(of_dialogue, minlength=n_bots).min()) if n_bots else 0
    if dialogues_per_bot is not None:
        if not is_whole(dialogues_per_bot, 1, fewest):
            allowed = f"a whole number from 1 to {fewest}, the dialogues of the bot with the fewest"
            raise SettingOutOfRange(setting="dialogues_per_bot", allowed=allowed, value=dialogues_per_bot)
        fewest = dialogues_per_bot
    drawn = _drawn(of_dialogue, fewest, generator_of(seed))[codes]
    values, bots = values[drawn], bots[drawn]
    n = np.bincount(bots, minlength=n_bots).astype(np.float64)
    test = PublishedTest.Z if np.isin(values, (0.0, 1.0)).all() else PublishedTest.T
    values = values if test is PublishedTest.Z else values / unit_of(values)
    means = _ratio(np.bincount(bots, weights=values, minlength=n_bots), n)
    if test is PublishedTest.Z:
        p_values = z_tests(means, n)
    else:
        squares = np.bincount(bots, weights=(values - means[bots]) ** 2, minlength=n_bots)
        p_values = t_tests(means, _ratio(squares, n - 1), n)
    method = f"{_WORDS[test]}, {fewest} dialogues of each bot, as published"
    return _found(p_values, fewest, seed, test, method)


def published_sign_tests(
    preferred: ArrayLike, first: ArrayLike, second: ArrayLike, *, n_bots: int, seed: Seed = 0
) -> PublishedTests:
    """Test all pairs of bots by n preferences: 1 for the bot in `first`, 0 for the bot in `second`.

    Ties (0.5) are left out. The same number of preferences is drawn for each pair: as many as the pair with the fewest
    preferences has. Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> published_sign_tests([1] * 6, [0] * 6, [1] * 6, n_bots=2).p_values
    (0.03125,)
    """
    values = read_numbers(preferred, "preferred", finite=True)
    one, other = (read_numbers(each, "bot", finite=True).astype(np.int64) for each in (first, second))
    if len({values.shape, one.shape, other.shape}) > 1:
        raise SettingOutOfRange(setting="preferred and bots", allowed="columns of one length", value=values.shape)
    values = np.where(one < other, values, 1 - values)
    low, high = np.minimum(one, other), np.maximum(one, other)
    pairs = np.triu_indices(n_bots, 1)
    place = np.zeros((n_bots, n_bots), dtype=np.int64)
    place[pairs] = np.arange(len(pairs[0]))
    pair = place[low, high]
    fewest = int(np.bincount(pair, minlength=len(pairs[0])).min(initial=len(values)))
    drawn = _drawn(pair, fewest, generator_of(seed))
    wins, losses = (
        np.bincount(pair[drawn & kept], minlength=len(pairs[0])).astype(np.float64)
        for kept in (values > 0.5, values < 0.5)
    )
    method = f"{_WORDS[PublishedTest.SIGN]}, {fewest} preferences of each pair, as published"
    return _found(sign_tests(wins, losses), fewest, seed, PublishedTest.SIGN, method)


def z_tests(share: FloatArray, n: FloatArray) -> FloatArray:
    """Return the p-values of the differences of shares (k,) of n (k,) observations, for all pairs in order.

    The tests use the pooled standard error. A p-value is NaN if both shares are 0, or both are 1. `compare_proportions`
    tests one pair.

    >>> z_tests(np.array([0.3, 0.5]), np.array([50.0, 50.0])).round(4).tolist()
    [0.0412]
    """
    one, other = np.triu_indices(len(share), 1)
    pooled = _ratio(share[one] * n[one] + share[other] * n[other], n[one] + n[other])
    variance = pooled * (1 - pooled) * (_ratio(np.ones(len(one)), n[one]) + _ratio(np.ones(len(one)), n[other]))
    found: FloatArray = 2 * scipy.special.ndtr(-np.abs(share[one] - share[other]) / _root(variance))
    return found


def t_tests(mean: FloatArray, variance: FloatArray, n: FloatArray) -> FloatArray:
    """Return the p-values of the differences of means (k,), for all pairs in order: Student's t with pooled variance.

    A p-value is NaN if the values of neither bot vary.

    >>> t_tests(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([8.0, 8.0])).round(4).tolist()  # t = 2
    [0.0653]
    """
    one, other = np.triu_indices(len(mean), 1)
    degrees = n[one] + n[other] - 2
    squares = np.where(n > 1, variance, 0.0) * np.maximum(n - 1, 0)
    pooled = _ratio(squares[one] + squares[other], degrees)
    error = _root(pooled * (_ratio(np.ones(len(one)), n[one]) + _ratio(np.ones(len(one)), n[other])))
    return np.asarray(2 * student_tails(np.abs(mean[one] - mean[other]) / error, degrees))


def sign_tests(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Return the p-values (m,) of exact sign tests. Ties are left out; a p-value is NaN without wins and losses.

    >>> sign_tests(np.array([6.0, 0.0]), np.array([0.0, 0.0])).tolist()
    [0.03125, nan]
    """
    decided = wins + losses
    tail = scipy.special.bdtr(np.minimum(wins, losses), decided.astype(np.int64), 0.5)
    return np.where(decided > 0, np.minimum(2 * tail, 1.0), np.nan)


_WORDS: Final = {
    PublishedTest.Z: "z tests of proportions",
    PublishedTest.T: "t tests",
    PublishedTest.SIGN: "sign tests",
}


def _found(p_values: FloatArray, n: int, seed: Seed, test: PublishedTest, method: str) -> PublishedTests:
    listed = tuple(None if np.isnan(each) else float(each) for each in p_values)
    return PublishedTests(count_significant(p_values), listed, n, seed_of(seed), test, method)


def _drawn(group: IntArray, size: int, generator: np.random.Generator) -> BoolArray:
    """Draw `size` members of each group without replacement. `group` (n,) has the group of each row."""
    order = np.lexsort((generator.random(len(group)), group))
    starts = np.searchsorted(group[order], group[order])
    drawn = np.zeros(len(group), dtype=np.bool_)
    drawn[order[np.arange(len(group)) - starts < size]] = True
    return drawn


def _ratio(above: FloatArray | IntArray, below: FloatArray) -> FloatArray:
    return np.asarray(np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0))


def _root(variance: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.where(variance > 0, variance, np.nan)))
