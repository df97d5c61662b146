"""The table of a campaign's values holds no more values than fit into memory."""

import pytest

from spotthebot.analytics.measures.domain.measures import all_values
from spotthebot.analytics.measures.errors import TooManyValues
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from tests.factories.measured_campaigns import answered, measured_campaign


def rated() -> MeasuredCampaign:
    """Three annotators rate two sides by two questions: 12 values."""
    answer = {name: {"A": 1, "B": 5} for name in ("quality", "engaging")}
    return measured_campaign(
        "dialogue_likert", {1: ("ada", "bob")}, [answered(1, name, answer) for name in ("ann", "ben", "cid")]
    )


@pytest.mark.parametrize(("most", "is_refused"), [(12, False), (11, True), (5, True)])
def test_more_values_are_refused(monkeypatch: pytest.MonkeyPatch, most: int, is_refused: bool):
    monkeypatch.setattr("spotthebot.analytics.measures.domain.measures.MAX_VALUES", most)
    if not is_refused:
        assert len(all_values(rated(), Parameters(filter="none"))) == 12
        return
    with pytest.raises(TooManyValues, match=f"'measured' has more than {most} values, too many to hold at once"):
        all_values(rated(), Parameters(filter="none"))
