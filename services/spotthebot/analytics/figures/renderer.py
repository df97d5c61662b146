"""Turns Vega-Lite specs into SVG, PDF and PNG, in this process and without the network."""

import hashlib
import json
import re
from typing import Final, Literal

import vl_convert

from spotthebot.analytics.figures.charts import Spec
from spotthebot.kit.text.characters import without_overrides

_ID: Final = re.compile(r'\bid="([^"]+)"')
_REFERENCE: Final = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')


def render(spec: Spec, form: Literal["svg", "pdf", "png"], *, scale: float = 2.0) -> bytes:
    """Render a spec. `scale` is the number of pixels per unit of a PNG.

    The same spec gives the same bytes, except for PDF.
    """
    spec = json.loads(without_overrides(json.dumps(spec, ensure_ascii=False)))
    if form == "svg":
        return _with_own_ids(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]), spec).encode()
    if form == "pdf":
        return pdf_of(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    return vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[])


def pdf_of(svg: str) -> bytes:
    """Return an SVG as a PDF page of the same size. Texts stay texts, and fonts are embedded.

    The same SVG gives the same page, but the order of the fonts in the file may differ.
    """
    return vl_convert.svg_to_pdf(svg)


def _with_own_ids(svg: str, spec: Spec) -> str:
    """Rename the SVG's gradients and clips by the figure.

    The renderer only numbers them, but ids must be unique on a page.
    """
    prefix = hashlib.sha256(json.dumps(spec).encode()).hexdigest()[:8]
    names = {found: f"f{prefix}-{at}" for at, found in enumerate(dict.fromkeys(_ID.findall(svg)))}
    return _REFERENCE.sub(lambda match: match[1] + names.get(match[2], match[2]), svg)
