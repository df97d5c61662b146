"""How figures, tables and pages show each speaker of a campaign: always in the same place and the same colour."""

from typing import Literal

from pydantic import Field

from spotthebot.contracts.wire import Wire

Shape = Literal["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


class Speaker(Wire):
    """A bot, or people, as figures and tables show them: colours for light and dark backgrounds, a dash and a shape."""

    name: str = Field(description="As results name it; people are `HU`.")
    place: int | None = Field(
        description="1 is the bot with the highest mean win rate by standard parameters; equal rates go by name, and"
        " bots without a decided game come last. Null for people, who stand behind all bots."
    )
    colour: str = Field(description="On a light background: one of six of Okabe and Ito, as `#rrggbb`.")
    colour_dark: str = Field(description="On a dark background: the same hue, lighter.")
    dash: tuple[int, ...] = Field(
        max_length=6, description="Pixels drawn and left out in its lines: from the 7th bot on, where colours return."
    )
    shape: Shape = Field(description="Of its points; another one wherever its colour returns.")
