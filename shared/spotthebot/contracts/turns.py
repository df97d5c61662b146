"""A turn of a conversation, as every service sees it."""

from typing import Literal

from spotthebot.contracts.wire import Utterance, Wire

MAX_TURNS = 1000
"""Turns of one conversation."""


class Turn(Wire):
    """One utterance; speaker A is the first participant."""

    speaker: Literal["A", "B"]
    text: Utterance
