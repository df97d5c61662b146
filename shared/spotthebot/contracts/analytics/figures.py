"""The parameters of a figure: how its data are computed, and how it is drawn."""

from typing import Literal

from pydantic import Field

from spotthebot.contracts.analytics.provenance import SectionParametersIn
from spotthebot.contracts.analytics.sections import Revision

Theme = Literal["light", "dark"]
Width = Literal["wide", "narrow"]


class FigureParametersIn(SectionParametersIn):
    """How the data of a figure are computed, and how the figure is drawn."""

    theme: Theme = Field(default="light", description="The colours: for a light page or for a dark one.")
    width: Width = Field(
        default="wide",
        description="The drawing: about 720 px wide, or about 340 px for a phone, with panels below each other.",
    )
    heading: bool = Field(
        default=True,
        description="Whether the drawing begins with its title and what it stands on; a page may say both itself.",
    )
    revision: Revision | None = Field(
        default=None,
        description="`revision` of sections that were answered: the figure shows the same annotations, as long as their"
        " results are kept, and else those of now.",
    )
