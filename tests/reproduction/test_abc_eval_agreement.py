"""ABC-Eval's agreement (Finch, Finch & Choi 2023): the paper's alphas, ours, and the reference's."""

import json

import numpy as np
import pytest

from spotthebot.analytics.stats import bootstrap_alpha
from tests.factories.comparison import Comparison
from tests.factories.published_dump import SHARED, reference


class TestAbcEvalAgreement:
    """The nine behaviours of ABC-Eval on 1,634 doubly annotated turns (Finch, Finch & Choi 2023)."""

    def test_alphas_are_printed_ones_and_bounds_the_reference_s(self):
        expected = reference("abc-eval/alpha.json")["behaviours"]
        labels = _double_annotated()
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


def _double_annotated():
    """Return unit, value and dialogue columns of each behaviour: a unit is a turn, labelled by two people."""
    file = SHARED / "data" / "abc-eval" / "behavior_labels_double_annotated.json"
    if not file.is_file():
        pytest.skip("the doubly annotated turns ../shared/data/abc-eval are not here")
    columns: dict[str, list[tuple[int, int, int]]] = {}
    turns = 0
    for dialogue, exchanges in enumerate(json.loads(file.read_text()).values()):
        for exchange in exchanges:
            for behaviour, labels in exchange["behaviors"].items():
                columns.setdefault(behaviour, []).extend((turns, label, dialogue) for label in labels["human"])
            turns += 1
    return {behaviour: np.array(rows).T for behaviour, rows in columns.items()}
