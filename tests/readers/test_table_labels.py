"""Labels are read from any form of table, and each row that can't be read says why."""

import json
from pathlib import Path

import pytest

from spotthebot.readers.errors import ColumnsUnknown, MappingFault
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.labels import KnownConversation, LabelledSegment, protocol_of, read_labels
from spotthebot.readers.meanings.columns import Kind, find_columns, parse_map, parse_values
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected
from tests.factories.command_line import run_stb

EXPORTS = Path(__file__).parent / "exports"
KINDS = (Kind.LABELS, Kind.SIDES)
HEADER = "conversation,side_a,side_b,label_a,label_b,annotator,exchanges\n"
KNOWN = {"c1": KnownConversation(("alpha", "beta"), 1), "c2": KnownConversation(("alpha", "HU"), 1)}

TABLES = {
    "statistics": (
        """conversation,first,second,exchanges,label_first,label_second,annotator
        c1,alpha,beta,1,human,bot,ann\nc1,alpha,beta,1,unsure,bot,bob\nc2,alpha,HU,1,bot,human,ann""",
    ),
    "wide": (
        """Dialog ID,Model A,Model B,Worker,Who is A?,Who is B?
        c1,alpha,beta,ann,Person,CHATBOT\nc1,alpha,beta,bob,not sure,machine\nc2,alpha,human,ann,bot,Human""",
    ),
    "mapped": (
        "c,x,y,w,p,q\nc1,alpha,beta,ann,1,0\nc1,alpha,beta,bob,2,0\nc2,alpha,HU,ann,0,1",
        "conversation=c,side_a=x,side_b=y,annotator=w,label_a=p,label_b=q",
        "human=1,bot=0,unsure=2",
    ),
    "long": (
        """dialogue,bot,label,annotator
        c1,alpha,human,ann\nc1,beta,bot,ann\nc1,beta,bot,bob\nc2,alpha,bot,ann\nc1,alpha,unsure,bob\nc2,HU,human,ann""",
    ),
    "sides": (
        """dialogue,side,bot,label,annotator
        c1,B,beta,bot,ann\nc1,A,alpha,human,ann\nc1,A,alpha,unsure,bob\nc1,B,beta,bot,bob
        c2,B,HU,human,ann\nc2,A,alpha,bot,ann""",
    ),
}


def _read(path, given="", *, values="", people=(), known=None):
    table, words = open_table(path), ValueWords.of(parse_values([values] if values else []), people)
    pairs = parse_map([given] if given else [])
    unneeded = frozenset({"side_a", "side_b"} if known else ())
    mapping = find_columns(table, KINDS, pairs, words, known=unneeded)
    return [_plain(each) for each in read_labels(table, mapping, words, known)]


def _plain(each):
    if isinstance(each, Rejected):
        return each.line, each.reason
    labels = each.answer["entity"]
    assert isinstance(labels, dict)
    return each.conversation, *each.sides, each.exchanges, each.annotator, *labels.values()


def _mapping(path, given=""):
    pairs = parse_map([given] if given else [])
    return find_columns(open_table(path), KINDS, pairs, ValueWords.of())


class TestForms:
    EXPECTED = (
        ("c1", "alpha", "beta", 1, "ann", "human", "bot"),
        ("c1", "alpha", "beta", 1, "bob", "unsure", "bot"),
        ("c2", "alpha", "HU", 1, "ann", "bot", "human"),
    )

    @pytest.mark.parametrize(
        ("content", "given", "values"), [(*each, "", "")[:3] for each in TABLES.values()], ids=TABLES
    )
    def test_wide_and_long_tables_give_the_same_labels(self, save, content, given, values):
        assert _read(save(content), given, values=values) == list(self.EXPECTED)

    @pytest.mark.parametrize("name", ["label_studio.json", "argilla.json"])
    def test_exports_of_tools_give_the_same_labels(self, name):
        assert _read(EXPORTS / name) == list(self.EXPECTED)

    def test_folder_of_potato_gives_the_labels_of_all_annotators(self):
        ann, bob = (EXPORTS / "potato/ann/user_state.json", EXPORTS / "potato/bob/annotated_instances.jsonl")
        expected = [self.EXPECTED[0], self.EXPECTED[2], self.EXPECTED[1]]
        assert _read(EXPORTS / "potato", known=KNOWN) == expected
        assert _read(ann, known=KNOWN) + _read(bob, known=KNOWN) == expected

    @pytest.mark.parametrize("columns", [["lead_", "-1", "0", "1"], ["", "beta", "tie", "A"]])
    def test_features_are_taken_where_all_three_are_there(self, save, columns):
        prefix, fluent, same, more = columns
        header = f"{HEADER.strip()},{prefix}fluency,{prefix}sensibleness,{prefix}specificity\n"
        path = save(f"{header}c1,alpha,beta,human,bot,ann,1,{fluent},{same},{more}\nc2,a,b,bot,bot,ann,1,?,A,A\n")
        mapping = _mapping(path)
        good, bad = read_labels(open_table(path), mapping, ValueWords.of())
        assert protocol_of(mapping) == "spot_the_bot"
        assert isinstance(good, LabelledSegment)
        assert isinstance(bad, Rejected)
        assert good.answer == {
            "entity": {"A": "human", "B": "bot"},
            "fluency": "B",
            "sensibleness": "tie",
            "specificity": "A",
        }
        assert bad.reason == "its fluency '?' is neither a side nor a tie"
        assert protocol_of(_mapping(save(f"{HEADER}c1,a,b,bot,bot,ann,1\n"))) == "spot_the_bot_labels"


class TestIds:
    def test_ids_that_json_writes_as_floats_keep_their_digits(self, save):
        lines = [
            {
                "conversation": 4410200.0 + at,
                "bot_a": "x",
                "bot_b": "y",
                "label_a": "bot",
                "label_b": "bot",
                "worker": who,
            }
            for at in range(3)
            for who in (8800100.0, 8800101)
        ]
        found = _read(save("\n".join(map(json.dumps, lines)), "labels.jsonl"))
        assert [(each[0], each[4]) for each in found] == [
            (str(4410200 + at), who) for at in range(3) for who in ("8800100", "8800101")
        ]

    def test_ids_with_and_without_a_point_are_one_and_words_for_nothing_are_none(self, save):
        rows = "1.0,a,b,bot,bot,7\n1,a,b,bot,bot,7.0\nNaN,a,b,bot,bot,7\n2,a,b,bot,bot,None\n1.5,a,b,bot,bot,N7\n"
        assert _read(save(HEADER.replace(",exchanges", "") + rows)) == [
            ("1", "a", "b", 1, "7", "bot", "bot"),
            (3, "annotator '7' has labelled this conversation at this length already"),
            (4, "it names no conversation"),
            (5, "it names no annotator"),
            ("1.5", "a", "b", 1, "N7", "bot", "bot"),
        ]

    def test_codes_of_labels_are_numbers_however_they_are_written(self, save):
        rows = "1,a,b,1.0,0,7\n2,a,b,0.0,1,7\n"
        found = _read(save(HEADER.replace(",exchanges", "") + rows), values="human=1,bot=0")
        assert [each[5:] for each in found] == [("human", "bot"), ("bot", "human")]


class TestLabelStudio:
    @staticmethod
    def _annotation(number, who, label, **more):
        choices = [
            {"from_name": name, "type": "choices", "value": {"choices": [said]}}
            for name, said in (("label_a", label), ("label_b", "bot"))
        ]
        return {"id": number, "completed_by": who, "result": choices, **more}

    def test_correction_counts_and_one_person_is_one_annotator_and_faults_name_the_task(self, save):
        ann = {"id": 1, "email": "ann"}
        annotations = [
            [self._annotation(1, ann, "human"), self._annotation(2, 2, "unsure", parent_annotation=1)],
            [self._annotation(3, 1, "human"), self._annotation(4, 1, "bot", parent_annotation=3, was_cancelled=True)],
            [self._annotation(5, 1, "human"), self._annotation(6, 2, "bot", parent_annotation={"id": 5}),
             self._annotation(7, 1, "unsure", parent_annotation=6)],
            [self._annotation(8, ann, "perhaps")],
        ]  # fmt: skip
        tasks = [
            {"id": 70 + at, "data": {"dialogue": f"d{at}", "bot_a": "x", "bot_b": "y"}, "annotations": each}
            for at, each in enumerate(annotations)
        ]
        found = _read(save(json.dumps(tasks), "tasks.json"))
        assert [(each[0], each[4], each[5]) for each in found[:3]] == [
            ("d0", "2", "unsure"),
            ("d1", "ann", "human"),
            ("d2", "ann", "unsure"),
        ]
        assert found[3:] == [(1, "task 73: its label_a 'perhaps' is not one of human, unsure, bot")]

    def test_fault_in_a_list_on_one_line_names_the_element(self, save):
        line = {"conversation": "c1", "bot_a": "x", "bot_b": "y", "label_a": "bot", "label_b": "bot", "worker": "w"}
        found = _read(save(json.dumps([line, line | {"worker": None}]), "labels.json"))
        assert found[1] == (1, "element 2: it names no annotator")


class TestFaults:
    def test_rows_say_what_is_wrong_with_them_and_the_rest_is_read(self, save):
        rows = (
            "c1,a,b,human,bot,ann,2\nc1,a,b,bot,bot,ann,2\nc1,a,b,human,bot,ann,3\nc1,a,b,human,bot,,2\n"
            "c1,a,b,human,perhaps,bob,2\nc1,a,c,human,bot,bob,2\n,a,b,human,bot,bob,2\nc2,a,b,human,bot,bob,0\n"
            f"c2,a,,human,bot,bob,2\nc2,{'x' * 101},b,human,bot,bob,2\nc2,a,b,human,bot,{'y' * 151},2\n"
            "c3,a,a,human,bot,bob,2\n"
        )
        assert _read(save(HEADER + rows)) == [
            ("c1", "a", "b", 2, "ann", "human", "bot"),
            (3, "annotator 'ann' has labelled this conversation at this length already"),
            ("c1", "a", "b", 3, "ann", "human", "bot"),
            (5, "it names no annotator"),
            (6, "its label_b 'perhaps' is not one of human, unsure, bot"),
            (7, "its sides are 'a' and 'c', but conversation 'c1' has 'a' and 'b'"),
            (8, "it names no conversation"),
            (9, "its exchanges '0' must be a whole number from 1 to 500"),
            (10, "it names no side_b"),
            (11, "its side_a has more than 100 letters, or a NUL character"),
            (12, "its annotator has more than 150 letters, or a NUL character"),
            ("c3", "a", "a", 2, "bob", "human", "bot"),
        ]

    def test_side_without_the_other_and_side_twice_are_rejected(self, save):
        rows = "c1,A,a,human,ann\nc1,A,a,bot,ann\nc2,B,b,bot,ann\nc2,A,a,human,ann\nc2,A,a,human,ann\nc3,C,a,bot,ann\n"
        assert _read(save(f"conversation,side,bot,label,annotator\n{rows}")) == [
            (3, "the annotator labelled this side already, on line 2"),
            ("c2", "a", "b", 1, "ann", "human", "bot"),
            (6, "annotator 'ann' has labelled this conversation at this length already"),
            (7, "its side 'C' is neither A nor B"),
        ]
        alone = save("conversation,bot,label,annotator\nc1,a,bot,ann\n")
        assert _read(alone) == [(2, "the annotator labelled only this side: both sides need a label")]

    def test_sides_are_numbered_from_0_or_from_1(self, save):
        for first, second in (("0", "1"), ("1", "2"), ("1.0", "2.0")):
            rows = f"c1,{second},b,bot,ann\nc1,{first},a,human,ann\n"
            found = _read(save(f"conversation,side,bot,label,annotator\n{rows}"))
            assert found == [("c1", "a", "b", 1, "ann", "human", "bot")]

    def test_feature_that_names_a_bot_and_the_other_side_is_rejected_until_it_is_given(self, save):
        header = f"{HEADER.strip()},fluency,sensibleness,specificity\n"
        path = save(f"{header}c1,B,A,human,bot,ann,1,A,B,tie\nc2,A,B,human,bot,ann,1,A,B,tie\n")
        found = _read(path)
        assert found[0][1].startswith(
            "its fluency 'A' can be a bot's name, or the other side or a tie: add --values A=A,B=B"
        )
        assert found[1][0] == "c2"
        assert [each[0] for each in _read(path, values="A=A,B=B")] == ["c1", "c2"]

    def test_conversations_of_a_collection_are_those_that_it_has(self, save):
        rows = "c1,alpha,beta,human,bot,ann,1\nc9,alpha,beta,human,bot,ann,1\nc1,beta,alpha,human,bot,bob,1\n"
        assert _read(save(f"{HEADER}{rows}c1,alpha,beta,human,bot,cat,2\n"), known=KNOWN) == [
            ("c1", "alpha", "beta", 1, "ann", "human", "bot"),
            (3, "conversation 'c9' is not in the collection"),
            (4, "its sides are 'beta' and 'alpha', but conversation 'c1' has 'alpha' and 'beta'"),
            (5, "its exchanges '2' must be a whole number from 1 to 1"),
        ]


class TestMapping:
    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ("winner=label_a", "'winner' is not one of conversation, side_a"),
            ("label_a=lable_a", "there is no such column: the columns are conversation, side_a, side_b"),
            ("label_a", "write NAME=VALUE"),
            ("label_a=label_a,bot=side_a", "these fields belong to different kinds of tables"),
        ],
    )
    def test_map_that_does_not_fit_is_refused_with_what_would(self, save, given, reason):
        with pytest.raises(MappingFault, match=reason):
            _mapping(save(f"{HEADER}c1,a,b,human,bot,ann,1\n"), given)

    def test_table_without_a_header_is_refused_with_the_map_to_give(self, save):
        with pytest.raises(ColumnsUnknown) as refused:
            _mapping(save("c1,a,b,human,bot,ann,1\nc2,a,b,human,bot,ann,1\n"))
        assert "its columns: c1, a, b, human, bot, ann, 1" in str(refused.value)
        assert "--map conversation=COLUMN," in str(refused.value)

    @pytest.mark.parametrize("names", ["bot1,bot2,label1,label2", "Bot A,Bot B,q1,q2", "modelA,modelB,isA,isB"])
    def test_pairs_of_columns_are_two_sides(self, save, names):
        columns = _mapping(save(f"dialog,{names},worker\nd1,x,y,human,bot,w1\n")).columns
        assert [columns[field] for field in ("side_a", "side_b", "label_a", "label_b")] == names.split(",")

    def test_table_with_two_sides_is_offered_two_sides(self, save):
        with pytest.raises(ColumnsUnknown, match=r"no column for side_a, side_b .* --map side_a=COLUMN,side_b=COLUMN"):
            _mapping(save("dialog,chatter1,chatter2,q1,q2,worker\nd1,x,y,human,bot,w1\n"))

    def test_numbers_of_features_are_refused_until_they_are_given(self, save):
        header = f"{HEADER.strip()},fluency,sensibleness,specificity\n"
        path = save(f"{header}c1,a,b,human,bot,ann,1,1,-1,1\n")
        printed = run_stb("import", "labels", path, "--yes")
        assert "No value of column 'fluency' is a preference (1): say what they mean" in printed.stderr.replace(
            "\n", " "
        )

    def test_columns_with_commas_and_equals_can_be_mapped(self, save):
        path = save(f"{HEADER.replace('annotator', chr(34) + 'who, a=b' + chr(34))}c1,a,b,human,bot,ann,1\n")
        assert _mapping(path, "annotator=who, a=b,conversation=conversation").columns["annotator"] == "who, a=b"

    def test_guess_is_shown_and_not_taken_without_a_terminal(self, save):
        path = save("dialog,bot a,bot b,A?,B?,worker\nc1,\x1b[31mx,y,Person,Machine,w1\nc2,x,y,dunno,Machine,w1\n")
        printed = run_stb("import", "labels", path)
        assert printed.returncode == 1
        assert "A?: Person is human; dunno is unknown, and rejected" in printed.stderr
        assert "conversation │ dialog (guessed)" in printed.stderr
        assert "add --yes, or --map 'conversation=dialog,side_a=bot a," in printed.stderr.replace("\n", " ")
        assert "\x1b" not in printed.stderr

    @pytest.mark.parametrize(("one", "other"), [("1", "0"), ("1.0", "2.0"), ("True", "False")])
    def test_codes_of_labels_are_refused_with_the_option_that_decides(self, save, one, other):
        rows = f"c1,x,y,{one},{other},w1\nc2,x,y,{other},{other},w1\n"
        path = save("conversation,bot_a,bot_b,label_a,label_b,annotator\n" + rows)
        printed = run_stb("import", "labels", path, "--yes")
        assert printed.returncode == 1
        said = f"'label_a' is a label ({one}, {other}): say what they mean, such as --values human={one},bot={other}"
        assert said in printed.stderr.replace("\n", " ")
        assert _read(path, values=f"human={one},bot={other}")[0] == ("c1", "x", "y", 1, "w1", "human", "bot")

    def test_labels_of_which_none_is_known_are_asked_for(self, save):
        path = save("conversation,bot_a,bot_b,label_a,label_b,annotator\nc1,x,y,1,0,w1\n")
        given = "label_a=label_a,label_b=label_b"
        printed = run_stb("import", "labels", path, "--map", given, "--yes")
        assert "No value of column 'label_a' is a label (1): say what they mean" in printed.stderr.replace("\n", " ")
        assert (
            run_stb("import", "labels", path, "--values", "person=1")
            .stderr.split(": ", 1)[1]
            .startswith(
                "The mapping --values 'person=1' can't be used: 'person' is not one of human, unsure, bot, A, B, tie."
            )
        )
