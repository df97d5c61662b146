"""What a dashboard says on top is what the sets of ranks and the tests allow, and no more."""

from collections.abc import Sequence
from itertools import combinations

import pytest

from spotthebot.contracts.analytics.results import RankingOut, SurvivalOut, WinRatesOut
from spotthebot.web.catalogues import Texts
from spotthebot.web.claims.domain import Claim, claim, survival_claim, written
from spotthebot.web.layout.domain import Numbers
from tests.factories.analyses import analysis

_ANALYSIS = analysis(("A", "B", "C"))
_SHARED = {name: getattr(_ANALYSIS, name) for name in RankingOut.model_fields if name != "ranking"}


def said(  # what may differ
    ranks: Sequence[tuple[int, int] | None],
    *,
    significant: int = 0,
    intervals: Sequence[tuple[float, float]] = ((0.0, 1.0),) * 3,
    ranked_by: str = "win_rates",
    language: str = "en",
    reason: str | None = None,
) -> str:
    """Return what is said of bots A, B and C with these sets of ranks and intervals, and so many pairs that differ."""
    bots = [
        bot.model_copy(
            update={
                "bot": name,
                "rank_low": found and found[0],
                "rank_high": found and found[1],
                "win_rate": bot.win_rate.model_copy(update={"low": low, "high": high}),
            }
        )
        for bot, name, found, (low, high) in zip(_ANALYSIS.ranking.bots, "ABC", ranks, intervals, strict=False)
    ]
    pairs = [
        pair.model_copy(update={"significant": at < significant, "wins": 3, "losses": 1, "ties": 12})
        for at, pair in enumerate(_ANALYSIS.win_rates.pairs[: len(bots) * (len(bots) - 1) // 2])
    ]
    ranking = _ANALYSIS.ranking.model_copy(update={"bots": tuple(bots), "ranked_by": ranked_by, "reason": reason})
    win_rates = _ANALYSIS.win_rates.model_copy(update={"pairs": tuple(pairs)})
    found = claim(RankingOut(ranking=ranking, **_SHARED), WinRatesOut(win_rates=win_rates, **_SHARED))
    return in_words(found, language)


def in_words(found: Claim, language: str = "en") -> str:
    """Return the sentences of a claim, without the marks around names."""
    texts = Texts(language)
    sentences = [written(each, texts, Numbers(language)) for each in (found.lead, *found.rest)]
    return " ".join(sentences).replace("\u2068", "").replace("\u2069", "")


def survival(significant: int, *, bots: int = 3) -> Claim | None:
    """Return what log-rank tests tell, of which so many show a difference; people differ from every bot."""
    names = "ABC"[:bots]
    (first, *_) = _ANALYSIS.survival.log_rank
    pairs = [*combinations(names, 2)]
    tests = [
        first.model_copy(update={"bot": bot, "other": other, "p_adjusted": 0.5, "significant": at < significant})
        for at, (bot, other) in enumerate(pairs)
    ]
    people = [
        first.model_copy(update={"bot": "HU", "other": name, "p_adjusted": 0.001, "significant": True})
        for name in names
    ]
    found = _ANALYSIS.survival.model_copy(update={"log_rank": (*tests, *people)})
    return survival_claim(SurvivalOut(survival=found, **_SHARED))


TIES = "75 % of the comparisons were ties and count for neither side."
SURVIVAL = "How long bots pass is another measure: its section has tests of its own."


class TestClaim:
    def test_tells_all_pairs_apart_and_names_the_first(self):
        assert said([(1, 1), (2, 2), (3, 3)], significant=3) == (
            "By mean win rate, all 3 pairs of bots can be told apart, with 95 % confidence. A is ahead of every other"
            f" bot. {TIES}"
        )

    def test_counts_the_differences_and_names_those_of_whom_one_is_the_first(self):
        assert said([(1, 2), (1, 2), (3, 3)], significant=2) == (
            "By mean win rate, 2 of 3 pairs of bots can be told apart, with 95 % confidence. The best bot is one of A"
            f" and B. {SURVIVAL} {TIES}"
        )

    def test_counts_a_difference_of_bots_whose_ranks_overlap(self):
        assert said([(1, 2), (1, 3), (2, 3)], significant=1).startswith(
            "By mean win rate, 1 of 3 pairs of bots can be told apart, with 95 % confidence. The best bot is one of A"
        )

    def test_calls_no_bot_first_that_may_have_another_rank(self):
        assert "ahead of every other" not in said([(1, 2), (2, 3), (2, 3)], significant=2)

    def test_says_what_the_games_of_pairs_tell_beside_the_ranks(self):
        assert said([(1, 3), (1, 3), (1, 3)], significant=2) == (
            "By mean win rate, none of the 3 pairs of bots can be told apart. Another test counts only the games of two"
            " bots with each other, none with other bots: by it, 2 of 3 pairs can be told apart."
            f" {SURVIVAL} {TIES}"
        )

    @pytest.mark.parametrize(
        ("ranks", "intervals", "count"),
        [
            ([(1, 3), (1, 3), (1, 3)], [(0.8, 0.9), (0.4, 0.6), (0.1, 0.2)], "3 pairs"),
            ([(1, 3), (1, 3), (1, 3)], [(0.8, 0.9), (0.4, 0.85), (0.1, 0.7)], "1 pair"),
            ([(1, 2), (1, 3), (2, 3)], [(0.8, 0.9), (0.4, 0.85), (0.1, 0.2)], "1 pair"),
            ([(1, 2), (1, 3), (2, 3)], [(0.8, 0.9), (0.4, 0.6), (0.3, 0.95)], "1 pair"),
        ],
    )
    def test_says_why_intervals_part_where_ranks_do_not(
        self, ranks: list[tuple[int, int]], intervals: list[tuple[float, float]], count: str
    ):
        verb = "has" if count == "1 pair" else "have"
        assert (
            f" At least {count} that cannot be told apart {verb} 95 % intervals of the win rate that do not overlap: an"
            " interval holds for one bot by itself, the ranks hold for all bots at once."
        ) in said(ranks, intervals=intervals)

    def test_says_nothing_of_intervals_where_ranks_part_too(self):
        parted = [(0.8, 0.9), (0.4, 0.6), (0.1, 0.2)]
        assert "overlap" not in said([(1, 1), (2, 2), (3, 3)], intervals=parted)

    def test_names_strengths_where_they_decide(self):
        parted = [(0.8, 0.9), (0.4, 0.6), (0.1, 0.2)]  # of different opponents
        text = said([(1, 3), (1, 3), (1, 3)], ranked_by="strengths", intervals=parted)
        assert text.startswith(
            "By Bradley-Terry strength, none of the 3 pairs of bots can be told apart. Not all of these bots met"
        )
        assert "overlap" not in text

    @pytest.mark.parametrize(
        ("ranks", "significant", "sentences"),
        [
            ([(1, 1), (2, 2)], 1, f"By mean win rate, A is ahead of B, with 95 % confidence. {TIES}"),
            ([(1, 2), (1, 2)], 0, f"By mean win rate, A and B cannot be told apart. {SURVIVAL} {TIES}"),
            (
                [(1, 2), (1, 2)],
                1,
                (
                    "By mean win rate, A and B cannot be told apart. The test of the pair's own games shows a"
                    f" difference. {SURVIVAL} {TIES}"
                ),
            ),
        ],
    )
    def test_names_both_of_two_bots(self, ranks: list[tuple[int, int]], significant: int, sentences: str):
        assert said(ranks, significant=significant) == sentences

    def test_compares_one_bot_with_nobody(self):
        assert said([(1, 1)]) == (
            f"By mean win rate, only A can be ranked: there is no other bot to compare it with. {SURVIVAL}"
        )

    def test_says_that_no_game_is_decided(self):
        assert said([None]) == (f"There is no ranking by mean win rate: no bot has won or lost a game yet. {SURVIVAL}")

    def test_says_why_there_is_no_ranking(self):
        assert said([None, None, None], reason="A and C never met") == (
            "The bots cannot be ranked, neither by mean win rate nor by Bradley-Terry strength. The reason: A and C"
            " never met. Another test counts only the games of two bots with each other, none with other bots: by it, 0"
            f" of 3 pairs can be told apart. {SURVIVAL}"
        )

    def test_is_said_in_german_with_german_numbers(self):
        assert said([(1, 2), (1, 2), (3, 3)], significant=1, language="de").startswith(
            "Nach der mittleren Gewinnrate sind 2 von 3 Paaren von Bots zu unterscheiden, mit einer Konfidenz von 95 %."
            " Der beste Bot ist einer von diesen: A und B. Ein anderer Test zählt nur die Spiele"
        )


class TestSurvivalClaim:
    @pytest.mark.parametrize(
        ("significant", "bots", "lead"),
        [
            (0, 3, "none of the 3 pairs of bots can be told apart."),
            (2, 3, "2 of 3 pairs of bots can be told apart, with 95 % confidence."),
            (3, 3, "all 3 pairs of bots can be told apart, with 95 % confidence."),
            (1, 2, "A and B can be told apart, with 95 % confidence."),
            (0, 2, "A and B cannot be told apart."),
        ],
    )
    def test_counts_pairs_of_bots_without_people(self, significant: int, bots: int, lead: str):
        found = survival(significant, bots=bots)
        assert found is not None
        assert in_words(found) == f"By survival (log-rank tests), {lead} The ranks go by another measure."

    def test_is_nothing_without_a_test_of_two_bots(self):
        assert survival(0, bots=1) is None
