from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.analytics import stats
from spotthebot.analytics.domain import results
from spotthebot.analytics.domain.study import Study, complete_packages, take_sample
from spotthebot.contracts.annotation import AnnotationOut, CampaignOut, PackageOut, SegmentRef

# (conversation, exchanges, package, worker, label of A, label of B)
Row = tuple[str, int, str, str, str, str]

SPEAKERS = {"xy1": ("X", "Y"), "xy2": ("X", "Y"), "zx": ("Z", "X"), "people": ("HU", "HU")}
ROWS: list[Row] = [
    ("xy1", 2, "p", "ann", "human", "bot"),
    ("xy2", 2, "p", "ann", "unsure", "unsure"),
    ("xy1", 2, "p", "bob", "bot", "human"),
    ("zx", 3, "q", "bob", "unsure", "bot"),
    ("people", 2, "q", "bob", "human", "human"),
]
TWICE: list[Row] = [*ROWS, ("xy1", 2, "p", "ann", "bot", "human"), ("xy1", 2, "p", "ann", "unsure", "bot")]


def _study(rows: Sequence[Row] = ROWS, speakers: Mapping[str, tuple[str, str]] = SPEAKERS, **more: Any) -> Study:
    """Make a study with fresh ids; each package shows whatever any of its workers annotated."""
    ids = {name: uuid4() for name in (*speakers, *(row[2] for row in rows))}
    shown = {package: sorted({row[:2] for row in rows if row[2] == package}) for package in {row[2] for row in rows}}
    return Study(
        campaign=_campaign(),
        speakers={ids[name]: pair for name, pair in speakers.items()},
        packages=[
            PackageOut(
                id=ids[package],
                external_id=package,
                segments=tuple(SegmentRef(conversation_id=ids[name], exchanges=k) for name, k in segments),
            )
            for package, segments in shown.items()
        ],
        annotations=[_annotation(ids, row, **more) for row in rows],
    )


def _annotation(ids: Mapping[str, UUID], row: Row, **more: Any) -> AnnotationOut:
    conversation, exchanges, package, worker, first, second = row
    judgements = {"fluency": "A", "sensibleness": "tie", "specificity": "B"}
    times = {"started_at": None, "ended_at": None, "elapsed_ms": None}
    return AnnotationOut.model_validate(
        judgements
        | times
        | {
            "id": uuid4(),
            "conversation_id": ids[conversation],
            "package_id": ids[package],
            "exchanges": exchanges,
            "worker": worker,
            "label_a": first,
            "label_b": second,
        }
        | more
    )


def _campaign() -> CampaignOut:
    return CampaignOut(
        id=uuid4(),
        name="s",
        domain="everyday",
        collection_id=uuid4(),
        mode="import",
        state="open",
        failure=None,
        segments=(2, 3),
        annotations_per_segment=2,
        package_size=2,
        packages=2,
        annotations=0,
        annotations_needed=0,
        created_at=datetime.now(UTC),
    )


def _table(rows: Sequence[Row], speakers: Mapping[str, tuple[str, str]] = SPEAKERS) -> stats.AnnotationTable:
    return take_sample(_study(rows, speakers), "none").table


def _columns(table: stats.AnnotationTable) -> dict[str, Any]:
    columns = ("conversation", "entity", "exchanges", "label", "annotator")
    features = {name: values.tolist() for name, values in table.features.items()}
    return features | {name: getattr(table, name).tolist() for name in columns} | {"names": table.names}


class TestCompletePackages:
    def test_drops_a_package_that_a_worker_left_unfinished_and_nothing_else(self):
        # p shows xy1 and xy2: ann judged both, bob only one. q shows zx and people: bob judged both.
        kept = complete_packages(_study())
        assert [(each.worker, each.exchanges) for each in kept] == [("ann", 2), ("ann", 2), ("bob", 3), ("bob", 2)]

    def test_asks_for_the_conversations_not_for_their_number(self):
        # ann said something of xy1 twice, which is as many annotations as p has conversations, and nothing of xy2.
        rows: list[Row] = [
            ("xy1", 2, "p", "ann", "human", "bot"),
            ("xy1", 2, "p", "ann", "bot", "bot"),
            ("xy1", 2, "p", "bob", "human", "bot"),
            ("xy2", 2, "p", "bob", "human", "bot"),
        ]
        assert [each.worker for each in complete_packages(_study(rows))] == ["bob", "bob"]

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
        # In the order of conversation, exchanges, worker. Names: X 0, Y 1, Z 2, people last. Labels: human 2, bot 0.
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
    def test_nor_do_they_where_one_worker_judged_a_segment_twice(self, shuffled: list[Row]):
        assert take_sample(_study(TWICE), "none").sha256 == take_sample(_study(shuffled), "none").sha256

    @pytest.mark.parametrize(
        "change",
        [
            {"label_a": "bot"},
            {"label_b": "unsure"},
            {"fluency": "tie"},
            {"sensibleness": "A"},
            {"specificity": "A"},
            {"exchanges": 3},
            {"worker": "bob"},
        ],
    )
    def test_the_fingerprint_changes_with_whatever_counts(self, change: dict[str, Any]):
        study = _study()
        first, *others = study.annotations
        changed = replace(study, annotations=[AnnotationOut.model_validate(first.model_dump() | change), *others])
        assert take_sample(changed, "none").sha256 != take_sample(study, "none").sha256

    def test_the_fingerprint_changes_with_a_name(self):
        renamed = _study(speakers=SPEAKERS | {"zx": ("W", "X")})
        assert take_sample(renamed, "none").sha256 != take_sample(_study(), "none").sha256

    def test_the_fingerprint_does_not_change_with_what_no_statistic_uses(self):
        timed = _study(elapsed_ms=1200, started_at=datetime(2020, 1, 1, tzinfo=UTC))
        assert take_sample(timed, "none").sha256 == take_sample(_study(), "none").sha256


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


def _games(games: Sequence[tuple[str, str, str, str]]) -> stats.Games:
    """Hold each game in a conversation of its own."""
    speakers = {f"c{number}": (first, second) for number, (first, second, *_) in enumerate(games)}
    rows = [(f"c{number}", 2, "p", "w", *labels) for number, (_, _, *labels) in enumerate(games)]
    return stats.play_games(_table(rows, speakers))


class TestWinRates:
    def test_are_the_fractions_written_out_above(self):
        shown = results.win_rates(_games(GAMES), confidence_level=0.95)
        assert [(each.bot, each.win_rate) for each in shown.bots] == [("Z", 3 / 4), ("X", 5 / 8), ("Y", 1 / 8)]
        pairs = [(each.bot, each.other, each.wins, each.losses, each.ties, each.win_rate) for each in shown.pairs]
        assert pairs == [("Z", "X", 1, 1, 0, 1 / 2), ("Z", "Y", 2, 0, 0, 1), ("X", "Y", 3, 1, 1, 3 / 4)]

    def test_the_sign_test_is_the_binomial_sum(self):
        # Two-sided, at p = 1/2: 1 of 2 is certain; 2 of 2: 2 * 1/4; 3 or more of 4: 2 * (4 + 1)/16.
        shown = results.win_rates(_games(GAMES), confidence_level=0.95)
        assert [each.p_value for each in shown.pairs] == pytest.approx([1, 2 / 4, 10 / 16])
        # Holm: 3 * 1/2 is cut at 1, and no later one may be smaller.
        assert [each.p_adjusted for each in shown.pairs] == pytest.approx([1, 1, 1])

    @pytest.mark.parametrize(("confidence_level", "significant"), [(0.95, True), (0.999, False)])
    def test_ten_wins_of_ten_are_significant_at_95_percent(self, confidence_level: float, significant: bool):
        shown = results.win_rates(_games([("X", "Y", "human", "bot")] * 10), confidence_level=confidence_level)
        assert shown.pairs[0].p_value == pytest.approx(2 / 2**10)  # between 0.001 and 0.05
        assert shown.pairs[0].significant is significant

    def test_ties_alone_leave_everything_undefined(self):
        shown = results.win_rates(_games([("X", "Y", "bot", "bot")] * 3), confidence_level=0.95)
        assert [each.win_rate for each in shown.bots] == [None, None]
        (pair,) = shown.pairs
        assert (pair.ties, pair.win_rate, pair.p_value, pair.p_adjusted, pair.significant) == (
            3,
            None,
            None,
            None,
            False,
        )


class TestRanking:
    def test_puts_the_best_first_and_who_decided_nothing_last(self):
        ranked = results.ranking(
            _games([*GAMES, ("W", "X", "bot", "bot")]), confidence_level=0.95, resamples=200, seed=1
        )
        rates = {each.bot: each.win_rate.estimate for each in ranked.bots}
        assert list(rates.items()) == [("Z", 3 / 4), ("X", 5 / 8), ("Y", 1 / 8), ("W", None)]
        last = ranked.bots[-1]
        assert (last.rank_low, last.rank_high, last.cluster) == (None, None, None)

    def test_a_bot_that_always_wins_has_the_first_rank_for_certain(self):
        games = [("X", "Y", "human", "bot")] * 20
        first, second = results.ranking(_games(games), confidence_level=0.95, resamples=200, seed=1).bots
        assert (first.bot, first.rank_low, first.rank_high, first.cluster) == ("X", 1, 1, 1)
        assert (second.bot, second.rank_low, second.rank_high, second.cluster) == ("Y", 2, 2, 2)
        assert first.trueskill.mu > second.trueskill.mu


class TestSurvival:
    def test_a_bot_that_was_not_inspected_at_a_time_has_no_value_there(self):
        # After 2 exchanges X is spotted in 1 of 4, after 3 in 2 of 4; Y is seen after 3 alone, and spotted in 3 of 4.
        speakers = {f"zx{n}": ("Z", "X") for n in range(4)} | {f"yx{n}": ("Y", "X") for n in range(4)}
        rows = [
            *[(f"zx{n}", 2, "p", "w", "human", label) for n, label in enumerate(("bot", "human", "human", "unsure"))],
            *[(f"yx{n}", 3, "p", "w", "bot" if n < 3 else "human", "bot" if n < 2 else "human") for n in range(4)],
        ]
        shown = results.survival(_table(rows, speakers), confidence_level=0.95, resamples=100, seed=1)
        curves = {each.bot: each.survival for each in shown.curves}
        assert shown.times == (2, 3)
        assert curves == {"X": (3 / 4, 2 / 4), "Y": (None, 1 / 4), "Z": (1, None)}
        assert {each.bot: each.low[0] is None for each in shown.curves} == {"X": False, "Y": True, "Z": False}


class TestFoolingRates:
    def test_are_the_share_of_labels_that_say_human_people_included(self):
        # X: human, bot, unsure and bot; Y: bot, human, unsure; Z: unsure; people: human twice.
        shown = results.fooling_rates(_table(ROWS))
        assert [(each.bot, each.human, each.unsure, each.bot_labels, each.n, each.rate) for each in shown] == [
            ("X", 1, 1, 2, 4, 1 / 4),
            ("Y", 1, 1, 1, 3, 1 / 3),
            ("Z", 0, 1, 0, 1, 0),
            ("HU", 2, 0, 0, 2, 1),
        ]
