"""Of a table of which most rows are rejected there is no result, unless the user takes the others."""

import json
from pathlib import Path

import pytest

from spotthebot.readers.errors import BotLosesRows, MostRowsRejected
from spotthebot.readers.files.cells import TableRow
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.rejected import Rejected
from spotthebot.readers.rejections import Tally
from tests.factories.command_line import run_stb
from tests.factories.saved_files import Save

HEADER = "item,bot,annotator,rating\n"


def _tally(kept: int, rejected: int, bot: str = "x") -> Tally:
    tally = Tally()
    for _ in range(kept):
        tally.keep(["x"])
    for line in range(rejected):
        tally.reject(Rejected("t.csv", line, f"its value '{line}' is bad", (bot,)))
    return tally


class TestTally:
    @pytest.mark.parametrize(("kept", "rejected", "is_refused"), [(3, 2, False), (2, 2, True), (1, 9, True)])
    def test_half_of_the_rows_is_too_much_for_a_ranking(self, kept: int, rejected: int, is_refused: bool):
        tally = _tally(kept, rejected)
        if is_refused:
            with pytest.raises(MostRowsRejected, match=f"{rejected} of {kept + rejected} rows were rejected"):
                tally.require_most(ranked=True)
        else:
            tally.require_most(ranked=True)

    @pytest.mark.parametrize(("kept", "rejected", "is_refused"), [(1, 2, False), (5, 5, False), (4, 6, True)])
    def test_import_refuses_more_than_half_of_ten_rows(self, kept: int, rejected: int, is_refused: bool):
        tally = _tally(kept, rejected)
        if is_refused:
            with pytest.raises(MostRowsRejected):
                tally.require_most(ranked=False)
        else:
            tally.require_most(ranked=False)

    @pytest.mark.parametrize(("own", "lost", "is_refused"), [(3, 3, False), (3, 4, True), (0, 2, True), (0, 1, False)])
    def test_bot_that_loses_most_of_its_rows_is_named(self, own: int, lost: int, is_refused: bool):
        tally = _tally(20, lost, bot="y")
        for _ in range(own):
            tally.keep(["y", "x"])
        if is_refused:
            with pytest.raises(BotLosesRows, match=f"{lost} of {own + lost} rows of bot y"):
                tally.require_most(ranked=True)
        else:
            tally.require_most(ranked=True)

    def test_commonest_reason_is_the_same_whatever_values_it_quotes(self):
        tally = Tally(read=4)
        for reason in ("it names no bot", "its value '3,5' is bad", "its value '4,5' is bad"):
            tally.rejected.append(Rejected("t.csv", 1, reason))
        with pytest.raises(MostRowsRejected, match=r"most often: its value '3,5' is bad\. --allow-rejected"):
            tally.require_most(ranked=True)


class TestCommands:
    def test_ranking_of_a_rest_needs_the_option(self, save: Save):
        path = save(HEADER + "".join(f"i{at},{'xy'[at % 2]},a,{'bad' if at < 5 else at}\n" for at in range(10)))
        printed = run_stb("analyse", "table", path, "--yes")
        assert (printed.returncode, printed.stdout) == (1, "")
        assert printed.stderr.splitlines()[-1] == (
            "Error: 5 of 10 rows were rejected, most often: its value 'bad' is not a number."
            " --allow-rejected uses the others."
        )
        printed = run_stb("analyse", "table", path, "--yes", "--allow-rejected", "--json", "-")
        found = json.loads(printed.stdout)
        assert (found["allow_rejected"], found["read"], len(found["rejected"])) == (True, 10, 5)

    def test_imports_of_a_rest_store_nothing_without_the_option(self, save: Save, tmp_path: Path):
        rows = "".join(f"c{at},x,hi\nc{at},{'y' if at < 4 else 'x'},ho\n" for at in range(10))
        path = save(f"conversation,speaker,text\n{rows}")
        printed = run_stb("import", "conversations", path, "--yes", "--data-dir", tmp_path / "none")
        assert printed.returncode == 1
        assert "table.csv, line 10: conversation 'c4' must have two speakers, and has x" in printed.stderr
        assert "12 of 20 rows were rejected" in printed.stderr.splitlines()[-1]
        assert not (tmp_path / "none").exists()


class TestHalfPairs:
    HALF = '{"id": 1, "text": "half \\ud83d"}'
    WHOLE = '{"id": 2, "text": "\\ud83d\\ude00 \\\\ud83d"}'

    @pytest.mark.parametrize(
        "content",
        [
            f"{WHOLE}\n{HALF}\n",
            f"[{WHOLE},\n{HALF}]",
            f"{WHOLE}\n{HALF}\n".encode("utf-16"),
            b"id,text\n2,\xf0\x9f\x98\x80 \\ud83d\n1,half \xed\xa0\xbd\n",
            "id,text\n2,\U0001f600 \\ud83d\n1,half \ud83d\n".encode("utf-16", "surrogatepass"),
        ],
    )
    def test_row_with_half_a_pair_is_rejected_by_its_line_and_the_others_are_read(self, save: Save, content):
        rows = list(open_table(save(content, "table")).rows())
        assert [row.cells for row in rows if isinstance(row, TableRow)] == [{"id": "2", "text": "\U0001f600 \\ud83d"}]
        ((line, reason),) = [(row.line, row.reason) for row in rows if isinstance(row, Rejected)]
        assert line in {2, 3}
        assert "half a surrogate pair" in reason

    def test_key_and_nested_value_count_as_well(self, save: Save):
        lines = ['{"id": 1, "m": [{"role": "user", "content": "\\udc00"}]}', '{"id": 2, "k\\ud83d": 1}', '{"id": 3}']
        found = [isinstance(row, Rejected) for row in open_table(save("\n".join(lines), "t.jsonl")).rows()]
        assert found == [True, True, False]
