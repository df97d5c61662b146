"""The power of a test to tell two bots apart by their mean ratings, or by their shares of a behaviour.

The planned test is `rating_differences`: Student's t of the difference of two means, whose variance has a part of
dialogues and a part of annotators. With three bots or more, the design effects of all differences are pooled.
A share is a mean of values 1 and 0. An effect is Cohen's d: the difference of two means, divided by the standard
deviation of one bot's values.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.pooled_design_effects import LEAST_SHARES
from spotthebot.statistics.distributions import student_power
from spotthebot.statistics.errors import SettingOutOfRange

MAX_DIALOGUES: Final = 1_000_000
MAX_EFFECT: Final = 1_000.0
_LARGEST: Final = MAX_DIALOGUES
"""The limit of a design's annotators, annotations and values."""
_MAX_BOTS: Final = 1_000


@dataclass(frozen=True)
class RatingDesign:
    """The design of a study that rates dialogues of bots, or that labels behaviours in them.

    A study compares all pairs of `bots`. An annotation is the work of one annotator on one dialogue. It has
    `values_per_annotation` values of the measure: 1 for a rating of the dialogue, and one for each turn of the bot for
    ratings and behaviours of turns.

    `dialogue_correlation` is the intraclass correlation of values of one dialogue. Its default is the largest of the
    nine behaviours of ABC-Eval (Finch, Finch & Choi 2023), among the turns that one annotator labelled in a dialogue:
    they range from .03 to .19. `annotator_correlation` is the correlation of two values that an annotator gave to one
    bot in different dialogues, minus that of values that an annotator gave to two bots. So an annotator's taste for a
    bot counts, and leniency with all bots does not. ABC-Eval's labels name no annotators: the default is that of Spot
    The Bot (`pair_power.Design`).

    `annotators` share the work evenly, and each gets dialogues of all bots by chance. None means as many annotators as
    the work needs at `annotations_per_annotator`. Its default are independent annotators: each annotates one dialogue.
    """

    bots: int = 2
    annotations_per_dialogue: float = 1.0
    values_per_annotation: float = 1.0
    dialogue_correlation: float = 0.19
    annotator_correlation: float = 0.09
    annotators: int | None = None
    annotations_per_annotator: float = 1.0

    def __post_init__(self) -> None:
        for setting in ("dialogue_correlation", "annotator_correlation"):
            if not 0 <= getattr(self, setting) < 1:
                raise SettingOutOfRange(setting=setting, allowed="0 or more, below 1", value=getattr(self, setting))
        for setting in ("annotations_per_dialogue", "values_per_annotation", "annotations_per_annotator"):
            if not 1 <= getattr(self, setting) <= _LARGEST:
                allowed = f"from 1 to {_LARGEST:,}"
                raise SettingOutOfRange(setting=setting, allowed=allowed, value=getattr(self, setting))
        if not 2 <= self.bots <= _MAX_BOTS:
            raise SettingOutOfRange(setting="bots", allowed=f"from 2 to {_MAX_BOTS:,}", value=self.bots)
        if self.annotators is not None and not 2 <= self.annotators <= _LARGEST:
            raise SettingOutOfRange(setting="annotators", allowed=f"from 2 to {_LARGEST:,}", value=self.annotators)

    @property
    def pairs(self) -> int:
        """The number of pairs of bots, whose tests are one family."""
        return self.bots * (self.bots - 1) // 2

    def annotators_needed(self, dialogues: int) -> int:
        """Return the number of annotators of a study with this number of dialogues of each bot."""
        require_dialogues(dialogues)
        if self.annotators is not None:
            return self.annotators
        annotations = self.bots * dialogues * self.annotations_per_dialogue
        return max(2, math.ceil(round(annotations / self.annotations_per_annotator, 9)))

    def design_effect(self, dialogues: int) -> float:
        """Return the factor by which clusters inflate the variance of the difference of two means (Kish 1965)."""
        require_dialogues(dialogues)
        return float(_worth(self, np.array([dialogues])).effect[0])


PLANNED_RATING_TEST: Final = (
    "t test of the difference of two means, clustered by dialogue and annotator, Bonferroni over the pairs of bots,"
    " whose design effects are pooled if there are three or more"
)
DEFAULT_RATING_DESIGN: Final = RatingDesign()
_QUANTILES: Final = (np.arange(32) + 0.5) / 32


def effect_of_shares(share: float, other_share: float) -> float:
    """Return the difference of two shares in standard deviations, as Cohen's d. A value of 0 or 1 varies by p (1 - p).

    Raises `SettingOutOfRange`.

    >>> round(effect_of_shares(0.5, 0.3), 4)  # .2 / root of (.25 + .21) / 2
    0.417
    """
    require_level("share", share)
    require_level("other_share", other_share)
    spread = (share * (1 - share) + other_share * (1 - other_share)) / 2
    return abs(share - other_share) / math.sqrt(spread)


def rating_power(
    effect: float, dialogues: int, design: RatingDesign = DEFAULT_RATING_DESIGN, *, significance_level: float = 0.05
) -> float:
    """Return the power of the two-sided test of two bots whose means differ by `effect` (Cohen's d).

    Each bot has this number of `dialogues`. The level is divided by the number of pairs of bots (Bonferroni; Holm's
    correction has at least the same power).

    If no two values share a dialogue or an annotator, the power is that of Student's t test of two independent samples.
    Otherwise the critical value has the degrees of freedom of the suite's test: Satterthwaite's over dialogues and
    annotators, or those of the pooled design effects. The power is averaged over the variance that the test estimates:
    it is chi-squared around the true variance, and never below the variance of independent values. In simulated studies
    the error of the power is at most .02 (`benchmarks/analytics/README.md`). Raises `SettingOutOfRange`.

    >>> round(rating_power(0.4, 100), 2)  # ABC-Eval, section 10
    0.8
    """
    require_effect(effect)
    require_level("significance_level", significance_level)
    require_dialogues(dialogues)
    return float(rating_powers(effect, np.array([dialogues]), design, significance_level)[0])


def rating_powers(effect: float, dialogues: IntArray, design: RatingDesign, significance_level: float) -> FloatArray:
    """Return `rating_power` for several numbers of dialogues (n,)."""
    worth = _worth(design, np.maximum(dialogues, 2))  # with fewer there is no test, as the last line reports
    lead = abs(effect) * np.sqrt(worth.n / 2)
    critical = np.asarray(scipy.stats.t.isf(significance_level / design.pairs / 2, worth.degrees), dtype=np.float64)
    powers = np.where(
        worth.independent, student_power(lead, critical, worth.degrees), _clustered_powers(lead, critical, worth)
    )
    return np.where(dialogues < 2, 0.0, powers)


@dataclass(frozen=True, eq=False)
class _Worth:
    """The worth of one bot's values, for several numbers of dialogues (n,).

    `effect` is the design effect, and `n` the effective number of values. `degrees` are the degrees of freedom that the
    test assumes. The estimated variance of one difference has `own_degrees`, of which the test assumes
    `assumed_degrees`. It is never below `floor`, which is given in units of the true variance. The design effect of all
    differences has `pooled_degrees`; they are 0 if effects are not pooled.
    """

    independent: BoolArray
    effect: FloatArray
    n: FloatArray
    degrees: FloatArray
    floor: FloatArray
    own_degrees: FloatArray
    assumed_degrees: FloatArray
    pooled_degrees: FloatArray


def _worth(design: RatingDesign, dialogues: IntArray) -> _Worth:
    values = design.values_per_annotation
    annotations = dialogues * design.annotations_per_dialogue
    everything = annotations * design.bots
    annotators = everything / design.annotations_per_annotator if design.annotators is None else design.annotators
    annotators = np.minimum(np.maximum(2.0, annotators), everything)
    # The expected number of annotations of one bot, or of a pair, by the annotator of one of them (hypergeometric).
    others = (everything / annotators - 1) / (everything - 1)
    of_bot, of_pair = 1 + others * (annotations - 1), 1 + others * (2 * annotations - 1)
    by_annotation = 1 + (values - 1) * design.dialogue_correlation
    by_dialogue = np.full(annotations.shape, by_annotation)
    by_dialogue += (design.annotations_per_dialogue - 1) * values * design.dialogue_correlation
    by_annotator = by_annotation + values * (of_bot - 1) * design.annotator_correlation
    effect = by_dialogue + by_annotator - by_annotation
    seen_by_bot = annotations / of_bot
    # Products of two annotations of one annotator are all that clusters of annotators add to the estimated variance.
    added = by_annotator**2 / np.maximum(2 * annotations / of_pair - 1, 0.5) - by_annotation**2 / (2 * annotations - 2)
    own = effect**2 / (by_dialogue**2 / (2 * dialogues - 2) + np.maximum(added, 0.0))
    assumed = effect**2 / (by_dialogue**2 / (dialogues - 1) + by_annotator**2 / np.maximum(seen_by_bot - 1, 0.5))
    assumed = np.minimum(assumed, np.maximum(np.minimum(dialogues, np.minimum(annotators, annotations)) - 1, 1.0))
    pooled, degrees, floor = np.zeros(annotations.shape), assumed, 1 / effect
    if design.pairs >= LEAST_SHARES:
        floor = by_annotation / effect
        pooled = np.maximum((seen_by_bot - 1) * (design.bots - 1), 0.5)
        degrees = 1 / (1 / pooled + 1 / (2 * dialogues - 2))
    independent = (values * design.annotations_per_dialogue == 1) & (annotators == everything)
    return _Worth(
        independent=independent,
        effect=effect,
        n=annotations * values / effect,
        degrees=np.where(independent, 2.0 * dialogues - 2, degrees),
        floor=floor,
        own_degrees=own,
        assumed_degrees=assumed,
        pooled_degrees=pooled,
    )


def _clustered_powers(lead: FloatArray, critical: FloatArray, worth: _Worth) -> FloatArray:
    """Return the power, averaged over the variance that the test estimates, in units of the true variance."""
    own = scipy.stats.chi2.ppf(_QUANTILES[:, None], worth.own_degrees) / worth.own_degrees
    pooled = worth.pooled_degrees
    mean = (worth.assumed_degrees * own + pooled) / (worth.assumed_degrees + pooled)
    bound = critical * np.sqrt(np.maximum(np.maximum(mean, own), worth.floor))
    powers: FloatArray = (scipy.special.ndtr(lead - bound) + scipy.special.ndtr(-lead - bound)).mean(axis=0)
    return powers


def require_effect(effect: float) -> None:
    """Raise `SettingOutOfRange` for an effect that can't be planned for."""
    if not -MAX_EFFECT <= effect <= MAX_EFFECT:
        allowed = f"from {-MAX_EFFECT:g} to {MAX_EFFECT:g}"
        raise SettingOutOfRange(setting="effect", allowed=allowed, value=effect)


def require_dialogues(dialogues: int) -> None:
    """Raise `SettingOutOfRange` for a number of dialogues that no bot can have."""
    if not 0 <= dialogues <= MAX_DIALOGUES:
        raise SettingOutOfRange(setting="dialogues", allowed=f"from 0 to {MAX_DIALOGUES:,}", value=dialogues)
