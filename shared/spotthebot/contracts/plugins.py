"""The kinds of plug-ins that other distributions may bring."""

from enum import StrEnum


class PluginGroup(StrEnum):
    """The groups of entry points, one for each kind of plug-in."""

    BOTS = "spotthebot.bots"
    PROTOCOLS = "spotthebot.protocols"
    MEASURES = "spotthebot.measures"
    JUDGES = "spotthebot.judges"
    IMPORTERS = "spotthebot.importers"
