"""The errors of exports."""

from spotthebot.kit.errors import Forbidden


class PeopleForAdministrators(Forbidden):
    """Only administrators may export the ids of people who chatted: leave `people` out."""
