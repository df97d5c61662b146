"""The error of results that wait for each other."""

from spotthebot.kit.errors import TooMany


class TooManyResults(TooMany):
    """{waiting} results wait for this API key already: try again in {retry_after_seconds} s."""
