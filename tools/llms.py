"""Texts for programs that use the suite: `llms.txt` with the first calls and links, `llms-full.txt` with all pages.

Source of the form: https://llmstxt.org. Both follow the folders of `docs/`: a page that moves changes its section.
"""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from spotthebot.contracts.services import SERVICES

FOLDER: Final = Path("services", "spotthebot", "web", "home")
"""From a clone's root: the pages serve the texts from here."""
_OPTIONAL: Final = ("decisions", "runbooks")
"""Folders of `docs` that a program which uses the suite can leave out."""
_HEAD: Final = Path(__file__).with_suffix(".md").read_text()
"""What a program needs first, written by hand."""


def llms_text(root: Path) -> str:
    """Return `llms.txt`: what a program needs first, then every page with its first sentence, and every API."""
    parts = [_HEAD]
    optional = []
    for folder, pages in groupby(_pages(root), key=lambda page: page.relative_to(root / "docs").parts[:-1]):
        lines = [_link(root, page) for page in pages]
        if folder and folder[0] in _OPTIONAL:
            optional += lines
        else:
            parts.append(f"## {_title_of(folder)}\n\n" + "\n".join(lines) + "\n")
    apis = [f"- [{each.name}](openapi/{each.name}.json): {each.owns}; port {each.port}" for each in SERVICES]
    parts.append("## APIs\n\n" + "\n".join(apis) + "\n")
    parts.append("## Optional\n\n" + "\n".join(optional) + "\n")
    return "\n".join(parts)


def llms_full_text(root: Path) -> str:
    """Return `llms-full.txt`: the head of `llms.txt`, the text of all pages that are not optional, every operation."""
    parts = [_HEAD]
    for page in _pages(root):
        path = page.relative_to(root)
        if path.parts[1] not in _OPTIONAL:
            parts.append(f"<!-- {path} -->\n\n{page.read_text().strip()}\n")
    for service in SERVICES:
        path = Path("openapi", f"{service.name}.json")
        lines = "\n".join(_operations(root / path))
        parts.append(f"<!-- {path} -->\n\n# Operations of {service.name}\n\n{lines}\n")
    return "\n".join(parts)


def _pages(root: Path) -> list[Path]:
    """Return the pages, those of a folder before those of the folders in it."""
    return sorted((root / "docs").rglob("*.md"), key=lambda page: (page.parent, page))


def _title_of(folder: tuple[str, ...]) -> str:
    return " ".join(folder).replace("-", " ").capitalize() or "Docs"


def _link(root: Path, page: Path) -> str:
    """Return a line with the page's title and the first sentence after it, without the links in it."""
    title, _, text = page.read_text().removeprefix("# ").partition("\n")
    paragraph = next((each for each in text.split("\n\n") if re.match(r"\s*(?!```)[A-Z`*\[]", each)), "")
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
    sentence = re.split(r"(?<=[.?!])(?<!al\.)\s", plain, maxsplit=1)[0].rstrip(":")
    return f"- [{title.strip()}]({page.relative_to(root)}): {sentence}".removesuffix(": ")


def _operations(document: Path) -> Iterator[str]:
    for path, methods in json.loads(document.read_text())["paths"].items():
        for method, operation in methods.items():
            described = " ".join(operation.get("description", operation["summary"]).split("\n\n")[0].split())
            yield f"- `{method.upper()} {path}` ({operation['operationId']}): {described}"
