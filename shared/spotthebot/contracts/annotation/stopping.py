"""When a campaign stops asking: its rule, the margin of equivalent bots, and the verdicts that decide."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

Verdict: TypeAlias = Literal["ahead", "behind", "equivalent", "open"]
Margin = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
