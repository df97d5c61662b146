from spotthebot.bots.protocols.parlai import shown
from spotthebot.bots.questions.domain.dialogue import Context


class TestShown:
    def test_each_line_of_a_persona_is_a_line_of_its_own_as_in_personachats_files(self):
        context = Context(("hello , how are you ?",), 0, persona="i like to ski.\n\nmy wife left me.")
        assert shown(context, "all_turns").splitlines() == [
            "your persona: i like to ski.",
            "your persona: my wife left me.",
            "hello , how are you ?",
        ]

    def test_an_agent_that_keeps_its_own_history_hears_the_last_turn_alone(self):
        context = Context(("hello", "hi"), 0, persona="i like to ski.")
        assert shown(context, "last_turn") == "hi"
