"""ABC-Eval's agreement (Finch, Finch & Choi 2023): the paper's alphas, ours, and the reference's."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final
from uuid import UUID

import numpy as np
import pytest

from spotthebot.analytics.measures.domain.measures import all_agreements, all_measures
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.annotation.protocols.domain.answers import check_answer
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.questions import UnitShape
from spotthebot.contracts.analytics.measures import MeasureResult
from spotthebot.contracts.annotation.measures import ShownTurns
from tests.factories.lazy_imports import lazily
from tests.factories.measured_campaigns import answered, measured_campaign
from tests.factories.published_dump import reference
from tests.reproduction.abc_eval import double_annotated, printed_rows
from tests.reproduction.comparison import Comparison

proportion_confint = lazily("statsmodels.stats.proportion:proportion_confint")
HALVES: Final = (UUID(int=1), UUID(int=2))
Shown = Mapping[str, int]
"""Which behaviours one person saw in one turn: 1 or 0 for each."""

ANSWERS: Final[Mapping[str, Callable[[Shown], Mapping[str, Any]]]] = {
    "abc_commonsense": lambda shown: {"commonsense": _ticked(shown, "commonsense contradiction")},
    "abc_consistency": lambda shown: {
        "consistency": _ticked(shown, "self contradiction", "partner contradiction", "redundant")
    },
    "abc_empathy": lambda shown: {
        "empathy": next(iter(_ticked(shown, "empathetic", "lack of empathy")), "neither"),
    },
    "abc_knowledge": lambda shown: (
        {"facts": ["used"], "accuracy": "false"} if shown["incorrect fact"] else {"facts": []}
    ),
    "abc_transitions": lambda shown: {
        "acknowledgement": "ignored" if shown["ignore"] else "acknowledged",
        "relevance": "irrelevant" if shown["irrelevant"] else "relevant",
    },
}
"""What somebody who saw these behaviours answers by the built-in protocol of each task."""


class TestAbcEvalAgreement:
    """The nine behaviours of ABC-Eval on 1,634 doubly annotated turns (Finch, Finch & Choi 2023)."""

    def test_alphas_are_printed_ones_and_bounds_the_reference_s(self):
        expected = reference("abc-eval/alpha.json")["behaviours"]
        labels = _columns()
        compared = Comparison("ABC-Eval: Krippendorff's alpha, nominal")
        for behaviour, want in expected.items():
            unit, value, dialogue = labels[behaviour]
            turns = bootstrap_alpha(unit, value, n_resamples=10_000)
            dialogues = bootstrap_alpha(unit, value, cluster=dialogue, n_resamples=10_000)
            compared.add(behaviour, float(want["published"]["alpha"]), turns.estimate, want["alpha"])
            assert (turns.n, dialogues.n_clusters) == (want["turns"], want["dialogues"])
            assert f"{turns.estimate:.3f}" == want["published"]["alpha"]
            # Monte Carlo error of a 2.5 % point of 10,000 replicates: about 2.8 / sqrt(10,000) standard errors.
            for ours, bounds in ((turns, want["bca_turns_10000"]), (dialogues, want["bca_dialogues_10000"])):
                tolerance = 4 * 0.028 * (bounds[1] - bounds[0]) / 3.92
                assert (ours.low, ours.high) == pytest.approx(tuple(bounds), abs=tolerance)
        compared.print()
        assert compared.furthest_from_reference() < 1e-9


class TestMeasures:
    """The same labels as answers by the built-in protocols `abc_*`, through the results of measures."""

    def test_have_the_printed_alphas_of_nine_behaviours(self):
        printed = {row[1].replace(" ", "_"): row[2] for row in printed_rows("surge_agreements") if row[0] == "behavior"}
        found = _measures()
        assert len(found) == 9
        assert {each.alpha.n for each in found.values()} == {1634}
        assert {name: f"{each.alpha.estimate:.3f}" for name, each in found.items()} == {
            name: printed[name] for name in found
        }

    def test_have_the_rates_of_each_bot_as_counted_in_the_file_with_wilson_s_intervals(self):
        labels: dict[tuple[str, str], list[int]] = defaultdict(list)
        for dialogue, turns in double_annotated().items():
            for turn in turns:
                for behaviour, both in turn.items():
                    labels[behaviour.replace(" ", "_"), _bot(dialogue)].extend(both)
        found = {
            (name, each.bot): (each.published.estimate, each.published.low, each.published.high, each.published.n)
            for name, result in _measures().items()
            for each in result.bots
        }
        assert len(labels) == 9 * 4
        assert found == {
            key: pytest.approx((np.mean(seen), *proportion_confint(sum(seen), len(seen), method="wilson"), len(seen)))
            for key, seen in labels.items()
        }


class TestWorkforces:
    """Agreement by group of annotators, as in Table 8. The labels of its pilots are not published.

    So the published dialogues are split: people of one workforce labelled the even dialogues, of another the odd ones.
    """

    def test_have_alphas_of_their_own_dialogues_and_all_together_the_printed_ones(self):
        expected = reference("abc-eval/alpha.json")["behaviours"]
        workforces = {f"{place} of {half}": Workforce("ours", HALVES[half]) for place in (0, 1) for half in (0, 1)}
        columns, seen = _columns(), set()
        for campaign in _campaigns(lambda number, place: f"{place} of {number % 2}"):
            found = all_agreements(campaign, workforces, Parameters(filter="none")).workforces
            assert [(each.link, each.annotators, each.conversations) for each in found] == [
                (None, 4, 108),
                (HALVES[0], 2, 54),
                (HALVES[1], 2, 54),
            ]
            for number, workforce in enumerate(found):
                for each in workforce.measures:
                    if (behaviour := each.measure.replace("_", " ")) in expected:
                        _, value, dialogue = columns[behaviour]
                        kept = value if number == 0 else value[dialogue % 2 == number - 1]
                        assert (each.values, each.alpha.n) == (len(kept), len(kept) / 2)
                        assert each.alpha.estimate == pytest.approx(_nominal_alpha(kept), abs=1e-12)
                        if number == 0:
                            assert each.alpha.estimate == pytest.approx(expected[behaviour]["alpha"], abs=1e-12)
                        seen.add((number, behaviour))
        assert len(seen) == 3 * 9

    def test_have_one_alpha_of_all_labels_of_a_protocol(self):
        """The labels of all behaviours of a protocol, one after the other, by the formula for two people."""
        columns = _columns()
        for campaign in _campaigns(lambda _, place: f"person {place}"):
            (everybody, _) = all_agreements(campaign, {}, Parameters(filter="none")).workforces
            behaviours = [each.measure.replace("_", " ") for each in everybody.measures]
            if all(each in columns for each in behaviours):
                value = np.concatenate([columns[each][1] for each in behaviours])
                assert everybody.alpha.n == 1634 * len(behaviours)
                assert everybody.alpha.estimate == pytest.approx(_nominal_alpha(value), abs=1e-12)


def _nominal_alpha(value: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    """Return Krippendorff's alpha of 0 and 1 by two people: 1 - (n - 1) o01 / (n0 n1) (Krippendorff 2011, B).

    The values of a unit stand one after the other; o01 counts units on which the two disagree.
    """
    ones = int(value.sum())
    disagreed = int((value[::2] != value[1::2]).sum())
    return 1 - (len(value) - 1) * disagreed / (ones * (len(value) - ones))


def _campaigns(person: Callable[[int, int], str]) -> Iterator[MeasuredCampaign]:
    """Yield campaigns in which two people answer about each bot's turns.

    `person` names the first or second person of a dialogue.
    """
    dialogues = double_annotated()
    speakers = {number: ("HU", _bot(dialogue)) for number, dialogue in enumerate(dialogues)}
    shown = {number: ShownTurns("AB" * len(turns), 0, 0) for number, turns in enumerate(dialogues.values())}
    for protocol, answer_of in ANSWERS.items():
        document, annotations = built_in_protocols()[protocol, 1], []
        for number, turns in enumerate(dialogues.values()):
            for place in (0, 1):
                answer: dict[str, dict[str, Any]] = defaultdict(dict)
                for at, turn in enumerate(turns):
                    for question, given in answer_of({name: both[place] for name, both in turn.items()}).items():
                        answer[question][str(2 * at + 1)] = given
                assert check_answer(document, UnitShape(speakers=("A", "B") * len(turns)), answer) == ()
                annotations.append(answered(number, person(number, place), answer))
        yield measured_campaign(protocol, speakers, annotations, turns=shown)


def _behaviours() -> set[str]:
    return {name.replace(" ", "_") for name in next(iter(double_annotated().values()))[0]}


@cache
def _measures() -> dict[str, MeasureResult]:
    """Return the results of the nine behaviours."""
    found: dict[str, MeasureResult] = {}
    for campaign in _campaigns(lambda _, place: f"person {place}"):
        results = all_measures(campaign, Parameters(filter="none")).measures
        found |= {each.measure: each for each in results if each.measure in _behaviours()}
    return found


def _ticked(shown: Shown, *behaviours: str) -> list[str]:
    return [each.replace(" ", "_") for each in behaviours if shown[each]]


def _bot(dialogue: str) -> str:
    return dialogue.split(")_")[1]


@cache
def _columns() -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """Return unit, value and dialogue columns of each behaviour: a unit is a turn, labelled by two people."""
    columns: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    turns = 0
    for dialogue, labelled in enumerate(double_annotated().values()):
        for turn in labelled:
            for behaviour, both in turn.items():
                columns[behaviour].extend((turns, label, dialogue) for label in both)
            turns += 1
    return {behaviour: np.array(rows).T for behaviour, rows in columns.items()}
