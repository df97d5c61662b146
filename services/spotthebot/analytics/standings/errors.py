"""The error of an API key without a team."""

from spotthebot.kit.errors import Forbidden


class KeyWithoutTeam(Forbidden):
    """This API key names no team: ask the operator for one made with `--team`."""
