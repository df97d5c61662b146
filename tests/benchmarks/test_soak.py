"""A soak: a leak differs from chance, and the program says so by its exit code."""

import json
import math
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.soak.growth import growth
from spotthebot.local.loadtest.plan import LoadPlan
from spotthebot.local.loadtest.record import LOAD
from spotthebot.local.loadtest.result import LoadResult, Memory, Requests

ROOT = Path(__file__).parents[2]
MINUTES = [number / 12 for number in range(240)]


class TestGrowth:
    def test_is_the_slope_of_least_squares_with_the_error_of_newey_and_west(self):
        """Against the matrix formula, (X'X)^-1 S (X'X)^-1, of n = 240: the lag is floor(4 * 2.4^(2/9)) = 4."""
        chance = Random(7)
        level, values = 0.0, []
        for minute in MINUTES:
            level = 0.7 * level + chance.gauss(0, 1)
            values.append(100 + 0.5 * minute + level)
        design = np.column_stack([np.ones(len(MINUTES)), MINUTES])
        inverse = np.linalg.inv(design.T @ design)
        fit = inverse @ design.T @ np.array(values)
        scores = design * (np.array(values) - design @ fit)[:, None]
        middle = scores.T @ scores
        for lag in range(1, 5):
            cross = scores[lag:].T @ scores[:-lag]
            middle += (1 - lag / 5) * (cross + cross.T)
        error = math.sqrt((inverse @ middle @ inverse)[1, 1])
        found = growth(MINUTES, values)
        assert found.estimate == pytest.approx(fit[1])
        assert (found.low, found.high) == pytest.approx((fit[1] - 1.959964 * error, fit[1] + 1.959964 * error))

    @pytest.mark.parametrize(
        ("slope", "noise", "minutes", "verdict"),
        [
            (0.0, 0.5, 20, "flat"),
            (1.0, 0.5, 20, "grows"),
            (0.2, 3.0, 20, "undecided"),
            (1.0, 0.5, 9, "too short to say"),
        ],
    )
    def test_differs_from_chance_or_not(self, slope: float, noise: float, minutes: int, verdict: str):
        chance = Random(1)
        times = [at for at in MINUTES if at <= minutes]
        assert growth(times, [100 + slope * at + chance.gauss(0, noise) for at in times]).verdict == verdict

    @pytest.mark.parametrize("times", [[], [1.0], [1.0, 2.0], [1.0, 1.0, 1.0]])
    def test_is_unknown_of_too_few_samples(self, times: list[float]):
        assert (growth(times, times).low, growth(times, times).high) == (-math.inf, math.inf)


class TestProgram:
    @pytest.mark.parametrize(
        ("slope", "said"), [(0.0, "nothing, exit code 0"), (1.0, "bots: memory grows by 1.00 MiB")]
    )
    def test_ends_with_one_where_memory_grows(self, tmp_path: Path, slope: float, said: str):
        samples = tuple((at, 60 + slope * at) for at in MINUTES)
        requests = (Requests("submit a package", 9, 20.0, 999.0, 1500.0),)
        memory = (Memory("bots", 60, samples[-1][1], samples),)
        soak = LoadResult(LoadPlan(1200), requests, memory, {"bots": 12.4, LOAD: 3.6}, {}, 90, 30, 0)
        (tmp_path / "soak.json").write_text(json.dumps(soak.account))
        command = [sys.executable, "-m", "benchmarks.soak", str(tmp_path / "soak.json")]
        ran = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert (ran.returncode, said in ran.stdout) == (int(slope > 0), True), ran
        assert "90 labels, 30 turns of bots" in ran.stdout
