"""Data that say little: every section has a defined result, or one clear reason why it has none."""

import json
import math
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.figures.charts import FigureInput
from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.labels.errors import NothingToAnalyse, OneBotOnly
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, analyse, compute_section
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.findings import findings

HUMAN, UNSURE, BOT = 2, 1, 0
PARAMETERS = Parameters(filter="none", resamples=40)

Row = tuple[str, str, str, int, tuple[int, int], str]
"""Conversation, first and second speaker, exchanges, labels, annotator."""


def _study(rows: Sequence[Row]) -> LabelledCampaign:
    speakers: dict[Hashable, tuple[str, str]] = {name: (first, second) for name, first, second, *_ in rows}
    return LabelledCampaign(
        campaign_id=None,
        campaign="degenerate",
        domain="everyday",
        complete=True,
        speakers=speakers,
        packages={"p": frozenset(speakers)},
        annotations=[
            CodedAnnotation(name, "p", k, who, labels, (0, 0, 0), None) for name, _, _, k, labels, who in rows
        ],
    )


def _rows(pairs: Sequence[tuple[str, str]], labels: tuple[int, int], times: Sequence[int] = (2, 3)) -> list[Row]:
    return [
        (f"{a}{b}{i}", a, b, k, labels, f"w{(i + at) % 3}")
        for at, (a, b) in enumerate(pairs)
        for i in range(3)
        for k in times
    ]


MANY = [f"bot{at:03}" for at in range(40)]
STUDIES = {
    "one annotation": [("c", "X", "Y", 2, (HUMAN, BOT), "w")],
    "one annotator": _rows([("X", "Y")], (HUMAN, BOT))[:1] * 3,
    "all ties": _rows([("X", "Y"), ("Y", "Z")], (UNSURE, UNSURE)),
    "a bot without games": [*_rows([("X", "Y")], (HUMAN, BOT)), *_rows([("Z", "Z")], (HUMAN, BOT))],
    "one inspection time": _rows([("X", "Y"), ("X", "Z"), ("Y", "Z")], (HUMAN, BOT), times=(4,)),
    "all spotted": _rows([("X", "Y"), ("HU", "HU")], (BOT, BOT)),
    "none spotted": _rows([("X", "Y"), ("HU", "HU")], (HUMAN, HUMAN)),
    "a bot never beaten": _rows([("X", "Y"), ("X", "Z")], (HUMAN, BOT)) + _rows([("Y", "Z")], (BOT, BOT)),
    "groups that never met": _rows([("V", "W")], (HUMAN, BOT)) + _rows([("X", "Y")], (BOT, UNSURE)),
    "the same side twice": _rows([("X", "Y")], (HUMAN, BOT)) * 2,
    "40 bots": [
        (f"{a}{b}", a, b, 2 + at % 2, ((HUMAN, BOT), (BOT, HUMAN), (BOT, BOT))[at % 3], f"w{at % 7}")
        for at, (a, b) in enumerate((a, b) for i, a in enumerate(MANY) for b in MANY[i + 1 :: 7])
    ],
}


@cache
def _analysis(name: str) -> Analysis:
    return analyse(_study(STUDIES[name]), PARAMETERS)


def _numbers(found: Any) -> Iterator[float]:
    if isinstance(found, dict):
        for value in found.values():
            yield from _numbers(value)
    elif isinstance(found, list | tuple):
        for value in found:
            yield from _numbers(value)
    elif isinstance(found, float):
        yield found


class TestFigures:
    @pytest.mark.parametrize("name", [name for name in STUDIES if name != "40 bots"])
    def test_can_be_drawn_or_say_why_not(self, name: str):
        analysis = _analysis(name)
        for figure in FIGURES.keys() - {"stability"}:
            spec = FIGURES[figure](FigureInput(analysis, None))
            if figure == "ranking" and analysis.ranking.reason is not None:
                assert "never met" in json.dumps(spec)
        said = findings(analysis)
        assert said
        assert (analysis.ranking.reason is not None) == said[0].startswith("No ranking")


class TestEveryQuestion:
    @pytest.mark.parametrize("name", STUDIES)
    def test_has_a_defined_answer(self, name: str):
        document = _analysis(name).model_dump()  # in JSON a NaN would pass for a null
        assert all(math.isfinite(number) for number in _numbers(document))
        shares = [bot["win_rate"]["estimate"] for bot in document["ranking"]["bots"]]
        assert all(share is None or 0 <= share <= 1 for share in shares)

    @pytest.mark.parametrize("name", STUDIES)
    def test_says_why_where_there_is_no_figure(self, name: str):
        document = json.loads(_analysis(name).model_dump_json())
        survival, agreement = document["survival"], document["agreement"]
        for test in survival["log_rank"]:
            assert (test["p_value"] is None) == bool(test["reason"])
        for coefficient in survival["cox"]:
            assert (coefficient["coefficient"] is None) <= bool(coefficient["reason"])
        for bot in document["ranking"]["bots"]:
            assert (bot["bradley_terry"]["low"] is None) == bool(bot["bradley_terry"]["reason"])
            assert (bot["trueskill"]["low"] is None) == bool(bot["trueskill"]["reason"])
        for coefficient in ("alpha_interval", "alpha_nominal", "fleiss_kappa"):
            assert (agreement[coefficient]["estimate"] is None) <= bool(agreement[coefficient]["reason"])
        alike = document["annotators"]["sides_alike"]
        assert (alike["p_value"] is None) == bool(alike["reason"])

    @pytest.mark.parametrize("section", SECTIONS)
    def test_one_bot_alone_has_every_section_that_compares_no_bots(self, section: str):
        study = _study(_rows([("X", "HU")], (BOT, HUMAN)))
        if SECTIONS[section].compares:
            with pytest.raises(OneBotOnly, match="there are 1 bots so far"):
                compute_section(SECTIONS[section], study, PARAMETERS)
        else:
            assert compute_section(SECTIONS[section], study, PARAMETERS).counts.annotations == 6

    def test_a_filter_that_leaves_nothing_says_so(self):
        study = _study(_rows([("X", "Y")], (HUMAN, BOT)))
        unfinished = LabelledCampaign(**{**study.__dict__, "annotations": study.annotations[:1]})
        with pytest.raises(NothingToAnalyse, match="keeps none of the 1 annotations"):
            analyse(unfinished, Parameters())
