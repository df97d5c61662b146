"""Retries in `conversations`: how often a turn is requested again, and how long to back off before that.

This is the outer of two loops. `bots` repeats one question to a bot within its time-out, for a fault of a moment. Here
a turn that failed nevertheless is requested again later, for a fault that lasts, while other conversations go on.
"""

from typing import Final

from spotthebot.kit.backoff import Backoff

MAX_ATTEMPTS: Final = 8
"""Failures of one turn, in a row, before its conversation fails: about a minute and a half of waiting."""
TURN_BACKOFF: Final = Backoff(first_seconds=0.5, max_seconds=30.0)
RATE_LIMITED_WAIT_SECONDS: Final = 5.0
"""The wait for a bot's rate limit where its server names none; it counts as no failure."""
CHAT_WAITS_SECONDS: Final = (1.0, 2.0, 4.0)
"""Waits before the retries of a turn that a person waits for; when all have failed the conversation ends."""
PEER_BACKOFF: Final = Backoff(first_seconds=0.25, max_seconds=5.0)
"""For PostgreSQL, and for `bots` bot by bot: a runner waits for them for ever, and no conversation counts a failure."""
CHAT_JOB_RETRIES: Final = 100
CHAT_JOB_BACKOFF: Final = Backoff(first_seconds=2.0, max_seconds=2.0)
"""The job of a reply in a chat is repeated for minutes while `bots` is unavailable, then the conversation ends."""
