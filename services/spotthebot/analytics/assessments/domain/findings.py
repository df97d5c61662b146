"""Sentences about an assessment of measures: which measures to keep, and why the other measures are left out."""

from collections.abc import Iterator, Sequence

from spotthebot.analytics.stats.assessment.subsets import Step
from spotthebot.analytics.values.domain.measure_values import NO_ANNOTATOR
from spotthebot.contracts.analytics.assessments import AssessedAlpha, AssessedMeasure
from spotthebot.kit.text.characters import isolated


def holds_zero(alpha: AssessedAlpha) -> bool:
    """Return whether the interval of alpha contains 0: annotators may agree no more than by chance."""
    return alpha.low is not None and alpha.high is not None and alpha.low <= 0 <= alpha.high


def assessment_sentences(
    outcome: str,
    measures: Sequence[AssessedMeasure],
    chosen: Sequence[str],
    best: Step | None,
    reason: str | None,
) -> tuple[str, ...]:
    """Return sentences: which measures to keep, why each other one is left out, and how well annotators agree.

    `chosen` are the measures of the `best` set. If there is no best set, `reason` says why.
    """
    return tuple(_sentences(isolated(outcome), measures, set(chosen), best, reason))


def _sentences(
    outcome: str, measures: Sequence[AssessedMeasure], chosen: set[str], best: Step | None, reason: str | None
) -> Iterator[str]:
    agreed = [each for each in measures if each.name in chosen and not holds_zero(each.alpha)]
    if best is None:
        yield f"No measure can be recommended: {reason or 'no set of measures has an adjusted R²'}."
    elif best.adjusted_r2 is not None and best.adjusted_r2 <= 0:
        largest = f"the largest adjusted R² is {best.adjusted_r2:.2f}"
        yield f"No measure explains more of {outcome} than chance would: {largest}."
    elif not agreed:
        yield f"Keep none: of the measures that explain {outcome} best, annotators may agree no more than by chance."
    else:
        names = _listed([isolated(each.name) for each in agreed])
        adjusted = f"the largest adjusted R² of all sets, {best.adjusted_r2:.2f}"
        if len(agreed) == len(chosen):
            explain = "it explains" if len(agreed) == 1 else "together they explain"
            yield f"Keep {names}: {explain} {best.r2:.0%} of {outcome}, with {adjusted}."
        else:
            belong = "belongs" if len(agreed) == 1 else "belong"
            yield f"Keep {names}, which {belong} to the set with {adjusted}."
    for each in measures:
        name = isolated(each.name)
        if each.r2 is None:
            yield f"{name} cannot be assessed: {each.reason}."
        elif best is not None and each.name not in chosen:
            yield f"{name} adds nothing to what the others say of {outcome}{_alone(each)}."
        elif each.name in chosen and holds_zero(each.alpha):
            bounds = _interval(each.alpha)
            yield f"Leave out {name}: annotators may agree on it no more than by chance (alpha {bounds})."
    rated = [each for each in agreed if each.alpha.reason != NO_ANNOTATOR]
    unknown = [isolated(each.name) for each in rated if each.alpha.low is None]
    if unknown:
        yield f"Whether annotators agree on {_listed(unknown)} is not known: let two or more rate the same dialogues."


def _alone(measure: AssessedMeasure) -> str:
    return "" if measure.r2 is None else f", of which it explains {measure.r2:.0%} by itself"


def _interval(alpha: AssessedAlpha) -> str:
    return f"from {alpha.low:.2f} to {alpha.high:.2f}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
