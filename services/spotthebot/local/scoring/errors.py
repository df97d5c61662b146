"""The errors of files of dialogues that can't be scored.

Invalid
├── NothingToScore
├── NotDialogues
├── NotDimensions
├── NoSuchScorer
└── ModeNotForModel
"""

from spotthebot.kit.errors import Invalid


class NothingToScore(Invalid):
    """No dialogue of {path} can be scored: {reason}."""


class NotDialogues(Invalid):
    """{path} holds neither lines of dialogues nor the published FED data: {reason}."""


class NotDimensions(Invalid):
    """{path} holds no dimensions: {reason}."""


class NoSuchScorer(Invalid):
    """There is no model '{model}': {reason}. Train one with './stb fed train-scorer sample --out models/scorer'."""


class ModeNotForModel(Invalid):
    """{model} is an encoder-decoder and gives no likelihood of contexts: use --mode followup_mean or followup_sum."""
