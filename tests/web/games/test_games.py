"""The leaderboard of a game: who is shown to one of its annotators."""

from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut
from spotthebot.web.games.domain import board_of


def _ranks(count: int, points: float | None = None) -> list[AnnotatorRankOut]:
    """Return the ranks of so many annotators, whose pseudonyms end with their rank."""
    return [
        AnnotatorRankOut(rank=rank, annotator=f"p-{rank:04}abcd", packages=1, sides=4, right=None, points=points)
        for rank in range(1, count + 1)
    ]


def _shown(count: int, own: int) -> list[int]:
    """Return the ranks that are shown; how many are left out between them is negative."""
    return [each.rank or -each.left_out for each in board_of(_ranks(count), f"p-{own:04}abcd").rows]


class TestBoard:
    def test_shows_the_best_ten_oneself_and_two_on_either_side(self):
        ten = list(range(1, 11))
        assert _shown(3, 2) == [1, 2, 3]
        assert _shown(11, 1) == [*ten, -1]
        assert _shown(30, 9) == [*ten, 11, -19]
        assert _shown(30, 13) == [*ten, 11, 12, 13, 14, 15, -15]
        assert _shown(30, 20) == [*ten, -7, 18, 19, 20, 21, 22, -8]
        assert _shown(30, 30) == [*ten, -17, 28, 29, 30]
        assert _shown(0, 1) == []

    def test_marks_oneself_by_the_pseudonym_and_shows_four_letters_of_it(self):
        board = board_of(_ranks(2, points=1.5), "p-0002abcd")
        assert [(each.code, each.is_own) for each in board.rows] == [("0001", False), ("0002", True)]
        assert (board.own, board.count, board.is_final) == (board.rows[1], 2, True)

    def test_has_no_rank_for_who_is_not_among_them(self):
        board = board_of(_ranks(2), "")
        assert (board.own, board.is_final, [each.is_own for each in board.rows]) == (None, False, [False, False])
