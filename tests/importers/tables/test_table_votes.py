"""What a winner means is decided by all votes of a table together; what fits two meanings is refused."""

import json

import numpy as np
import pytest

from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.importers.tables.comparisons import games_of
from spotthebot.importers.tables.errors import NumbersNameWinner, ValuesUnknown, WinnerIsBotOrSide
from spotthebot.importers.tables.notes import notes_of
from spotthebot.importers.tables.votes import position_of
from spotthebot.importers.tables.winners import WinnersAre
from tests.factories.command_line import run_stb
from tests.importers.tables.conftest import PROMPTED, Save, compared, reasons

HEADER = "item,model_a,model_b,winner,annotator\n"
PLAYED = (("x", "y", "A"), ("y", "x", "B"), ("x", "y", "tie"), ("x", "y", "B"))
"""In four games x wins two, y one, and one is a tie."""


def _table(code: dict[str, str], bots: dict[str, str] | None = None, played=PLAYED) -> str:
    names = bots or {"x": "x", "y": "y"}
    return HEADER + "".join(
        f"i{at},{names[first]},{names[second]},{code.get(won, won)},u{at}\n"
        for at, (first, second, won) in enumerate(played)
    )


def _outcomes(found) -> list[int]:
    """Return each vote from x's point of view."""
    return [vote.outcome if vote.bots[0] == "x" else -vote.outcome for vote in found.votes]


class TestRowsWithoutConversations:
    def test_are_conversations_of_their_own_which_is_said(self, save: Save):
        """Two votes of one annotator about two bots would be one repeated vote in one conversation."""
        rows = "x,y,model_a,u\nx,y,model_b,u\ny,x,model_a,v\n"
        found = compared(save("model_a,model_b,winner,annotator\n" + rows))
        assert [vote.item for vote in found.votes] == ["line 2", "line 3", "line 4"]
        assert len(set(games_of(found).conversation)) == 3
        assert any(note.startswith("No column says conversation: each vote counts") for note in notes_of(found))
        found = compared(save("id,model_a,model_b,winner,annotator\n1,x,y,model_a,u\n"))
        assert not any("conversation" in note for note in notes_of(found))


class TestWords:
    @pytest.mark.parametrize(
        "code",
        [
            {"A": "model_a", "B": "model_b", "tie": "tie (bothbad)"},
            {"A": "left", "B": "RIGHT", "tie": "Equal"},
            {"A": "[[A]]", "B": "[[B]]", "tie": "[[C]]"},
            {"A": "assistant_a", "B": "assistant_b", "tie": "both_good"},
            {"A": "1", "B": "2", "tie": "tie"},
            {"A": "1.0", "B": "2.0", "tie": "None"},
        ],
    )
    def test_words_and_one_and_two_are_sides(self, save: Save, code: dict[str, str]):
        assert _outcomes(compared(save(_table(code)))) == [1, 1, 0, -1]

    @pytest.mark.parametrize(
        ("code", "values"),
        [
            ({"A": "0", "B": "1", "tie": "tie"}, "A=0,B=1"),
            ({"A": "1", "B": "0", "tie": "tie"}, "A=1,B=0"),
            ({"A": "0", "B": "1", "tie": "2"}, "A=0,B=1,tie=2"),
            ({"A": "1", "B": "2", "tie": "0"}, "A=1,B=2,tie=0"),
            ({"A": "1", "B": "2", "tie": "3"}, "A=1,B=2,tie=3"),
            ({"A": "1.0", "B": "-1.0", "tie": "0.0"}, "A=1,B=-1,tie=0"),
            ({"A": "1", "B": "0", "tie": "0.5"}, "A=1,B=0,tie=0.5"),
        ],
    )
    def test_numbers_that_fit_two_meanings_are_refused_until_one_is_given(
        self, save: Save, code: dict[str, str], values: str
    ):
        path = save(_table(code))
        with pytest.raises(NumbersNameWinner, match="--values A="):
            compared(path)
        assert _outcomes(compared(path, values=values)) == [1, 1, 0, -1]

    def test_words_that_are_unknown_are_asked_for(self, save: Save):
        path = save(_table({"A": "True", "B": "False"}, played=PLAYED[:2]))
        with pytest.raises(ValuesUnknown, match=r"is a winner \(True, False\)"):
            compared(path)
        assert _outcomes(compared(path, values="A=true,B=false")) == [1, 1]

    def test_meaning_of_each_winner_is_said(self, save: Save):
        found = compared(save(_table({"A": "model_a", "B": "model_b"})))
        assert notes_of(found)[:2] == [
            "Winners: model_b is the second side (2); model_a is the first side (1); tie is a tie (1).",
            "The bot on the first side won 1 of 3 decided votes (33%).",
        ]


class TestNames:
    @pytest.mark.parametrize("bots", [{"x": "A", "y": "B"}, {"x": "2", "y": "1"}])
    def test_bots_called_as_sides_are_refused_until_the_reading_is_given(self, save: Save, bots: dict[str, str]):
        code = {"A": bots["x"] if bots["x"] == "A" else "1", "B": "B" if bots["x"] == "A" else "2"}
        path = save(_table(code, bots))
        with pytest.raises(WinnerIsBotOrSide, match="say --winners names or --winners sides"):
            compared(path)
        sides = compared(path, winners=WinnersAre.SIDES)
        assert [vote.outcome for vote in sides.votes] == [1, -1, 0, -1]
        names = compared(path, winners=WinnersAre.NAMES)
        # Of the games of A against B, B against A and A against B the winners are A, B and B by their names.
        won = [vote.bots[0 if vote.outcome > 0 else 1] for vote in names.votes if vote.outcome]
        assert won == [code["A"], code["B"], code["B"]]

    def test_names_of_bots_beside_one_called_as_a_side_are_names(self, save: Save):
        rows = "i1,A,z,A,u1\ni2,z,A,A,u2\ni3,A,z,z,u3\ni4,z,A,tie,u4\n"
        found = compared(save(HEADER + rows))
        assert [vote.outcome for vote in found.votes] == [1, -1, -1, 0]

    def test_bot_called_tie_is_refused_until_the_reading_is_given(self, save: Save):
        path = save(f"{HEADER}i1,tie,z,tie,u1\ni2,z,tie,z,u2\n")
        with pytest.raises(WinnerIsBotOrSide, match="'tie' can be a bot's name or a side or a tie"):
            compared(path)
        assert [vote.outcome for vote in compared(path, winners=WinnersAre.SIDES).votes] == [0, 1]
        assert [vote.outcome for vote in compared(path, winners=WinnersAre.NAMES).votes] == [1, 1]

    def test_names_written_in_two_ways_are_one_bot(self, save: Save):
        rows = "i1,Zo\u00e9,y,Zoe\u0301,u1\ni2,Zoe\u0301,y,zo\u00e9,u2\n"
        found = compared(save(HEADER + rows))
        assert {vote.bots[0] for vote in found.votes} == {"Zo\u00e9"}
        assert [vote.outcome for vote in found.votes] == [1, 1]

    def test_columns_and_winners_are_found_in_both_forms_of_their_accents(self, save: Save):
        written = {"nfc": "premi\u00e8re", "nfd": "premie\u0300re"}
        for one, other in (("nfc", "nfd"), ("nfd", "nfc")):
            line = {"item": 1, "model_a": "x", "model_b": "y", f"{written[one]}\nvoix": written[one]}
            path = save(json.dumps(line, ensure_ascii=False), "votes.jsonl")
            found = compared(path, f"winner={written[other]} voix", values=f"A={written[other]}")
            assert [vote.outcome for vote in found.votes] == [1]


class TestOrders:
    def test_pure_position_bias_leaves_two_bots_even_and_is_said(self, save: Save):
        rows = "".join(f"i{at},{one},{other},model_a,g\n" for at in range(20) for one, other in ("xy", "yx"))
        found = compared(save(HEADER + rows))
        ranking = rank_bots(games_of(found))
        assert [bot.estimate for bot in ranking.bots] == [0.5, 0.5]
        assert position_of(found.votes) == (40, 40, 20, 20)
        assert "20 pairs that were voted on in both orders and decided twice, 20 went to the same side" in " ".join(
            notes_of(found)
        )

    def test_second_vote_in_the_same_order_does_not_count(self, save: Save):
        found = compared(save(f"{HEADER}i1,x,y,A,u1\ni1,y,x,A,u1\ni1,x,y,B,u1\n"))
        assert _outcomes(found) == [1, -1]
        assert [line for line, _ in reasons(found)] == [4]

    def test_both_orders_in_a_row_of_fastchat_count(self, save: Save):
        lines = [
            {"question_id": 1, "model_1": "x", "model_2": "y", "g1_winner": "model_1", "g2_winner": second,
             PROMPTED: ["gpt-4", prompt], "turn": turn}
            for turn, prompt, second in ((1, "pair-v2", "model_1"), (2, "pair-v2-multi-turn", "model_2"))
        ]  # fmt: skip
        found = compared(save("\n".join(map(json.dumps, lines)), "pairs.jsonl"))
        assert _outcomes(found) == [1, 1, 1, -1]
        assert found.annotators == {"gpt-4"}
        # The second game of a row shows y first: in turn 1 x wins on either side, in turn 2 the first side wins twice.
        assert position_of(found.votes) == (4, 3, 2, 1)


class TestOutcomeColumns:
    @pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("1.0", "0.0"), ("True", "False"), ("yes", "")])
    def test_winner_in_three_columns_without_annotators(self, save: Save, yes: str, no: str):
        rows = [("x,y", yes, no, no), ("y,x", no, yes, no), ("x,y", no, no, yes), ("x,y", yes, yes, no)]
        content = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n" + "".join(
            ",".join((str(at), *row)) + "\n" for at, row in enumerate(rows)
        )
        found = compared(save(content))
        assert _outcomes(found) == [1, 1, 0]
        assert reasons(found) == [(5, "more than one of its outcomes is 1: model_a, model_b")]
        games = games_of(found)
        assert len(np.unique(games.annotator)) == 3
        assert any("No column says annotator" in note for note in notes_of(found))

    @pytest.mark.parametrize(
        "columns",
        [
            ("bot1", "bot2", "bot1_wins", "bot2_wins", "tie"),
            ("system A", "system B", "systemA wins", "systemB wins", "draw"),
        ],
    )
    def test_columns_of_outcomes_are_known_by_the_names_of_the_sides(self, save: Save, columns: tuple[str, ...]):
        found = compared(save(f"id,{','.join(columns)}\n1,x,y,1,0,0\n2,y,x,1,0,0\n3,x,y,0,0,1\n"))
        assert _outcomes(found) == [1, -1, 0]

    def test_row_without_an_outcome_names_the_column_of_ties(self, save: Save):
        found = compared(save("id,model_a,model_b,winner_model_a,winner_model_b\n1,x,y,1,0\n2,x,y,0,0\n"))
        assert reasons(found) == [
            (3, "none of its outcomes is 1: name the column of ties with --map winner_tie=COLUMN")
        ]


class TestAnnotators:
    def test_votes_without_annotators_are_ranked_by_items_and_cannot_be_clustered_by_annotators(self, save: Save):
        path = save("id,model_a,model_b,winner\n" + "".join(f"{at},x,y,{'AB'[at % 4 == 0]}\n" for at in range(40)))
        printed = run_stb("analyse", "table", path, "--yes", "--json", "-")
        found = json.loads(printed.stdout)
        assert (found["settings"]["clusters"], found["ranking"]["bots"][0]["estimate"]) == ("conversation", 0.75)
        assert "each vote counts as one of another person" in printed.stderr
        printed = run_stb("analyse", "table", path, "--yes", "--clusters", "annotator")
        assert printed.returncode == 1
        assert "--map annotator=COLUMN" in printed.stderr.splitlines()[-1]

    def test_list_of_annotators_is_rejected(self, save: Save):
        line = {"item": 1, "model_a": "x", "model_b": "y", "winner": "A", "annotator": ["ann", "bob"]}
        good = line | {"item": 2, "annotator": ["ann"]}
        found = compared(save("\n".join(map(json.dumps, (line, good))), "votes.jsonl"))
        [(number, reason)] = reasons(found)
        assert number == 1
        assert reason.endswith("is a list: name one annotator, or another column with --map annotator=COLUMN")
        assert found.annotators == {"ann"}
