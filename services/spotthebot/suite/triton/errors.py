"""What can go wrong before Triton starts."""

from spotthebot.kit.errors import Unavailable


class TritonNotHere(Unavailable):
    """Triton can't run on this machine: {reason}"""  # noqa: D400 - ends as the reason does
