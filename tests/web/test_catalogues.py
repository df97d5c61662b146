"""Every language has every text, with the same places to fill, and pages use only texts that are there."""

import re
import string
from pathlib import Path
from typing import Any

import pytest

from spotthebot.web.catalogues import FOLDER, LANGUAGES, Texts

WEB = FOLDER.parent
ENGLISH = Texts("en")
OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
class TestLanguages:
    def test_have_the_same_texts(self, language: str):
        assert set(Texts(language).names) == set(ENGLISH.names)

    def test_fill_the_same_places(self, language: str):
        texts = Texts(language).names
        assert [name for name in ENGLISH.names if _places(texts[name]) != _places(ENGLISH.names[name])] == []


class TestTexts:
    def test_all_texts_named_in_templates_are_there(self):
        named = {
            (path.name, name)
            for path in (WEB / "templates").rglob("*.jinja")
            for name in re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", path.read_text())
        }
        assert len(named) > 10
        assert {(page, name) for page, name in named if name not in ENGLISH.names} == set()

    def test_all_texts_named_in_scripts_of_annotators_are_there(self):
        scripts = [path.read_text() for path in (WEB / "static" / "js" / "annotate").glob("*.js")]
        named = {name for script in scripts for name in re.findall(r"""texts\(\s*["']([\w.]+)["']""", script)}
        assert len(named) > 20
        assert named - set(ENGLISH.group("annotate_scripts")) == set()

    def test_choose_the_form_by_the_count(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "en").mkdir()
        (tmp_path / "en" / "a.toml").write_text('left = {one = "one left", other = "{count} left"}')
        monkeypatch.setattr("spotthebot.web.catalogues.FOLDER", tmp_path)
        texts = Texts("en")
        assert [texts("a.left", count=number) for number in (0, 1, 2)] == ["0 left", "one left", "2 left"]


def _places(text: Any) -> list[set[str]]:
    forms = text.values() if isinstance(text, dict) else [text]
    return [{name for _, name, _, _ in string.Formatter().parse(form) if name} for form in forms]
