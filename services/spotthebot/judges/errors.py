"""The errors of running judges.

Invalid
├── JudgeKeyMissing
├── KeyUnencrypted
└── ScoresUnsuited
Conflict
├── JudgeNotRunnable
└── EndpointSilent
"""

from spotthebot.kit.errors import Conflict, Invalid


class JudgeKeyMissing(Invalid):
    """The judge '{name}' takes its key from the environment variable {variable}, which is not set here."""


class KeyUnencrypted(Invalid):
    """{url} is not encrypted: a key is sent there only if --allow-network names the network of its address."""


class ScoresUnsuited(Invalid):
    """The score set {score_set} can't be used: {reason}"""  # noqa: D400 - ends as the reason does


class JudgeNotRunnable(Conflict):
    """The judge '{name}' is of the kind {kind}, which this command can't run: {instead}"""  # noqa: D400 - as above


class EndpointSilent(Conflict):
    """The endpoint gave no answer about any of {items} items: {reason} Nothing of them was submitted. Run it again."""
