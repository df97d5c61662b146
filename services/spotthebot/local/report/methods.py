"""The methods of Spot The Bot in prose with citations."""

from itertools import pairwise
from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.choices import Weighting
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.method_sentences import (
    Cite,
    agreement_sentence,
    annotation_words,
    annotator_words,
    cluster_sentence,
    correction_words,
    judge_sentences,
    sample_sentence,
    text_sentences,
)
from spotthebot.local.report.references import Citations, Prose


def methods(analysis: Analysis, stability: Stability | None) -> Prose:
    """Describe how the results were made; only the methods that were used are cited."""
    citations = Citations()
    cite, level, counts = citations.cite, percent(analysis.confidence_level), analysis.counts
    sentences = [
        (
            f"Bots were evaluated with Spot The Bot {cite('deriu2020')}: {annotator_words(counts)} saw"
            f" {counts.segments:,} segments of {counts.annotated_conversations:,} conversations and labelled each side"
            f" human, bot or unsure ({annotation_words(counts, analysis)})."
        ),
        *(_by_games(analysis, cite) if has_games(analysis) else _by_fooling_rates(analysis, cite)),
        cluster_sentence(analysis, cite),
        *text_sentences(analysis),
        *judge_sentences(counts.judges),
        *(_ratings_of_games(analysis, cite) if has_games(analysis) else ()),
        (
            f"Pairs: {_pair_test(analysis)}, {correction_words(analysis, cite)}; the level is"
            f" {analysis.significance_level:g}."
        ),
        (
            "Survival curves are nonparametric maximum-likelihood estimates for current-status data"
            f" {cite('groeneboom1992')} with pointwise {level} intervals; they were compared by generalized log-rank"
            f" tests {cite('finkelstein1986')}{_cox(analysis, cite)}; {_survival_tests(analysis)}."
        ),
        agreement_sentence(
            f"Krippendorff's alpha {cite('krippendorff2011')} and Fleiss' kappa {cite('fleiss1971')}", analysis, cite
        ),
    ]
    if has_games(analysis) and not _orders_alike(analysis):
        sentences.append(
            "TrueSkill puts the bots into another order than the win rates do: it weighs games by the opponents'"
            " strength and counts ties. The win rates decide the ranking."
        )
    sentences += [sample_sentence(analysis), _ASSUMPTIONS if has_games(analysis) else _ASSUMPTIONS_WITHOUT_GAMES]
    if _has_cox(analysis):
        sentences.append(_NO_CAUSES)
    if stability is not None:
        sentences.append(
            f"Stability is the share of {stability.subsets:,} random subsets of each size that fall into the commonest"
            f" clusters ({stability.rule} ranking rule, {stability.resamples:,} replicates)."
        )
    return Prose(tuple(sentences), citations.works)


def has_games(analysis: Analysis) -> bool:
    """Return whether two bots met, so that games and not fooling rates decide the ranks."""
    return analysis.ranking.ranked_by != "fooling_rates"


def _by_games(analysis: Analysis, cite: Cite) -> tuple[str, ...]:
    worth = _WORTH[analysis.weighting] if analysis.unit == "conversation" else ""
    game = (
        f"A game is one {analysis.unit}{worth}; human beats unsure beats bot, and win rates are wins among decided"
        " games, averaged over opponents (Eq. 1)."
    )
    ranks = f"Win rates: {analysis.ranking.method}; ranks: {analysis.ranking.rank_method} {cite('mogstad2024')}."
    return game, ranks


_WORTH: Final[dict[Weighting, str]] = {
    "exchanges": ", in which a segment of i exchanges is worth i",
    "log_exchanges": ", in which a segment of i exchanges is worth log(i)",
    "log_turns": ", in which a segment of i exchanges is worth log(2 i)",
}


def _by_fooling_rates(analysis: Analysis, cite: Cite) -> tuple[str, ...]:
    rate = (
        "No two bots met, so bots were ranked by fooling rate, the share of a bot's labels that are human; people's"
        " share is shown for reference."
    )
    ranks = f"Fooling rates: {analysis.ranking.method}; ranks: {analysis.ranking.rank_method} {cite('mogstad2024')}."
    return rate, ranks


def _ratings_of_games(analysis: Analysis, cite: Cite) -> tuple[str, ...]:
    skills = (
        f"TrueSkill {cite('herbrich2006')}: {analysis.ranking.trueskill_method}; draw probability"
        f" {analysis.ranking.draw_probability:.3f}, the share of ties."
    )
    strengths = f"Bradley-Terry strengths with ties {cite('davidson1970')}: {analysis.ranking.bradley_terry_method}."
    return skills, strengths


def _pair_test(analysis: Analysis) -> str:
    if not has_games(analysis):
        return "t test of the difference of fooling rates"
    return analysis.win_rates.pairs[0].test if analysis.win_rates.pairs else "no two bots met"


_SURVIVAL_ASSUMES: Final = (
    "Survival takes a label at one length for what is known at that length"
    " alone (current status), and a bot that was spotted as spotted at every greater length (monotone detection)."
)
_ASSUMPTIONS: Final = (
    f"Win rates say who is preferred when two bots are seen together, and drop ties. {_SURVIVAL_ASSUMES}"
    " TrueSkill and Bradley-Terry take one strength to explain a bot's games against every opponent."
)
_ASSUMPTIONS_WITHOUT_GAMES: Final = (
    f"Fooling rates compare bots that talked with different people: a difference may be the people's."
    f" {_SURVIVAL_ASSUMES}"
)


_NO_CAUSES: Final = (
    "Cox coefficients are associations between what annotators preferred and what they labelled, and no causes."
)


def _orders_alike(analysis: Analysis) -> bool:
    """Return whether TrueSkill's means descend along the ranking by win rates."""
    means = [
        each.trueskill.mu
        for each in analysis.ranking.bots
        if each.trueskill is not None and each.win_rate.estimate is not None
    ]
    return all(before >= after for before, after in pairwise(means))


def _survival_tests(analysis: Analysis) -> str:
    tests = analysis.survival.log_rank
    return tests[0].method if tests else "no two curves could be compared"


def _cox(analysis: Analysis, cite: Cite) -> str:
    if not _has_cox(analysis):
        return ""
    penalty = f", with Firth's penalty {cite('firth1993')} where the data are separated" if _separated(analysis) else ""
    return f", and Cox models of the features were fitted for interval-censored times{penalty}"


def _has_cox(analysis: Analysis) -> bool:
    return any(each.coefficient is not None for each in analysis.survival.cox)


def _separated(analysis: Analysis) -> bool:
    return any(each.separated for each in analysis.survival.cox)
