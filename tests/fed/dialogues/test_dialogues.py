"""What of a dialogue FED can score, and the reason where it can't."""

import pytest

from spotthebot.fed.dialogues.domain.dialogues import MAX_CHARACTERS, MAX_TURNS, Dialogue, Level, Turn, parse_dialogue
from spotthebot.fed.dialogues.domain.published_data import parse_published
from spotthebot.fed.dialogues.errors import DialogueUnusable

HELLO, FINE = {"speaker": "A", "text": "Hello!"}, {"speaker": "B", "text": "Fine."}
CONTEXT = "User: Hi!\nSystem: Hi: what's up?\nUser: Nothing"


def dialogue_of(speakers: str) -> Dialogue:
    return Dialogue("d", tuple(Turn(speaker, "Hm.") for speaker in speakers))


class TestParseDialogue:
    def test_reads_speakers_and_texts(self):
        found = parse_dialogue({"id": "d1", "turns": [HELLO, FINE]})
        assert found == Dialogue("d1", (Turn("A", "Hello!"), Turn("B", "Fine.")))
        assert found.texts == ("Hello!", "Fine.")
        assert parse_dialogue({"id": 7, "turns": [HELLO, FINE]}).id == "7"

    @pytest.mark.parametrize(
        ("document", "reason"),
        [
            ([], "it is not a JSON object"),
            ({"turns": [HELLO, FINE]}, "it has no 'id'"),
            ({"id": "d"}, "it has no 'turns'"),
            ({"id": "d", "turns": [HELLO, FINE], "bot": 1}, "it has the unknown key 'bot'"),
            ({"id": None, "turns": [HELLO, FINE]}, "its id is neither a text nor a whole number"),
            ({"id": True, "turns": [HELLO, FINE]}, "its id is neither"),
            ({"id": " ", "turns": [HELLO, FINE]}, "its id is neither"),
            ({"id": "d" * 201, "turns": [HELLO, FINE]}, "its id is longer than 200"),
            ({"id": "d", "turns": {}}, "its turns are not a list"),
            ({"id": "d", "turns": ["Hello!", "Fine."]}, "turn 1 is not a JSON object"),
            ({"id": "d", "turns": [HELLO, {"speaker": "B"}]}, "turn 2 has no 'text'"),
            ({"id": "d", "turns": [HELLO, {**FINE, "at": 1}]}, "turn 2 has the unknown key 'at'"),
            ({"id": "d", "turns": [HELLO, {"speaker": 1, "text": "Fine."}]}, "the speaker of turn 2 is not a text"),
            ({"id": "d", "turns": [HELLO, {"speaker": "B", "text": "\ud800"}]}, "the text of turn 2 has half a"),
            ({"id": "d\udc00", "turns": [HELLO, FINE]}, "its id has half a surrogate pair"),
            ({"id": "d", "turns": [HELLO, FINE], "k\ud800": 1}, "it has the unknown key 'k?'"),
            ({"id": "d", "turns": []}, "it has no turns"),
            ({"id": "d", "turns": [HELLO]}, "it has one turn, which nobody answers"),
            ({"id": "d", "turns": [HELLO, FINE] * 501}, "1,002 turns: at most 1,000 are accepted"),
            ({"id": "d", "turns": [HELLO, {"speaker": "B", "text": "  "}]}, "the speaker 'B' never says anything"),
            (
                {"id": "d", "turns": [HELLO, {"speaker": "B", "text": "word " * 100_000}]},
                "it has 500,006 characters: at most 200,000 are accepted (no model reads more)",
            ),
        ],
    )
    def test_refuses_with_the_reason(self, document, reason):
        with pytest.raises(DialogueUnusable) as refused:
            parse_dialogue(document)
        assert reason in refused.value.reason
        assert str(refused.value) == f"The dialogue can't be scored: {refused.value.reason}."

    def test_takes_the_longest_dialogue(self):
        assert len(parse_dialogue({"id": "d", "turns": [HELLO, FINE] * (MAX_TURNS // 2)}).turns) == MAX_TURNS
        longest = {"speaker": "B", "text": "x" * (MAX_CHARACTERS - len("Hello!"))}
        assert len(parse_dialogue({"id": "d", "turns": [HELLO, longest]}).turns) == 2

    def test_takes_a_turn_without_words_of_a_speaker_who_has_others(self):
        silent = {"speaker": "B", "text": ""}
        assert parse_dialogue({"id": "d", "turns": [HELLO, silent, HELLO, FINE]}).texts[1] == ""


class TestEnds:
    @pytest.mark.parametrize(
        ("speakers", "speaker", "turns", "last"),
        [
            ("AB", None, (2,), (2,)),
            ("ABAB", None, (2, 3, 4), (4,)),
            ("ABABA", "B", (2, 4), (4,)),
            ("ABABA", "A", (3, 5), (5,)),
            ("BBA", "B", (2,), (2,)),
        ],
    )
    def test_follow_each_answer_or_the_last(self, speakers, speaker, turns, last):
        assert dialogue_of(speakers).ends(Level.TURN, speaker) == turns
        assert dialogue_of(speakers).ends(Level.DIALOGUE, speaker) == last

    @pytest.mark.parametrize("level", Level)
    def test_need_a_speaker_who_answers(self, level):
        with pytest.raises(DialogueUnusable, match="the speaker 'C' never talks"):
            dialogue_of("ABA").ends(level, "C")
        with pytest.raises(DialogueUnusable, match="the speaker 'A' never answers"):
            dialogue_of("AB").ends(level, "A")


class TestParsePublished:
    def test_reads_turns_without_their_speakers_names(self):
        rated = parse_published(
            {
                "context": CONTEXT,
                "response": "System: Good.",
                "system": "Meena",
                "annotations": {"Fluent": [2, 1, "N/A (x)"]},
            },
            3,
        )
        assert rated.dialogue.id == "fed-3"
        assert rated.dialogue.texts == ("Hi!", "Hi: what's up?", "Nothing", "Good.")
        assert [turn.speaker for turn in rated.dialogue.turns] == ["User", "System", "User", "System"]
        assert (rated.level, rated.system, rated.mean_rating("Fluent")) == (Level.TURN, "Meena", 1.5)

    def test_leaves_the_spaces_of_a_turn_but_the_one_after_its_speaker(self):
        """They are tokens, and the published scores were computed with them."""
        rated = parse_published({"context": "User:  Hi! \nSystem:Yo"}, 0)
        assert rated.dialogue.texts == (" Hi! ", "Yo")

    def test_rates_a_dialogue_where_there_is_no_response(self):
        rated = parse_published({"context": CONTEXT, "annotations": {"Error recovery": ["N/A (none)"]}}, 0)
        assert (rated.level, len(rated.dialogue.turns)) == (Level.DIALOGUE, 3)
        assert [str(rated.mean_rating(label)) for label in ("Error recovery", "Depth")] == ["nan", "nan"]

    @pytest.mark.parametrize(
        ("entry", "reason"),
        [
            ("context", "not an entry of the published FED data"),
            ({"response": "System: Hi!"}, "not an entry of the published FED data"),
            ({"context": "User: Hi!\nHello!"}, "turn 2 must begin with"),
            ({"context": CONTEXT, "id": 3}, "it has the unknown key 'id'"),
            ({"context": CONTEXT, "annotations": [1]}, "its annotations are not lists"),
            ({"context": CONTEXT, "annotations": {"Fluent": 1}}, "its annotations are not lists"),
        ],
    )
    def test_refuses_with_the_reason(self, entry, reason):
        with pytest.raises(DialogueUnusable, match=reason):
            parse_published(entry, 0)
