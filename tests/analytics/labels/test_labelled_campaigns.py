from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import (
    CodedAnnotation,
    LabelledCampaign,
    Sample,
    complete_packages,
    elapsed_ms_of,
    labelled_campaign_of,
    take_sample,
)
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain import ranking, survival, wins
from spotthebot.analytics.speakers.domain import speakers_of
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotatorKind
from tests.factories.known import known

# (conversation, exchanges, package, annotator, label of A, label of B)
Row = tuple[str, int, str, str, str, str]

LABELS = {"human": 2, "unsure": 1, "bot": 0}
SPEAKERS = {"xy1": ("X", "Y"), "xy2": ("X", "Y"), "zx": ("Z", "X"), "people": ("HU", "HU")}
ROWS: list[Row] = [
    ("xy1", 2, "p", "ann", "human", "bot"),
    ("xy2", 2, "p", "ann", "unsure", "unsure"),
    ("xy1", 2, "p", "bob", "bot", "human"),
    ("zx", 3, "q", "bob", "unsure", "bot"),
    ("people", 2, "q", "bob", "human", "human"),
]
TWICE: list[Row] = [*ROWS, ("xy1", 2, "p", "ann", "bot", "human"), ("xy1", 2, "p", "ann", "unsure", "bot")]


def _study(
    rows: Sequence[Row] = ROWS, speakers: Mapping[str, tuple[str, str]] = SPEAKERS, elapsed_ms: int | None = None
) -> LabelledCampaign:
    """Make a study with fresh ids; each package shows every conversation that one of its annotators annotated."""
    ids = {name: uuid4() for name in (*speakers, *(row[2] for row in rows))}
    return LabelledCampaign(
        campaign_id=uuid4(),
        campaign="s",
        domain="everyday",
        complete=False,
        speakers={ids[name]: pair for name, pair in speakers.items()},
        packages={
            ids[package]: frozenset(ids[row[0]] for row in rows if row[2] == package)
            for package in {row[2] for row in rows}
        },
        annotations=[
            # A was the more fluent, B the more specific.
            CodedAnnotation(
                ids[name], ids[package], k, annotator, (LABELS[first], LABELS[second]), (1, 0, -1), elapsed_ms
            )
            for name, k, package, annotator, first, second in rows
        ],
    )


def _sample(rows: Sequence[Row], speakers: Mapping[str, tuple[str, str]] = SPEAKERS) -> Sample:
    return take_sample(_study(rows, speakers), "none")


def _table(rows: Sequence[Row], speakers: Mapping[str, tuple[str, str]] = SPEAKERS) -> stats.AnnotationTable:
    return _sample(rows, speakers).table


def _columns(table: stats.AnnotationTable) -> dict[str, Any]:
    columns = ("conversation", "entity", "exchanges", "label", "annotator")
    features = {name: values.tolist() for name, values in table.features.items()}
    return features | {name: getattr(table, name).tolist() for name in columns} | {"names": table.names}


class TestCompletePackages:
    def test_drops_only_packages_that_an_annotator_left_unfinished(self):
        # p shows xy1 and xy2: ann annotated both, bob only one. q shows zx and people: bob annotated both.
        assert complete_packages(_study()).tolist() == [True, True, False, True, True]

    def test_asks_for_the_conversations_not_for_their_number(self):
        # ann said something of xy1 twice, which is as many annotations as p has conversations, and nothing of xy2.
        rows: list[Row] = [
            ("xy1", 2, "p", "ann", "human", "bot"),
            ("xy1", 2, "p", "ann", "bot", "bot"),
            ("xy1", 2, "p", "bob", "human", "bot"),
            ("xy2", 2, "p", "bob", "human", "bot"),
        ]
        assert complete_packages(_study(rows)).tolist() == [False, False, True, True]

    def test_drops_an_annotator_who_annotated_a_conversation_outside_the_package(self):
        study = _study()
        strayed = study.annotations[0]._replace(conversation=study.annotations[3].conversation)
        kept = complete_packages(replace(study, annotations=[*study.annotations, strayed]))
        assert kept.tolist() == [False, False, False, True, True, False]

    def test_drops_an_annotator_who_annotated_a_foreign_conversation_in_place_of_one_of_the_package(self):
        study = _study()
        # ann annotated two conversations, as many as p shows; one of them, zx, is q's.
        strayed = study.annotations[1]._replace(conversation=study.annotations[3].conversation)
        kept = complete_packages(replace(study, annotations=[study.annotations[0], strayed, *study.annotations[2:]]))
        assert kept.tolist() == [False, False, False, True, True]

    def test_counts_what_is_left(self):
        study = _study()
        everything, complete = take_sample(study, "none").counts, take_sample(study, "complete_packages").counts
        assert (everything.annotations, everything.annotators, everything.segments) == (5, 2, 4)
        assert (complete.annotations, complete.annotators, complete.segments) == (4, 2, 4)
        assert everything.conversations == complete.conversations == 4

    def test_may_leave_nothing(self):
        study = _study([("xy1", 2, "p", "ann", "human", "bot"), ("xy2", 2, "p", "bob", "human", "bot")])
        sample = take_sample(study, "complete_packages")
        assert (sample.counts.annotations, len(sample.table), sample.table.names) == (0, 0, ())


class TestTakeSample:
    def test_columns_are_those_written_out_by_hand(self):
        # In the order of conversation, exchanges, annotator. Names: X 0, Y 1, Z 2, people last. Labels: human 2, bot 0.
        # Fluency A is (1, 0), a tie (1, 1), specificity B (0, 1).
        assert _columns(_table(ROWS)) == {
            "names": ("X", "Y", "Z", "HU"),
            "conversation": [0, 0, 1, 2, 3],
            "entity": [[0, 1], [0, 1], [0, 1], [2, 0], [3, 3]],
            "exchanges": [2, 2, 2, 3, 2],
            "label": [[2, 0], [0, 2], [1, 1], [1, 0], [2, 2]],
            "annotator": [0, 1, 0, 1, 1],
            "fluency": [[1, 0]] * 5,
            "sensibleness": [[1, 1]] * 5,
            "specificity": [[0, 1]] * 5,
        }

    @given(shuffled=st.permutations(ROWS))
    def test_neither_ids_nor_the_order_of_rows_matter(self, shuffled: list[Row]):
        first, other = take_sample(_study(), "none"), take_sample(_study(shuffled), "none")
        assert _columns(first.table) == _columns(other.table)
        assert first.sha256 == other.sha256

    @given(shuffled=st.permutations(TWICE))
    def test_does_not_depend_on_the_order_of_two_annotations_by_one_annotator(self, shuffled: list[Row]):
        assert take_sample(_study(TWICE), "none").sha256 == take_sample(_study(shuffled), "none").sha256

    @pytest.mark.parametrize(
        "change",
        [
            {"labels": (0, 0)},
            {"labels": (2, 1)},
            {"leads": (0, 0, -1)},
            {"leads": (1, 1, -1)},
            {"leads": (1, 0, 1)},
            {"exchanges": 3},
            {"annotator": "bob"},
            {"annotator": "carl"},
            {"elapsed_ms": 1200},
        ],
    )
    def test_the_fingerprint_changes_with_whatever_counts(self, change: dict[str, Any]):
        study = _study()
        first, *others = study.annotations
        changed = replace(study, annotations=[first._replace(**change), *others])
        assert take_sample(study, "none").sha256 != take_sample(changed, "none").sha256

    def test_counts_annotators_that_are_programs(self):
        """Of four people and programs, two are simulated and one is a judge; a name says nothing."""
        kinds = {
            "simulated-01": AnnotatorKind.PERSON,
            "ann": AnnotatorKind.SIMULATED,
            "ben": AnnotatorKind.SIMULATED,
            "gpt": AnnotatorKind.JUDGE,
        }
        study = _study([("xy1", 2, "p", annotator, "human", "bot") for annotator in kinds for _ in range(2)])
        said = [each._replace(annotator_kind=kinds[each.annotator]) for each in study.annotations]
        sample = take_sample(replace(study, annotations=said), "none")
        counts = sample.counts
        assert (counts.annotators, counts.simulated_annotators, counts.judges, counts.programs) == (4, 2, 1, 3)
        assert counts.annotator_words == "4 annotators, among them 2 simulated and 1 judge"
        assert counts.program_words == "3 of the 4 annotators are programs"
        lone = counts.model_copy(update={"annotators": 1, "simulated_annotators": 1, "judges": 0})
        assert lone.annotator_words == "1 simulated annotator"
        assert lone.program_words == "All annotators are programs"
        assert sample.kinds == kinds


# X:Y 3 wins, 1 loss, 1 tie (3/4); X:Z 1 win, 1 loss (1/2); Z:Y 2 wins (1).
# Mean over opponents: Z (1/2 + 1)/2 = 3/4, X (3/4 + 1/2)/2 = 5/8, Y (1/4 + 0)/2 = 1/8.
GAMES = [
    *[("X", "Y", "human", "bot")] * 2,
    ("X", "Y", "unsure", "bot"),
    ("X", "Y", "bot", "unsure"),
    ("X", "Y", "human", "human"),
    ("X", "Z", "human", "bot"),
    ("X", "Z", "bot", "human"),
    *[("Z", "Y", "unsure", "bot")] * 2,
]


def _games(games: Sequence[tuple[str, str, str, str]]) -> Sample:
    """Make a conversation of each game."""
    speakers = {f"c{number}": (first, second) for number, (first, second, *_) in enumerate(games)}
    rows = [(f"c{number}", 2, "p", "w", one, other) for number, (_, _, one, other) in enumerate(games)]
    return _sample(rows, speakers)


class TestWinRates:
    def test_are_the_fractions_written_out_above(self):
        shown = wins.win_rates(_games(GAMES), Parameters(confidence_level=0.95))
        assert [(each.bot, each.win_rate) for each in shown.bots] == [("Z", 3 / 4), ("X", 5 / 8), ("Y", 1 / 8)]
        pairs = [(each.bot, each.other, each.wins, each.losses, each.ties, each.win_rate) for each in shown.pairs]
        assert pairs == [("Z", "X", 1, 1, 0, 1 / 2), ("Z", "Y", 2, 0, 0, 1), ("X", "Y", 3, 1, 1, 3 / 4)]

    def test_the_sign_test_is_the_binomial_sum(self):
        # Two-sided, at p = 1/2: 1 of 2 is certain; 2 of 2: 2 * 1/4; 3 or more of 4: 2 * (4 + 1)/16.
        shown = wins.win_rates(_games(GAMES), Parameters(test="sign"))
        assert [each.p_value for each in shown.pairs] == pytest.approx([1, 2 / 4, 10 / 16])
        # Holm: 3 * 1/2 is cut at 1, and no later one may be smaller.
        assert [each.p_adjusted for each in shown.pairs] == pytest.approx([1, 1, 1])

    @pytest.mark.parametrize(("significance_level", "significant"), [(0.05, True), (0.001, False)])
    def test_ten_wins_of_ten_are_significant_at_the_significance_level(
        self, significance_level: float, significant: bool
    ):
        request = Parameters(confidence_level=0.5, significance_level=significance_level, test="sign")
        shown = wins.win_rates(_games([("X", "Y", "human", "bot")] * 10), request)
        assert shown.pairs[0].p_value == pytest.approx(2 / 2**10)  # between 0.001 and 0.05
        assert shown.pairs[0].significant is significant

    def test_one_annotator_tells_nothing_of_others(self):
        shown = wins.win_rates(_games([("X", "Y", "human", "bot")] * 10), Parameters())
        (pair,) = shown.pairs
        assert (pair.p_value, pair.low, pair.significant) == (None, None, False)
        assert pair.reason is not None
        assert "fixed_panel" in pair.reason

    def test_ties_alone_leave_everything_undefined(self):
        shown = wins.win_rates(_games([("X", "Y", "bot", "bot")] * 3), Parameters(confidence_level=0.95))
        assert [each.win_rate for each in shown.bots] == [None, None]
        (pair,) = shown.pairs
        assert pair.ties == 3
        assert pair.win_rate is None
        assert pair.p_value is None
        assert pair.p_adjusted is None
        assert pair.significant is False


class TestRanking:
    def test_puts_the_best_first_and_who_decided_nothing_last(self):
        ranked = ranking.ranking(_games([*GAMES, ("W", "X", "bot", "bot")]), Parameters(resamples=200, seed=1))
        rates = {each.bot: each.win_rate.estimate for each in ranked.bots}
        assert list(rates.items()) == [("Z", 3 / 4), ("X", 5 / 8), ("Y", 1 / 8), ("W", None)]
        last = ranked.bots[-1]
        assert (last.rank_low, last.rank_high, last.cluster) == (None, None, None)

    def test_a_bot_that_always_wins_has_the_first_rank_for_certain(self):
        games = [("X", "Y", "human", "bot")] * 20
        request = Parameters(resamples=200, seed=1, clusters="fixed_panel")  # one annotator
        first, second = ranking.ranking(_games(games), request).bots
        assert first.bot == "X"
        assert first.rank_low == 1
        assert first.rank_high == 1
        assert first.cluster == 1
        assert second.bot == "Y"
        assert second.rank_low == 2
        assert second.rank_high == 2
        assert second.cluster == 2
        assert known(known(first.trueskill).mu) > known(known(second.trueskill).mu)


class TestSpeakersOf:
    @pytest.mark.parametrize("filter_", ["complete_packages", "none"])
    def test_stand_by_the_win_rates_of_complete_packages_whatever_the_filter_is(self, filter_: Filter):
        # Complete: X beats Y once and loses to Z, (1 + 0) / 2. With bob's half package X and Y have won once each, so
        # X has (1/2 + 0) / 2 and Y 1/2.
        speakers = speakers_of(take_sample(_study(), filter_), filter_)
        assert [(each.name, each.place) for each in speakers] == [("Z", 1), ("X", 2), ("Y", 3), ("HU", None)]
        assert [each.colour for each in speakers] == ["#0072B2", "#D55E00", "#009E73", "#333333"]

    def test_go_by_name_where_rates_are_equal_and_come_last_without_a_decided_game(self):
        rows: list[Row] = [
            ("yx", 2, "p", "ann", "human", "bot"),
            ("yx", 3, "p", "ann", "bot", "human"),
            ("ax", 2, "p", "ann", "bot", "bot"),
        ]
        study = _study(rows, {"yx": ("Y", "X"), "ax": ("A", "X"), "unseen": ("B", "A")})
        assert [each.name for each in speakers_of(take_sample(study, "none"), "none")] == ["X", "Y", "A", "B"]

    def test_stand_by_all_annotations_where_no_package_is_complete(self):
        study = _study([row for row in ROWS if row[3] == "bob"])
        study = replace(study, packages={key: frozenset({"more", *shown}) for key, shown in study.packages.items()})
        names = [each.name for each in speakers_of(take_sample(study, "none"), "none")]
        assert names == ["Y", "Z", "X", "HU"]


class TestSurvival:
    def test_a_bot_that_was_not_inspected_at_a_time_has_no_value_there(self):
        # After 2 exchanges X is spotted in 1 of 4, after 3 in 2 of 4; Y is seen after 3 alone, and spotted in 3 of 4.
        speakers = {f"zx{n}": ("Z", "X") for n in range(4)} | {f"yx{n}": ("Y", "X") for n in range(4)}
        rows = [
            *[(f"zx{n}", 2, "p", "w", "human", label) for n, label in enumerate(("bot", "human", "human", "unsure"))],
            *[(f"yx{n}", 3, "p", "w", "bot" if n < 3 else "human", "bot" if n < 2 else "human") for n in range(4)],
        ]
        shown = survival.survival(_sample(rows, speakers), Parameters(clusters="conversation"))
        curves = {each.bot: each.survival for each in shown.curves}
        assert shown.times == (2, 3)
        assert curves == {"X": (3 / 4, 2 / 4), "Y": (None, 1 / 4), "Z": (1, None)}
        assert {each.bot: each.low[0] is None for each in shown.curves} == {"X": False, "Y": True, "Z": False}


class TestFoolingRates:
    def test_are_the_share_of_labels_that_say_human_people_included(self):
        # X: human, bot, unsure and bot; Y: bot, human, unsure; Z: unsure; people: human twice.
        shown = wins.fooling_rates(_sample(ROWS), Parameters(resamples=10))
        assert [(each.bot, each.human, each.unsure, each.bot_labels, each.n, each.rate) for each in shown] == [
            ("X", 1, 1, 2, 4, 1 / 4),
            ("Y", 1, 1, 1, 3, 1 / 3),
            ("Z", 0, 1, 0, 1, 0),
            ("HU", 2, 0, 0, 2, 1),
        ]


def test_a_table_of_one_s_own_makes_a_study_of_which_every_annotation_counts():
    table = _table(ROWS)
    again = take_sample(labelled_campaign_of(table, "mine"), "complete_packages").table
    assert again.names == table.names
    for column in ("entity", "exchanges", "label"):
        assert getattr(again, column).tolist() == getattr(table, column).tolist()
    assert again.features["fluency"].tolist() == [[1, 0]] * len(ROWS)
    assert again.features["specificity"].tolist() == [[0, 1]] * len(ROWS)
    bare = replace(table, features={})
    assert take_sample(labelled_campaign_of(bare, "mine"), "none").table.features["fluency"].tolist() == [[1, 1]] * len(
        ROWS
    )


@pytest.mark.parametrize(
    ("kind", "milliseconds"),
    [(AnnotatorKind.PERSON, 1500), (AnnotatorKind.SIMULATED, 900), (AnnotatorKind.JUDGE, None)],
)
def test_times_are_of_people_and_of_those_who_stand_in_for_them(kind: AnnotatorKind, milliseconds: int | None):
    facts: dict[str, Any] = {"started_at": datetime.now(UTC), "elapsed_ms": 1500, "reported_ms": 900}
    annotation = AnnotationOut.model_construct(annotator_kind=kind, **facts)
    assert elapsed_ms_of(annotation, is_import=False) == milliseconds
