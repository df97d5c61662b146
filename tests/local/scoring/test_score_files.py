"""Files of dialogues and of dimensions, and each reason why a line of them is not taken."""

import json

import pytest

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.dimension_sets.domain.published_dimensions import DIALOGUE_LEVEL, FED, TURN_LEVEL
from spotthebot.fed.dimension_sets.errors import DimensionNameTaken, DimensionUnusable, NoSuchDimension
from spotthebot.kit.exports.formats import ExportFormat, open_exporter
from spotthebot.local.scoring.dialogue_files import read_dialogues
from spotthebot.local.scoring.errors import NotDialogues, NotDimensions
from spotthebot.local.scoring.files import choose_dimensions
from tests.factories.exported import exported

TURNS = [{"speaker": "A", "text": "Hello!"}, {"speaker": "B", "text": "Hi."}, {"speaker": "A", "text": "Bye."}]


def line(name, turns=TURNS):
    return json.dumps({"id": name, "turns": turns}).encode()


class TestReadDialogues:
    def test_takes_lines_whatever_ends_them(self, tmp_path):
        file = tmp_path / "talks.jsonl"
        other = json.dumps(
            {"id": "b", "turns": [TURNS[0], {"speaker": "B", "text": "One\u2028line"}]}, ensure_ascii=False
        )
        file.write_bytes(line("a") + b"\r\n\n  \n" + other.encode() + b"\n")
        read = read_dialogues(file, Level.TURN)
        assert [(each.line, each.dialogue.id, each.ends) for each in read.dialogues] == [
            (1, "a", (2, 3)),
            (4, "b", (2,)),
        ]
        assert read.dialogues[1].dialogue.texts[1] == "One\u2028line"
        assert read.rejected == ()

    def test_scores_the_last_turn_of_a_dialogue_or_of_a_speaker(self, tmp_path):
        file = tmp_path / "talks.jsonl"
        file.write_bytes(line("a"))
        (whole,) = read_dialogues(file, Level.DIALOGUE).dialogues
        (of_speaker,) = read_dialogues(file, Level.DIALOGUE, speaker="B").dialogues
        assert (whole.ends, of_speaker.ends) == ((3,), (2,))

    def test_names_each_line_that_is_not_taken(self, tmp_path):
        bad = [
            (line("a"), "its id is that of line 1"),
            (b'{"id": "x", "turns": [], "more": 1}', "it has the unknown key 'more'"),
            (line("x", TURNS[:1]), "it has one turn, which nobody answers"),
            (b"{'id'", "it is not JSON (Expecting property name enclosed in double quotes)"),
            (b'{"id": "\xff"}', "it is not UTF-8"),
            (b'{"id": ' + b"1" * 5000 + b"}", "its JSON can't be read: nested too deeply, or a number too long"),
            (b'{"id": ' + b"[" * 100_000, "its JSON can't be read: nested too deeply, or a number too long"),
        ]
        file = tmp_path / "talks.jsonl"
        file.write_bytes(b"\n".join([line("a"), *(each for each, _ in bad), line("b")]))
        read = read_dialogues(file, Level.TURN)
        assert [each.dialogue.id for each in read.dialogues] == ["a", "b"]
        assert [(each.line, each.reason) for each in read.rejected] == [
            (number, reason) for number, (_, reason) in enumerate(bad, start=2)
        ]

    def test_takes_entries_of_the_level_from_the_published_list(self, tmp_path):
        turn = {"context": "User: Hi!\nSystem: Yo.", "response": "System: Bye.", "annotations": {"Fluent": [1, 2]}}
        entries = [turn, {"context": "User: Hi!\nSystem: Yo.", "annotations": {"Depth": [2]}}, {"context": "Hi!"}]
        file = tmp_path / "fed_data.json"
        file.write_text(json.dumps(entries, indent=1))
        turns, dialogues = (read_dialogues(file, level) for level in (Level.TURN, Level.DIALOGUE))
        assert [(each.dialogue.id, each.ends, each.ratings) for each in turns.dialogues] == [
            ("fed-0", (3,), {"Fluent": (1.0, 2.0)})
        ]
        assert [(each.dialogue.id, each.ends, each.ratings) for each in dialogues.dialogues] == [
            ("fed-1", (2,), {"Depth": (2.0,)})
        ]
        assert [(each.line, each.reason) for each in turns.rejected] == [
            (3, "turn 1 must begin with 'User:' or 'System:'")
        ]

    def test_refuses_half_a_list(self, tmp_path):
        file = tmp_path / "fed_data.json"
        file.write_text('[{"context": "User')
        with pytest.raises(NotDialogues, match="it begins like a JSON list"):
            read_dialogues(file, Level.TURN)


class TestChooseDimensions:
    def test_takes_those_of_the_level_of_a_set_or_of_names(self):
        assert choose_dimensions(None, Level.TURN) == TURN_LEVEL
        assert choose_dimensions(None, Level.DIALOGUE) == DIALOGUE_LEVEL
        assert choose_dimensions("fed", Level.TURN) == FED.dimensions
        assert choose_dimensions("bipartite", Level.TURN) == BIPARTITE.dimensions
        named = choose_dimensions("overall, error recovery,overall", Level.TURN)
        assert [each.name for each in named] == ["overall", "error recovery"]
        with pytest.raises(NoSuchDimension):
            choose_dimensions("fluent,", Level.TURN)

    def test_reads_a_file_of_a_user_s_own(self, tmp_path):
        file = tmp_path / "manners.json"
        file.write_text(json.dumps([{"name": "polite", "positive": ["How kind!"], "negative": ["So rude!"]}]))
        assert choose_dimensions(str(file), Level.TURN) == (Dimension("polite", ("How kind!",), ("So rude!",)),)

    @pytest.mark.parametrize(
        ("content", "error", "reason"),
        [
            ("[", NotDimensions, "it is not JSON"),
            ("{}", NotDimensions, "it must be a list"),
            ('["polite"]', NotDimensions, "a dimension has no name"),
            ('[{"name": "a", "postive": []}]', NotDimensions, "'a' has the unknown key 'postive'"),
            (
                '[{"name": "a", "positive": "Hi!"}]',
                NotDimensions,
                "the positive follow-ups of 'a' are not a list of texts",
            ),
            (
                '[{"name": "a", "negative": [1]}]',
                NotDimensions,
                "the negative follow-ups of 'a' are not a list of texts",
            ),
            ('[{"name": "a"}]', DimensionUnusable, "it has no follow-ups"),
            ("[]", DimensionUnusable, "1 to 100 dimensions, not 0"),
            ('[{"name": "a", "positive": ["Hi"]}, {"name": "a", "positive": ["Ho"]}]', DimensionNameTaken, "'a'"),
        ],
    )
    def test_says_why_a_file_is_not_taken(self, tmp_path, content, error, reason):
        file = tmp_path / "manners.json"
        file.write_text(content)
        with pytest.raises(error, match=reason):
            choose_dimensions(str(file), Level.TURN)


class TestReadExports:
    """A collection's export in each format, which the exporters of the service write here."""

    @pytest.mark.parametrize("form", ExportFormat)
    def test_gives_the_turns_of_bots_as_the_service_scores_them(self, form, tmp_path):
        """Two turns of people, then A, B, A, B: bots answer after 3 to 6 turns, for the last time after 5 and 6."""
        file = export_file(tmp_path / f"file.{form.suffix}", form, [exported(1), exported(2)])
        turns, dialogues, of_one = (
            read_dialogues(file, level, speaker=speaker)
            for level, speaker in ((Level.TURN, None), (Level.DIALOGUE, None), (Level.TURN, "ann"))
        )
        assert turns.rejected == ()
        assert [(each.dialogue.id, each.ends) for each in turns.dialogues] == [
            ("c1", (3, 4, 5, 6)),
            ("c2", (3, 4, 5, 6)),
        ]
        assert [each.ends for each in dialogues.dialogues] == [(5, 6), (5, 6)]
        assert [each.ends for each in of_one.dialogues] == [(4, 6), (3, 5)]
        for each, whole in zip(turns.dialogues, (exported(1), exported(2)), strict=True):
            assert each.dialogue.texts == tuple(turn.text for turn in (*whole.opening, *whole.turns))

    def test_names_each_conversation_that_is_not_scored(self, tmp_path):
        failed = exported(1, state=ConversationState.FAILED)
        file = export_file(tmp_path / "conversations.jsonl", ExportFormat.NDJSON, [failed, exported(2)])
        file.write_bytes(file.read_bytes() + b'{"bots": [], "participants": 1, "state": "complete"}\n')
        read = read_dialogues(file, Level.TURN)
        assert [(each.line, each.reason.partition(" (")[0]) for each in read.rejected] == [
            (1, "the conversation is failed, not complete"),
            (3, "it is not an exported conversation"),
        ]
        nobody = read_dialogues(file, Level.TURN, speaker="eve").rejected
        assert nobody[1].reason == "no bot 'eve' answers in this conversation"

    @pytest.mark.parametrize("form", [ExportFormat.PARQUET, ExportFormat.DATASETS])
    def test_refuses_a_file_that_is_cut_short(self, form, tmp_path):
        file = export_file(tmp_path / "file", form, [exported(1)])
        file.write_bytes(file.read_bytes()[:-20])
        with pytest.raises(NotDialogues, match="can't be read"):
            read_dialogues(file, Level.TURN)

    @pytest.mark.parametrize("place", ["id", "text", "speaker"])
    def test_rejects_half_a_surrogate_pair_wherever_it_stands(self, place, tmp_path):
        whole = json.dumps({"id": "x-id", "turns": [{"speaker": "x-speaker", "text": "x-text"}, TURNS[1]]})
        file = tmp_path / "talks.jsonl"
        file.write_text(whole.replace(f"x-{place}", "\\ud83d") + "\n" + line("a").decode())
        read = read_dialogues(file, Level.TURN)
        assert [each.dialogue.id for each in read.dialogues] == ["a"]
        (rejected,) = read.rejected
        assert rejected.reason.endswith("has half a surrogate pair")


def export_file(path, form, rows):
    exporter = open_exporter(form, ExportedConversation, rows=len(rows), card="A card.")
    path.write_bytes(exporter.add(rows) + exporter.close())
    return path
