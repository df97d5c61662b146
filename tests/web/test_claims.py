"""What a dashboard says on top is what the sets of ranks and the tests allow, and no more."""

import doctest
from collections.abc import Sequence

import pytest

from spotthebot.contracts.analytics import RankingOut, WinRatesOut
from spotthebot.web.catalogues import Texts
from spotthebot.web.domain import numbers
from spotthebot.web.domain.claims import claim, written
from spotthebot.web.domain.numbers import Numbers
from tests.factories.analyses import analysis

_ANALYSIS = analysis(("A", "B", "C"))


def said(
    ranks: Sequence[tuple[int, int]], *, significant: int = 0, language: str = "en", reason: str | None = None
) -> str:
    """Return what is said of bots A, B and C with these sets of ranks, and of so many pairs that differ."""
    bots = [
        bot.model_copy(update={"rank_low": low, "rank_high": high})
        for bot, (low, high) in zip(_ANALYSIS.ranking.bots, ranks, strict=True)
    ]
    names = dict(zip((bot.bot for bot in bots), "ABC", strict=True))
    bots = [bot.model_copy(update={"bot": names[bot.bot]}) for bot in bots]
    pairs = [
        pair.model_copy(update={"significant": at < significant, "wins": 3, "losses": 1, "ties": 12})
        for at, pair in enumerate(_ANALYSIS.win_rates.pairs)
    ]
    shared = {name: getattr(_ANALYSIS, name) for name in RankingOut.model_fields if name != "ranking"}
    ranking = _ANALYSIS.ranking.model_copy(update={"bots": tuple(bots), "reason": reason})
    win_rates = _ANALYSIS.win_rates.model_copy(update={"pairs": tuple(pairs)})
    found = claim(RankingOut(ranking=ranking, **shared), WinRatesOut(win_rates=win_rates, **shared))
    texts = Texts(language)
    sentences = [written(each, texts, Numbers(language)) for each in (found.lead, *found.rest)]
    return " ".join(sentences).replace("\u2068", "").replace("\u2069", "")


TIES = "75 % of the comparisons were ties and count for neither side."


class TestClaim:
    def test_names_the_first_and_that_no_place_would_change(self):
        assert said([(1, 1), (2, 2), (3, 3)], significant=3) == (
            "A is ahead of every other bot, with 95 % confidence. All 3 bots can be told apart; with 95 % confidence"
            f" none of these places would change. {TIES}"
        )

    def test_names_those_among_whom_the_first_is(self):
        assert said([(1, 2), (1, 2), (3, 3)], significant=2) == (
            "The best bot is one of A and B: they cannot be told apart. All others are behind, with 95 % confidence."
            f" 2 of 3 pairs of bots can be told apart. {TIES}"
        )

    def test_says_that_nobody_is_ahead(self):
        assert said([(1, 3), (1, 3), (1, 3)]) == (
            f"None of the 3 bots is shown to be ahead of another. 0 of 3 pairs of bots can be told apart. {TIES}"
        )

    def test_says_why_there_is_no_ranking(self):
        assert said([(1, 1), (2, 2), (3, 3)], reason="A and C never met") == (
            "The bots cannot be ranked. The reason: A and C never met. 0 of 3 pairs of bots can be told apart."
        )

    def test_is_said_in_german_with_german_numbers(self):
        assert said([(1, 2), (1, 2), (3, 3)], significant=1, language="de").startswith(
            "Der beste Bot ist einer von diesen: A und B."
        )


class TestNumbers:
    def test_are_written_as_their_worked_examples_say(self):
        tried = doctest.testmod(numbers)
        assert tried.attempted > 8
        assert tried.failed == 0

    @pytest.mark.parametrize(
        ("share", "text"), [(0.004, "< 1 %"), (0.996, "> 99 %"), (1.0, "100 %"), (None, numbers.NOTHING)]
    )
    def test_never_round_a_share_to_nothing_or_all(self, share: float | None, text: str):
        assert Numbers("en").percent(share) == text
