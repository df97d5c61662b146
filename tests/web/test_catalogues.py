"""Every language has every text, with the same places to fill, and pages use only texts that are there."""

import re
import string
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import spotthebot.analytics.app
import spotthebot.annotation.app
import spotthebot.conversations.app
import spotthebot.web.app  # noqa: F401 - so that the errors of all are known
from spotthebot.annotation.assignments import errors as assignments_errors
from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.annotation.leases import errors as leases_errors
from spotthebot.annotation.protocols import errors as protocols_errors
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.problems import name_of
from spotthebot.web.catalogues import FOLDER, LANGUAGES, OF_SERVICES, Texts
from spotthebot.web.chats import errors as chats_errors
from spotthebot.web.packages import errors as packages_errors
from spotthebot.web.protocols.domain import BUILT_IN, worded
from spotthebot.web.visitors import errors as visitors_errors

WEB = FOLDER.parent
ENGLISH = Texts("en")
OTHERS = [language for language in LANGUAGES if language != "en"]
OF_ADMINISTRATORS = {
    *("gold-in-training", "gold-stands-out", "gold-too-short", "no-such-package", "too-few-gold-dialogues"),
    *("no-such-protocol", "protocol-built-in", "protocol-faulty", "protocol-version-stored", "task-not-convertible"),
    "unknown-protocol",
}
"""Problems with packages and protocols that no annotator meets."""
OF_JUDGES = {"has-no-labels", "labels-faulty", "packages-not-named-by-judges", "submits-with-labels"}
"""Problems of programs that label. They work at the task API, without pages."""


@pytest.mark.parametrize("language", OTHERS)
class TestLanguages:
    def test_have_the_same_texts(self, language: str):
        assert {name for name in Texts(language).names if name.partition(".")[0] not in OF_SERVICES} == set(
            ENGLISH.names
        )

    def test_fill_the_same_places(self, language: str):
        texts = Texts(language).names
        assert [name for name in ENGLISH.names if _places(texts[name]) != _places(ENGLISH.names[name])] == []


@pytest.mark.parametrize("language", OTHERS)
class TestServices:
    """What services say in English is said in the other languages too."""

    def test_each_sentence_of_the_built_in_protocols_has_a_text(self, language: str):
        protocols = built_in_protocols()
        assert {name for name, _ in protocols} == BUILT_IN
        sentences: set[str] = set()

        def note(sentence: str) -> str:
            sentences.add(sentence)
            return sentence

        for protocol in protocols.values():
            worded(protocol, note)
        assert len(sentences) > 80
        assert _of_group(language, "protocols") == sentences

    def test_protocols_of_users_stay_as_they_were_written(self, language: str):
        built_in = built_in_protocols()["spot_the_bot", 1]
        own = built_in.model_copy(update={"name": "own"})
        assert worded(own, Texts(language)) == own
        assert worded(built_in, str.upper).steps[0].questions[0].text == "IS THIS SPEAKER A HUMAN OR A BOT?"

    def test_each_text_of_a_problem_is_of_one_that_there_is(self, language: str):
        assert _of_group(language, "problems") - _problems() == set()

    def test_each_refusal_of_a_package_an_answer_and_a_page_has_a_text(self, language: str):
        of_pages = (chats_errors, packages_errors, visitors_errors)
        modules = (assignments_errors, leases_errors, protocols_errors, *of_pages)
        met = {name for module in modules for name in _names(vars(module).values())}
        met |= _names([ClaimRefused, *ClaimRefused.__subclasses__()])
        assert met - OF_ADMINISTRATORS - OF_JUDGES - _of_group(language, "problems") == {"not-sayable"}  # ours


class TestTexts:
    def test_all_texts_named_in_templates_are_there(self):
        named = {
            (path.name, name)
            for path in WEB.rglob("*.jinja")
            for name in re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", path.read_text())
        }
        assert len(named) > 10
        assert {(page, name) for page, name in named if name not in ENGLISH.names} == set()

    def test_no_template_fills_a_place_that_is_called_as_the_texts_own_argument(self):
        """`t(key, name=...)` is an error of Python as the page is shown: the key is called `name` itself."""
        filled = [
            (path.name, call)
            for path in WEB.rglob("*.jinja")
            for call in re.findall(r"""\bt\(\s*["'][\w.]+["'][^()]*\bname=""", path.read_text())
        ]
        assert filled == []

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


def _of_group(language: str, group: str) -> set[str]:
    names = [name.partition(".") for name in Texts(language).names]
    return {name for found, _, name in names if found == group}


def _names(values: Iterable[object]) -> set[str]:
    """Return the names of the problems among these values."""
    kinds = [each for each in values if isinstance(each, type) and issubclass(each, Error)]
    return {name_of(each.__new__(each)) for each in kinds}


def _problems() -> set[str]:
    """Return the names of all problems that services have, as far as their modules are loaded."""
    found, kinds = set[type[Error]](), [Error]
    while kinds:
        kind = kinds.pop()
        found.add(kind)
        kinds += kind.__subclasses__()
    return _names(found)


def _places(text: Any) -> list[set[str]]:
    forms = text.values() if isinstance(text, dict) else [text]
    return [{name for _, name, _, _ in string.Formatter().parse(form) if name} for form in forms]
