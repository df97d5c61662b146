import numpy as np
import pytest
from scipy import stats

from spotthebot.analytics.stats.judge_quality.alt_test import alt_test
from spotthebot.statistics.errors import SettingOutOfRange


def by_the_paper(people, judge, epsilon, rate, alignment, least_people=2, least_units=30):
    """The procedure of section 3, annotator by annotator and unit by unit, with scipy's tests and scipy's adjustment.

    `people` has each annotator's labels by unit, `judge` the judge's label by unit.
    """

    def aligned(label, others):
        if alignment == "accuracy":
            return np.mean([label == other for other in others])
        return -np.sqrt(np.mean([(label - other) ** 2 for other in others]))

    of_unit: dict[int, list[str]] = {}
    for name, labels in people.items():
        for unit in labels:
            of_unit.setdefault(unit, []).append(name)
    p_values, advantages = [], []
    for name, labels in people.items():
        units = [unit for unit in labels if unit in judge and len(of_unit[unit]) >= least_people]
        if len(units) < least_units:
            continue
        judge_wins, person_wins = [], []
        for unit in units:
            others = [people[other][unit] for other in of_unit[unit] if other != name]
            of_judge, of_person = aligned(judge[unit], others), aligned(labels[unit], others)
            judge_wins.append(of_judge >= of_person)
            person_wins.append(of_person >= of_judge)
        difference = np.array(person_wins, float) - np.array(judge_wins, float)
        p_values.append(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(judge_wins))
    adjusted = stats.false_discovery_control(p_values, method="by")
    return np.mean(adjusted <= rate), np.mean(advantages), p_values


def _study(seed, values, *, annotators=5, units=90, missing=0.1):
    rng = np.random.default_rng(seed)
    true = rng.integers(values, size=units)
    people = {}
    for name in range(annotators):
        mine = rng.choice(units, size=rng.integers(20, units), replace=False)
        people[f"p{name}"] = {
            int(unit): int(true[unit] if rng.random() < 0.7 else rng.integers(values)) for unit in mine
        }
    judge = {
        unit: int(true[unit] if rng.random() < 0.75 else rng.integers(values))
        for unit in range(units)
        if rng.random() > missing
    }
    return people, judge


def _columns(people, judge):
    rows = [(unit, name, label, judge.get(unit)) for name, labels in people.items() for unit, label in labels.items()]
    return [list(column) for column in zip(*rows, strict=True)]


class TestAltTest:
    @pytest.mark.parametrize("alignment", ["accuracy", "neg_rmse"])
    @pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2])
    @pytest.mark.parametrize("seed", range(6))
    def test_is_the_procedure_of_calderon_2025_written_out(self, seed, epsilon, alignment):
        people, judge = _study(seed, 2 if seed % 2 else 4)
        rate, advantage, p_values = by_the_paper(people, judge, epsilon, 0.05, alignment)
        found = alt_test(*_columns(people, judge), epsilon=epsilon, alignment=alignment)
        assert found.winning_rate == pytest.approx(rate)
        assert found.advantage_probability == pytest.approx(advantage)
        assert [each.p_value for each in found.annotators] == pytest.approx(p_values)
        assert found.passes is bool(rate >= 0.5)

    def test_takes_words_as_labels(self):
        people, judge = _study(1, 2)
        words = {0: "bot", 1: "human", None: None}
        numbers = _columns(people, judge)
        as_words = [*numbers[:2], *([words[each] for each in column] for column in numbers[2:])]
        assert alt_test(*as_words) == alt_test(*numbers)

    def test_needs_three_people_a_unit_where_asked_for_three(self):
        people, judge = _study(3, 2)
        rate, advantage, _ = by_the_paper(people, judge, 0.1, 0.05, "accuracy", least_people=3, least_units=20)
        found = alt_test(*_columns(people, judge), least_people=3, least_units=20)
        assert (found.winning_rate, found.advantage_probability) == pytest.approx((rate, advantage))

    def test_says_why_nobody_could_be_compared(self):
        found = alt_test([0, 0], [0, 1], [1, 1], [1, 1])
        assert (found.winning_rate, found.advantage_probability, found.passes) == (None, None, None)
        assert found.reason == "no annotator has 30 units that 2 people labelled"
        assert found.n_annotators_left_out == 2

    def test_without_labels_has_a_reason(self):
        assert alt_test([], [], [], []).reason is not None

    def test_never_lets_a_judge_win_that_equals_people_at_epsilon_0(self):
        unit, annotator = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
        found = alt_test(unit, annotator, unit % 2, unit % 2, epsilon=0)
        assert found.winning_rate == 0
        assert found.advantage_probability == 1

    @pytest.mark.parametrize(
        "changed",
        [{"epsilon": -0.1}, {"epsilon": 2}, {"false_discovery_rate": 0}, {"least_people": 1}, {"least_units": 0}],
    )
    def test_refuses_settings_out_of_range(self, changed):
        with pytest.raises(SettingOutOfRange, match=next(iter(changed))):
            alt_test([0, 0], [0, 1], [1, 1], [1, 1], **changed)
