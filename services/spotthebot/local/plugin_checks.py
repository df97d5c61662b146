"""Which plug-ins are installed, and which of them fail: each is imported, and checked as by its kind."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from spotthebot.analytics.clients.plugin_measures import PluginMeasure
from spotthebot.annotation.protocols.domain.builtin import is_built_in
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.kit.errors import Error
from spotthebot.kit.plugins import Plugin, find_plugin, list_plugins
from spotthebot.local.plugin_protocols import protocol_of


def _protocol(plugin: Plugin) -> None:
    if is_built_in(protocol_of(plugin).name):
        raise plugin.fails(reason="a built-in protocol has its name")


_CHECKS: Final[Mapping[str, Callable[[Plugin], object]]] = {
    PluginGroup.BOTS: lambda plugin: plugin.function("reply"),
    PluginGroup.PROTOCOLS: _protocol,
    PluginGroup.MEASURES: lambda plugin: PluginMeasure(plugin.name),
    PluginGroup.JUDGES: lambda plugin: plugin.function("human"),
    PluginGroup.IMPORTERS: lambda plugin: plugin.function("read"),
}


def check_plugins() -> list[dict[str, Any]]:
    """Return every plug-in with its group, distribution and fault; None without one. All of them are imported."""
    return [
        {"group": group, "name": each.name, "distribution": each.distribution, "fault": _fault(each)}
        for group in PluginGroup
        for each in list_plugins(group)
    ]


def _fault(plugin: Plugin) -> str | None:
    try:
        _CHECKS[plugin.group](find_plugin(plugin.group, plugin.name))
    except Error as fault:
        return str(fault)
    return None
