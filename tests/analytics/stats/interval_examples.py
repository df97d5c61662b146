"""Interval-censored data of the literature, and random data: input of the tests of survival statistics."""

import numpy as np

from spotthebot.analytics.stats.survival.censored_times import censored_times
from tests.factories.published_dump import reference

INF = float("inf")
COLUMNS = {
    "bcos": ("left", "right", "treatment", "RadChem"),
    "miceData": ("l", "u", "grp", "ge"),
    "IR_diabetes": ("left", "right", "gender", "male"),
}


def worked_example(name):
    return reference("statistics/worked_examples.json")[name]


def ends_of(values):
    return np.array([INF if value is None else value for value in values], dtype=float)


def worked_data(name):
    """Return times and whether each row belongs to the second group."""
    left, right, group, second = COLUMNS[name]
    data = worked_example(name)["data"]
    return censored_times(ends_of(data[left]), ends_of(data[right])), np.array(data[group]) == second


def part_of(times, rows):
    return censored_times(times.left[rows], times.right[rows])


def intervals_of(status, code):
    """Current-status rows of one entity as intervals: spotted at k is (0, k], not spotted is (k, inf]."""
    mine = status.entity == code
    k = status.times[status.time[mine]].astype(float)
    spotted = status.spotted[mine]
    return censored_times(np.where(spotted, 0, k), np.where(spotted, k, INF))


def random_intervals(rng, n=60):
    """Times seen at four random moments each; one row in ten is exact."""
    happened = rng.weibull(1.5, n) * 10
    seen = np.sort(rng.uniform(0, 25, (n, 4)).round(1), axis=1)
    left = np.where(seen < happened[:, None], seen, 0).max(axis=1)
    right = np.where(seen >= happened[:, None], seen, INF).min(axis=1)
    exact = rng.random(n) < 0.1
    return np.where(exact, happened, left), np.where(exact, happened, right)
