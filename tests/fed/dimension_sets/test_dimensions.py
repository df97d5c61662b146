"""The published dimensions are those of the released code; a user's own are checked before a model sees them."""

import json
import subprocess
import sys
from hashlib import sha256

import pytest

from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.dimension_sets.domain.dimensions import (
    MAX_DIMENSIONS,
    MAX_FOLLOWUPS,
    Dimension,
    unique_followups,
    user_dimension,
    user_dimensions,
)
from spotthebot.fed.dimension_sets.domain.published_dimensions import DIALOGUE_LEVEL, FED, TURN_LEVEL
from spotthebot.fed.dimension_sets.errors import DimensionNameTaken, DimensionUnusable, NoSuchDimension
from tests.factories.published_dump import reference

RELEASED = "7346cef61d0f68430a0b608e21a1723053ed1129170f55de0eb15a31f0f6ae9f"
"""The SHA-256 of `../shared/reference/fed/followups.json` as Python writes it, for clones without it."""


class TestPublishedDimensions:
    def test_have_the_follow_ups_of_the_released_code(self):
        ours = {
            level: {each.name: {"positive": [*each.positive], "negative": [*each.negative]} for each in dimensions}
            for level, dimensions in (("turn", TURN_LEVEL), ("dialog", DIALOGUE_LEVEL))
        }
        assert sha256(json.dumps(ours).encode()).hexdigest() == RELEASED
        expected = reference("fed/followups.json")  # skips this test where it is not here
        assert json.dumps(ours) == json.dumps(expected)

    def test_take_73_passes_of_63_texts_in_the_released_code(self):
        """The numbers are those of the released loop: one forward pass for each follow-up of each dimension."""
        assert (len(TURN_LEVEL), len(DIALOGUE_LEVEL)) == (8, 10)
        assert sum(len(each.followups) for each in FED.dimensions) == 73
        assert len(unique_followups(FED.dimensions)) == 63
        assert sum(not each.positive for each in FED.dimensions) == 8

    def test_are_read_with_the_standard_library_alone(self):
        program = "import sys, spotthebot.fed.dimension_sets.domain.published_dimensions; print(*sys.modules)"
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        assert {name.partition(".")[0] for name in loaded.split()} & {"numpy", "pydantic", "scipy", "torch"} == set()


class TestBipartiteDimensions:
    def test_are_the_four_of_the_paper_and_valid(self):
        assert BIPARTITE.names == ("fluency", "specificity", "sensibleness", "overall")
        for each in BIPARTITE.dimensions:
            assert user_dimension(each.name, each.positive, each.negative) == each

    def test_share_no_follow_up_with_the_published_ones(self):
        """They are marked as ours, so they are."""
        assert set(unique_followups(BIPARTITE.dimensions)) & set(unique_followups(FED.dimensions)) == set()
        assert "this project" in BIPARTITE.origin


class TestUserDimensions:
    def test_keep_the_order_of_their_follow_ups(self):
        polite = user_dimension("polite", ["How kind!", "Thank you!"], ["So rude!"])
        assert polite == Dimension("polite", ("How kind!", "Thank you!"), ("So rude!",))
        assert unique_followups([polite, polite]) == ("How kind!", "Thank you!", "So rude!")

    @pytest.mark.parametrize(
        ("name", "positive", "negative", "reason"),
        [
            ("", ["Good."], [], "a name is"),
            ("Polite", ["Good."], [], "a name is"),
            ("a" * 64, ["Good."], [], "a name is"),
            ("polite\n", ["Good."], [], "a name is"),
            ("polite", [], [], "it has no follow-ups"),
            ("polite", [f"Good {at}." for at in range(MAX_FOLLOWUPS + 1)], [], "51 positive follow-ups: at most 50"),
            ("polite", [], [f"Bad {at}." for at in range(MAX_FOLLOWUPS + 1)], "51 negative follow-ups: at most 50"),
            ("polite", ["Good."], ["Good."], "occurs twice"),
            ("polite", [" "], [], "is empty"),
            ("polite", ["Good. "], [], "white space"),
            ("polite", ["x" * 501], [], "501 characters: at most 500"),
            ("polite", ["Good\x00."], [], "control character or half a surrogate pair"),
            ("polite", ["Good\ud800."], [], "control character or half a surrogate pair"),
        ],
    )
    def test_are_refused_with_the_reason(self, name, positive, negative, reason):
        with pytest.raises(DimensionUnusable, match=reason):
            user_dimension(name, positive, negative)

    def test_accept_the_largest_dimension(self):
        texts = [f"{at:02}" + "x" * 498 for at in range(MAX_FOLLOWUPS)]
        assert len(user_dimension("a" * 63, texts, []).positive) == MAX_FOLLOWUPS

    def test_form_a_set_of_different_names(self):
        polite, funny = user_dimension("polite", ["How kind!"], []), user_dimension("funny", ["Haha!"], [])
        both = user_dimensions("manners", [polite, funny])
        assert both.names == ("polite", "funny")
        assert both.get("funny") is funny
        with pytest.raises(NoSuchDimension, match="'rude': there are polite, funny"):
            both.get("rude")
        with pytest.raises(DimensionNameTaken, match="'polite'"):
            user_dimensions("manners", [polite, funny, polite])

    @pytest.mark.parametrize("count", [0, MAX_DIMENSIONS + 1])
    def test_form_no_set_that_is_empty_or_endless(self, count: int):
        with pytest.raises(DimensionUnusable, match=f"1 to 100 dimensions, not {count}"):
            user_dimensions("many", [Dimension(f"d{at}", ("Good.",), ()) for at in range(count)])
