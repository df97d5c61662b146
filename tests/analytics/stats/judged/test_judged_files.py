"""Files of labels and a judge's answers: columns, faults with their line, and `./stb analyse judged`."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.judged.frames import judged_from_csv
from spotthebot.analytics.stats.judged.values import judged_shares
from tests.factories.command_line import run_stb

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "judged_labels.csv"
HEADER = "conversation,bot,annotator,label,judge\n"

Save = Callable[[str], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def saved(text: str) -> Path:
        path = tmp_path / "judged.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return saved


class TestJudgedFromCsv:
    def test_reads_labels_and_other_units(self, save: Save):
        found = judged_from_csv(save(HEADER + "c1,A,p1,human,.9\nc1,A,p2,unsure,.9\nc1,B,p1,bot,\nc2,A,,,.25\n"))
        values = found.values
        assert values.bots == ("A", "B")
        np.testing.assert_array_equal(values.value, [1, 0, 0, np.nan])
        np.testing.assert_array_equal(values.judge, [0.9, 0.9, np.nan, 0.25])
        assert values.unit.tolist() == [0, 0, 1, 2]
        assert values.conversation.tolist() == [0, 0, 0, 1]
        assert values.annotator.tolist() == [0, 1, 0, -1]
        assert values.probability.tolist() == [1, 1, 1, 1]

    def test_knows_lengths_sides_and_probabilities(self, save: Save):
        header = "side,exchanges,conversation,bot,annotator,label,judge,probability,note\n"
        found = judged_from_csv(save(header + "1,2,c,A,p,Human,.9,.1,x\n2,2,c,A,p,bot,.2,.1,\n1,3,c,A,,,.3,,\n"))
        assert len(set(found.values.unit.tolist())) == 3
        assert found.values.stratum.tolist() == [0, 0, 1]
        assert found.values.probability.tolist() == [0.1, 0.1, 1.0]

    def test_counts_repeated_rows_once(self, save: Save):
        found = judged_from_csv(save(HEADER + "c,A,p,human,.9\nc,A,p,human,.9\nd,A,,,.2\nd,A,,,.2\n"))
        assert (found.repeated, len(found.values.bot)) == (2, 2)

    def test_takes_an_answer_from_any_row_of_its_unit(self, save: Save):
        found = judged_from_csv(save(HEADER + "c,A,p,human,\nc,A,q,bot,.7\n"))
        assert found.values.judge.tolist() == [0.7, 0.7]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "it has no column conversation, bot, annotator, label, judge; there are none"),
            ("dialogue,system,worker,verdict,score\n", "there are dialogue, system, worker, verdict, score"),
            (HEADER, "it has no rows"),
            ("conversation,bot,annotator,label,judge,judge\n", "column judge occurs twice"),
            (HEADER + "c,A,p,human,1.5\n", "line 2, column judge: '1.5' is not a probability from 0 to 1, or empty"),
            (HEADER + "c,A,p,human,-1\n", "line 2, column judge: '-1' is not a probability"),
            (HEADER + "c,A,p,human,nan\n", "line 2, column judge: 'nan' is not a probability"),
            (HEADER + "c,A,p,human,yes\n", "line 2, column judge: 'yes' is not a probability"),
            (HEADER + "c,A,p,maybe,.5\n", "line 2, column label: 'maybe' is not bot, unsure, human, or empty"),
            (HEADER + "c,A,,human,.5\n", "line 2, column annotator: a label needs its annotator"),
            (HEADER + "c,,p,human,.5\n", "line 2, column bot: nothing is there"),
            (HEADER + "c,A,p,human\n", "line 2 has 4 columns, the header 5"),
            (HEADER + "c,A,p,human,.5\nc,A,p,bot,.5\n", "line 3, column label: 'bot', but 'human' in line 2"),
            (HEADER + "c,A,p,human,.5\nc,A,q,bot,.6\n", "line 3, column judge: 0.6, but 0.5 in line 2"),
            (f"{HEADER[:-1]},probability\nc,A,p,human,.5,0\n", "column probability: '0' is not above 0"),
        ],
    )
    def test_names_the_line_of_a_fault(self, save: Save, text: str, fault: str):
        with pytest.raises(AnnotationTableMalformed, match=r".*") as raised:
            judged_from_csv(save(text))
        assert fault in str(raised.value)

    def test_refuses_a_file_that_is_not_text(self, tmp_path: Path):
        (tmp_path / "x.csv").write_bytes(HEADER.encode() + b"c\xff,A,p,human,.5\n")
        with pytest.raises(AnnotationTableMalformed, match="not UTF-8"):
            judged_from_csv(tmp_path / "x.csv")


class TestAnalyseJudged:
    def test_writes_every_number_of_the_library(self, tmp_path: Path):
        out = tmp_path / "out.json"
        assert run_stb("analyse", "judged", EXAMPLE, "--json", out).returncode == 0
        document = json.loads(out.read_text())
        file = judged_from_csv(EXAMPLE)
        for bot, each in zip(document["bots"], judged_shares(file.values), strict=True):
            assert (bot["bot"], bot["n_people"], bot["n_judged"]) == (each.bot, each.n_people, each.n_judged)
            for name in ("people", "corrected", "labels_saved"):
                interval = getattr(each, name)
                assert bot[name] == {
                    "estimate": interval.estimate,
                    "low": interval.low,
                    "high": interval.high,
                    "reason": interval.reason,
                }
            assert bot["judge"] == {"estimate": each.judge, "reason": None}
        ceiling = file.ceiling()
        assert document["ceiling"] == {
            "estimate": ceiling.estimate,
            "low": ceiling.low,
            "high": ceiling.high,
            "reason": None,
            "n": ceiling.n,
        }

    def test_prints_the_example_of_the_documentation(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("COLUMNS", "80")
        printed = run_stb("analyse", "judged", EXAMPLE).stdout
        page = (EXAMPLE.parents[1] / "autojudge.md").read_text(encoding="utf-8")
        assert "\n".join(line.rstrip() for line in printed.splitlines()) in page

    def test_says_once_why_bots_have_no_correction(self, save: Save):
        with EXAMPLE.open(newline="") as file:
            rows = list(csv.reader(file))
        text = "\n".join(",".join([*row[:4], row[4] if row[3] else ""]) for row in rows) + "\n"
        printed = run_stb("analyse", "judged", save(text.replace("label,\n", "label,judge\n", 1)))
        assert printed.returncode == 0
        assert "amber, birch: the judge answered for none of the units that nobody labelled" in " ".join(
            printed.stdout.split()
        )

    def test_says_what_is_wrong_in_one_sentence(self, save: Save):
        printed = run_stb("analyse", "judged", save("a,b\n"))
        assert printed.returncode == 1
        assert printed.stderr.startswith("Error: The annotation table is malformed: it has no column conversation")
        assert len(printed.stderr.strip().splitlines()) == 1

    def test_says_how_many_rows_repeat_others(self, save: Save):
        lines = EXAMPLE.read_text().splitlines(keepends=True)
        printed = run_stb("analyse", "judged", save("".join([*lines, *lines[1:31]])))
        assert "30 rows repeat an earlier row, and count once." in printed.stderr

    def test_refuses_a_file_that_is_not_there(self, tmp_path: Path):
        assert run_stb("analyse", "judged", tmp_path / "none.csv").returncode == 2
