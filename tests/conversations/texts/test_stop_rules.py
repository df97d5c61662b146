import json

import pytest

from spotthebot.conversations.texts.domain import is_farewell, repeats
from tests.factories.published_dump import SHARED

FAREWELLS = (
    "Bye!",
    "Goodbye, Peter. Thanks for everything.",
    "ok , see you tomorrow then .",
    "See you tomorrow night.",
    "Well, I have to go now. It was nice talking to you!",
    "Take care! And say hello to your mother.",
    "Have a great day!",
    "You too, have a nice weekend",
    "Good night.",
    "I'll talk to you later",
    "It ' s been great talking to you , but I have to get going .",
    "Goodbye and see you tonight, Miss Rose.",
    "TTYL",
)
NO_FAREWELLS = (
    "",
    "...",
    "I said goodbye to him yesterday.",
    "We had a good night.",
    "I have to go to the dentist tomorrow.",
    "See, you never listen.",
    "Bye! Wait, what is your name?",
    "Could you take care of my cat?",
    "Nice to meet you!",
    "Later I went home.",
    "Auf Wiedersehen",
)


class TestFarewell:
    @pytest.mark.parametrize("text", FAREWELLS)
    def test_is_recognised_in_utterances_that_take_leave(self, text):
        assert is_farewell(text)

    @pytest.mark.parametrize("text", NO_FAREWELLS)
    def test_is_not_seen_in_utterances_that_continue(self, text):
        assert not is_farewell(text)

    def test_is_found_at_the_end_of_dialogues_of_people_not_in_their_middle(self):
        """Less than 1 in 500 utterances up to the last but three of DailyDialog's test dialogues is taken for one."""
        file = SHARED / "data" / "openings" / "dailydialog_test.json"
        if not file.is_file():
            pytest.skip("DailyDialog's test dialogues ../shared/data/openings are not here")
        dialogues = [json.loads(line)["dialogue"] for line in file.read_text().splitlines()]
        last = [is_farewell(dialogue[-1]["text"]) for dialogue in dialogues]
        before = [is_farewell(turn["text"]) for dialogue in dialogues for turn in dialogue[:-3]]
        assert sum(last) / len(last) > 0.03
        assert sum(before) / len(before) < 1 / 500


class TestRepeats:
    def test_are_found_in_the_last_turns_whatever_their_case_and_punctuation(self):
        assert repeats(["Hi.", "I don't know.", "i don ' t know", "I DON'T KNOW!"], 3)

    def test_are_not_found_in_too_few_or_other_turns(self):
        assert not repeats(["Yes.", "Yes."], 3)
        assert not repeats(["Yes.", "Yes.", "No.", "Yes."], 2)

    def test_compare_turns_without_words_as_they_are_written(self):
        assert repeats(["...", "..."], 2)
        assert not repeats(["...", "?!"], 2)
