"""When a campaign stops asking: its rule, the margin of equivalent bots, and the verdicts that the rule is about."""

from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Discriminator, Field, Tag

from spotthebot.contracts.wire import Wire

Verdict: TypeAlias = Literal["ahead", "behind", "equivalent", "open"]
Margin = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


class StopAtWidth(Wire):
    """A campaign stops once the bounds of every pair's difference of win rates are at most this wide."""

    width: float = Field(gt=0, lt=2, allow_inf_nan=False, description="Upper bound minus lower bound.")


def _kind_of(rule: object) -> str:
    return "rule" if isinstance(rule, str) else "width"


StopWhen = Annotated[
    Annotated[Literal["every_pair_decided"], Tag("rule")] | Annotated[StopAtWidth, Tag("width")],
    Discriminator(_kind_of),
]


def words_of(stop_when: StopWhen) -> str:
    """Return in words why a campaign with this rule stopped."""
    if stop_when == "every_pair_decided":
        return "every pair of bots is decided"
    return f"the bounds of every pair of bots are at most {stop_when.width:g} wide"


class ReportedVerdict(Wire):
    """The verdict on a pair of bots that meet in a campaign, with its present bounds.

    It does not name the bots, since `annotation` does not know who speaks in a conversation.
    """

    verdict: Verdict
    low: float | None = Field(ge=-1, le=1, allow_inf_nan=False)
    high: float | None = Field(ge=-1, le=1, allow_inf_nan=False)


class UndecidedPackage(Wire):
    """A package, and the number of its items that show a pair without a verdict."""

    package_id: UUID
    items: int = Field(ge=0, le=1000)


class VerdictReportIn(Wire):
    """A look of `analytics` at a campaign: all pairs that meet in it, and its packages."""

    verdicts: tuple[ReportedVerdict, ...] = Field(max_length=50_000)
    packages: tuple[UndecidedPackage, ...] = Field(max_length=50_000)
