"""What can go wrong with mixes."""

from spotthebot.kit.errors import Invalid


class BotsDiffer(Invalid):
    """'{name}' is {first} in '{one}', {second} in '{other}': take collections of one version, or only one of these."""


class OpeningsDiffer(Invalid):
    """One collection shows openings of {one} turns, another of {other}, which could tell who speaks: leave one out."""


class NamedAlike(Invalid):
    """Two conversations of these collections are called '{name}': import one of them under another `external_id`."""


class HumanShareUnreachable(Invalid):
    """There are {available} human dialogues of {exchanges} exchanges, a share of {share} needs {needed}: lower it."""
