"""The power of a test to tell two bots apart, and the p-value of a bot that wins every decided game.

The planned test is `pair_tests`: Student's t of the win rate among decided games, whose variance has a part of
conversations and a part of annotators. Annotations of one conversation agree more than by chance, and so do annotations
by one annotator. So they tell less than independent annotations, and more conversations do not make up for few
annotators. With three pairs or more, their design effects are pooled, so that the test has the degrees of freedom of
all pairs.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.pooled_design_effects import LEAST_SHARES
from spotthebot.statistics.distributions import student_power
from spotthebot.statistics.errors import SettingOutOfRange

MAX_CONVERSATIONS: Final = 1_000_000
_LARGEST: Final = MAX_CONVERSATIONS
"""The limit of a design's annotators, and of the annotations by one of them or of one conversation."""


@dataclass(frozen=True)
class Design:
    """The design of an annotation campaign. It determines how much information one annotation adds.

    `tie_rate` is the share of annotations that are ties. The two correlations are intraclass correlations of outcomes
    of one pair of bots (`outcome_correlation`): within a conversation, and within an annotator. Their defaults are the
    larger values of the two published domains of Spot The Bot, with two digits. `annotators` share the work of all
    pairs evenly. None means as many annotators as the work needs at `annotations_per_annotator`, whose default is the
    published limit of three packages of 20. `annotators_per_game` is 1, unless a game joins several annotations; in
    that case, read "annotations" here as games.
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
        """Return the number of annotators of a campaign. Each of `n_pairs` pairs has this number of conversations."""
        return math.ceil(round(float(_annotators(self, np.array([conversations]), n_pairs)[0]), 9))

    def design_effect(self, conversations: int, n_pairs: int = 1) -> float:
        """Return the factor by which clustering inflates the variance of a pair's win rate (Kish 1965, Donner 1986)."""
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
    """Return the power of the two-sided test of a pair whose true win rate among decided games is `win_rate`.

    Each of `n_pairs` pairs has this number of conversations, and all pairs share the annotators. The level is divided
    by the number of pairs (Bonferroni; Holm's correction has at least the same power). The statistic is 2 (p - 1/2)
    times the root of the effective number of decided games, with Satterthwaite's degrees of freedom and the spread of
    Student's t. Shares away from even odds vary less, but their clusters are skewed, which compensates for this. Pooled
    design effects have the degrees of freedom of the whole family. A pair's own effect lowers the statistic if it is
    larger than the family's (`pooled_design_effects`). In simulated studies the error of the power is at most .02, or
    at most .05 with fewer than 20 decided games of a pair.

    >>> round(power_of(0.5, 40), 3)  # even bots: a false alarm
    0.05
    """
    require_plan(win_rate, 0.5, significance_level, n_pairs)
    require_conversations(conversations)
    return float(powers_of(win_rate, np.array([conversations]), design, significance_level, n_pairs)[0])


def smallest_p(conversations: int, design: Design = DEFAULT_DESIGN, *, n_pairs: int = 1) -> float:
    """Return the p-value, adjusted for `n_pairs` pairs, of a pair in which one bot won every decided game.

    Each pair has this number of conversations, and the ties and correlations of the design. A study with fewer ties can
    reach a smaller p-value: `design_reach.lowest_p` is the bound for every study. A single pair has the p-value of the
    test that flips the signs of whole clusters (`share_intervals`). Raises `SettingOutOfRange`.

    >>> smallest_p(4)  # 4 conversations and 2 annotators: 2 of 2² signs of the annotators
    0.5
    """
    require_plan(0.5, 0.5, 0.5, n_pairs)
    require_conversations(conversations)
    return float(smallest_of(np.array([conversations]), design, n_pairs)[0])


@dataclass(frozen=True, eq=False)
class _Worth:
    """The worth of one pair's games: design effect, effective number of decided games, and degrees of freedom.

    `own_degrees` are the degrees of freedom of the pair's own variance. `clusters` counts the clusters of one kind:
    conversations or annotators, whichever are fewer.
    """

    effect: FloatArray
    n: FloatArray
    degrees: FloatArray
    own_degrees: FloatArray
    clusters: FloatArray


def _worth(design: Design, conversations: IntArray, n_pairs: int) -> _Worth:
    a, joined = design.annotations_per_conversation, design.annotators_per_game
    conversations = np.maximum(conversations, 1)  # without any there is no test, as its callers report
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
    # The number of decided games in a cluster is random, and clusters of unequal size are worth fewer.
    unequal = 1 + design.tie_rate / (games * (1 - design.tie_rate))
    return np.asarray(np.maximum(clusters / unequal - 1, 0.5), dtype=np.float64)


def powers_of(
    win_rate: float, conversations: IntArray, design: Design, significance_level: float, n_pairs: int
) -> FloatArray:
    """Return `power_of` for several numbers of conversations (n,)."""
    worth = _worth(design, conversations, n_pairs)
    lead = 2 * abs(win_rate - 0.5) * np.sqrt(worth.n)
    critical = np.asarray(scipy.stats.t.isf(significance_level / n_pairs / 2, worth.degrees), dtype=np.float64)
    if n_pairs >= LEAST_SHARES:
        return np.where(conversations < 2, 0.0, _pooled_powers(win_rate, lead, critical, worth))
    powers = student_power(lead, critical, worth.degrees)
    powers[conversations < 2] = 0.0
    return powers


def _pooled_powers(win_rate: float, lead: FloatArray, critical: FloatArray, worth: _Worth) -> FloatArray:
    """Return the power, averaged over the pair's own design effect, which is chi-squared around the family's effect.

    The tails of the noncentral t are computed by the normal approximation of Johnson & Welch (1940), with the variance
    of a share away from even odds.
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


def require_conversations(conversations: int) -> None:
    """Raise `SettingOutOfRange` for a number of conversations that can't be planned for."""
    if not 0 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 0 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)


def require_plan(win_rate: float, power: float, significance_level: float, n_pairs: int) -> None:
    """Raise `SettingOutOfRange` for a win rate, power, level or number of pairs that can't be planned for."""
    if not 0 < win_rate < 1:
        raise SettingOutOfRange(setting="win_rate", allowed="between 0 and 1, both excluded", value=win_rate)
    require_level("power", power)
    require_level("significance_level", significance_level)
    if not 1 <= n_pairs <= MAX_CONVERSATIONS:
        raise SettingOutOfRange(setting="n_pairs", allowed=f"from 1 to {MAX_CONVERSATIONS:,}", value=n_pairs)
