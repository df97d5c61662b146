"""Scores of a few dialogues, at once, and what a scorer's request means: dimensions, rule, options and model."""

import asyncio
from collections.abc import Sequence

from spotthebot.contracts.fed.scorers import ScorerIn
from spotthebot.contracts.fed.scores import DialogueIn, RejectedDialogueOut, ScoreOut, ScoresIn, ScoresOut
from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, Turn
from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, unique_followups
from spotthebot.fed.dimension_sets.use_cases import get_dimension_set
from spotthebot.fed.likelihoods.domain import LikelihoodOptions, found_contexts
from spotthebot.fed.model import Scorer, Scorers, find_template_date, predicts_contexts
from spotthebot.fed.scores.domain.modes import Mode, PolarityChoice, ScoringRule, SetRule
from spotthebot.fed.scores.domain.scoring import (
    ContextScore,
    fit_baselines,
    require_followups,
    score_context,
    with_baselines,
)
from spotthebot.fed.scores.errors import LikelihoodUnusable, ModeNotForModel, ScoringTooSlow
from spotthebot.kit.database.sessions import ReadSession


async def choose_dimensions(session: ReadSession, scorer: ScorerIn) -> tuple[Dimension, ...]:
    """Return the dimensions that a scorer names, or all dimensions of its set if it names none.

    Raises NoSuchDimensionSet, NoSuchDimension, and FollowupsMissing if no follow-up of a dimension counts for the
    score.
    """
    known = (await get_dimension_set(session, scorer.dimension_set)).dimensions
    names = known.names if scorer.dimensions is None else dict.fromkeys(scorer.dimensions)
    chosen = tuple(map(known.get, names))
    require_followups(chosen, PolarityChoice(scorer.polarity))
    return chosen


def rule_of(scorer: ScorerIn) -> ScoringRule:
    """Return the scoring rule of a scorer."""
    return ScoringRule(Mode(scorer.mode), PolarityChoice(scorer.polarity), SetRule(scorer.set_rule))


def options_of(scorer: ScorerIn, dimensions: Sequence[Dimension], *, tokens: bool = False) -> LikelihoodOptions:
    """Return the options of likelihood requests for these dimensions."""
    return LikelihoodOptions(
        followups=unique_followups(dimensions),
        join=None if scorer.join is None else scorer.join.model_dump(mode="json"),
        over_long=scorer.over_long,
        context_likelihood=rule_of(scorer).needs_context_likelihood,
        tokens=tokens,
    )


async def open_scorer(scorers: Scorers, scorer: ScorerIn) -> Scorer:
    """Load a model; raises ModeNotForModel, and the errors of `Scorers.open`."""
    opened = await scorers.open(scorer.model, scorer.revision)
    if rule_of(scorer).needs_context_likelihood and not await predicts_contexts(opened):
        raise ModeNotForModel(model=scorer.model)
    return opened


async def score_dialogues(
    scorers: Scorers, request: ScoresIn, dimensions: Sequence[Dimension], *, seconds: float
) -> ScoresOut:
    """Score dialogues now. A dialogue that can't be scored is rejected alone.

    Raises ScoringTooSlow after `seconds`, and the errors of opening the model.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _score(scorers, request, dimensions)
    except TimeoutError as error:
        raise ScoringTooSlow(seconds=seconds) from error


async def _score(scorers: Scorers, request: ScoresIn, dimensions: Sequence[Dimension]) -> ScoresOut:
    scorer = await open_scorer(scorers, request.scorer)
    options = options_of(request.scorer, dimensions, tokens=request.tokens)
    rule = rule_of(request.scorer)

    async def score(given: DialogueIn) -> list[ContextScore] | RejectedDialogueOut:
        try:
            dialogue = Dialogue(given.id, tuple(Turn(turn.speaker, turn.text) for turn in given.turns))
            ends = dialogue.ends(Level(request.level), request.speaker)
            found = found_contexts(await scorer.likelihoods(options.request(dialogue.texts, ends)), options)
            rows = [score_context(given.id, dialogue.texts, each, dimensions, rule) for each in found]
        except (DialogueUnusable, LikelihoodUnusable) as refused:
            return RejectedDialogueOut(id=given.id, reason=refused.reason)
        return [each for row in rows for each in row]

    outcomes = await asyncio.gather(*map(score, request.dialogues))
    scores = [each for outcome in outcomes if isinstance(outcome, list) for each in outcome]
    return ScoresOut(
        model_sha256=scorer.sha256,
        template_date=await find_template_date(scorer, options.join),
        scores=tuple(ScoreOut.model_validate(each.to_json()) for each in with_baselines(scores, fit_baselines(scores))),
        rejected=tuple(each for each in outcomes if isinstance(each, RejectedDialogueOut)),
    )
