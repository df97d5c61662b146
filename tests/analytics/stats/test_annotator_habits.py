"""What annotators' habits do to coefficients of agreement, held against written-out sums and drawn habits."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from spotthebot.analytics.stats.alpha import krippendorff_alpha
from spotthebot.analytics.stats.annotator_habits import Ratings, annotator_habits
from spotthebot.analytics.stats.disagreement import Measurement, Scale
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

cohens_kappa = lazily("statsmodels.stats.inter_rater:cohens_kappa")


def _distances(values, level):
    return Scale.of(values, level).distances(np.zeros(len(values)))


NOMINAL, SQUARES = (_distances([0, 1, 2], level) for level in (Measurement.NOMINAL, Measurement.INTERVAL))


def _crews(rng, units, annotators, sizes=(2,)):
    """Draw the unit and the annotator of each value: units have one of these numbers of annotators, who differ."""
    crews = [rng.choice(annotators, size=rng.choice(sizes), replace=False) for _ in range(units)]
    return np.repeat(np.arange(units), [len(crew) for crew in crews]), np.concatenate(crews)


def _lenient(seed, *, annotators, units, leniency, careless=0.0, spread=0.7, together=1):
    """Draw values 0, 1, 2 of two annotators a unit, who are lenient or not, and of whom some answer at random.

    A conversation has four units, and so many units `together` the same two annotators.
    """
    rng = np.random.default_rng(seed)
    crews = _crews(rng, units // together, annotators)[1].reshape(-1, 2)
    unit, annotator = np.repeat(np.arange(units), 2), np.repeat(crews, together, axis=0).ravel()
    conversation = unit // 4
    easy = rng.normal(0, spread, units)[conversation]
    seen = easy + rng.normal(0, leniency, annotators)[annotator] + rng.normal(size=len(unit))
    value = (seen > -0.4).astype(int) + (seen > 0.4)
    at_random = (annotator < careless * annotators) & (rng.random(len(unit)) < 0.9)
    return unit, np.where(at_random, rng.integers(3, size=len(unit)), value), conversation, annotator


def _mean_square(points, unit, annotator):
    """Return the mean square of habits and its degrees, by one analysis of variance: own points less the others'."""
    apart = np.array(
        [
            points[at] - np.mean([points[o] for o in np.flatnonzero(unit == unit[at]) if o != at])
            for at in range(len(unit))
        ]
    )
    rows = [np.flatnonzero(annotator == each) for each in range(annotator.max() + 1)]
    within = sum(np.sum((apart[at] - apart[at].mean()) ** 2) for at in rows) / (len(unit) - len(rows))
    between = sum(len(at) * apart[at].mean() ** 2 for at in rows)
    # How an annotator's mean depends on all habits: the own one, less the mean of those of co-annotators.
    design = np.zeros((len(rows), len(rows)))
    for who, at in enumerate(rows):
        design[who, who] += 1
        for each in at:
            others = [o for o in np.flatnonzero(unit == unit[each]) if o != each]
            for o in others:
                design[who, annotator[o]] -= 1 / len(others) / len(at)
    seen = design.T @ np.diag([float(len(at)) for at in rows]) @ design
    degrees = np.trace(seen) ** 2 / np.sum(seen**2)
    return (between - len(rows) * within) / np.trace(seen), degrees


class TestHabits:
    @pytest.mark.parametrize(("distance", "weights"), [(NOMINAL, None), (SQUARES, "quadratic")])
    def test_coefficient_of_two_annotators_is_cohen_s_kappa(self, distance, weights):
        rng = np.random.default_rng(1)
        first = rng.integers(3, size=80)
        second = np.where(rng.random(80) < 0.5, first, rng.choice(3, size=80, p=[0.1, 0.2, 0.7]))
        ratings = Ratings(np.tile(np.arange(80), 2), np.repeat([0, 1], 80), np.concatenate([first, second]))
        table = np.zeros((3, 3))
        np.add.at(table, (first, second), 1)
        expected = cohens_kappa(table, wt=weights, return_results=False)
        assert annotator_habits(ratings, distance, 0.3).coefficient == pytest.approx(expected)

    @pytest.mark.parametrize("sizes", [(2,), (2, 3, 4)])
    def test_variance_is_that_of_the_quadratic_form_written_out(self, sizes):
        rng = np.random.default_rng(4)
        unit, annotator = _crews(rng, 90, 9, sizes)
        value = (rng.normal(size=len(unit)) + np.linspace(-1.5, 1.5, 9)[annotator] > 0).astype(int) * 2
        found = annotator_habits(Ratings(unit, annotator, value), SQUARES, 0.4)

        pairs = np.zeros((9, 9))
        for each in range(90):
            crew = annotator[unit == each]
            for one in range(len(crew)):
                for other in range(len(crew)):
                    if one != other:
                        pairs[crew[one], crew[other]] += 1 / (len(crew) - 1) / len(unit)
        share = np.bincount(annotator) / len(unit)
        # Deviations are from the mean of all values, which moves with the habits.
        centred = np.eye(9) - np.outer(np.ones(9), share)
        form = centred.T @ (pairs - 0.4 * np.diag(share)) @ centred
        mean_square, degrees = _mean_square(value.astype(float), unit, annotator)
        # Of f degrees of freedom a mean square's square has the mean 1 + 2 / f, and varies as if it had f / 4.
        square = mean_square**2 / (1 + 2 / degrees)
        assert found.variance == pytest.approx(2 * square / np.var(value) ** 2 * np.trace(form @ form))
        assert found.degrees == pytest.approx(degrees / 4)

    def test_variance_is_how_far_drawn_habits_move_alpha(self):
        rng = np.random.default_rng(8)
        unit, annotator = _crews(rng, 80, 12)
        points = rng.normal(size=80)[unit] + rng.normal(0, 0.2, len(unit))

        def alpha(values):
            return 1 - np.mean((values[::2] - values[1::2]) ** 2) / (2 * np.var(values, ddof=1))

        moved, estimated = [], []
        for _ in range(150):
            habit = rng.normal(0, 0.4, 12)[annotator]
            # Of habits and their opposites together, what is linear in them goes: conversations' variance has it.
            moved.append((alpha(points + habit) + alpha(points - habit)) / 2)
            scale, value = np.unique((points + habit).round(1), return_inverse=True)
            ratings = Ratings(unit, annotator, value)
            estimated.append(
                annotator_habits(ratings, _distances(scale.tolist(), Measurement.INTERVAL), moved[-1]).variance ** 0.5
            )
        assert np.mean(estimated) == pytest.approx(np.std(moved), rel=0.2)

    def test_annotators_who_differ_by_chance_alone_have_next_to_no_habits(self):
        unit, value, _, annotator = _lenient(2, annotators=12, units=1500, leniency=0)
        lenient_unit, lenient, _, by = _lenient(2, annotators=12, units=1500, leniency=0.5)
        chance, habits = (
            annotator_habits(Ratings(*columns), NOMINAL, 0.1).variance
            for columns in ((unit, annotator, value), (lenient_unit, by, lenient))
        )
        assert chance < habits / 50


class TestIntervals:
    @pytest.mark.parametrize("level", [Measurement.NOMINAL, Measurement.INTERVAL])
    @pytest.mark.parametrize("clusters", [Clusters.BOTH, Clusters.ANNOTATOR])
    def test_strong_habits_add_their_variance_to_that_of_conversations_or_units(self, level, clusters):
        unit, value, conversation, annotator = _lenient(3, annotators=12, units=600, leniency=1.0)
        found = krippendorff_alpha(
            unit, value, level=level, conversation=conversation, annotator=annotator, clusters=clusters
        ).uncertainty
        alone = krippendorff_alpha(
            unit,
            value,
            level=level,
            conversation=conversation,
            annotator=annotator,
            clusters=Clusters.CONVERSATION if clusters is Clusters.BOTH else Clusters.NONE,
        )
        habits = annotator_habits(
            Ratings(unit, annotator, value), NOMINAL if level is Measurement.NOMINAL else SQUARES, known(alone.estimate)
        )
        own = known(alone.uncertainty.standard_error) ** 2
        assert known(found.standard_error) ** 2 == pytest.approx(own + habits.variance, rel=1e-6)
        # Satterthwaite's: of 150 conversations or 600 units, all of one size, and of the habits.
        spread = own**2 / (149 if clusters is Clusters.BOTH else 599) + habits.variance**2 / habits.degrees
        assert known(found.degrees_of_freedom) == pytest.approx((own + habits.variance) ** 2 / spread, rel=1e-6)

    def test_careless_annotators_are_seen_by_what_they_contribute(self):
        # Two annotators have a whole conversation: annotators' clusters hold all that conversations' do.
        columns = _lenient(5, annotators=24, units=1200, leniency=0, careless=0.25, spread=2, together=4)
        unit, value, conversation, annotator = columns
        of_both, of_annotators, alone = (
            krippendorff_alpha(unit, value, conversation=conversation, annotator=annotator, clusters=clusters)
            for clusters in (Clusters.BOTH, Clusters.ANNOTATOR, Clusters.CONVERSATION)
        )
        habits = annotator_habits(Ratings(unit, annotator, value), NOMINAL, known(alone.estimate))
        without = known(alone.uncertainty.standard_error) ** 2 + habits.variance
        assert known(of_both.uncertainty.standard_error) ** 2 > 2 * without
        assert of_both.uncertainty.standard_error == pytest.approx(of_annotators.uncertainty.standard_error)

    @pytest.mark.parametrize("kappa", [False, True])
    def test_lie_about_the_coefficient_with_the_chance_of_different_annotators(self, kappa):
        unit, value, conversation, annotator = _lenient(6, annotators=8, units=400, leniency=1.0)
        bound = fleiss_kappa if kappa else krippendorff_alpha
        found = bound(unit, value, conversation=conversation, annotator=annotator, confidence_level=0.9)
        centre = annotator_habits(Ratings(unit, annotator, value), NOMINAL, known(found.estimate)).coefficient
        assert known(found.estimate) < centre - 0.005
        reach = scipy_stats.t.ppf(0.95, known(found.uncertainty.degrees_of_freedom))
        reach *= known(found.uncertainty.standard_error) / (1 - centre**2)
        assert math.atanh(known(found.low)) == pytest.approx(math.atanh(centre) - reach)
        assert math.atanh(known(found.high)) == pytest.approx(math.atanh(centre) + reach)

    def test_units_with_one_value_and_their_annotators_have_no_part(self):
        unit, value, _, annotator = _lenient(7, annotators=10, units=200, leniency=0.7)
        found = krippendorff_alpha(unit, value, annotator=annotator)
        more = krippendorff_alpha(np.append(unit + 1, 0), np.append(value, 2), annotator=np.append(annotator + 1, 0))
        assert (more.low, more.high) == pytest.approx((known(found.low), known(found.high)))

    def test_annotators_who_always_say_the_opposite_have_bounds(self):
        # Alpha is -1 but for a part that vanishes with the number of values: artanh has no value at -1.
        unit = np.repeat(np.arange(80), 2)
        annotator = np.arange(160) % 2 + 2 * (unit % 4)
        found = krippendorff_alpha(unit, (np.arange(160) + unit // 4) % 2, annotator=annotator)
        assert -1 <= known(found.low) <= known(found.high) < -0.9
