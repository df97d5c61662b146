"""The texts of all pages in each language, read from `texts/LANGUAGE/GROUP.toml`.

What services say themselves, in English, has texts in the other languages: `problems` by the names of problems,
`protocols` by the sentences of built-in protocols.

A text is found by its group and its name: `session.sign_in`. Its {places} are filled with what the page gives. A table
with `one` and `other` holds both forms of a text that counts something; `count` chooses.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "texts"
LANGUAGES: Final = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
OF_SERVICES: Final = ("problems", "protocols")
"""Groups of texts that the services have in English."""
_FORMS: Final = {"one", "other"}


class Texts:
    """The texts of one language. Raises KeyError for a text that is not there, or a place that nothing fills."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts: dict[str, Any] = {}
        for file in sorted((FOLDER / language).glob("*.toml")):
            self._texts |= _flat(tomllib.loads(file.read_text()), file.stem)

    def __call__(self, name: str, **places: object) -> str:
        """Return a text with its places filled."""
        text = self._texts[name]
        if isinstance(text, dict):
            text = text["one" if places["count"] == 1 else "other"]
        return str(text).format(**places) if places else str(text)

    def of_service(self, group: str, name: str, original: str) -> str:
        """Return our text for what a service says in English; that itself where this language has none."""
        return str(self._texts.get(f"{group}.{name}", original))

    def group(self, name: str) -> dict[str, Any]:
        """Return the texts of a group as they are, for the scripts of its pages."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): text for key, text in self._texts.items() if key.startswith(prefix)}

    @property
    def names(self) -> Mapping[str, Any]:
        """Return all texts by their names."""
        return self._texts


def read_catalogues() -> dict[str, Texts]:
    """Return the texts of every language."""
    return {language: Texts(language) for language in LANGUAGES}


def _flat(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict) and set(value) != _FORMS:
            flat |= _flat(value, f"{prefix}.{name}")
        else:
            flat[f"{prefix}.{name}"] = value
    return flat
