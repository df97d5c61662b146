import pytest

from spotthebot.kit.text.names import suggestion

TEN = [f"study {number}" for number in range(10)]


class TestSuggestion:
    @pytest.mark.parametrize(
        ("name", "known", "words"),
        [
            ("autum", ["autumn", "spring"], "the nearest is 'autumn'"),
            ("x", ["autumn", "spring"], "there are 'autumn', 'spring'"),
            ("x", [], "there are none yet"),
            ("x", TEN, "there are " + ", ".join(f"'{each}'" for each in TEN)),
            ("x", [*TEN, "last"], "there are " + ", ".join(f"'{each}'" for each in TEN) + " and 1 more"),
        ],
    )
    def test_names_the_nearest_or_the_first_ten_and_how_many_there_are_beside(
        self, name: str, known: list[str], words: str
    ):
        assert suggestion(name, known) == words

    def test_compares_no_more_than_the_beginning_of_a_long_name(self):
        beginning = "a" * 100
        assert suggestion(beginning + "b" * 100_000, [beginning, "c"]) == f"the nearest is '{beginning}'"
