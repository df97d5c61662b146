"""The errors of dimensions and bots that a score set does not have, and of scores that can't be compared.

Conflict
├── OtherScorer
├── OtherModel
├── PlansDiffer
└── TooManyDialogues
Invalid
├── NotOneBot
├── NoSuchScoredDimension
└── NoSuchScoredBot
"""

from spotthebot.kit.errors import Conflict, Invalid


class OtherScorer(Conflict):
    """Reference {number} was scored by another model, rule or dimensions: score your bots in the same way."""


class OtherModel(Conflict):
    """The baseline was scored by another model, rule or dimensions: score both sets in the same way."""


class PlansDiffer(Conflict):
    """No pairs: both collections need the same partners, openings and seed, and scored conversations."""


class TooManyDialogues(Conflict):
    """The score set has {dialogues} scores of dialogues, and a reference holds at most {most}: score fewer bots."""


class NotOneBot(Invalid):
    """A difference is between score sets of one bot each, and this set scores {bots}."""


class NoSuchScoredDimension(Invalid):
    """The score set has no dimension '{dimension}': it has {known}."""


class NoSuchScoredBot(Invalid):
    """The score set scores no bot '{bot}': it scores {known}."""
