"""Sentences about an assessment of measures: which measures to keep, and why the other measures are left out."""

from collections.abc import Iterator, Sequence
from typing import Final

from spotthebot.analytics.stats.assessment.importance import Model
from spotthebot.analytics.stats.assessment.subsets import Stepwise
from spotthebot.analytics.values.domain.measure_values import NO_ANNOTATOR
from spotthebot.contracts.analytics.assessments import AssessedAlpha, AssessedMeasure
from spotthebot.kit.text.characters import isolated

_MUCH: Final = 0.25
"""The share of an outcome that measures may explain by chance before a sentence warns of it."""


def holds_zero(alpha: AssessedAlpha) -> bool:
    """Return whether the interval of alpha contains 0: annotators may agree no more than by chance."""
    return alpha.low is not None and alpha.high is not None and alpha.low <= 0 <= alpha.high


def assessment_sentences(
    outcome: str, measures: Sequence[AssessedMeasure], chosen: Sequence[str], steps: Stepwise
) -> tuple[str, ...]:
    """Return sentences: which measures to keep, why each other one is left out, and how well annotators agree.

    `chosen` are the measures of the best set.
    """
    return tuple(_sentences(isolated(outcome), measures, set(chosen), steps))


def _sentences(outcome: str, measures: Sequence[AssessedMeasure], chosen: set[str], steps: Stepwise) -> Iterator[str]:
    agreed = [each for each in measures if each.name in chosen and not holds_zero(each.alpha)]
    yield _recommendation(outcome, agreed, len(chosen), steps)
    for each in measures:
        name = isolated(each.name)
        if each.r2 is None:
            yield f"{name} cannot be assessed: {each.reason}."
        elif each.name in chosen and holds_zero(each.alpha):
            bounds = _interval(each.alpha)
            yield f"Leave out {name}: annotators may agree on it no more than by chance (alpha {bounds})."
    needless = [f"{isolated(m.name)} ({m.r2:.0%})" for m in measures if m.r2 is not None and m.name not in chosen]
    if needless and steps.best is not None:
        adds, each_alone = ("adds", "it") if len(needless) == 1 else ("add", "each")
        alone = f"in brackets what {each_alone} explains by itself"
        yield f"{_listed(needless)} {adds} nothing to what the others say of {outcome}; {alone}."
    rated = [each for each in agreed if each.alpha.reason != NO_ANNOTATOR]
    unknown = [isolated(each.name) for each in rated if each.alpha.low is None]
    if unknown:
        yield f"Whether annotators agree on {_listed(unknown)} is not known: let two or more rate the same dialogues."


def _recommendation(outcome: str, agreed: Sequence[AssessedMeasure], n_chosen: int, steps: Stepwise) -> str:
    best = steps.best
    if best is None:
        return f"No measure can be recommended: {steps.reason or 'no set of measures has an adjusted R²'}."
    if best.adjusted_r2 is not None and best.adjusted_r2 <= 0:
        largest = f"the largest adjusted R² is {best.adjusted_r2:z.2f}"
        return f"No measure explains more of {outcome} than chance would: {largest}."
    if not agreed:
        return f"Keep none: of the measures that explain {outcome} best, annotators may agree no more than by chance."
    names = _listed([isolated(each.name) for each in agreed])
    adjusted = f"the largest adjusted R² of all sets, {best.adjusted_r2:z.2f}"
    if len(agreed) == n_chosen:
        explain = "it explains" if len(agreed) == 1 else "together they explain"
        kept = f"Keep {names}: {explain} {best.r2:.0%} of {outcome}, with {adjusted}."
    else:
        belong = "belongs" if len(agreed) == 1 else "belong"
        kept = f"Keep {names}, which {belong} to the set with {adjusted}."
    return f"{kept}{_by_chance(outcome, steps)}"


def _by_chance(outcome: str, steps: Stepwise) -> str:
    """Return a warning if the full model of measures without any effect would explain much.

    With p such measures, R² of a linear model of n dialogues has the mean p / (n - 1).
    """
    p, n = len(steps.steps[0].left), steps.n
    share = min(p / (n - 1), 1.0)
    if share < _MUCH:
        return ""
    explained = f"{share:.0%}" if steps.model is Model.LINEAR else "much"
    return (
        f" But {p} measures of {n} dialogues would explain {explained} of {outcome} by chance alone: rate more"
        " dialogues before you leave a measure out."
    )


def _interval(alpha: AssessedAlpha) -> str:
    return f"from {alpha.low:z.2f} to {alpha.high:z.2f}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
