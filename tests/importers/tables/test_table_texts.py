"""Items of one text count as one: tables say their texts in one column, or in a prompt and both responses."""

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.importers.tables.comparisons import games_of, ratings_of
from spotthebot.importers.tables.notes import notes_of
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.meanings.columns import COMPARED, find_columns
from spotthebot.readers.meanings.values import ValueWords
from tests.factories.command_line import run_stb
from tests.importers.tables.conftest import Save, compared

PROMPT = "What shall I cook?"
TEXTS, COPIES = 8, 5


def _written(rows: list[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _arena(*, texts: bool) -> str:
    """Write votes of x and y about items, of which five each show the same words, on either side and in any case.

    Without texts, the five have one id.
    """
    chance = np.random.default_rng(4)
    rows = []
    for text in range(TEXTS):
        liked = chance.random()
        for copy in range(COPIES):
            said = [f"Soup number {text}.", f"Rice number {text}!"]
            bots, won = ["x", "y"], "x" if chance.random() < liked else "y"
            if copy % 2:
                said, bots = [each.upper() for each in said[::-1]], bots[::-1]
            row = {"id": f"i{text}-{copy}" if texts else f"i{text}", "model_a": bots[0], "model_b": bots[1]}
            row["winner"] = won
            rows.append(row | ({"prompt": PROMPT, "response_a": said[0], "response_b": said[1]} if texts else {}))
    return _written(rows)


def _rated(*, texts: bool) -> str:
    chance = np.random.default_rng(6)
    rows = []
    for text in range(TEXTS):
        for copy in range(COPIES):
            for bot in ("x", "y"):
                row = {"item": f"i{text}-{copy}" if texts else f"i{text}", "bot": bot, "rater": f"r{copy}"}
                row["score"] = f"{text % 3 + chance.integers(1, 4)}"
                rows.append(row | ({"reply": f"{bot.upper()} says that {text} is nice."} if texts else {}))
    return _written(rows)


def _columns(save: Save, content: str) -> dict[str, str]:
    return dict(find_columns(open_table(save(content)), COMPARED, [], ValueWords.of([], [])).columns)


class TestColumns:
    def test_arenas_and_rated_replies_have_texts_known_by_their_names(self, save: Save):
        found = _columns(save, _arena(texts=True))
        assert {name: found.get(name) for name in ("text_a", "text_b", "prompt", "text")} == {
            "text_a": "response_a",
            "text_b": "response_b",
            "prompt": "prompt",
            "text": None,
        }
        assert _columns(save, _rated(texts=True))["text"] == "reply"

    @pytest.mark.parametrize(
        "content",
        [
            f"id,model_a,model_b,winner,prompt\n1,x,y,x,{PROMPT}\n2,x,y,y,{PROMPT}\n",
            "item,bot,value,response\n1,x,4,good\n2,y,3,human\n",
            "item,bot,value,context\n1,x,4,7\n2,y,3,7\n",
        ],
        ids=["a prompt alone only begins alike", "words of annotators", "numbers"],
    )
    def test_columns_without_whole_texts_are_not_guessed(self, save: Save, content: str):
        assert {"text", "text_a", "text_b", "prompt"}.isdisjoint(_columns(save, content))


class TestItems:
    def test_votes_on_copies_are_of_one_item(self, save: Save):
        """The five copies of a text have the bounds that five votes on one item have."""
        copied = rank_bots(games_of(compared(save(_arena(texts=True)))))
        once = rank_bots(games_of(compared(save(_arena(texts=False)))))
        for one, other in zip(copied.bots, once.bots, strict=True):
            assert one.low is not None
            assert (one.bot, one.estimate) == (other.bot, other.estimate)
            assert (one.low, one.high) == pytest.approx((other.low, other.high))
            assert one.uncertainty.conversations == other.uncertainty.conversations == TEXTS

    def test_ratings_of_copies_are_of_one_item(self, save: Save):
        found = compared(save(_rated(texts=True)))
        copied = rank_ratings(ratings_of(found, "rating"))
        once = rank_ratings(ratings_of(compared(save(_rated(texts=False))), "rating"))
        for one, other in zip(copied.bots, once.bots, strict=True):
            assert (one.bot, one.uncertainty.conversations) == (other.bot, TEXTS)
            assert (one.low, one.high) == pytest.approx((other.low, other.high))
        assert "32 of 40 items repeat another one's text: as clusters they count as 8." in notes_of(found)

    def test_items_without_words_or_with_one_response_in_common_stay_apart(self, save: Save):
        said = ["Hi there,Good day", "Hi there,Good night", "NaN,", "NaN, ", ","]
        rows = [f"{number},x,y,x,{each}" for number, each in enumerate(said)]
        found = compared(save("\n".join(["id,model_a,model_b,winner,response_a,response_b", *rows])))
        assert len({*found.clusters.values()}) == 5
        assert found.repeated_texts == ()

    def test_repeats_are_named_with_their_bots_on_the_screen_and_in_the_file(self, save: Save):
        content = _arena(texts=True).replace("response_", "column_")
        given = ("--map", "text_a=column_a,text_b=column_b")
        printed = run_stb("analyse", "table", save(content), "--yes", *given)
        words = "32 of 40 conversations of x and y repeat another one's text: as clusters they count as 8."
        assert f"Warning: {words}" in " ".join(printed.stderr.split())
        written = run_stb("analyse", "table", save(content), "--yes", "--json", "-", *given)
        assert json.loads(written.stdout)["repeated_texts"] == [
            {"speakers": ["x", "y"], "conversations": 40, "texts": 8}
        ]
