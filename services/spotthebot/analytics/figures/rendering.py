"""Turns Vega-Lite specs into SVG and PNG, in this process and without the network."""

from typing import Literal

import vl_convert

from spotthebot.analytics.figures.canvas import Spec


def render(spec: Spec, form: Literal["svg", "png"], *, scale: float = 2.0) -> bytes:
    """Render a spec; `scale` is the PNG's pixels per unit. The same spec gives the same bytes."""
    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()
    return vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[])
