"""The measures of a table are assessed against one of them where it lies."""

import json
from pathlib import Path

import numpy as np
import pytest

from spotthebot.importers.tables.comparisons import ratings_of
from tests.factories.command_line import run_stb
from tests.importers.tables.conftest import Save, compared

LONG = "item,bot,annotator,dimension,value\n"


def _rows(n: int = 60, *, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        bot, quality = f"bot {item % 3}", rng.normal() + item % 3
        rows.append(f"i{item},{bot},interactor {item},quality,{np.clip(round(2 + quality), 1, 5)}")
        for annotator in rng.choice(9, 2, replace=False):
            consistent = np.clip(round(2 + quality + 0.5 * rng.normal()), 1, 5)
            rows.append(f"i{item},{bot},a{annotator},consistent,{consistent}")
            rows.append(f"i{item},{bot},a{annotator},noise,{rng.integers(1, 6)}")
            rows.append(f"i{item},{bot},a{annotator},antisocial,0")
    return LONG + "\n".join(rows) + "\n"


def _assessed(path: Path, outcome: str, *options: str):
    printed = run_stb("analyse", "table", path, "--yes", "--json", "-", "--assess", outcome, *options)
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


class TestAssess:
    def test_writes_measures_steps_and_what_to_keep(self, save: Save):
        found = _assessed(save(_rows()), "quality")
        assert found["outcome"] == "quality"
        assert [each["name"] for each in found["measures"]] == ["antisocial", "consistent", "noise"]
        measure = found["measures"][1]
        assert set(measure) >= {"name", "level", "n", "alpha", "r2", "p_value", "pairs_told_apart", "minutes", "reason"}
        assert set(measure["alpha"]) >= {"estimate", "low", "high"}
        assert set(measure["pairs_told_apart"]) == {"0.1", "0.05", "0.01"}
        assert (measure["n"], measure["minutes"], measure["reason"]) == (60, None, None)
        assert measure["p_value"] < 1e-6
        assert [set(step) for step in found["stepwise"]] == [{"left", "r2", "adjusted_r2", "removed"}] * 2
        assert found["stepwise"][0] | {"r2": 0, "adjusted_r2": 0} == {
            "left": ["consistent", "noise"],
            "r2": 0,
            "adjusted_r2": 0,
            "removed": None,
        }
        assert found["keep"] == ["consistent"]
        assert found["settings"]["seed"] == 0
        assert found["kind"] == "ratings"

    def test_prints_which_to_keep_and_why(self, save: Save):
        printed = run_stb("analyse", "table", save(_rows()), "--yes", "--assess", "quality")
        text = " ".join(printed.stdout.split())
        assert text.startswith("Keep consistent")
        assert "antisocial cannot be assessed: the measure is 0 throughout: no dialogue is positive" in text
        assert "Measures against quality: R², and pairs of bots told apart at 0.1, 0.05, 0.01" in text
        assert "The best set of each size" in text

    def test_takes_a_column_for_each_measure_and_the_seconds_of_a_row(self, save: Save):
        rows = [f"i{at},b{at % 2},a{at % 4},{at % 5},{at % 3},{30 + at % 2 * 60}" for at in range(20)]
        path = save("item,bot,rater,q1,q2,seconds\n" + "\n".join(rows) + "\n")
        found = _assessed(path, "quality", "--map", "value.quality=q1,value.consistent=q2")
        assert [each["name"] for each in found["measures"]] == ["consistent"]
        assert found["measures"][0]["minutes"] == pytest.approx(1.0)  # half of them 30 seconds, half 90

    def test_minutes_are_of_a_dialogue_with_all_its_turns(self, save: Save):
        rows = [
            f"i{at},b{at % 2},a{at % 4},{turn},{measure},{(at + turn) % 4},{45}"
            for at in range(12)
            for turn in range(4)
            for measure in ("engaging", "quality")
        ]
        path = save("item,bot,rater,turn,dimension,value,seconds\n" + "\n".join(rows) + "\n")
        found = _assessed(path, "quality")["measures"][0]
        assert (found["level"], found["n"], found["minutes"]) == ("turn", 12, pytest.approx(3.0))

    def test_one_bot_has_no_pairs_but_an_importance(self, save: Save):
        rows = [f"i{at},only,{measure},{(at * step) % 7}" for at in range(14) for measure, step in (("q", 1), ("m", 3))]
        found = _assessed(save("item,bot,dimension,value\n" + "\n".join(rows) + "\n"), "q")["measures"][0]
        assert found["r2"] is not None
        assert found["pairs_told_apart"] == {"0.1": 0, "0.05": 0, "0.01": 0}


class TestColumnsOfTheSuite:
    """Columns that the suite's own tables have."""

    def test_pair_tells_comparisons_apart_that_share_a_dialogue(self, save: Save):
        """Every dialogue is compared with the next one; a table without pairs has one value more than it can place."""
        rows = []
        for at in range(12):
            rows.append(f"i{at:02},b{at % 2},eve{at},quality,{at % 5},")
            first = at % 3 % 2
            rows.append(f"i{at:02},b{at % 2},ann,better,{first},i{at:02}+i{at + 1:02}")
            rows.append(f"i{at + 1:02},b{(at + 1) % 2},ann,better,{1 - first},i{at:02}+i{at + 1:02}")
        path = save("item,bot,rater,dimension,value,pair\n" + "\n".join(rows) + "\n")
        found = _assessed(path, "quality")["measures"][0]
        assert (found["name"], found["level"], found["n"]) == ("better", "pair", 12)
        assert "sign tests, 12 preferences" in found["published"]["method"]

    def test_values_without_a_pair_are_no_preferences(self, save: Save):
        rows = [f"i{at // 2},b{at % 2},ann,better,{at % 2}," for at in range(12)]
        rows += [f"i{at // 2},b{at % 2},eve,quality,{at % 5},x" for at in range(12)]
        path = save("item,bot,rater,dimension,value,pair\n" + "\n".join(rows) + "\n")
        assert _assessed(path, "quality")["measures"][0]["level"] == "dialogue"

    def test_exchanges_tell_ratings_of_one_annotator_apart(self, save: Save):
        rows = [
            f"i{at},b{at % 2},ann,{measure},{(at * step + shown) % 5},{shown}"
            for at in range(12)
            for measure, step in (("quality", 1), ("kind", 2))
            for shown in (2, 3)
        ]
        table = "\n".join(rows) + "\n"
        found = _assessed(save("item,bot,rater,dimension,value,exchanges\n" + table), "quality")
        assert (found["read"], found["rejected"]) == (48, [])
        printed = run_stb("analyse", "table", save("item,bot,rater,dimension,value,length\n" + table), "--yes")
        assert "annotator 'ann' has an earlier row for this comparison" in " ".join(printed.stderr.split())

    def test_turns_and_times_count_that_the_first_rows_lack(self, save: Save):
        rows = [f"i{at},b{at % 2},eve{at},quality,{at % 5},," for at in range(1200)]
        rows += [f"i{at},b{at % 2},ann,kind,{(at + turn) % 3},{turn},30" for at in range(1200) for turn in range(2)]
        found = _assessed(save("item,bot,rater,dimension,value,turn,seconds\n" + "\n".join(rows) + "\n"), "quality")
        assert found["rejected"] == []
        (kind,) = found["measures"]
        assert (kind["level"], kind["n"], kind["minutes"]) == ("turn", 1200, pytest.approx(1.0))

    def test_dialogues_that_were_compared_are_one_item_of_a_ranking(self, save: Save):
        rows = [
            f"i{at}{bot},{bot},ann,better,{(at + number) % 2},i{at}ada+i{at}bob"
            for at in range(4)
            for number, bot in enumerate(("ada", "bob"))
        ]
        found = ratings_of(compared(save("item,bot,rater,dimension,value,pair\n" + "\n".join(rows) + "\n")), "better")
        items = {(found.bots[bot], item) for bot, item in zip(found.bot.tolist(), found.item.tolist(), strict=True)}
        assert items == {(bot, item) for bot in ("ada", "bob") for item in range(4)}


class TestFaults:
    def _refused(self, path: Path, outcome: str, *options: str) -> str:
        printed = run_stb("analyse", "table", path, "--yes", "--assess", outcome, *options)
        assert printed.returncode == 1
        return " ".join(printed.stderr.split())

    def test_unknown_outcome_names_the_measures(self, save: Save):
        expected = (
            "has no measure 'fluency' to assess the others by: its measures are antisocial, consistent, noise, quality."
        )
        assert expected in self._refused(save(_rows(6)), "fluency")

    def test_outcome_that_nobody_rated(self, save: Save):
        path = save("item,bot,q1,q2\n" + "".join(f"i{at},b{at % 2},,{at % 3}\n" for at in range(6)))
        refused = self._refused(path, "quality", "--map", "value.quality=q1,value.consistent=q2")
        assert "Nobody rated 'quality' in table.csv" in refused
        assert "choose one of consistent" in refused

    def test_outcome_alone(self, save: Save):
        path = save(LONG + "".join(f"i{at},b{at % 2},a,quality,{at % 3}\n" for at in range(6)))
        assert "rates 'quality' and nothing else" in self._refused(path, "quality")

    def test_table_of_votes(self):
        path = Path(__file__).parents[2] / "readers" / "exports" / "fastchat.jsonl"
        assert "is a table of votes, and --assess needs ratings" in self._refused(path, "quality", "--allow-rejected")

    def test_table_without_rows(self, save: Save):
        assert "table.csv" in self._refused(save(LONG), "quality")
