"""Sample conversations of a report: which ones are shown, and what of them."""

from collections.abc import Hashable
from typing import Any
from uuid import UUID

import pytest

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.pages import page
from spotthebot.local.report.samples import Given, Samples, Selected, select_samples, written_samples
from tests.factories.analyses import analysis

CODES = {"b": 0, "u": 1, "h": 2}
SPEAKERS: dict[Hashable, tuple[str, str]] = {"c1": ("x", "y"), "c2": ("y", "x"), "c3": ("x", "HU"), "c4": ("HU", "HU")}


def _study(**given: str) -> LabelledCampaign:
    """Make a study; `c1="2 ann hb, 2 bob bb"` has labels of both sides by two annotators after two exchanges."""
    rows = [(key, *each.split()) for key, text in given.items() for each in text.split(", ")]
    annotations = [
        CodedAnnotation(key, "p", int(length), who, (CODES[labels[0]], CODES[labels[1]]), (0, 0, 0), None)
        for key, length, who, labels in rows
    ]
    packages: dict[Any, frozenset[Any]] = {"p": frozenset(given)}
    return LabelledCampaign(
        None, "s", "d", complete=True, speakers=SPEAKERS, packages=packages, annotations=annotations
    )


def _selected(study: LabelledCampaign, key: str, *, count: int = 9, filter_: Any = "none") -> list[Selected]:
    (group,) = (each for each in select_samples(study, filter_, count) if each.key == key)
    return list(group.selected)


class TestSelection:
    def test_a_bot_that_was_taken_for_human_more_often_comes_first(self):
        # x in c1 2 of 2, y in c1 1 of 2; y in c2 1 of 2, x in c2 none; x in c3 none, people do not count.
        study = _study(c1="2 ann hh, 3 bob hb", c2="2 ann hb, 3 bob bb", c3="2 ann bh, 3 bob uh")
        assert [(each.conversation, each.why) for each in _selected(study, "fooled")] == [
            ("c1", "x (side A) was called human in 2 of 2 labels."),
            ("c2", "y (side A) was called human in 1 of 2 labels."),
        ]

    def test_a_bot_that_was_spotted_by_all_at_the_shortest_length_comes_first(self):
        # After 2 exchanges x is a bot for 1 of 2 in c1, y for 2 of 2 in c2 and in all for 2 of 3.
        study = _study(c1="2 ann bh, 2 bob hh, 3 ann bh", c2="2 ann bh, 2 bob bh, 3 ann hh", c3="2 ann hh, 3 bob uh")
        assert [(each.conversation, each.why) for each in _selected(study, "spotted")] == [
            ("c2", "y (side A) was called a bot in 2 of 2 labels after 2 exchanges, in 2 of 3 in all."),
            ("c1", "x (side A) was called a bot in 1 of 2 labels after 2 exchanges, in 2 of 3 in all."),
        ]

    def test_disagreement_is_the_mean_over_sides_of_two_annotators_at_one_length(self):
        # c1: |h - b| = 1 and |b - b| = 0, so 0.5; c4: |h - u| = 0.5 and 1, so 0.75; c2: other lengths do not compare.
        study = _study(c1="2 ann hb, 2 bob bb", c2="2 ann hb, 3 bob bh", c4="2 ann hb, 2 bob uh")
        assert [(each.conversation, each.why) for each in _selected(study, "disputed")] == [
            ("c4", "Two annotators differed by 0.75 on average."),
            ("c1", "Two annotators differed by 0.50 on average."),
        ]

    def test_the_one_with_more_labels_and_then_the_first_of_the_collection_comes_first_of_equals(self):
        equal = _study(c3="2 ann hb, 2 bob hb", c2="2 ann bh, 2 bob bh, 3 ann bh", c1="2 ann hb, 2 bob hb")
        assert [each.conversation for each in _selected(equal, "fooled")] == ["c2", "c1", "c3"]
        assert [each.conversation for each in _selected(equal, "fooled", count=1)] == ["c2"]

    def test_a_single_label_decides_nothing_where_others_have_many(self):
        study = _study(c1="2 ann hb", c2="2 ann bb, 2 bob hb, 3 ann bb")
        assert [each.conversation for each in _selected(study, "fooled")] == ["c2"]

    def test_labels_of_packages_that_were_not_finished_count_for_nothing_where_results_leave_them_out(self):
        study = _study(c1="2 ann hb, 2 bob bb", c2="2 ann bb")
        (kept,) = _selected(study, "fooled", filter_="complete_packages")
        assert kept.why == "x (side A) was called human in 1 of 1 labels."
        assert [each.annotator for each in kept.annotations] == ["ann"]

    def test_a_conversation_of_which_nobody_says_so_is_not_shown(self):
        groups = select_samples(_study(c4="2 ann hh, 2 bob hh"), "none", 3)
        assert [(each.key, each.selected) for each in groups] == [("fooled", ()), ("spotted", ()), ("disputed", ())]


def _conversation(**more: Any) -> ConversationOut:
    def turns(*texts: str) -> list[dict[str, str]]:
        return [{"speaker": "AB"[number % 2], "text": text} for number, text in enumerate(texts)]

    found = {
        "id": UUID(int=1),
        "collection_id": UUID(int=2),
        "external_id": None,
        "state": "complete",
        "ended_by": "exchanges",
        "failure": None,
        "participants": [{"kind": "bot", "name": name} for name in "xy"],
        "personas": None,
        "opening": turns("hello", "hi"),
        "opening_shown": False,
        "turns": turns("<script>alert(1)</script>", "one", "two", "three", "four", "five", "six", "seven"),
    }
    return ConversationOut.model_validate(found | more)


@pytest.fixture(scope="module")
def samples() -> Samples:
    study = _study(c1="1 ann hb, 3 bob hb, 3 ann ub")
    return Samples(select_samples(study, "none", 1), {"c1": _conversation()})


class TestTexts:
    def test_labels_stand_after_what_the_annotators_had_seen(self, samples: Samples):
        (sample,) = written_samples(samples, {"ann": "A10", "bob": "A2"})[0].samples
        assert [([turn.text for turn in part.turns], part.exchanges) for part in sample.parts] == [
            (["<script>alert(1)</script>", "one"], 1),
            (["two", "three", "four", "five"], 3),
        ]
        assert sample.parts[1].given == (Given("A2", ("human", "bot")), Given("A10", ("unsure", "bot")))
        assert sample.unseen == 2

    def test_texts_are_escaped_and_annotators_have_codes_on_the_page(self, samples: Samples):
        results = analysis().model_copy(update={"campaign": "s"})
        text = page(AnalysisReport(results, None, samples=samples, names={"ann": "A1", "bob": "A2"}), {})
        assert "<script" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "After 3 exchanges: A1: A unsure, B bot; A2: A human, B bot</li>" in text
        assert "2 more turns, seen by no annotator" in text
        assert "(opening, hidden from annotators)" in text
        assert "There is no such conversation." not in text

    def test_a_text_that_fills_the_page_is_cut(self, samples: Samples):
        turns = [{"speaker": "A", "text": "x" * 20_000}]
        long = Samples(samples.groups, {"c1": _conversation(turns=turns, opening=[])})
        (sample,) = written_samples(long, {})[0].samples
        assert sample.parts[0].turns[0].text == f"{'x' * 2000} ... (18,000 more characters)"

    def test_a_reason_stands_in_place_of_samples(self):
        text = page(AnalysisReport(analysis(), None, samples=Samples((), {}, reason="No texts.")), {})
        assert '<section id="samples"><h2>Sample conversations</h2>\n<p>No texts.</p>' in text
        assert '<a href="#samples">' in text
        assert 'id="samples"' not in page(AnalysisReport(analysis(), None), {})
