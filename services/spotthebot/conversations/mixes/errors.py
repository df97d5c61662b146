"""The errors of mixes."""

from spotthebot.kit.errors import Invalid


class BotsDiffer(Invalid):
    """'{name}' is {first} in '{one}' and {second} in '{other}': take collections with the same version, or only one."""


class OpeningsDiffer(Invalid):
    """The collections show openings of {one} and of {other} turns, which could reveal who speaks: leave one out."""


class NamedAlike(Invalid):
    """Two conversations of these collections are called '{name}': import one of them under another `external_id`."""


class HumanShareUnreachable(Invalid):
    """A share of {share} needs {needed} human dialogues of {exchanges} exchanges; there are {available}: lower it."""
