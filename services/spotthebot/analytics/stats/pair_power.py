"""With which chance a test tells two bots apart, and the smallest p-value that a design can reach.

The test planned for is `pair_tests`: Student's t of the win rate among decided games, whose variance has a part of
conversations and a part of annotators. Annotations of one conversation agree more than chance has it, and so do those
of one annotator: both make them worth less, and more conversations do not make up for few annotators. Where there are
three pairs or more their design effects are pooled, so that the test has the degrees of freedom of them all.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.pooled_design_effects import LEAST_SHARES

MAX_CONVERSATIONS: Final = 1_000_000
_LARGEST: Final = MAX_CONVERSATIONS
"""Annotators, and annotations of one of them or of a conversation, in a design."""


@dataclass(frozen=True)
class Design:
    """The design of an annotation campaign: how much one annotation tells.

    `tie_rate` is the share of annotations that are ties. The correlations are intraclass, of two outcomes of one pair
    of bots (`outcome_correlation`): within a conversation and within an annotator. Their defaults are the larger of
    those in the two published domains of Spot The Bot, to two digits. `annotators` share the work of all pairs evenly;
    None stands for as many as the work takes at `annotations_per_annotator`, of which the default is the published
    limit of three packages of 20. `annotators_per_game` is 1 unless a game joins several annotations, which are then
    games here too.
    """

    tie_rate: float = 0.7
    annotations_per_conversation: float = 6.0
    conversation_correlation: float = 0.10
    annotator_correlation: float = 0.09
    annotators: int | None = None
    annotations_per_annotator: float = 60.0
    annotators_per_game: float = 1.0

    def __post_init__(self) -> None:
        for setting in ("tie_rate", "conversation_correlation", "annotator_correlation"):
            if not 0 <= getattr(self, setting) < 1:
                raise SettingOutOfRange(setting=setting, allowed="0 or more, below 1", value=getattr(self, setting))
        for setting in ("annotations_per_conversation", "annotations_per_annotator", "annotators_per_game"):
            if not 1 <= getattr(self, setting) <= _LARGEST:
                raise SettingOutOfRange(
                    setting=setting, allowed=f"from 1 to {_LARGEST:,}", value=getattr(self, setting)
                )
        if self.annotators is not None and not 2 <= self.annotators <= _LARGEST:
            raise SettingOutOfRange(setting="annotators", allowed=f"from 2 to {_LARGEST:,}", value=self.annotators)

    def annotators_needed(self, conversations: int, n_pairs: int) -> int:
        """Return the number of annotators of a campaign of so many conversations of each pair."""
        return math.ceil(round(float(_annotators(self, np.array([conversations]), n_pairs)[0]), 9))

    def design_effect(self, conversations: int, n_pairs: int = 1) -> float:
        """Return by how much clustering inflates the variance of a pair's win rate (Kish 1965, Donner 1986)."""
        return float(_worth(self, np.array([conversations]), n_pairs).effect[0])


PLANNED_TEST: Final = (
    "noncentral t of the win rate, clustered by conversation and annotator, Bonferroni over the pairs, whose design"
    " effects are pooled where there are three or more"
)
DEFAULT_DESIGN: Final = Design()
_QUANTILES: Final = (np.arange(32) + 0.5) / 32


def power_of(
    win_rate: float,
    conversations: int,
    design: Design = DEFAULT_DESIGN,
    *,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> float:
    """Return the power of the two-sided test of a pair that really has this win rate among decided games.

    All `n_pairs` pairs have as many conversations and share the annotators; the level is shared out over their tests
    (Bonferroni; Holm's correction has no less power). The statistic is 2 (p - 1/2) times the root of the effective
    number of decided games, with Satterthwaite's degrees of freedom and the spread of Student's t: shares off even odds
    vary less, but their clusters are skewed, which makes up for it. Pooled design effects have the degrees of freedom
    of the family, and a pair's own effect lowers the statistic where it came out larger than that of the family
    (`pooled_design_effects`). In simulated studies this is right to within .02, with fewer than 20 decided games of a
    pair to within .05.

    >>> round(power_of(0.5, 40), 3)  # even bots: a false alarm
    0.05
    """
    require_plan(win_rate, 0.5, significance_level, n_pairs)
    if not 0 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 0 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)
    return float(powers_of(win_rate, np.array([conversations]), design, significance_level, n_pairs)[0])


def smallest_p(conversations: int, design: Design = DEFAULT_DESIGN, *, n_pairs: int = 1) -> float:
    """Return the p-value, adjusted for `n_pairs` pairs, of a pair of which one bot won every decided game.

    No pair of a design of so many conversations each can have a smaller one. A single pair flips the signs of whole
    clusters then (`share_intervals`). Raises `SettingOutOfRange`.

    >>> smallest_p(4)  # 4 conversations and 2 annotators: 2 of 2² signs of the annotators
    0.5
    """
    require_plan(0.5, 0.5, 0.5, n_pairs)
    if not 0 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 0 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)
    return float(smallest_of(np.array([conversations]), design, n_pairs)[0])


@dataclass(frozen=True, eq=False)
class _Worth:
    """The design effect, the effective number of decided games and the degrees of freedom of one pair's test.

    `own_degrees` are those of its own variance, `clusters` the number of clusters of the kind with fewer.
    """

    effect: FloatArray
    n: FloatArray
    degrees: FloatArray
    own_degrees: FloatArray
    clusters: FloatArray


def _worth(design: Design, conversations: IntArray, n_pairs: int) -> _Worth:
    a, joined = design.annotations_per_conversation, design.annotators_per_game
    conversations = np.maximum(conversations, 1)  # without any there is no test: its callers say so
    games = conversations * a
    annotators = np.minimum(_annotators(design, conversations, n_pairs), games * joined)
    each = games * joined / annotators
    of_conversations = np.full(games.shape, 1 + (a - 1) * design.conversation_correlation)
    of_annotators = 1 + joined * np.maximum(0.0, each - 1) * design.annotator_correlation
    effect = of_conversations + of_annotators - 1
    spread = of_conversations**2 / _degrees(design, conversations, a)
    spread = spread + of_annotators**2 / _degrees(design, annotators, each)
    own = effect**2 / spread
    degrees = own
    if n_pairs >= LEAST_SHARES:
        fewest = np.minimum(_degrees(design, conversations, a), _degrees(design, annotators, each))
        contrasts = (math.sqrt(1 + 8 * n_pairs) - 1) / 2
        everybody = _annotators(design, conversations, n_pairs)
        work = games * joined * n_pairs / everybody
        degrees = np.maximum(1.0, np.minimum(n_pairs * fewest, contrasts * _degrees(design, everybody, work)))
    return _Worth(
        effect=effect,
        n=games * (1 - design.tie_rate) / effect,
        degrees=degrees,
        own_degrees=own,
        clusters=np.minimum(conversations, annotators),
    )


def _annotators(design: Design, conversations: IntArray, n_pairs: int) -> FloatArray:
    if design.annotators is not None:
        return np.full(conversations.shape, float(design.annotators))
    work = n_pairs * conversations * design.annotations_per_conversation * design.annotators_per_game
    return np.asarray(np.maximum(2.0, work / design.annotations_per_annotator), dtype=np.float64)


def _degrees(design: Design, clusters: FloatArray | IntArray, games: FloatArray | float) -> FloatArray:
    # Chance decides how many games of a cluster are decided, and clusters of unequal size are worth fewer.
    unequal = 1 + design.tie_rate / (games * (1 - design.tie_rate))
    return np.asarray(np.maximum(clusters / unequal - 1, 0.5), dtype=np.float64)


def smallest_p_of_games(n: int, design_effect: float, degrees: float, *, n_pairs: int) -> float:
    """Return the p-value, adjusted for `n_pairs` pairs, that n decided games give where one bot won them all.

    `design_effect` and `degrees` are those of pooled design effects.

    >>> round(smallest_p_of_games(9, 1.0, 1e9, n_pairs=1), 4)  # 3 standard errors off even odds
    0.0027
    """
    return min(1.0, n_pairs * 2 * float(scipy.stats.t.sf(math.sqrt(n / max(1.0, design_effect)), degrees)))


def powers_of(
    win_rate: float, conversations: IntArray, design: Design, significance_level: float, n_pairs: int
) -> FloatArray:
    """Return `power_of` for several numbers of conversations (n,)."""
    worth = _worth(design, conversations, n_pairs)
    lead = 2 * abs(win_rate - 0.5) * np.sqrt(worth.n)
    critical = np.asarray(scipy.stats.t.isf(significance_level / n_pairs / 2, worth.degrees), dtype=np.float64)
    if n_pairs >= LEAST_SHARES:
        return np.where(conversations < 2, 0.0, _pooled_powers(win_rate, lead, critical, worth))
    near = np.minimum(lead, 30.0)
    # Where the lead is certain scipy's lower tail is NaN: it is 0.
    lower = np.nan_to_num(scipy.stats.nct.cdf(-critical, worth.degrees, near))
    upper = scipy.stats.nct.sf(critical, worth.degrees, near)
    # A lead so far out hardly varies: the estimated variance decides.
    certain = scipy.stats.chi2.cdf(worth.degrees * (lead / critical) ** 2, worth.degrees)
    powers: FloatArray = np.where(lead < 30, np.minimum(1.0, upper + lower), certain)
    powers[conversations < 2] = 0.0
    return powers


def _pooled_powers(win_rate: float, lead: FloatArray, critical: FloatArray, worth: _Worth) -> FloatArray:
    """Average over what the own design effect may be beside the family's: chi-squared over its degrees of freedom.

    The tails are those of the noncentral t, in the normal approximation of Johnson & Welch (1940), with the variance
    that a share has off even odds.
    """
    own = scipy.stats.chi2.ppf(_QUANTILES[:, None], worth.own_degrees) / worth.own_degrees
    mean = (worth.own_degrees * own + worth.degrees) / (worth.own_degrees + worth.degrees)
    bound = critical * np.sqrt(np.maximum(mean, own))
    scale = np.sqrt(4 * win_rate * (1 - win_rate) + bound**2 / (2 * worth.degrees))
    centre = bound * (1 - 1 / (4 * worth.degrees))
    tails = scipy.special.ndtr((lead - centre) / scale) + scipy.special.ndtr((-lead - centre) / scale)
    powers: FloatArray = np.minimum(1.0, tails.mean(axis=0))
    return powers


def smallest_of(conversations: IntArray, design: Design, n_pairs: int) -> FloatArray:
    """Return `smallest_p` for several numbers of conversations (n,)."""
    worth = _worth(design, conversations, n_pairs)
    flips = 2 * 0.5**worth.clusters
    found = flips if n_pairs < LEAST_SHARES else 2 * scipy.stats.t.sf(np.sqrt(worth.n), worth.degrees)
    return np.where(conversations < 2, 1.0, np.minimum(1.0, n_pairs * found))


def require_plan(win_rate: float, power: float, significance_level: float, n_pairs: int) -> None:
    """Raise `SettingOutOfRange` for what no plan can be made of."""
    if not 0 < win_rate < 1:
        raise SettingOutOfRange(setting="win_rate", allowed="between 0 and 1, both excluded", value=win_rate)
    require_level("power", power)
    require_level("significance_level", significance_level)
    if not 1 <= n_pairs <= MAX_CONVERSATIONS:
        raise SettingOutOfRange(setting="n_pairs", allowed=f"from 1 to {MAX_CONVERSATIONS:,}", value=n_pairs)
