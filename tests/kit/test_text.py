"""Text of others, made fit to be shown: short, without paths of the server and formulas, and otherwise as it was."""

import pytest

from spotthebot.kit.text.characters import printable, without_formula, without_paths


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/srv/models/gpt can't be read", "gpt can't be read"),
        ("no file named model.safetensors in '/srv/my-models/gpt_2/'", "no file named model.safetensors in ''"),
        ('File "/usr/lib/python3.11/site-packages/torch/nn.py", line 3', 'File "nn.py", line 3'),
        ("in ~/models/gpt/config.json: oh", "in config.json: oh"),
        ("see file:///srv/models/gpt", "see gpt"),
        ("(/srv/a/b), [/srv/c]", "(b), [c]"),
        ("see https://example.org/a/b/c", "see https://example.org/a/b/c"),
        ("microsoft/DialoGPT-small is not there", "microsoft/DialoGPT-small is not there"),
        ("1/2 of 3/4, and/or none", "1/2 of 3/4, and/or none"),
        ("", ""),
    ],
)
def test_a_path_leaves_its_last_part(text: str, shown: str):
    assert without_paths(text) == shown


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_cell_that_begins_like_a_formula_gets_an_apostrophe(begins: str):
    """OWASP's list (CSV Injection), with the wide forms."""
    assert without_formula(f"{begins}1") == f"'{begins}1"
    assert without_formula(f"1{begins}1") == f"1{begins}1"
    assert without_formula("") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 300 + "…"),
        ("two\n\n lines\t", "two lines"),
        ("a\x00b\u202ec", "a\ufffdb\ufffdc"),
    ],
    ids=["300 characters", "301 characters", "lines", "invisible"],
)
def test_what_a_stranger_said_is_one_visible_line_of_three_hundred_characters(text: str, shown: str):
    assert printable(text) == shown
