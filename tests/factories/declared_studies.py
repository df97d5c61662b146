"""A study of two tasks as a file declares it, and the conversations that it is about."""

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

STUDY = """\
name: small
collections: [im]
outcome: dialogue_likert.quality
seed: 3
tasks:
  - {protocol: dialogue_likert, units_twice: 6}
  - {name: pairs, protocol: comparative}
"""


async def import_talks(suite: RunningSuite) -> None:
    """Import twelve conversations between three bots."""
    pairs = [("one", "other"), ("one", "third"), ("other", "third")] * 4
    await import_conversations(suite, [conversation(f"c{at}", *pair) for at, pair in enumerate(pairs)])
