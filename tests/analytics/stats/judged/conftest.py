"""Simulated campaigns that a judge saw whole, of which people labelled a part."""

import numpy as np
import pytest

from benchmarks.analytics.judges.campaigns import Campaign, Setting, draw_campaign
from benchmarks.analytics.judges.judges import JUDGES
from spotthebot.analytics.stats.annotations import FloatArray, LabelCode
from spotthebot.analytics.stats.judged.sides import values_of_sides
from spotthebot.analytics.stats.judged.values import JudgedValues


@pytest.fixture(scope="session")
def campaign() -> Campaign:
    return draw_campaign(Setting(12, 0.05), np.random.default_rng(3))


def answers(campaign: Campaign, judge: str = "good", seed: int = 0) -> FloatArray:
    return JUDGES[judge](campaign, np.random.default_rng(seed))


def human(campaign: Campaign) -> FloatArray:
    return (campaign.table.label == LabelCode.HUMAN).astype(np.float64)


def values_of(campaign: Campaign, said: FloatArray) -> JudgedValues:
    return values_of_sides(campaign.table, campaign.judged(said), human(campaign))
