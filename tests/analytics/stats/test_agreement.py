import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from spotthebot.analytics.stats import (
    AgreementRule,
    Measurement,
    SettingOutOfRange,
    fleiss_kappa,
    krippendorff_alpha,
    label_agreement,
    label_alpha,
)
from spotthebot.analytics.stats.bca import bca_interval, bootstrap_clusters
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.comparison import Comparison
from tests.factories.published_dump import SHARED, published_table, reference

LEVELS = [Measurement.NOMINAL, Measurement.ORDINAL, Measurement.INTERVAL, Measurement.RATIO]


def _columns(ratings):
    """Turn an (observers, units) matrix with None for missing into unit and value columns."""
    found = [(unit, value) for row in ratings for unit, value in enumerate(row) if value is not None]
    units, values = zip(*found, strict=True) if found else ((), ())
    return np.array(units, dtype=np.int64), np.array(values, dtype=np.float64)


def _share(sums):
    return sums[:, 0] / sums[:, 1]


class TestBcaInterval:
    def test_is_scipy_s_on_the_same_replicates(self):
        rng = np.random.default_rng(3)
        data = rng.exponential(size=40)
        wanted = scipy_stats.bootstrap((data,), np.mean, method="BCa", n_resamples=999, rng=np.random.default_rng(4))
        left_out = (data.sum() - data) / 39
        low, high = bca_interval(wanted.bootstrap_distribution, data.mean(), left_out, 0.95)
        assert (low, high) == pytest.approx(tuple(wanted.confidence_interval), abs=1e-3)

    def test_replicates_on_one_side_give_no_bounds(self):
        assert all(np.isnan(bca_interval(np.full(50, 2.0), 1.0, np.arange(5.0), 0.95)))

    def test_few_kinds_of_clusters_are_drawn_as_counts_with_the_same_spread(self):
        # 300 clusters of two kinds, and the same made distinct by a third column that the statistic ignores.
        kinds = np.repeat([[1.0, 1.0], [0.0, 1.0]], [90, 210], axis=0)
        distinct = np.column_stack([kinds, np.arange(300.0)])
        few, many = (
            bootstrap_clusters(each, _share, confidence_level=0.95, n_resamples=8000, seed=1)
            for each in (kinds, distinct)
        )
        assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.006)
        assert few.n_clusters == many.n_clusters == 300


class TestKrippendorffAlpha:
    @pytest.mark.parametrize("level", LEVELS)
    def test_is_krippendorff_s_canonical_example(self, level):
        example = reference("statistics/worked_examples.json")["krippendorff_canonical"]
        unit, value = _columns(example["ratings"])
        assert krippendorff_alpha(unit, value, level=level).estimate == pytest.approx(example[level], abs=1e-12)

    @settings(max_examples=40, deadline=None)
    @given(
        ratings=st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=6, max_size=6), min_size=2, max_size=4),
        level=st.sampled_from(LEVELS),
    )
    def test_is_the_package_s(self, ratings, level):
        unit, value = _columns(ratings)
        ours = krippendorff_alpha(unit, value, level=level, n_resamples=1).estimate
        try:
            data = np.array([[np.nan if value is None else value for value in row] for row in ratings], dtype=float)
            with np.errstate(all="ignore"):
                wanted = krippendorff.alpha(reliability_data=data, level_of_measurement=str(level))
        except (ValueError, AssertionError):
            wanted = np.nan
        if np.isnan(wanted):
            assert ours is None
        elif ours is None:
            # The package calls values that never meet another one perfect agreement.
            assert len({value for at, value in zip(unit, value, strict=True) if np.sum(unit == at) > 1}) < 2
        else:
            assert ours == pytest.approx(wanted, abs=1e-12)

    @pytest.mark.parametrize(
        ("unit", "value", "reason"),
        [
            ([], [], "no unit has two values"),
            ([0, 1], [1, 2], "no unit has two values"),
            ([0, 0, 1, 1], [2, 2, 2, 2], "all values are the same"),
        ],
    )
    def test_says_why_it_is_undefined(self, unit, value, reason):
        alpha = krippendorff_alpha(unit, value)
        assert (alpha.estimate, alpha.low, alpha.reason) == (None, None, reason)

    def test_counts_replicates_without_variation(self):
        # Nine units agree on 1, one disagrees: (9 / 10)^10 of the replicates, 35 %, have nothing but ones.
        alpha = krippendorff_alpha(np.repeat(range(10), 2), [1] * 19 + [2], n_resamples=2000)
        assert alpha.n_undefined / 2000 == pytest.approx(0.9**10, abs=0.05)

    def test_refuses_a_unit_in_two_clusters_and_columns_of_two_lengths(self):
        with pytest.raises(SettingOutOfRange, match="cluster must be the same for all values of a unit"):
            krippendorff_alpha([0, 0], [1, 2], cluster=[0, 1])
        with pytest.raises(SettingOutOfRange, match="columns of one length"):
            krippendorff_alpha([0, 0], [1, 2, 3])


class TestAbcEvalAgreement:
    """The nine behaviours of ABC-Eval on 1,634 doubly annotated turns (Finch, Finch & Choi 2023)."""

    def test_alphas_are_printed_ones_and_bounds_the_reference_s(self):
        wanted = reference("abc-eval/alpha.json")["behaviours"]
        labels = _double_annotated()
        compared = Comparison("ABC-Eval: Krippendorff's alpha, nominal")
        for behaviour, want in wanted.items():
            unit, value, dialogue = labels[behaviour]
            turns = krippendorff_alpha(unit, value, n_resamples=10_000)
            dialogues = krippendorff_alpha(unit, value, cluster=dialogue, n_resamples=10_000)
            compared.add(behaviour, float(want["published"]["alpha"]), turns.estimate, want["alpha"])
            assert (turns.n, dialogues.n_clusters) == (want["turns"], want["dialogues"])
            assert f"{turns.estimate:.3f}" == want["published"]["alpha"]
            # Monte Carlo error of a 2.5 % point of 10,000 replicates: about 2.8 / sqrt(10,000) standard errors.
            for ours, bounds in ((turns, want["bca_turns_10000"]), (dialogues, want["bca_dialogues_10000"])):
                tolerance = 4 * 0.028 * (bounds[1] - bounds[0]) / 3.92
                assert (ours.low, ours.high) == pytest.approx(tuple(bounds), abs=tolerance)
        compared.print()
        assert compared.furthest_from_reference() < 1e-9


def _double_annotated():
    """Return unit, value and dialogue columns of each behaviour: a unit is a turn, labelled by two people."""
    file = SHARED / "data" / "abc-eval" / "behavior_labels_double_annotated.json"
    if not file.is_file():
        pytest.skip("the doubly annotated turns ../shared/data/abc-eval are not here")
    columns, turns = {}, 0
    for dialogue, exchanges in enumerate(json.loads(file.read_text()).values()):
        for exchange in exchanges:
            for behaviour, labels in exchange["behaviors"].items():
                columns.setdefault(behaviour, []).extend((turns, label, dialogue) for label in labels["human"])
            turns += 1
    return {behaviour: np.array(rows).T for behaviour, rows in columns.items()}


class TestFleissKappa:
    def test_is_statsmodels_on_fleiss_s_own_table(self):
        # Fleiss 1971, table 1: 30 patients, six psychiatrists, five diagnoses; kappa is printed as .430.
        table = np.array(
            [[0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0],
             [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0],
             [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1], [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0],
             [0, 2, 0, 4, 0], [1, 0, 2, 0, 3], [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0],
             [1, 0, 0, 4, 1], [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6]]
        )  # fmt: skip
        unit = np.repeat(np.arange(30), 6)
        category = np.concatenate([np.repeat(np.arange(5), row) for row in table])
        kappa = fleiss_kappa(unit, category)
        assert kappa.estimate == pytest.approx(statsmodels_kappa(table), abs=1e-12)
        assert f"{kappa.estimate:.3f}" == "0.430"
        assert kappa.low < kappa.estimate < kappa.high

    def test_takes_the_commonest_number_of_ratings_and_says_what_it_leaves_out(self):
        kappa = fleiss_kappa([0, 0, 1, 1, 2, 2, 3, 3, 3, 4], [1, 1, 2, 2, 1, 2, 1, 1, 1, 2])
        assert (kappa.ratings, kappa.n, kappa.n_left_out) == (2, 3, 2)
        assert kappa.estimate == pytest.approx(1 / 3)

    @pytest.mark.parametrize(
        ("category", "reason"), [([], "no unit has two ratings"), ([1, 1, 1, 1], "all ratings are the same")]
    )
    def test_says_why_it_is_undefined(self, category, reason):
        kappa = fleiss_kappa(np.arange(len(category)) // 2, category)
        assert (kappa.estimate, kappa.reason) == (None, reason)


class TestLabelAgreement:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    @pytest.mark.parametrize(("rule", "key"), [(AgreementRule.PUBLISHED, "code"), (AgreementRule.ONCE, "words")])
    @pytest.mark.parametrize("package_filter", ["none", "pkg"])
    def test_is_the_reference_s(self, domain, rule, key, package_filter):
        wanted = reference(f"spot-the-bot/{domain}.json")["by_filter"][package_filter]["agreement"][f"exact2/{key}"]
        found = {
            f"{each.bot}|{each.label.name.lower()}": (each.agree, each.n, each.estimate)
            for each in label_agreement(published_table(domain, package_filter), rule=rule, n_resamples=10)
            if each.n
        }
        assert found == {
            pair: (want["agree"], want["total"], pytest.approx(want["rate"], abs=1e-12))
            for pair, want in wanted.items()
        }

    def test_table_3_prints_the_mean_of_two_domains_for_gpt(self):
        # The paper averages the domains' two-decimal rates; GPT alone took part in just the two that are here.
        wanted = reference("spot-the-bot/summary.json")["table3"]["values"]["GPT"]
        compared = Comparison("Table 3, GPT: mean of two domains' two-decimal rates")
        for at, label in enumerate(("bot", "human", "unsure")):
            rates = [
                round(each.estimate, 2)
                for domain in ("dailydialog", "empathetic")
                for each in label_agreement(published_table(domain, "pkg"), n_resamples=1)
                if (each.bot, each.label.name.lower()) == ("GPT", label)
            ]
            paper = wanted["paper_bot_human_unsure"][at]
            compared.add(f"GPT {label}", paper, sum(rates) / 2, wanted[label]["macro_of_2dp_rounded"])
        compared.print()
        assert compared.furthest_from_reference() < 1e-9
        assert compared.printed_alike("rounded") == 3

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed)
        one, rows, names = (
            {(each.bot, each.label): (each.agree, each.n, each.low, each.high) for each in label_agreement(t)}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert one == rows == names


class TestLabelAlpha:
    def test_is_the_package_s_ordinal_alpha_of_both_sides(self):
        table = simulated_table(2)
        segments = sorted(set(zip(table.conversation.tolist(), table.exchanges.tolist(), strict=True)))
        data = np.full((2, 2 * len(segments)), np.nan)
        for at, (conversation, exchanges) in enumerate(segments):
            rows = np.flatnonzero((table.conversation == conversation) & (table.exchanges == exchanges))
            for observer, row in enumerate(rows):
                data[observer, 2 * at : 2 * at + 2] = table.label[row]
        alpha = label_alpha(table, n_resamples=200)
        wanted = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
        assert alpha.estimate == pytest.approx(wanted, abs=1e-12)
        assert alpha.n_clusters == len(set(table.conversation.tolist()))

    def test_one_annotation_says_nothing(self):
        alpha = label_alpha(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B")))
        assert (alpha.estimate, alpha.reason) == (None, "no unit has two values")
