"""The kind of annotators in tables: a column states it, or the names of earlier releases tell it."""

import pytest

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.importers.tables.notes import notes_of
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.labels import LabelledSegment, read_labels
from spotthebot.readers.meanings.columns import Kind, find_columns, parse_map
from spotthebot.readers.meanings.kinds import Kinds
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected
from tests.importers.tables.conftest import Save, compared, reasons

STATED = {"simulated-1": "person", "ann": "simulated", "gpt": "judge"}
PROGRAMS = "Programs are among the annotators"


def _labels(save: Save, text: str, given: str = "") -> list[LabelledSegment | Rejected]:
    table, words = open_table(save(text)), ValueWords.of()
    mapping = find_columns(table, (Kind.LABELS, Kind.SIDES), parse_map([given] if given else []), words)
    return [*read_labels(table, mapping, words)]


def _kinds(found: list[LabelledSegment | Rejected]) -> dict[str, str]:
    return {each.annotator: each.annotator_kind.value for each in found if isinstance(each, LabelledSegment)}


class TestLabels:
    HEADER = "conversation,side_a,side_b,label_a,label_b,annotator"

    @pytest.mark.parametrize(("column", "given"), [("annotator_kind", ""), ("what", "annotator_kind=what")])
    def test_have_the_kind_that_a_column_states(self, save: Save, column: str, given: str):
        rows = "".join(f"c1,alpha,beta,human,bot,{name},{kind}\n" for name, kind in STATED.items())
        assert _kinds(_labels(save, f"{self.HEADER},{column}\n{rows}", given)) == STATED

    def test_with_a_row_for_each_side_have_it_too(self, save: Save):
        rows = "".join(f"c1,alpha,human,{name},{kind}\nc1,beta,bot,{name},{kind}\n" for name, kind in STATED.items())
        assert _kinds(_labels(save, f"dialogue,bot,label,annotator,annotator_kind\n{rows}")) == STATED

    def test_have_the_kind_of_the_name_without_a_column(self, save: Save):
        rows = "".join(f"c1,alpha,beta,human,bot,{name}\n" for name in ("simulated-01", "simulated-x", "ann"))
        expected = {"simulated-01": "simulated", "simulated-x": "person", "ann": "person"}
        assert _kinds(_labels(save, f"{self.HEADER}\n{rows}")) == expected

    def test_with_an_unknown_kind_or_two_kinds_of_one_annotator_are_rejected(self, save: Save):
        rows = (
            "c1,alpha,beta,human,bot,ann,robot\nc1,alpha,beta,human,bot,ann,judge\nc2,alpha,beta,human,bot,ann,person\n"
        )
        unknown, kept, changed = _labels(save, f"{self.HEADER},annotator_kind\n{rows}")
        assert isinstance(kept, LabelledSegment)
        assert isinstance(unknown, Rejected)
        assert unknown.reason == "its annotator_kind 'robot' is not person, simulated, judge"
        assert isinstance(changed, Rejected)
        assert changed.reason == "annotator 'ann' is 'person' here, but 'judge' in earlier rows"


class TestComparisons:
    def test_say_how_many_annotators_are_programs(self, save: Save):
        header = "conversation,bot,annotator,annotator_kind,dimension,value\n"
        said = [("ann", "person"), ("ben", "simulated"), ("cid", "simulated"), ("gpt", "judge")]
        found = compared(save(header + "".join(f"c1,ada,{name},{kind},quality,4\n" for name, kind in said)))
        assert found.kinds.programs == {name: AnnotatorKind(kind) for name, kind in said[1:]}
        (note,) = [each for each in notes_of(found) if each.startswith(PROGRAMS)]
        assert note == f"{PROGRAMS} (1 judge and 2 simulated): what they say tells nothing of people."

    def test_by_people_say_nothing_of_programs(self, save: Save):
        found = compared(save("side_a,side_b,winner,annotator\nx,y,model_a,ann\nx,y,model_b,ben\n"))
        assert not [each for each in notes_of(found) if each.startswith(PROGRAMS)]

    def test_with_an_unknown_kind_are_rejected(self, save: Save):
        found = compared(
            save("side_a,side_b,winner,annotator,annotator_kind\nx,y,model_a,ann,\nx,y,model_b,ben,robot\n")
        )
        assert reasons(found) == [(3, "its annotator_kind 'robot' is not person, simulated, judge")]
        assert [vote.annotator for vote in found.votes] == ["ann"]


def test_a_cell_without_a_kind_follows_the_name():
    kinds = Kinds()
    assert kinds.read("simulated-1", "") is AnnotatorKind.SIMULATED
    assert kinds.read("simulated-1", "simulated") is AnnotatorKind.SIMULATED
