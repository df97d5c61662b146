"""Builds the documentation site: `docs/`, the pages and files that it links to, and a reference made from the code.

Sphinx reads one folder, but pages of `docs/` link to other folders of the clone. So all pages are copied into one
folder, and their links follow them. The lists of `docs/index.md` become the contents. A link to an OpenAPI document or
to the `__init__.py` of a package leads to a page that is made from it.
"""

import os
import re
import shutil
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any, Final

from spotthebot.kit.errors import Unavailable
from tools import ROOT
from tools.site_python import page_of_clients, page_of_contracts
from tools.site_reference import name_of_download, page_of_module, page_of_openapi

SITE: Final = ROOT / "services" / "spotthebot" / "web" / "site"
"""`web` serves this folder at `/docs`. Git ignores it; wheels and images contain it if it was built."""
_LINK: Final = re.compile(r"(?P<before>\]\(|\b(?:src|href)=\")(?P<path>[\w./-]+)(?=[)#\"])")
_FILE_NAMED: Final = re.compile(r"\[[\w/.-]+\.md\](?=\((?P<path>[\w./-]+)[)#])")
"""A link whose text is the name of a page's file, which readers of the site do not have."""
_SEARCHED: Final = re.compile(r"(?m)^<!-- searched by: (.+) -->$")
"""Other words that readers search for a section by, separated by commas."""
_SECTION: Final = re.compile(r"(?m)^## (.+)\n((?:.+\n|\n(?!## ))*)")
_ENTRY: Final = re.compile(r"(?m)^- \[([^\]]+)\]\(([^)]+)\)")
_CONTENTS: Final = "\n```{{toctree}}\n:hidden:\n{}\n\n{}\n```\n"
_MADE: Final = {"clients": page_of_clients, "contracts": page_of_contracts}
"""The packages whose pages are not only their docstrings."""
_SETTINGS: Final[dict[str, Any]] = {
    "project": "Spot The Bot",
    "html_title": "Spot The Bot",
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "tools.site_diagrams"],
    "html_theme": "furo",
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_copy_source": False,
    "html_use_index": False,
    "html_domain_indices": False,
    "toc_object_entries": False,  # with them, the build takes twice as long
    "html_static_path": [str(Path(__file__).with_name("site_static"))],
    "html_css_files": ["wrap.css"],
    "html_theme_options": {"top_of_page_buttons": []},
    "myst_heading_anchors": 4,
    "default_role": "code",
    "autodoc_typehints_format": "short",
    "autodoc_member_order": "bysource",
    "python_use_unqualified_type_names": True,
}


class SiteBroken(Unavailable):
    """The site has dead links or other faults: {faults}."""


def build_site(target: Path = SITE, source: Path = ROOT) -> None:
    """Build the site of a clone in the folder `target`, which is replaced.

    Raises `SiteBroken` with all faults: links to missing pages, sections and files, and pages outside the contents.
    """
    from sphinx.application import Sphinx  # noqa: PLC0415 - of the extra docs, which other tools do without
    from sphinx.util.docutils import docutils_namespace  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory() as folder:
        pages, built, faults = Path(folder, "pages"), Path(folder, "built"), StringIO()
        copy_pages(source, pages)
        with docutils_namespace():  # so that a process can build again
            sphinx = Sphinx(
                pages, None, built, Path(folder, "kept"), "html", confoverrides=_SETTINGS, status=None, warning=faults
            )
            sphinx.build()
        if found := re.sub(r"\x1b\[[\d;]*m", "", faults.getvalue()).replace(f"{pages.resolve()}/", "").strip():
            raise SiteBroken(faults=found)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target, ignore=shutil.ignore_patterns(".buildinfo*", "objects.inv"))


def copy_pages(source: Path, pages: Path) -> None:
    """Copy `docs/` of the clone `source` into `pages`, with all that its pages link to, and add the contents."""
    waiting = sorted((source / "docs").rglob("*.md"))
    seen = set(waiting)
    while waiting:
        file = waiting.pop()
        place = pages / _place(file, source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix != ".md":
            shutil.copyfile(file, place)
            continue
        text = _SEARCHED.sub(_index_entries, _page(file))
        text = _FILE_NAMED.sub(lambda match: _titled(match, file, source), text)  # noqa: B023 - used at once
        if file.suffix == ".json":
            shutil.copyfile(file, place.with_name(name_of_download(file)))
        linked = {found for match in _LINK.finditer(text) if (found := _target(match["path"], file, source))}
        waiting += sorted(linked - seen)
        seen |= linked
        place.write_text(_LINK.sub(lambda match: _moved(match, file, source), text))  # noqa: B023 - used at once
    _add_contents(pages)


def _page(file: Path) -> str:
    if file.suffix == ".json":
        return page_of_openapi(file)
    if file.suffix == ".py":
        return _MADE.get(file.parent.name, lambda: page_of_module(file))()
    return file.read_text()


def _target(path: str, file: Path, source: Path) -> Path | None:
    """Return the file of the clone to which a link of a page leads; the README of a folder."""
    found = Path(os.path.normpath(file.parent / path))
    found = found / "README.md" if found.is_dir() else found
    return found if found.is_file() and found.is_relative_to(source) else None


def _place(file: Path, source: Path) -> Path:
    """Return where a file of the clone lies among the pages."""
    path = file.relative_to(source)
    if path.parts[0] == "docs":
        return path.relative_to("docs")
    if path.parts[0] == "openapi":
        return Path("reference", f"{path.stem}.md")
    return Path("reference", f"{path.parent.name}.md") if path.name == "__init__.py" else path


def _index_entries(match: re.Match[str]) -> str:
    """Return a directive by which the search finds the page first."""
    return "```{index} " + ", ".join(f"! {words.strip()}" for words in match[1].split(",")) + "\n```"


def _titled(match: re.Match[str], file: Path, source: Path) -> str:
    """Return the text of a link: the title of the page to which it leads."""
    target = _target(match["path"], file, source)
    title = target and re.search(r"(?m)^# (.+)$", target.read_text())
    return f"[{title[1]}]" if title else match[0]


def _moved(match: re.Match[str], file: Path, source: Path) -> str:
    """Return a link as it leads from the page's place to that of its target."""
    target = _target(match["path"], file, source)
    if target is None:
        return match[0]
    place = os.path.relpath(_place(target, source), _place(file, source).parent)
    return f"{match['before']}{place}"


def _add_contents(pages: Path) -> None:
    """Add a table of contents for each list of `index.md`, and to each README there one of the other pages below it."""
    index = pages / "index.md"
    text = index.read_text()
    listed = {pages / path for _, path in _ENTRY.findall(text)}
    for title, lines in _SECTION.findall(text):
        text += _CONTENTS.format(
            f":caption: {title}", "\n".join(f"{name} <{path}>" for name, path in _ENTRY.findall(lines))
        )
    index.write_text(text)
    for readme in sorted(each for each in listed if each.name == "README.md"):
        others = [
            str(each.relative_to(readme.parent)) for each in sorted(readme.parent.rglob("*.md")) if each not in listed
        ]
        readme.write_text(readme.read_text() + _CONTENTS.format("", "\n".join(others)))
