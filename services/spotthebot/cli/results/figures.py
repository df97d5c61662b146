"""How the command line writes numbers, intervals and ranks; "-" stands where there is none."""

from typing import Final

OF_ONE_BOT: Final = (
    "Each interval is for its bot alone. The pairs decide the ranks: bots with overlapping intervals may be told apart."
)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with these decimals. A negative one that rounds to zero has no sign."""
    return "-" if value is None else f"{value:z.{digits}f}"


def interval_of(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return both bounds."""
    return "-" if low is None or high is None else f"{number(low, digits)} to {number(high, digits)}"


def ranks_of(low: int | None, high: int | None) -> str:
    """Return a set of neighbouring ranks."""
    if low is None or high is None:
        return "-"
    return str(low) if low == high else f"{low} to {high}"
