"""ABC-Eval's Figures 4 to 8 (Finch, Finch & Choi 2023) by published forms of measures: 64 rates, 64 means, 384 shares.

The raw labels of these figures were not published. So small tables of values that agree with the printed numbers go
through the product's own results of measures, which must print the same estimates and intervals.
"""

from collections import defaultdict

import pytest

from spotthebot.analytics.measures.domain.measure_results import measure_result, measured_pairs
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.contracts.analytics.measures import PublishedForm, PublishedInterval
from tests.reproduction.abc_eval import is_printed, preferences_of, printed_rows, values_of, whole_ratings

REQUEST = Parameters(filter="none", resamples=20)


def _bounds(found: PublishedInterval | None) -> tuple[float | None, float | None, float | None]:
    assert found is not None
    return found.estimate, found.low, found.high


class TestFigures4And5:
    def test_rates_of_16_behaviours_of_4_bots_have_the_printed_wilson_intervals(self):
        """Of 1,500 turns or more, one or two counts have the printed rate; one of them has its interval, too."""
        labels: dict[str, dict[str, list[float]]] = defaultdict(dict)
        rows = printed_rows("surge_behavior_rates")
        for bot, label, share, _, _, turns in rows:
            n = int(turns)
            counts = [count for count in range(n + 1) if f"{count / n:.3f}" == share]
            assert 1 <= len(counts) <= 2
            labels[label] |= {f"{bot} {at}": [1.0] * count + [0.0] * (n - count) for at, count in enumerate(counts)}
        found: dict[tuple[str, str], list[PublishedForm]] = defaultdict(list)
        for label, given in labels.items():
            for each in measure_result(values_of("share", given), REQUEST).bots:
                found[label, each.bot.split()[0]].append(each.published)
        alike = [
            any(is_printed(_bounds(form), printed) and form.n == int(n) for form in found[label, bot])
            for bot, label, *printed, n in rows
        ]
        assert (len(labels), len(alike), sum(alike)) == (16, 64, 64)


class TestFigures6And8:
    @pytest.mark.parametrize(("level", "n_of_bots"), [("dialogue", {100}), ("turn", {1500, 1512, 1522, 1524})])
    def test_means_of_8_ratings_of_4_bots_have_the_printed_student_intervals(self, level: str, n_of_bots: set[int]):
        """For each printed mean and interval there are whole ratings from 1 to 5, and the product prints the same."""
        rows = printed_rows(f"surge_likert_{level}_ratings")
        labels: dict[str, dict[str, list[float]]] = defaultdict(dict)
        for bot, label, mean, low, high, n in rows:
            ratings = whole_ratings(mean, low, high, int(n))
            assert ratings is not None, (bot, label)
            labels[label][bot] = [float(each) for each in ratings]
        found = {
            (each.bot, label): each.published
            for label, given in labels.items()
            for each in measure_result(values_of("scale", given), REQUEST).bots
        }
        alike = [
            is_printed(_bounds(found[bot, label]), printed) and found[bot, label].n == int(n)
            for bot, label, *printed, n in rows
        ]
        assert (len(labels), len(alike), sum(alike)) == (8, 32, 32)
        assert {form.n for form in found.values()} == n_of_bots


class TestFigure7:
    def test_wins_ties_and_losses_against_others_and_in_pairs_have_the_printed_wilson_intervals(self):
        """Rows of one pair are not mirrored in print: each bot's comparisons are a table of their own."""
        rows = {tuple(row[:3]): row[3:] for row in printed_rows("surge_comparisons")}
        against: dict[tuple[str, str], dict[str, tuple[int, int, int]]] = defaultdict(dict)
        for (bot, other, label), row in rows.items():
            if other != "others":
                lose, tie, win = (round(float(row[at]) * float(row[at + 3])) for at in (0, 4, 8))
                against[bot, label][other] = (lose, tie, win)
        found: dict[tuple[str, ...], PublishedForm] = {}
        for (bot, label), counts in against.items():
            values = preferences_of(bot, counts)
            (own,) = (each for each in measure_result(values, REQUEST).bots if each.bot == bot)
            found[bot, "others", label] = own.published
            for pair in measured_pairs(values, REQUEST):
                if pair.bot == bot:
                    assert pair.published is not None
                    found[bot, pair.other, label] = pair.published
        alike = [
            is_printed(_bounds(share), row[at : at + 3]) and found[key].n == float(row[at + 3])
            for key, row in rows.items()
            for share, at in ((found[key].loss, 0), (found[key].tie, 4), (found[key], 8))
        ]
        assert (len(against), len(rows), len(alike), sum(alike)) == (32, 128, 384, 384)
