"""Strata: which conversations have the same two speakers, without saying who they are.

The service `annotation` spreads strata over packages, and must never learn who is a bot. So labels are random and drawn
for each answer: they tell strata apart, and can be joined with nothing, not even with another answer's labels.
"""

import secrets
from collections import defaultdict

from spotthebot.conversations.domain.conversations import Speakers

_LABEL_BYTES = 8


class Strata:
    """Labels drawn for one answer; the order in which two speak makes no difference."""

    def __init__(self) -> None:
        self._labels: dict[frozenset[str], str] = defaultdict(lambda: secrets.token_hex(_LABEL_BYTES))

    def label(self, speakers: Speakers) -> str:
        return self._labels[frozenset(side.name for side in speakers.participants)]
