"""Plug-ins: parts of other distributions, found by their entry points in a group.

An entry point names any object with the attributes of its kind; docs/plugins.md lists them. A plug-in is imported when
it is first needed, by the process that needs it. Its errors become PluginFails, so that only requests for it fail.

PluginFails (Conflict)
NoSuchPlugin (Invalid)
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from spotthebot.kit.errors import Conflict, Invalid

MARK: Final = "plugin:"
"""Stands before the name of a plug-in where built-in names are possible, too."""
_LONGEST_REASON: Final = 300


class PluginFails(Conflict):
    """The plug-in '{name}' of {distribution} can't be used: {reason}."""


class NoSuchPlugin(Invalid):
    """No installed distribution has a plug-in '{name}' in the group {group}: {known}."""


@dataclass(frozen=True)
class Plugin:
    """An entry point of one group; `distribution` is the name and the version of what brings it."""

    group: str
    name: str
    distribution: str
    entry: EntryPoint

    def part(self, name: str) -> Any:  # noqa: ANN401 - the plug-in's caller checks the value
        """Import the plug-in, and return one of its attributes; raises PluginFails."""
        try:
            return getattr(self.entry.load(), name)
        except (Exception, SystemExit) as error:  # it may raise anything
            raise self.fails(reason=f"{name} can't be imported, {type(error).__name__}: {error}") from error

    def function(self, name: str) -> Callable[..., Any]:
        """Return one of its functions, whose errors become PluginFails; raises PluginFails."""
        function = self.part(name)
        if not callable(function):
            raise self.fails(reason=f"{name} is not a function")

        def call(*arguments: object) -> Any:  # noqa: ANN401 - as above
            try:
                return function(*arguments)
            except (Exception, SystemExit) as error:
                raise self.fails(reason=f"{name} failed, {type(error).__name__}: {error}") from error

        return call

    def fails(self, reason: str) -> PluginFails:
        """Return the error for a reason."""
        return PluginFails(name=self.name, distribution=self.distribution, reason=reason[:_LONGEST_REASON].rstrip("."))


def list_plugins(group: str) -> list[Plugin]:
    """Return the plug-ins of a group in the order of their names, without importing them."""
    found = [
        Plugin(group, each.name, f"{each.dist.name} {each.dist.version}", each)
        for each in entry_points(group=group)
        if each.dist is not None
    ]
    return sorted(found, key=lambda each: (each.name, each.distribution))


def find_plugin(group: str, name: str, distribution: str | None = None) -> Plugin:
    """Return the plug-in of this name, without importing it.

    `distribution` is the one that has to bring it, as an earlier request found it. Raises NoSuchPlugin, and PluginFails
    if several distributions have the name or another version is installed.
    """
    plugins = list_plugins(group)
    named = [each for each in plugins if each.name == name]
    if not named:
        known = ", ".join(each.name for each in plugins)
        raise NoSuchPlugin(name=name, group=group, known=f"there are {known}" if known else "there is none")
    if len(named) > 1:
        raise named[0].fails(reason=f"{named[1].distribution} has one of the same name")
    if distribution not in {None, named[0].distribution}:
        raise named[0].fails(reason=f"{distribution} is needed")
    return named[0]
