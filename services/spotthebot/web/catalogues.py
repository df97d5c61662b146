"""The texts of all pages in each language, read from `texts/LANGUAGE/GROUP.toml`.

Services answer in English. The catalogues of other languages translate these sentences: `problems` has a text for each
name of a problem, `protocols` a text for each sentence of a built-in protocol.

A text's name is its group and its key: `session.sign_in`. The page fills the {places} of a text. A table with the keys
`one` and `other` holds the singular and the plural of a text; the place `count` decides between them.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "texts"
LANGUAGES: Final = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
OF_SERVICES: Final = ("problems", "protocols")
"""Groups of texts that translate English sentences of the services."""
_FORMS: Final = {"one", "other"}


class Texts:
    """The texts of one language. Raises KeyError for an unknown text, or for a place without a value."""

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
        """Return the translation of a service's English sentence; `original` if the catalogue has none."""
        return str(self._texts.get(f"{group}.{name}", original))

    def group(self, name: str) -> dict[str, Any]:
        """Return the texts of a group with unfilled places, for the scripts of the pages."""
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
