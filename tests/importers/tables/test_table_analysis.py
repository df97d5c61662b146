"""Tables of votes and of ratings are ranked where they lie."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.factories.command_line import run_stb
from tests.importers.tables.conftest import Save

VOTES = Path(__file__).parents[2] / "readers" / "exports" / "fastchat.jsonl"
RATINGS = "item,bot,annotator,dimension,value\n" + "".join(
    f"i{item},{bot},a{annotator},{dimension},{2 + at + (item + annotator) % 2}\n"
    for dimension in ("fluent", "sensible")
    for at, bot in enumerate(("x", "y"))
    for item in range(6)
    for annotator in range(4)
)


def _analysed(path: Path, *options: str):
    printed = run_stb("analyse", "table", path, "--yes", "--json", "-", *options)
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


class TestVotes:
    def test_votes_are_games_of_each_pair_and_ties_do_not_count(self):
        found = _analysed(VOTES)
        # Of x and y: x won q1 twice, once as model_b, and y won q2. z won over y, x over z. Ties are no wins.
        pairs = {(pair["bot"], pair["other"]): pair for pair in found["ranking"]["pairs"]}
        assert {names: (pair["n"], pair["estimate"]) for names, pair in pairs.items()} == {
            ("x", "y"): (3, pytest.approx(2 / 3)),
            ("x", "z"): (1, 1.0),
            ("y", "z"): (1, 0.0),
        }
        # The mean over the opponents: x (2/3 + 1) / 2, z (0 + 1) / 2, y (1/3 + 0) / 2.
        assert [(bot["bot"], bot["estimate"]) for bot in found["ranking"]["bots"]] == [
            ("x", pytest.approx(5 / 6)),
            ("z", 0.5),
            ("y", pytest.approx(1 / 6)),
        ]
        assert [(each["line"], each["reason"]) for each in found["rejected"]] == [
            (8, "annotator 'expert_1' has an earlier row for this comparison"),
            (9, "both sides are x: a comparison needs two bots"),
            (10, "its winner 'whatever' is neither a side nor a tie: say what it means with --values"),
        ]
        assert (found["read"], found["ranking"]["n"]) == (11, 8)  # one of them about another turn

    def test_winner_may_be_named_and_counts_are_printed(self, save: Save):
        printed = run_stb(
            "analyse", "table", save("item,bot_a,bot_b,winner,user\nq1,x,y,y,u1\nq2,y,x,y,u2\nq3,x,y,x,u1\n"), "--yes"
        )
        assert "x   │ y       │ 1   │ 2    │ 0.33" in printed.stdout
        assert printed.stdout.startswith("By mean win rate, y and x cannot be told apart.")
        assert "Nothing was stored: --json FILE keeps the figures" in printed.stderr

    def test_figures_are_kept_with_what_they_come_from(self, save: Save):
        rows = "item,bot_a,bot_b,winner,user\nq1,x,y,left,u1\nq2,y,x,right,u2\nq3,x,y,right,u1\n"
        path = save(rows)
        found = _analysed(path, "--values", "A=left,B=right", "--seed", "3", "--clusters", "none")
        assert found["map"] == {
            "conversation": "item",
            "side_a": "bot_a",
            "side_b": "bot_b",
            "winner": "winner",
            "annotator": "user",
        }
        assert found["source"] == path.name
        assert found["values"] == ["A=left,B=right"]
        assert found["version"] == version("spotthebot")
        assert found["settings"] == {
            "confidence_level": 0.95,
            "significance_level": 0.05,
            "clusters": "none",
            "adjustment": "holm",
            "seed": 3,
        }
        other = _analysed(save(rows + "q4,x,y,left,u1\n"), "--values", "A=left,B=right")
        assert len({found["source_sha256"], other["source_sha256"]}) == 2


class TestRatings:
    def test_ratings_are_ranked_in_each_dimension(self, save: Save):
        found = _analysed(save(RATINGS))
        assert list(found["dimensions"]) == ["fluent", "sensible"]
        bots = found["dimensions"]["sensible"]["bots"]
        assert [(bot["bot"], bot["estimate"], bot["n"]) for bot in bots] == [("y", 3.5, 24), ("x", 2.5, 24)]
        assert [bot["uncertainty"]["annotators"] for bot in bots] == [4, 4]
        assert found["dimensions"]["fluent"]["clusters"] == "both"
        printed = run_stb("analyse", "table", save(RATINGS), "--yes")
        assert printed.stdout.startswith("By mean fluent, y is ahead of x, with 95 % confidence.\nBy mean sensible, ")

    def test_rows_without_a_number_or_an_annotator_and_second_ratings_are_rejected(self, save: Save):
        rows = "i1,x,a1,4\ni1,x,a1,5\ni1,y,a1,N/A\ni1,y,,3\ni1,y,a2,3.5\ni2,y,a1,nan\n"
        found = _analysed(save(f"item,bot,annotator,value\n{rows}"), "--clusters", "conversation", "--allow-rejected")
        assert [(each["line"], each["reason"]) for each in found["rejected"]] == [
            (
                3,
                (
                    "annotator 'a1' has an earlier row for this comparison: if of another turn, "
                    "name that column with --map turn=COLUMN"
                ),
            ),
            (4, "its value 'N/A' is not a number"),
            (5, "it names no annotator"),
            (7, "its value 'nan' is not a number"),
        ]
        bots = found["dimensions"]["rating"]["bots"]
        assert [(bot["bot"], bot["estimate"]) for bot in bots] == [
            ("x", 4),
            ("y", 3.5),
        ]

    def test_a_dimension_of_which_no_row_names_an_annotator_has_none(self, save: Save):
        rows = "i1,x,a1,good,4\ni1,x,,good,2\ni1,y,a1,good,3\ni1,x,,quick,0.5\ni1,x,,quick,0.7\ni1,y,,quick,1.5\n"
        table = save(f"item,bot,annotator,dimension,value\n{rows}")
        found = _analysed(table, "--clusters", "conversation", "--allow-rejected")
        assert [(each["line"], each["reason"]) for each in found["rejected"]] == [(3, "it names no annotator")]
        means = {name: {bot["bot"]: bot["estimate"] for bot in of["bots"]} for name, of in found["dimensions"].items()}
        assert means == {"good": {"x": 4, "y": 3}, "quick": {"x": pytest.approx(0.6), "y": 1.5}}

    def test_columns_of_dimensions_are_ratings_as_their_rows_would_be(self, save: Save):
        rows = RATINGS.splitlines()[1:]
        assert len(rows) == 96
        fluent, sensible = rows[:48], rows[48:]
        wide = [f"{one},{other.rpartition(',')[2]}" for one, other in zip(fluent, sensible, strict=True)]
        content = "item,bot,annotator,_,How fluent, is it?,sense\n".replace(
            "How fluent, is it?", '"How fluent, is it?"'
        )
        path = save(content + "\n".join([*wide, "i9,x,a1,_,4,high"]))
        found = _analysed(path, "--map", "value.fluent=How fluent, is it?,value.sensible=sense")
        assert found["dimensions"] == _analysed(save(RATINGS, "long.csv"))["dimensions"]
        assert [each["reason"] for each in found["rejected"]] == ["its value.sensible 'high' is not a number"]

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ("i1,x,a1,4\ni2,x,a2,5\n", "table.csv holds only the bot x: a ranking needs at least two bots."),
            ("i1,,a1,4\n", "No row of table.csv can be used. The first fault: it names no bot."),
        ],
    )
    def test_table_that_can_rank_nobody_is_refused_in_a_sentence(self, save: Save, rows: str, reason: str):
        printed = run_stb("analyse", "table", save(f"item,bot,annotator,value\n{rows}"), "--yes")
        assert (printed.returncode, printed.stderr.splitlines()[-1]) == (1, f"Error: {reason}")

    def test_import_of_votes_says_where_they_are_ranked(self, save: Save):
        for path in (VOTES, save(RATINGS)):
            printed = run_stb("import", "labels", path, "--yes")
            assert printed.returncode == 1
            assert "./stb analyse table" in printed.stderr
