"""A measure: how many words of a reply were not said before."""

from collections.abc import Sequence

question = "How many words of the reply are new?"
better = "higher"


def value(turns: Sequence[str], at: int) -> float | None:
    """Return the number of new words in turn `at`; None of a reply without words."""
    before = {word for turn in turns[:at] for word in turn.casefold().split()}
    said = turns[at].casefold().split()
    return float(len({*said} - before)) if said else None
