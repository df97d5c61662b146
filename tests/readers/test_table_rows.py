"""Tables are read row by row, and what can't be read is named by its line."""

import tracemalloc

import pytest

from spotthebot.readers.errors import TableUnreadable
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.rejected import Rejected

ROWS = [{"id": "c1", "said": "Grüße, du"}, {"id": "c2", "said": 'two\nlines of "text"'}]
CSV = 'id,said\nc1,"Grüße, du"\nc2,"two\nlines of ""text"""\n'


def _cells(path):
    return [row.cells if isinstance(row, TableRow) else (row.line, row.reason) for row in open_table(path).rows()]


class TestForms:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("plain.csv", CSV.encode()),
            ("byte-order-mark.csv", b"\xef\xbb\xbf" + CSV.encode()),
            ("spreadsheet.csv", CSV.encode("utf-16")),
            ("windows.csv", CSV.replace("\n", "\r\n").replace("two\r\n", "two\n").encode()),
            ("semicolons.csv", b'id;said\nc1;"Gr\xc3\xbc\xc3\x9fe, du"\nc2;"two\nlines of ""text"""'),
            ("tabs.tsv", 'id\tsaid\nc1\tGrüße, du\nc2\t"two\nlines of ""text"""\n'.encode()),
            ("index.csv", f",{CSV}".replace("\nc", "\n7,c").encode()),
            (
                "lines.jsonl",
                '{"id":"c1","said":"Grüße, du"}\n\n{"id":"c2","said":"two\\nlines of \\"text\\""}'.encode(),
            ),
            ("list.json", '[{"id":"c1","said":"Grüße, du"},\n{"id":"c2","said":"two\\nlines of \\"text\\""}]'.encode()),
        ],
    )
    def test_all_give_the_same_rows(self, save, name, content):
        table = open_table(save(content, name))
        assert (table.columns, _cells(table.path)) == (("id", "said"), ROWS)

    def test_json_is_flat_and_lists_stay_lists(self, save):
        path = save(
            '{"id": 7, "m": {"bot": "x"}, "one": ["y"], "two": [1, 2], "no": null, "s": 4.0, "is": true}', "a.json"
        )
        expected = {"id": "7", "m.bot": "x", "one": "y", "two": "[1, 2]", "no": "", "s": "4", "is": "true"}
        assert _cells(path) == [expected]

    def test_formula_stays_the_text_that_it_is(self, save):
        assert _cells(save("id,said\nc1,=cmd|' /C calc'!A0\n")) == [{"id": "c1", "said": "=cmd|' /C calc'!A0"}]


class TestFaults:
    def test_broken_rows_are_named_by_the_line_where_they_begin(self, save):
        content = 'id,said\nc1,"two\nlines"\nc2\nc3,x,y\nc4,fine\nc5,"never closed\nc6,lost\n'
        assert _cells(save(content)) == [
            {"id": "c1", "said": "two\nlines"},
            (4, "it has 1 cells, and the header has 2"),
            (5, "it has 3 cells, and the header has 2"),
            {"id": "c4", "said": "fine"},
            (7, "a quotation mark opens here that is never closed, so the text after it can't be read"),
        ]
        assert _cells(save('{"id": 1}\n{"id": \n[3]\n{"id": 4}', "a.jsonl"))[1:] == [
            (2, "it is not JSON: Expecting value at character 1"),
            (3, "it is not a JSON object"),
            {"id": "4"},
        ]

    def test_objects_nested_deeply_are_no_columns_and_those_nested_too_deeply_are_rejected(self, save):
        nested = ['{"a":' * depth + "1" + "}" * depth for depth in (22, 50_000)]
        assert _cells(save("\n".join(['{"id": 1}', *nested, '{"id": 4}']), "a.jsonl")) == [
            {"id": "1"},
            {".".join(["a"] * 21): '{"a": 1}'},
            (3, "its JSON is nested too deeply"),
            {"id": "4"},
        ]

    def test_array_whose_broken_elements_hold_one_another_is_not_read_to_its_end(self, save):
        """Read again from each of its 400 lines, it would be read 200 times."""
        _, *broken = _cells(save('[{"id": 1},' + '\n{"a": [1,' * 400, "a.json"))
        assert len(broken) < 25
        assert broken[-1][1] == "too much of the array is broken: the rest is not read"

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "it is empty"),
            (b"\xef\xbb\xbf \n", "it is empty"),
            (b"id,said\n", "none of its first rows can be read"),
            (b"id,said, id\n1,2,3\n", "its column 'id' occurs twice"),
            (b",,\n1,2,3\n", "its first line is empty and must name the columns"),
            ("id,said\nc1,Grüße\n".encode("latin-1"), "it is not encoded in UTF-8"),
            (b'id,"said\n', "its first line is not a header"),
        ],
    )
    def test_file_that_is_no_table_is_refused_in_a_sentence(self, save, content, reason):
        with pytest.raises(TableUnreadable, match=reason):
            open_table(save(content))

    def test_missing_file_and_folder_without_annotators_are_refused(self, tmp_path):
        for path, reason in ((tmp_path / "none.csv", "there is no such file"), (tmp_path, "no folder in it holds")):
            with pytest.raises(TableUnreadable, match=reason):
                open_table(path)

    def test_values_are_shown_short_and_without_control_characters(self):
        assert shown("\x1b[31mred\n") == "�[31mred�"
        assert shown("x" * 41) == "x" * 39 + "…"


class TestSize:
    def test_many_rows_take_no_more_memory_than_few(self, save):
        path = save("id,said\n" + "c1,some words that are said here\n" * 40_000)
        rows = open_table(path).rows()
        next(rows)
        tracemalloc.start()
        assert sum(not isinstance(row, Rejected) for row in rows) == 39_999
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 200_000  # the file has 1.3 MB
