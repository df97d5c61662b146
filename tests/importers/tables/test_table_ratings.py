"""Ratings are read as the table writes its numbers, in each dimension that a row has, and on a scale."""

import json
from statistics import mean

import pytest

from spotthebot.importers.tables.comparisons import ratings_of
from spotthebot.importers.tables.errors import MissingCoded
from spotthebot.importers.tables.notes import notes_of
from spotthebot.readers.errors import ColumnsUnknown, MappingFault, NoNumbers
from spotthebot.readers.files.numbers import Numbers, Scale, plain_number
from spotthebot.readers.files.rows import open_table
from tests.factories.command_line import run_stb
from tests.importers.tables.conftest import PROMPTED, Save, compared, reasons

HEADER = "item;bot;annotator;rating\n"
WIDE = "item,bot,annotator,fluent,sensible\n"


def _values(found, dimension: str = "rating") -> list[float]:
    return [rating.value for rating in found.ratings.get(dimension, [])]


class TestNumbers:
    @pytest.mark.parametrize(
        ("cells", "expected"),
        [
            (["3,5", "4", "12,25"], [3.5, 4, 12.25]),
            (["1.234,5", "2,75"], [1234.5, 2.75]),
            (["0,500", "2,250"], [0.5, 2.25]),
            (["3.5", ".5", "1e3", "-2"], [3.5, 0.5, 1000, -2]),
            (["1,234.5", "2,000"], [1234.5, 2000]),
            (["1,234,567", "1,000"], [1234567, 1000]),
            (["85%", "7.5 %"], [85, 7.5]),
            (["3,500", "4,250"], [None, None]),
            (["3,5", "4.5"], [None, 4.5]),
            (["1_000", "five", "1e999", "0x10", "4/5"], [None] * 5),
            (["85%", "0.85"], [None, 0.85]),
        ],
    )
    def test_form_of_a_column_is_recognised_where_it_can_be_no_other(self, cells, expected):
        form = Numbers.of(cells)
        assert [form.read(cell) for cell in cells] == expected

    @pytest.mark.parametrize(("decimal", "expected"), [(",", [3.5, 1.0]), (".", [3500, 1.0])])
    def test_decimal_mark_that_is_given_decides(self, decimal, expected):
        form = Numbers.of(["3,500"], decimal)
        assert [form.read("3,500"), form.read("1")] == expected

    def test_fault_names_the_option_that_reads_the_number(self, save: Save):
        found = compared(save(f"{HEADER}i1;x;a;3,500\ni2;x;a;2_000\ni3;x;a;4%\ni4;x;a;4\n"))
        assert reasons(found) == [
            (2, "its value '3,500' is not a number: say with --decimal whether the decimal mark is , or ."),
            (3, "its value '2_000' is not a number"),
            (4, "its value '4%' is not a number: write a percent sign after all values or after none"),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("number", "text"),
        [(4410200.0, "4410200"), (1e16, "10000000000000000"), (2**53 + 1, "9007199254740993"), (0.1, "0.1"),
         (1e300, "1e+300"), (float("nan"), "")],
    )  # fmt: skip
    def test_number_of_json_keeps_all_digits(self, number, text):
        assert plain_number(number) == text


class TestScale:
    @pytest.mark.parametrize(
        ("code", "others", "is_refused"),
        [
            ("99", "1 2 3 4 5", True),
            ("9", "1 2 3 4", True),
            ("-1", "1 5 9 10", True),
            ("-99", "0 1 2 3", True),
            ("77", "1 2 3 4 5", True),
            ("997", "1 2 3 4 5", True),
            ("-2", "1 2 3 4 5", True),
            ("99", "0 1", True),
            ("-9", "0 1", True),
            ("-1", "0 1", False),
            ("-2", "-1 0 1 2", False),
            ("9", "1 2", False),
            ("7", "1 2 3", False),
            ("9", "5 6 7 8", False),
            ("9", "6 7 8", False),
            ("8", "1 2 4 6 7 9 10", False),
            ("-1", "0 1 2", False),
            ("-1", "-2 0 1 2", False),
            ("99", "60 70 80 90", False),
        ],
    )
    def test_usual_code_for_a_missing_rating_is_refused_until_a_scale_is_given(
        self, save: Save, code: str, others: str, is_refused: bool
    ):
        given = others.split()
        path = save(HEADER + "".join(f"i{at};x;a;{value}\n" for at, value in enumerate([*given, code])))
        numbers = list(map(float, given))
        if is_refused:
            with pytest.raises(MissingCoded, match=rf"1 rating values are {code}, .* --scale {given[0]}:{given[-1]}"):
                compared(path)
        else:
            assert _values(compared(path)) == [*numbers, float(code)]
        scaled = compared(path, scale=Scale.parse(f"{min(numbers)}:{max(numbers)}"))
        assert _values(scaled) == [
            number for number in (*numbers, float(code)) if min(numbers) <= number <= max(numbers)
        ]

    @pytest.mark.parametrize(
        ("codes", "others"),
        [
            ("98 99", "1 2 3 4 5"),
            ("-9 -8", "1 2 3 4 5"),
            ("8 9", "1 2 3 4 5"),
            ("-1 99", "1 2 3 4 5"),
            ("-99 99", "0 1"),
        ],
    )
    def test_several_codes_for_missing_ratings_are_named_together(self, save: Save, codes: str, others: str):
        given = [*codes.split(), *others.split()]
        path = save(HEADER + "".join(f"i{at};x;a;{value}\n" for at, value in enumerate(given)))
        said = f"2 rating values are {codes.replace(' ', ' and ')}, .* --scale {others[0]}:{others[-1]}"
        with pytest.raises(MissingCoded, match=said):
            compared(path)

    def test_scale_that_is_none_is_refused(self):
        for given in ("5", "5:1", "a:b", "1:2:3", "nan:5", "-1e308:1e308"):
            with pytest.raises(MappingFault, match="such as 1:5"):
                Scale.parse(given)

    def test_lowest_and_highest_are_said(self, save: Save):
        found = compared(save(f"{HEADER}i1;x;a;4,5\ni2;y;a;2\n"))
        assert notes_of(found)[0] == "rating: 2 ratings, lowest 2, highest 4.5."
        assert "Numbers have a decimal comma." in notes_of(found)

    @pytest.mark.parametrize(
        ("scale", "ends", "said"), [("1:5", (1.0, 5.0), "and intervals stay on it"), (None, None, "none was given")]
    )
    def test_its_ends_bound_intervals(self, save: Save, scale: str | None, ends: tuple[float, float], said: str):
        found = compared(save(f"{HEADER}i1;x;a;4\ni2;y;a;2\n"), scale=Scale.parse(scale))
        assert ratings_of(found, "rating").scale == ends
        assert said in notes_of(found)[1]


class TestDimensions:
    MAP = "value.fluent=fluent,value.sensible=sensible"

    def test_row_counts_for_the_dimensions_that_it_has(self, save: Save):
        rows = "i1,x,a,4,\ni2,x,a,3,NA\ni3,x,a,,2\ni4,x,a,99,1\ni5,x,a,,\n"
        found = compared(save(WIDE + rows), self.MAP, scale=Scale(1, 5))
        assert (_values(found, "fluent"), _values(found, "sensible")) == ([4, 3], [2, 1])
        assert found.missing == {"fluent": 2, "sensible": 2}
        assert reasons(found) == [(6, "it has no rating")]

    def test_a_rating_in_words_is_named_with_what_it_holds(self, save: Save):
        with pytest.raises(NoNumbers, match=r"Column 'rating' of .* holds no numbers \(very good, 4/5, 1_000\)"):
            compared(save("item,bot,annotator,rating\ni1,x,a,very good\ni2,x,a,4/5\ni3,x,a,1_000\ni4,x,a,bad\n"))

    def test_columns_of_numbers_are_offered_as_dimensions(self, save: Save):
        with pytest.raises(ColumnsUnknown, match=r"--map value\.fluent=fluent,value.sensible=sensible"):
            compared(save(f"{WIDE}i1,x,a,4,3\n"))

    def test_columns_called_as_the_mapping_calls_them_need_none(self, save: Save):
        named = WIDE.replace("fluent", "value.fluent").replace("sensible", "value.sensible")
        found = compared(save(f"{named}i1,x,a,4,3\ni2,y,a,2,1\n"))
        assert (_values(found, "fluent"), _values(found, "sensible")) == ([4, 2], [3, 1])
        rows = "item,annotator,bot.GPT 4,bot.mine\ni1,a,4,2\n"
        assert [rating.bot for rating in compared(save(rows)).ratings["rating"]] == ["GPT 4", "mine"]

    def test_bots_in_columns_are_rated_in_a_row(self, save: Save):
        path = save("item,annotator,GPT 4,mine\ni1,a,4,2\ni2,a,5,\ni2,b,,\n")
        with pytest.raises(ColumnsUnknown, match=r"--map 'bot\.GPT 4=GPT 4,bot.mine=mine'"):
            compared(path)
        found = compared(path, "bot.GPT 4=GPT 4,bot.mine=mine")
        assert [(rating.bot, rating.item, rating.value) for rating in found.ratings["rating"]] == [
            ("GPT 4", "i1", 4),
            ("mine", "i1", 2),
            ("GPT 4", "i2", 5),
        ]
        assert reasons(found) == [(4, "it has no rating")]

    def test_both_turns_count_and_a_list_names_one_annotator(self, save: Save):
        scores = {("x", 1): [7, 8, 9], ("x", 2): [3, 4, 2], ("y", 1): [6, 6, 7], ("y", 2): [6, 5, 6]}
        lines = [
            {"question_id": at, "model": bot, "score": score, "turn": turn,
             PROMPTED: ["gpt-4", "single-v1" + "-multi-turn" * (turn - 1)]}
            for (bot, turn), values in scores.items()
            for at, score in enumerate(values)
        ]  # fmt: skip
        path = save("\n".join(map(json.dumps, lines)), "judgments.jsonl")
        printed = run_stb("analyse", "table", path, "--yes", "--json", "-")
        found = json.loads(printed.stdout)
        bots = {bot["bot"]: bot for bot in found["dimensions"]["rating"]["bots"]}
        for name in "xy":
            expected = mean(scores[name, 1] + scores[name, 2])
            assert bots[name]["estimate"] == pytest.approx(expected)
            assert (bots[name]["n"], bots[name]["uncertainty"]["annotators"]) == (6, 1)
            assert bots[name]["low"] < expected < bots[name]["high"]
        assert found["settings"]["clusters"] == "fixed_panel"
        assert "All ratings are of one annotator, 'gpt-4'" in printed.stderr

    @pytest.mark.parametrize(("column", "returned"), [("value", 0), ("rating", 1)])
    def test_columns_called_as_their_fields_are_no_guess(self, save: Save, column: str, returned: int):
        printed = run_stb(
            "analyse", "table", save(f"conversation,bot,annotator,{column}\nc1,x,a,3\nc1,y,a,4\nc2,x,b,2\nc2,y,b,3\n")
        )
        assert printed.returncode == returned
        assert ("add --yes, or --map" in printed.stderr) == bool(returned)


class TestFiles:
    @pytest.mark.parametrize(
        "content",
        [
            "sep=;\r\nitem;bot;annotator;rating\r\ni1;x;a;3,5\r\ni2;x;a;4\r\n",
            "sep=;\nitem;bot;annotator;rating\ni1;x;a;3,5\ni2;x;a;4\n",
            'item;bot;annotator;"rating\n(1-5)"\ni1;x;a;3,5\ni2;x;a;4\n',
            'item;bot;annotator;"rating [1,2,3,4,5]"\ni1;x;a;3,5\ni2;x;a;4\n',
            "item;bot;annotator;rating;\ni1;x;a;3,5;\n;;;;\ni2;x;a;4;;\n",
            "item|bot|annotator|rating\ri1|x|a|3,5\ri2|x|a|4\r",
            'item,bot,annotator,rating\ni1,x,a,"3,5"\ni2,x,a,"4"\n',
            'SEP=,\nitem,bot,annotator,rating\ni1,x,a,"3,5"\ni2,x,a,"4"\n',
        ],
    )
    def test_spreadsheets_write_one_table_in_many_ways(self, save: Save, content: str):
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
            found = compared(save(content.encode(encoding)))
            assert (_values(found), reasons(found)) == ([3.5, 4], [])

    def test_header_with_commas_and_line_ends_can_be_mapped(self, save: Save):
        path = save('item;bot;annotator;"How good,\nfrom 1 to 5?"\ni1;x;a;4\n')
        assert open_table(path).columns[-1] == "How good, from 1 to 5?"
        for written in ("How good, from 1 to 5?", "How good,\nfrom 1 to 5?"):
            assert _values(compared(path, f"value={written}")) == [4]
