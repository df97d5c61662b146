"""The length baseline: the score that the length of a dialogue alone predicts, stated with every score of FED.

The code that the authors released divides a log-likelihood by the number of tokens of context and follow-up. The
follow-ups of one dimension share the context, so the difference between their values shrinks as 1 / length. In the
published scores of DialoGPT-large, 1 / length explains 93 to 97 % of the variance of `interesting`, `engaging` and
`likeable` in turns (docs/fed.md). A score that is no better than its baseline tells no more than a count of characters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_MARKER: Final = "<|endoftext|> "
"""The marker before every turn in the released code's contexts. The published baseline counts it."""
MIN_LENGTHS: Final = 3
"""With fewer distinct lengths, the line fits all means exactly."""


@dataclass(frozen=True)
class LengthBaseline:
    """The line that predicts the scores of one dimension from length: `intercept + slope / length`, by least squares.

    `r2` is the share of the scores' variance that length explains; None if the scores do not vary.
    """

    intercept: float
    slope: float
    r2: float | None
    n: int

    def score_of(self, length: int) -> float:
        """Return the score that the line predicts for a context of this length."""
        return self.intercept + self.slope / length


def context_length(turns: Sequence[str]) -> int:
    """Return the length of a context in characters, as the length baseline counts it.

    It counts the text that the authors' released code scores, including the markers before the turns. The count is the
    same for every model.

    >>> context_length(["Hi!", "Hello."])  # "<|endoftext|> Hi! <|endoftext|> Hello."
    38
    """
    return sum(map(len, turns)) + len(_MARKER) * len(turns) + len(turns) - 1


def fit_length_baseline(lengths: Sequence[int], scores: Sequence[float]) -> LengthBaseline | None:
    """Fit the scores of one dimension to the contexts' lengths in characters.

    Returns None with fewer than three distinct lengths. The fitted line depends on all contexts that are scored
    together; the scores do not.

    >>> line = fit_length_baseline([100, 200, 400], [1.0, 0.5, 0.25])
    >>> round(line.slope, 9), round(line.score_of(1000), 9), round(line.r2, 9)
    (100.0, 0.1, 1.0)
    """
    if len(set(lengths)) < MIN_LENGTHS:
        return None
    n = len(lengths)
    inverses = [1 / length for length in lengths]
    mean_inverse, mean_score = math.fsum(inverses) / n, math.fsum(scores) / n
    moved, spread = [each - mean_inverse for each in inverses], [each - mean_score for each in scores]
    squares = math.fsum(each**2 for each in moved)
    slope = math.fsum(x * y for x, y in zip(moved, spread, strict=True)) / squares
    total = math.fsum(each**2 for each in spread)
    return LengthBaseline(
        intercept=mean_score - slope * mean_inverse,
        slope=slope,
        r2=slope**2 * squares / total if total else None,
        n=n,
    )
