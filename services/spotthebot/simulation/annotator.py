"""Simulated annotators: stand-ins for people. They turn impressions of a text into annotations.

The score of a side is the weighted sum of its impressions, plus three tenths of its partner's sum. Two thresholds turn
the score into a label: human above the upper threshold, bot below the lower one, unsure between them.

Weights and thresholds were chosen by hand, with conversations from one half of the openings of the sample corpus. They
were changed until the speakers came out in the expected order: people, next `retrieval`, next the other bots, and last
`parrot` and `dull`. The other half of the openings is a check. It is not an independent one, because an earlier choice
of weights used both halves. No labels by people were used, so the weights prove nothing about people.

Annotators differ in leniency (a shift of both thresholds), in noise, and in reliability: the unreliable share of their
answers is random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import Final

from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.bots.questions.domain.dialogue import Dialogue
from spotthebot.contracts.annotation.annotations import FEATURES, Answer, Feature, Label, Preference
from spotthebot.simulation.impressions import SPEAKERS, Impression, Segment, Speaker, impressions
from spotthebot.simulation.language import Language

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "cohesion": 1.6,
        "relevance": 0.8,
        "aptness": 0.8,
        "specificity": 1.2,
        "fluency": 0.2,
        "abruptness": -0.6,
        "evasion": -0.5,
        "dangling": -0.6,
        "emptiness": -0.6,
        "echo": -3.0,
        "repetition": -1.0,
        "brokenness": -0.5,
    }
)
"""The weight of each impression in a side's score; chosen by hand."""
COMPANY: Final = 0.3
"""The share of the partner's merit that is added to a side's merit; chosen by hand.

People see a conversation as a whole: a side that talks with a machine seems to be one. People gain by it, because they
only talk with people.
"""
HUMAN_FROM: Final = 1.9
"""The score from which a side counts as a person; chosen by hand."""
BOT_BELOW: Final = 1.3
"""The score below which a side counts as a bot; chosen by hand."""
NOTICEABLE: Final = 0.4
"""The difference of two sides in a feature from which one of them is preferred."""

_LABELS: Final = (Label.HUMAN, Label.BOT, Label.UNSURE)
_PREFERENCES: Final = (Preference.A, Preference.B, Preference.TIE)
_WORDS_PER_SECOND = 4.0
_SECONDS_TO_DECIDE = 12.0


@dataclass(frozen=True)
class SimulatedAnnotation:
    """A simulated annotator's annotation of a segment, with a simulated time."""

    label_a: Label
    label_b: Label
    fluency: Preference
    sensibleness: Preference
    specificity: Preference
    elapsed_ms: int

    @property
    def decision(self) -> Answer:
        """The answer to the first step of the protocol `spot_the_bot`."""
        return {"entity": {"A": self.label_a.value, "B": self.label_b.value}}

    @property
    def answer(self) -> Answer:
        """The answer to both steps of the protocol `spot_the_bot`."""
        return self.decision | {feature: getattr(self, feature).value for feature in FEATURES}


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A stand-in for a person, who sees the texts of a segment but does not know who spoke.

    `reliability` is the share of segments that the annotator labels with care. `noise` is the standard deviation of the
    error of each score. `leniency` is added to each score. An annotation depends only on the seed, the annotator's name
    and the segment, not on segments annotated before.
    """

    name: str
    seed: int
    reliability: float
    noise: float
    leniency: float
    language: Language

    def annotate(self, segment: Segment) -> SimulatedAnnotation:
        """Label both sides of a segment and compare the sides. `elapsed_ms` is a simulated time."""
        chance = chance_of(self.seed, self.name, segment)
        seconds = seconds_for(segment, chance)
        if chance.random() >= self.reliability:
            return _annotation(
                {speaker: chance.choice(_LABELS) for speaker in SPEAKERS},
                {feature: chance.choice(_PREFERENCES) for feature in FEATURES},
                seconds / 3,
            )
        seen = impressions(segment, self.language)
        scores = scores_of(seen)
        labels = {speaker: self._label(scores[speaker], chance) for speaker in SPEAKERS}
        preferences = {
            feature: self._preference(_merit(seen["A"], feature) - _merit(seen["B"], feature), chance)
            for feature in FEATURES
        }
        return _annotation(labels, preferences, seconds)

    def _label(self, score: float, chance: Random) -> Label:
        seen = score + self.leniency + chance.gauss(0, self.noise)
        if seen >= HUMAN_FROM:
            return Label.HUMAN
        return Label.BOT if seen < BOT_BELOW else Label.UNSURE

    def _preference(self, lead_of_a: float, chance: Random) -> Preference:
        noticed = lead_of_a + chance.gauss(0, self.noise / 2)
        if abs(noticed) < NOTICEABLE:
            return Preference.TIE
        return Preference.A if noticed > 0 else Preference.B


def crowd(n: int, *, seed: int, dialogues: Sequence[Dialogue]) -> tuple[SimulatedAnnotator, ...]:
    """Return `n` annotators, 'simulated-01' and so on, who share a language but differ in character.

    `dialogues` must not contain the dialogues that the crowd annotates: see `Language`. The first annotators of a seed
    are the same for each `n`.
    """
    language = _language(tuple(dialogues))
    return tuple(_annotator(f"simulated-{k:02}", seed, language) for k in range(1, n + 1))


@lru_cache(maxsize=1)
def _language(dialogues: tuple[Dialogue, ...]) -> Language:
    return Language(dialogues)


def scores_of(seen: Mapping[Speaker, Impression]) -> Mapping[Speaker, float]:
    """Return the score of each side, which is compared with the thresholds. A higher score is more human."""
    a, b = merit_of(seen["A"]), merit_of(seen["B"])
    return {"A": a + COMPANY * b, "B": b + COMPANY * a}


def merit_of(impression: Impression) -> float:
    """Return the weighted sum of the impressions of one side."""
    shares: dict[str, float] = vars(impression)
    return sum(weight * shares[name] for name, weight in WEIGHTS.items())


def _annotation(
    labels: Mapping[Speaker, Label], preferences: Mapping[Feature, Preference], seconds: float
) -> SimulatedAnnotation:
    return SimulatedAnnotation(
        label_a=labels["A"],
        label_b=labels["B"],
        fluency=preferences["fluency"],
        sensibleness=preferences["sensibleness"],
        specificity=preferences["specificity"],
        elapsed_ms=round(round(seconds, 1) * 1000),
    )


def _annotator(name: str, seed: int, language: Language) -> SimulatedAnnotator:
    chance = chance_of("character", seed, name)
    return SimulatedAnnotator(
        name=name,
        seed=seed,
        reliability=chance.uniform(0.85, 0.99),
        noise=chance.uniform(0.2, 0.5),
        leniency=chance.gauss(0, 0.2),
        language=language,
    )


def _merit(impression: Impression, feature: Feature) -> float:
    match feature:
        case "fluency":
            return impression.fluency - impression.brokenness
        case "sensibleness":
            return impression.aptness + impression.cohesion / 2 - impression.echo - impression.emptiness
        case "specificity":
            return impression.specificity


def seconds_for(segment: Segment, chance: Random) -> float:
    """Return the simulated seconds of reading a segment and deciding about it."""
    reading = sum(len(text.split()) for _, text in segment) / _WORDS_PER_SECOND
    return (reading + _SECONDS_TO_DECIDE) * chance.lognormvariate(0, 0.5)
