"""An extension of Sphinx: draws the Mermaid diagrams of pages when the site is built, so that no script has to."""

from typing import Any

from docutils import nodes
from merm import render_diagram
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace blocks of the language `mermaid` once a page is read."""
    app.connect("doctree-read", _draw)
    return {"parallel_read_safe": True}


def _draw(_: Sphinx, page: nodes.document) -> None:
    for block in list(page.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            picture = render_diagram(block.astext())
            block.replace_self(nodes.raw("", f'<div style="overflow-x: auto">{picture}</div>', format="html"))
